"""Damaged, edited or foreign files: one line that names the file and the command that makes it again."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from sample_run import write_sample_run
from unmet.results import open_run
from unmet.tables import read_columns, write_columns


def refused(folder: Path) -> str:
    """What a run says of its files."""
    run = open_run(folder)
    with pytest.raises(ValueError) as error:
        run.check()
    assert "\n" not in str(error.value)
    return str(error.value)


def change_json(path: Path, change: Callable[[dict], None]) -> None:
    found = json.loads(path.read_text())
    change(found)
    path.write_text(json.dumps(found))


STEPS = {
    "measures.json": "fit",
    "calibration.json": "fit",
    "lost_total.json": "fit",
    "panel.json": "run",
    "curves.json": "plan",
}


@pytest.mark.parametrize("name", STEPS)
@pytest.mark.parametrize("text", ["", "{", "{}", "7", '"text"', "[7]", '{"a": NaN}', "[" * 100_000])
def test_odd_json_is_refused(copy: Path, name: str, text: str):
    (copy / name).write_text(text)
    words = refused(copy)
    assert str(copy / name) in words
    assert f"make it again with `unmet {STEPS[name]} " in words
    assert str(copy) in words.split("`")[1]


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("lost_total.json", lambda found: found.update(observed="many")),
        ("lost_total.json", lambda found: found.update(demand=[1, 2])),
        ("lost_total.json", lambda found: found["places"]["P01"].pop("lost")),
        ("lost_total.json", lambda found: found["places"].update(P01=3)),
        ("lost_total.json", lambda found: found["days"][0].update(demand="much")),
        ("lost_total.json", lambda found: found["lost"].update(mean=True)),
        ("curves.json", lambda found: found["places"].update(P01=[])),
        ("curves.json", lambda found: found["places"].update(P01=["x"])),
        ("curves.json", lambda found: found.update(day={"starts": "some day"})),
        ("curves.json", lambda found: found.update(such_days=[{"date": 1}])),
        ("calibration.json", lambda found: found.update(coverage=0.9)),
    ],
)
def test_edited_parts_are_refused(copy: Path, name: str, change: Callable[[dict], None]):
    change_json(copy / name, change)
    words = refused(copy)
    assert str(copy / name) in words
    assert f"make it again with `unmet {STEPS[name]} " in words


def test_a_plan_of_an_earlier_version_has_no_day(copy: Path):
    change_json(copy / "curves.json", lambda found: found.pop("day"))
    plan = open_run(copy).summary().plan
    assert plan is not None
    assert plan.day is None


def test_stations_of_another_run_are_refused(copy: Path):
    columns, about = read_columns(copy / "stations.parquet")
    some = {name: values[1:] for name, values in columns.items()}
    write_columns(copy / "stations.parquet", some, about=about)
    assert "stations.parquet has no place 'P01', but lost.parquet has" in refused(copy)
    more = {name: np.append(values, values[-1:]) for name, values in columns.items()}
    more["unique_id"][-1] = "P99"
    write_columns(copy / "stations.parquet", more, about=about)
    assert "stations.parquet has place 'P99', but lost.parquet has not" in refused(copy)
    write_columns(copy / "stations.parquet", columns, about=about)
    open_run(copy).check()


def test_tables_of_another_run_are_refused(copy: Path, folder: Path, tmp_path: Path):
    other = write_sample_run(tmp_path / "other", places=7, days=14)
    for name in ("forecast.parquet", "backtest.parquet", "plan.csv", "moves.csv", "curves.json"):
        shutil.copy(other / name, copy / name)
        words = refused(copy)
        assert str(copy / name) in words
        assert "it belongs to a different run; make it again with `unmet " in words
        shutil.copy(folder / name, copy / name)
    shutil.copy(other / "lost_total.json", copy)
    assert "lost_total.json counts" in refused(copy)
    shutil.copy(folder / "lost_total.json", copy)
    change_json(copy / "lost_total.json", lambda found: found["places"].pop("P02"))
    assert "lost_total.json has no place 'P02'" in refused(copy)
    shutil.copy(folder / "lost_total.json", copy)
    columns, about = read_columns(copy / "forecast.parquet")
    columns["ds"] = columns["ds"] - np.timedelta64(7, "D")
    write_columns(copy / "forecast.parquet", columns, about=about)
    assert "forecast.parquet begins before lost.parquet ends" in refused(copy)


@pytest.mark.parametrize(
    ("table", "column"),
    [
        *(("lost", name) for name in ("ds", "y", "censored", "exposure", "demand_mean", "lost_mean")),
        *(("forecast", name) for name in ("ds", "mean", "q95")),
        *(("backtest", name) for name in ("ds", "y", "q05")),
        *(("stations", name) for name in ("lat", "lng")),
    ],
)
def test_text_where_numbers_should_be_names_column_and_file(copy: Path, table: str, column: str):
    path = copy / f"{table}.parquet"
    columns, about = read_columns(path)
    columns[column] = np.array([str(value) for value in columns[column]], dtype=object)
    write_columns(path, columns, about=about)
    words = refused(copy)
    assert f"{path}: column {column} must hold " in words
    assert "make it again with `unmet " in words


@pytest.mark.parametrize(
    ("table", "column", "value"),
    [("lost", "y", -1.0), ("lost", "y", 0.5), ("lost", "exposure", 7.0), ("lost", "lost_mean", np.inf)]
    + [("forecast", "mean", -2.0), ("forecast", "identified_up_to", 1.5), ("backtest", "q05", -1.0)],
)
def test_numbers_out_of_range_are_refused(copy: Path, table: str, column: str, value: float):
    path = copy / f"{table}.parquet"
    columns, about = read_columns(path)
    columns[column] = np.where(np.arange(len(columns[column])) == 3, value, columns[column])
    write_columns(path, columns, about=about)
    assert f"column {column} must hold" in refused(copy)
    assert f"but has {value:g}" in refused(copy)


@pytest.mark.parametrize("name", ["lost.parquet", "forecast.parquet", "backtest.parquet", "stations.parquet"])
def test_a_file_that_is_not_parquet_is_refused(copy: Path, name: str):
    (copy / name).write_bytes(b"PAR1 no")
    words = refused(copy)
    assert str(copy / name) in words
    assert "make it again with `unmet " in words


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("capacity", "room", 1),
        lambda text: text + "P01,short\n",
        lambda text: text + text.splitlines()[1] + ",9\n",
        lambda text: text + '"open quote',
        lambda text: "a,b\n1,2\n",
        lambda text: "",
        lambda text: text.replace(text.splitlines()[1].split(",")[3], "many"),
    ],
)
def test_an_edited_csv_is_refused(copy: Path, change: Callable[[str], str]):
    path = copy / "plan.csv"
    path.write_text(change(path.read_text()))
    words = refused(copy)
    assert str(path) in words
    assert f"make it again with `unmet plan {copy}`" in words


def test_bytes_that_are_no_text_are_refused(copy: Path):
    (copy / "fleet.csv").write_bytes(b"fleet,service_level,expected_lost\n1,\xff\xfe,3\n")
    assert "fleet.csv is not a CSV file" in refused(copy)


@pytest.mark.parametrize("name", ["plan.csv", "lost.parquet", "lost_total.json"])
def test_only_regular_files_are_read(copy: Path, name: str):
    (copy / name).unlink()
    os.mkfifo(copy / name)
    with pytest.raises(ValueError, match=name):
        open_run(copy).totals if name.endswith("json") else open_run(copy).columns(name)


def test_rows_out_of_order_are_refused(copy: Path):
    columns, about = read_columns(copy / "lost.parquet")
    order = np.argsort(columns["ds"], kind="stable")
    write_columns(copy / "lost.parquet", {name: one[order] for name, one in columns.items()}, about=about)
    assert "ordered by unique_id and ds" in refused(copy)


def test_json_beyond_the_cap_is_refused(copy: Path, monkeypatch: pytest.MonkeyPatch):
    from unmet.results import _read

    monkeypatch.setattr(_read, "_MOST_JSON_BYTES", 10)
    assert "is too large for a file of a run" in refused(copy)


def test_csv_beyond_the_cap_is_refused(copy: Path, monkeypatch: pytest.MonkeyPatch):
    from unmet.results import _read

    monkeypatch.setattr(_read, "_MOST_CSV_BYTES", 10)
    assert "is too large for a file of a run" in refused(copy)
