"""A run from trips to plan, served: the saved model says the same as the files that it wrote."""

import numpy as np
import pytest

from unmet.cli import main
from unmet.datasets import make_city
from unmet.serve._run_answers import RunAnswers
from unmet.tables import read_columns

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def whole_run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("city")
    make_city("village", places=6, days=21, seed=3).write(folder)
    output = tmp_path_factory.mktemp("whole") / "out"
    options = ["--status", str(folder / "station_status_events.csv.gz")]
    options += ["--stations", str(folder / "station_information.json"), "--zone", "America/New_York"]
    options += ["--network", "linear", "--jobs", "1", "--quiet", "-o", str(output)]
    with pytest.raises(SystemExit) as stop:
        main(["run", str(folder / "trips.csv.gz"), *options])
    assert not stop.value.code
    return output


def test_model_and_files_agree(whole_run):
    answers = RunAnswers(whole_run)
    assert answers.model is not None
    place = next(iter(answers.ahead.rows))
    table, _ = read_columns(whole_run / "forecast.parquet")
    own = table["unique_id"] == place
    again = answers.model.forecast(place, 24, None)
    for name in ("mean", "q05", "q50"):
        np.testing.assert_allclose(again[name], table[name][own][:24], rtol=1e-6)
    docks = {key: entry["capacity"] for key, entry in answers.stations.items()}
    made = answers.model.curves(answers.first, docks)
    assert answers.curves is not None
    assert made.places == answers.curves.places
    np.testing.assert_array_equal(made.docks, answers.curves.docks)
    width = answers.curves.lost.shape[1]
    np.testing.assert_allclose(made.lost[:, :width], answers.curves.lost, atol=1e-5)
    np.testing.assert_allclose(made.usual, answers.curves.usual, rtol=1e-4)
