"""Files that are damaged, missing, or of another version or run: one line with a remedy, nothing lost."""

import shutil

import numpy as np
import pytest
from cli_tools import QUICK, call, contents

from unmet.runs._model_folder import load_model, save_model
from unmet.tables import read_columns, write_columns


@pytest.fixture
def folder(finished, tmp_path):
    return shutil.copytree(finished, tmp_path / "out")


def refused(capsys, *arguments) -> str:
    """The one line of a command that fails."""
    capsys.readouterr()
    assert call(*arguments) == 1
    told = capsys.readouterr()
    assert told.err.count("\n") == 1
    assert told.out == ""
    return told.err


def change_panel(path, target, **changes):
    """A panel with other columns; None takes one out."""
    columns, about = read_columns(path)
    kept = {name: values for name, values in {**columns, **changes}.items() if values is not None}
    write_columns(target, kept, about=about)
    return target


def flip(path) -> None:
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(bytes(data))


@pytest.mark.parametrize("where", ["", "network"])
def test_damaged_weights(folder, capsys, where):
    flip(next((folder / "model" / where).glob("weights-*")))
    before = contents(folder)
    for command in ("forecast", "plan"):
        told = refused(capsys, command, folder, *(["--fleet", 3] if command == "plan" else ["--horizon", 3]))
        assert "damaged" in told
        assert f"fit again with `unmet fit {folder}`" in told
    assert contents(folder) == before


def test_missing_weights_and_model(folder, capsys):
    next((folder / "model").glob("weights-*")).unlink()
    assert f"the model is incomplete; fit again with `unmet fit {folder}`" in refused(
        capsys, "forecast", folder
    )
    shutil.rmtree(folder / "model")
    for command in ("forecast", "plan"):
        assert f"model is missing; make it with `unmet fit {folder}`" in refused(capsys, command, folder)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"format": "unmet model"}'])
def test_damaged_model_json(folder, capsys, text):
    (folder / "model" / "model.json").write_text(text)
    assert f"fit again with `unmet fit {folder}`" in refused(capsys, "forecast", folder)


def test_a_model_of_another_version(folder, capsys):
    config, arrays = load_model(folder / "model")
    save_model(folder / "model", {**config, "version": 999}, arrays)
    told = refused(capsys, "forecast", folder)
    assert "version 999" in told
    assert f"fit again with `unmet fit {folder}`" in told


@pytest.mark.parametrize(
    ("where", "change"),
    [
        ("", {"city_state": ["a", "b"]}),
        ("", {"zone": "Mars/Olympus"}),
        ("", {"places": [1, 2, 3, 4, 5, 6]}),
        ("", {"map": [{}]}),
        ("", {"levels": [0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99]}),
        ("", {"places": ["only one"]}),
        ("", {"shocks": {"variance": None, "persistence": 0.0}}),
        ("network", {"y_center": "0.5"}),
        ("network", {"parameters": []}),
        ("network", {"estimator": ["CensoredQuantileRegressor"]}),
        ("network", {"levels": [["x"]]}),
        ("network", {"column_names": 7}),
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_model_that_was_edited_and_sealed_again(folder, capsys, where, change):
    config, arrays = load_model(folder / "model" / where)
    save_model(folder / "model" / where, {**config, **change}, arrays)
    before = contents(folder)
    told = refused(capsys, "forecast", folder, "--horizon", 3)
    assert f"fit again with `unmet fit {folder}`" in told
    assert contents(folder) == before


def test_damaged_record(folder, capsys):
    (folder / "run.json").write_text("{")
    for command in ("forecast", "plan", "report"):
        told = refused(capsys, command, folder)
        assert "run.json is not valid JSON" in told
        assert "--replace" in told


@pytest.mark.parametrize("name", ["lost_total.json", "panel.parquet", "stations.parquet"])
def test_a_file_that_a_plan_needs_is_missing(folder, capsys, name):
    (folder / name).unlink()
    told = refused(capsys, "plan", folder)
    assert f"{folder / name} is missing; make it with `unmet" in told


def test_damaged_json_is_named(folder, capsys):
    (folder / "lost_total.json").write_text("{")
    told = refused(capsys, "plan", folder)
    assert f"{folder / 'lost_total.json'} is not valid JSON; make it again with `unmet fit" in told


@pytest.mark.parametrize(
    ("name", "values", "words"),
    [
        ("y", "3", "column y must hold numbers, but it begins with '3'"),
        ("exposure", "all", "column exposure must hold numbers"),
        ("ds", "2024-03-04", "column ds must hold times"),
        ("censored", "yes", "column censored must hold true or false"),
        ("y", -1, "column y must hold whole numbers of at least 0, but has -1"),
        ("y", 0.5, "column y must hold whole numbers of at least 0, but has 0.5"),
        ("y", np.inf, "column y must hold whole numbers of at least 0, but has inf"),
        ("y", 10**15, "column y has 1e+15, more than 1,000,000"),
        ("stock_start", 1e15, "column stock_start has 1e+15, more than"),
        ("unique_id", "x" * 200_000, "column unique_id has a text of 200,000 characters"),
        ("exposure", -0.5, "column exposure must hold shares from 0 to 1, but has -0.5"),
        ("exposure", 7, "column exposure must hold shares from 0 to 1, but has 7"),
        ("returns", -5, "column returns must hold numbers of at least 0, but has -5"),
        ("stock_start", np.inf, "column stock_start must hold numbers of at least 0, but has inf"),
        ("censored", None, "has no column censored"),
        ("exposure", None, "has no column exposure"),
    ],
)
def test_a_panel_with_wrong_columns(finished, tmp_path, capsys, name, values, words):
    rows = len(read_columns(finished / "panel.parquet")[0]["ds"])
    kind = object if isinstance(values, str) else float
    wrong = None if values is None else np.full(rows, values, kind)
    path = change_panel(finished / "panel.parquet", tmp_path / "given.parquet", **{name: wrong})
    told = refused(capsys, "fit", path, "-o", tmp_path / "out", *QUICK)
    assert str(path) in told
    assert words in told
    assert "build it with `unmet panel`" in told
    assert not (tmp_path / "out").exists()


def test_a_plan_looks_at_its_panel(folder, capsys):
    columns, _ = read_columns(folder / "panel.parquet")
    path = folder / "panel.parquet"
    change_panel(path, path, returns=None)
    assert f"{path} has no column returns" in refused(capsys, "plan", folder)
    change_panel(path, path, returns=columns["y"].astype(str).astype(object))
    assert f"{path}: column returns must hold numbers" in refused(capsys, "plan", folder)


def test_less_than_two_weeks(finished, tmp_path, capsys):
    columns, about = read_columns(finished / "panel.parquet")
    first = columns["ds"] < columns["ds"].min() + np.timedelta64(13, "D")
    short = {name: values[first] for name, values in columns.items()}
    write_columns(tmp_path / "short.parquet", short, about=about)
    told = refused(capsys, "fit", tmp_path / "short.parquet", "-o", tmp_path / "out", *QUICK)
    assert "panel covers 13.0 days; demand needs at least 14: add more data" in told


def test_a_horizon_beyond_the_calendar(folder, capsys):
    before = contents(folder)
    assert "--horizon must be a whole number of periods from 1 to 8784" in refused(
        capsys, "forecast", folder, "--horizon", 8785
    )
    assert contents(folder) == before


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("plan", "--fleet", 10**15), "fleet"),
        (("fit", "--jobs", 10**15), "--jobs must be at most 1024"),
        (("forecast", "--horizon", 10**15), "--horizon must be a whole number of periods from 1 to 8784"),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
def test_a_number_without_sense(folder, capsys, arguments, words):
    before = contents(folder)
    code = call(arguments[0], folder, *arguments[1:])
    told = capsys.readouterr().err
    assert code in (1, 2)
    assert words in told
    assert told.count("\n") == 1
    assert contents(folder) == before


def test_no_place_was_ever_available(finished, tmp_path, capsys):
    columns, _ = read_columns(finished / "panel.parquet")
    zeros = np.zeros(len(columns["ds"]))
    path = change_panel(finished / "panel.parquet", tmp_path / "none.parquet", y=zeros, exposure=zeros)
    told = refused(capsys, "fit", path, "-o", tmp_path / "out", *QUICK)
    assert "no place ever had any supply" in told


def test_a_folder_of_another_run(finished, tmp_path, capsys):
    output = shutil.copytree(finished, tmp_path / "out")
    before = contents(output)
    panel = shutil.copy(finished / "panel.parquet", tmp_path / "panel.parquet")
    told = refused(capsys, "fit", panel, "-o", output, *QUICK)
    assert "holds another run, made from" in told
    assert "start over in this one with --replace" in told
    assert contents(output) == before
    told = refused(capsys, "demo", "-o", output, "--size", "village", "--days", 42, "--quiet")
    assert "start over in this one with --replace" in told
    assert contents(output) == before
