"""A run from trips to plan, served: the saved model says the same as the files that it wrote."""

import numpy as np
import pytest

from unmet.cli import main
from unmet.datasets import make_city
from unmet.serve._answers import Answers
from unmet.serve._source import read_source
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
    run = read_source(whole_run)
    answers = Answers(run)
    assert answers.model is not None
    place = next(iter(run.forecast.rows))
    table, _ = read_columns(whole_run / "forecast.parquet")
    own = table["unique_id"] == place
    again = answers.model.forecast(place, 24, None)
    for name in ("mean", "q05", "q50"):
        np.testing.assert_allclose(again[name], table[name][own][:24], rtol=1e-6)
    made = answers.model.curves(run.first_day)
    assert run.curves is not None
    assert made.places == run.curves.places
    np.testing.assert_array_equal(made.docks, run.curves.docks)
    width = run.curves.lost.shape[1]
    np.testing.assert_allclose(made.lost[:, :width], run.curves.lost, atol=1e-5)
    np.testing.assert_allclose(made.usual, run.curves.usual, rtol=1e-4)
