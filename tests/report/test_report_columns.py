"""The columns that docs/report.md tells of are those that a run writes."""

import csv
import json
import re
from pathlib import Path

import numpy as np
import pytest
from sample_run import write_sample_run

from unmet.tables import read_columns

ROOT = Path(__file__).parents[2]


def documented(name: str) -> list[str]:
    """Names in the first column of the table under the heading of a file."""
    text = (ROOT / "docs" / "report.md").read_text(encoding="utf-8")
    section = re.split(r"\n#+ ", text.split(f"\n### {name}\n")[1])[0]
    cells = [line.split("|")[1] for line in section.splitlines() if line.startswith("| `")]
    return [column for cell in cells for column in re.findall(r"`([^`]+)`", cell)]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small city from trips to report."""
    from unmet.cli import main
    from unmet.datasets import make_city

    folder = tmp_path_factory.mktemp("city")
    make_city("village", places=4, days=18, seed=3).write(folder)
    status, stations = (
        folder / name for name in ("station_status_events.csv.gz", "station_information.json")
    )
    command = ["run", folder / "trips.csv.gz", "--status", status, "--stations", stations]
    command += ["--zone", "America/New_York", "--network", "linear", "--jobs", 1, "--quiet"]
    with pytest.raises(SystemExit) as end:
        main([str(word) for word in [*command, "-o", folder / "out"]])
    assert not end.value.code
    return folder / "out"


def check_tables(run: Path) -> None:
    for name in ("lost.parquet", "forecast.parquet"):
        columns, about = read_columns(run / name)
        assert list(columns) == documented(name)
        assert about.items() >= {"zone": "America/New_York", "by": "hour"}.items()
    for name in ("plan.csv", "moves.csv", "fleet.csv"):
        with open(run / name, encoding="utf-8", newline="") as file:
            assert next(csv.reader(file)) == documented(name)


def test_the_sample_of_these_tests_has_the_columns_that_are_documented(tmp_path: Path):
    check_tables(write_sample_run(tmp_path, places=3, days=2, horizon=2))


@pytest.mark.slow
def test_a_run_writes_the_columns_that_are_documented(run: Path):
    check_tables(run)
    features = json.loads((run / "hubs.geojson").read_text(encoding="utf-8"))["features"]
    assert {tuple(feature["properties"]) for feature in features} == {tuple(documented("hubs.geojson"))}


@pytest.mark.slow
def test_files_of_a_run_agree_on_the_day_and_on_the_sums(run: Path):
    curves = json.loads((run / "curves.json").read_text(encoding="utf-8"))
    day = curves["day"]
    lost, _ = read_columns(run / "lost.parquet")
    # The panel ends with 23 h local, so the first whole day from 4 h on is that of the next midnight.
    midnight = lost["ds"].max() + np.timedelta64(1, "h") - np.timedelta64(4, "h")
    assert day["starts"] == f"{str(midnight)[:10]}T04:00"
    with open(run / "moves.csv", encoding="utf-8", newline="") as file:
        moves = list(csv.DictReader(file))
    names = {}
    with open(run / "plan.csv", encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            names[row["unique_id"]] = row["name"]
            assert row["starts"] == day["starts"]
    assert moves
    for move in moves:
        assert (move["from_name"], move["to_name"]) == (names[move["from"]], names[move["to"]])
        assert move["starts"] == day["starts"]
    total = json.loads((run / "lost_total.json").read_text(encoding="utf-8"))
    for name in ("demand", "lost"):
        assert total[name]["mean"] == pytest.approx(lost[f"{name}_mean"].sum())
        assert total[name]["mean"] == pytest.approx(sum(one[name] for one in total["days"]))
    past = curves["such_days"]
    assert 2 <= len(past) <= 3
    assert all(0 <= one["lost"] < one["demand"] for one in past)
