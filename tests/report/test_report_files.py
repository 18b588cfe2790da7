"""Files of another run or of another kind: one line that names the file, the column and the remedy."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from sample_run import write_sample_run

from unmet.report import write_report
from unmet.tables import read_columns, write_columns


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_sample_run(tmp_path_factory.mktemp("run"), places=5, days=14)


def refused(folder: Path) -> str:
    with pytest.raises(ValueError) as error:
        write_report(folder)
    assert "\n" not in str(error.value)
    return str(error.value)


@pytest.mark.parametrize(
    ("name", "step"),
    [
        ("measures.json", "fit"),
        ("calibration.json", "fit"),
        ("lost_total.json", "fit"),
        ("panel.json", "run"),
        ("curves.json", "plan"),
    ],
)
@pytest.mark.parametrize("text", ["{}", "7", '"text"', "[7]"])
def test_empty_and_odd_json_is_refused(copy: Path, name: str, step: str, text: str):
    (copy / name).write_text(text)
    words = refused(copy)
    assert str(copy / name) in words
    assert f"make it again with `unmet {step}`" in words


def test_stations_of_another_run_are_refused(copy: Path):
    columns, about = read_columns(copy / "stations.parquet")
    some = {name: values[1:] for name, values in columns.items()}
    write_columns(copy / "stations.parquet", some, about=about)
    assert "stations.parquet lacks place 'P01' in lost.parquet: it is of another run" in refused(copy)
    more = {name: np.append(values, values[-1:]) for name, values in columns.items()}
    more["unique_id"][-1] = "P99"
    write_columns(copy / "stations.parquet", more, about=about)
    assert "stations.parquet has a place 'P99' that is not in lost.parquet" in refused(copy)
    write_columns(copy / "stations.parquet", columns, about=about)
    write_report(copy)


def test_tables_of_another_run_are_refused(copy: Path, folder: Path, tmp_path: Path):
    other = write_sample_run(tmp_path / "other", places=7, days=14)
    for name in ("forecast.parquet", "backtest.parquet", "plan.csv", "moves.csv", "curves.json"):
        shutil.copy(other / name, copy / name)
        words = refused(copy)
        assert f"{copy / name} has a place 'P0" in words
        assert "that is not in lost.parquet: it is of another run; make it again with `unmet " in words
        shutil.copy(folder / name, copy / name)
    shutil.copy(other / "lost_total.json", copy)
    assert "lost_total.json counts" in refused(copy)
    shutil.copy(folder / "lost_total.json", copy)
    columns, about = read_columns(copy / "forecast.parquet")
    columns["ds"] = columns["ds"] - np.timedelta64(7, "D")
    write_columns(copy / "forecast.parquet", columns, about=about)
    assert "forecast.parquet begins before the end of lost.parquet: it is of another run" in refused(copy)


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
    wanted = "moments" if column == "ds" else "numbers"
    assert f"{path}: column {column} holds text where {wanted} should be" in refused(copy)


def test_a_plan_that_does_not_say_its_day_is_refused(copy: Path):
    curves = json.loads((copy / "curves.json").read_text())
    curves["day"] = {"starts": "some day"}
    (copy / "curves.json").write_text(json.dumps(curves))
    assert "curves.json does not say which day was planned" in refused(copy)
    del curves["day"]  # as an earlier version wrote it
    (copy / "curves.json").write_text(json.dumps(curves))
    assert "on the day planned for" in write_report(copy).read_text(encoding="utf-8")
