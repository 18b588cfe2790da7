"""The demo's city: recovered from its files, held against its truth."""

import json

import pytest

from unmet.cli import main


@pytest.mark.slow
def test_a_small_city_from_end_to_end(tmp_path, capsys):
    output = tmp_path / "demo"
    command = ["demo", "-o", str(output), "--size", "village", "--days", "49", "--jobs", "1"]
    with pytest.raises(SystemExit) as end:
        main(command)
    assert not end.value.code
    shown = capsys.readouterr().out
    assert "people wanted a ride" in shown
    assert "report.html" in shown
    truth = json.loads((output / "truth.json").read_text())
    assert 0.1 < truth["share_empty"] < 0.3
    assert abs(truth["lost"]["estimated"]["mean"] / truth["lost"]["true"] - 1) < 0.2
    assert 0.85 < truth["forecast_coverage"]["randomised"] < 0.95
    assert 0.8 < truth["censored_rows_coverage"] < 0.97
    assert truth["targets"]["days"] == 28
    assert truth["targets"]["requests"] > truth["targets"]["lost_true"] > 0
