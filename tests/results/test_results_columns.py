"""The columns of the schema have a meaning, and are those that a run writes."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from sample_run import write_sample_run
from unmet.results import FILES, write_file
from unmet.tables import read_columns


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small city from trips to report."""
    import unmet
    from unmet.datasets import make_city

    folder = tmp_path_factory.mktemp("city")
    make_city("village", places=4, days=18, seed=3).write(folder)
    return unmet.run(
        trips=folder / "trips.csv.gz",
        status=folder / "station_status_events.csv.gz",
        stations=folder / "station_information.json",
        zone="America/New_York",
        network="linear",
        jobs=1,
        output=folder / "out",
        progress=False,
    ).folder


def names(file: str) -> list[str]:
    return [column.name for column in FILES[file].columns]


def test_the_meaning_of_panel_columns_is_that_in_the_file():
    from unmet.mobility import PANEL_COLUMNS

    meanings = {column.name: column.meaning for column in PANEL_COLUMNS}
    assert {column.name: column.meaning for column in FILES["panel.parquet"].columns} == meanings


def test_every_column_has_a_kind_and_a_meaning():
    for file in FILES.values():
        assert file.meaning
        assert all(column.meaning for column in file.columns), file.name
        assert len(set(names(file.name))) == len(file.columns)


def test_columns_that_the_schema_does_not_know_are_not_written(tmp_path: Path):
    fleet = {"fleet": [1], "service_level": [0.5], "expected_lost": [2.0]}
    write_file(tmp_path, FILES["fleet.csv"], fleet)
    for wrong in ({**fleet, "more": [1]}, {"fleet": [1]}):
        with pytest.raises(ValueError, match=r"columns of fleet\.csv"):
            write_file(tmp_path, FILES["fleet.csv"], wrong)


def check_tables(run: Path) -> None:
    for name in ("lost.parquet", "forecast.parquet"):
        columns, about = read_columns(run / name)
        assert list(columns) == names(name)
        assert about.items() >= {"zone": "America/New_York", "by": "hour"}.items()
    for name in ("plan.csv", "moves.csv", "fleet.csv"):
        with open(run / name, encoding="utf-8", newline="") as file:
            assert next(csv.reader(file)) == names(name)


def test_the_sample_of_these_tests_has_the_columns_of_the_schema(tmp_path: Path):
    check_tables(write_sample_run(tmp_path, places=3, days=2, horizon=2))


@pytest.mark.slow
def test_a_run_writes_the_columns_of_the_schema(run: Path):
    check_tables(run)
    for name in ("panel.parquet", "backtest.parquet", "stations.parquet"):
        own = [column for column in read_columns(run / name)[0] if column in names(name)]
        assert own == names(name)
    features = json.loads((run / "hubs.geojson").read_text(encoding="utf-8"))["features"]
    assert {tuple(feature["properties"]) for feature in features} == {
        ("name", "observed", "demand", "lost", "unserved", "next_door")
    }


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
