"""Stages of a step: kept when the log names them, so that a kill loses none that was told to be done."""

import numpy as np

from unmet.runs import Stages


def test_a_stage_is_kept_before_the_log_names_it(tmp_path):
    seen = []

    def log(**fields):
        seen.append((fields["stage"], Stages(tmp_path, "same").has("first")))

    def pack(result):
        return {}, {"values": result}

    found = Stages(tmp_path, "same", log).run("first", lambda: np.arange(3.0), pack, None)
    assert seen == [("first", True)]
    again = Stages(tmp_path, "same", log).run("first", None, pack, lambda config, arrays: arrays["values"])
    assert again.tolist() == found.tolist()
    assert len(seen) == 1
