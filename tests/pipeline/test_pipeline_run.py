"""`unmet.run` and its steps from Python: what the command does, with arguments instead of options."""

import inspect
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import unmet
from unmet import pipeline
from unmet.mobility import read_panel
from unmet.pipeline import PanelInputs


def contents(folder: Path) -> dict[str, bytes]:
    """Every file of a run but its timings and its record, which names the paths of the inputs."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name not in ("log.jsonl", "run.json") and ".unmet-read" not in path.parts
    }


def test_a_run_is_returned_with_frames_figures_and_page(finished: unmet.Run):
    assert finished.steps == ("panel", "fit", "forecast", "plan", "report")
    assert finished.kept == ()
    assert finished.lost["lost_mean"].sum() == pytest.approx(finished.summary().lost.mean)
    assert finished.page is not None
    assert finished.page.stat().st_size > 100_000
    assert finished.model.by == finished.by == "hour"
    assert len(finished.forecast) == 5 * 168
    assert finished.settings["fit"] == {"networks": ["linear"], "seed": 0, "self_check": True}
    assert finished.versions["unmet"] == unmet.__version__
    finished.check()


def test_the_command_writes_the_same_bytes(finished: unmet.Run, given: dict[str, Any], tmp_path: Path):
    from unmet.cli import main

    command = ["run", given["trips"], "--status", *given["status"], "--stations", given["stations"]]
    command += [
        "--zone",
        given["zone"],
        "--network",
        "linear",
        "--jobs",
        1,
        "--quiet",
        "-o",
        tmp_path / "out",
    ]
    with pytest.raises(SystemExit) as end:
        main([str(word) for word in command])
    assert not end.value.code
    assert contents(tmp_path / "out") == contents(finished.folder)


def test_options_of_the_command_are_arguments_of_run():
    from unmet.cli._run import run as command

    shown = set(inspect.signature(command).parameters) - {"context", "config", "as_json", "quiet"}
    assert set(inspect.signature(unmet.run).parameters) == shown | {"progress", "backend"}


def test_called_again_nothing_is_done(finished: unmet.Run, given: dict[str, Any]):
    before = contents(finished.folder)
    again = unmet.run(**given, output=finished.folder, network="linear", jobs=1, progress=False)
    assert again.kept == ("panel", "fit", "forecast", "plan", "report")
    assert contents(finished.folder) == before


def test_steps_alone(copy: unmet.Run):
    pipeline.forecast(copy, horizon=5)
    assert len(copy.forecast) == 5 * 5
    pipeline.plan(copy.folder, fleet=11)
    assert copy.plan["target"].sum() == 11
    page = pipeline.report(copy, title="Mine").page
    assert page is not None
    assert "Mine" in page.read_text(encoding="utf-8")


def test_what_is_known_ahead_reaches_forecast_and_plan(city: Path, given: dict[str, Any], tmp_path: Path):
    """A weather forecast is given, and the first day ahead is a holiday."""
    output = tmp_path / "out"
    run = unmet.run(
        **given,
        weather=city / "weather.csv",
        holidays="US",
        output=output,
        network="linear",
        jobs=1,
        progress=False,
    )
    plain, planned = run.forecast, run.plan["expected_lost_usual"].sum()
    assert list(run.columns("covariates")) == ["ds", "holiday"]
    days = np.unique(plain["ds"].to_numpy().astype("datetime64[D]"))
    storm = ["date,rain,unheard"] + [f"{day},30,1" for day in days]
    (tmp_path / "ahead.csv").write_text("\n".join(storm))
    pipeline.forecast(run, covariates=tmp_path / "ahead.csv")
    assert set(run.columns("covariates")["rain"][24:48]) == {30.0}
    assert run.forecast["mean"].sum() < 0.95 * plain["mean"].sum()
    pipeline.plan(run)
    assert run.plan["expected_lost_usual"].sum() < planned
    (tmp_path / "ahead.csv").write_text("date,unheard\n" + f"{days[1]},1\n")
    with pytest.raises(ValueError, match="none of the panel's covariates"):
        pipeline.forecast(run, covariates=tmp_path / "ahead.csv")
    (tmp_path / "ahead.csv").write_text("date,rain\n1999-01-01,1\n")
    with pytest.raises(ValueError, match="says nothing about the periods"):
        pipeline.forecast(run, covariates=tmp_path / "ahead.csv")


def test_a_panel_alone_and_a_fit_of_it(given: dict[str, Any], finished: unmet.Run, tmp_path: Path):
    account = pipeline.panel(**given, output=tmp_path / "panel.parquet", progress=False)
    panel = read_panel(tmp_path / "panel.parquet")
    assert account["panel"]["rows"] == len(panel)
    assert (tmp_path / "panel.parquet").read_bytes() == (finished.folder / "panel.parquet").read_bytes()
    with pytest.raises(TypeError, match="no option 'horizon'"):
        pipeline.panel(**given, output=tmp_path / "panel.parquet", horizon=3)
    run = pipeline.fit(
        tmp_path / "panel.parquet",
        output=tmp_path / "out",
        stations=given["stations"],
        network="linear",
        jobs=1,
        progress=False,
    )
    # The same panel and the same places: the same estimates.
    assert run.columns("lost")["lost_mean"].tolist() == finished.columns("lost")["lost_mean"].tolist()
    assert run.account is not None
    assert run.account["panel"]["pickups"] == panel["y"].sum()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"trips": "nowhere.csv"}, r"nowhere\.csv does not exist"),
        ({"trips": []}, "trips must name at least one"),
        ({"by": "minute"}, "by must be hour or day"),
        ({"network": "cnn"}, "network must be linear"),
        ({"jobs": 0}, "jobs must be at least 1"),
        ({"hubs": 3, "cells": 8}, "hubs= and cells= exclude"),
        ({"keep": ["member"]}, "keep= takes name=value"),
        ({"free": True, "fleet": 3}, "free= ignores"),
        ({"cost_lost": 2.0}, "cost_lost and cost_idle"),
        ({"backend": "excel"}, "backend must be"),
    ],
)
def test_wrong_arguments_are_named_before_anything_is_written(
    given: dict[str, Any], tmp_path: Path, options: dict[str, Any], words: str
):
    with pytest.raises(ValueError, match=words):
        unmet.run(**{**given, "output": tmp_path / "out", **options})
    assert not (tmp_path / "out").exists()


def test_output_is_required(given: dict[str, Any]):
    with pytest.raises(TypeError, match="output"):
        unmet.run(**given)


def test_inputs_have_one_form():
    texts = PanelInputs.among(
        {"trips": "a.csv", "keep": ["kind=bike"], "columns": "start=A,station=B", "hubs": 3}
    )
    data = PanelInputs.among(
        {
            "trips": [Path("a.csv")],
            "keep": {"kind": "bike"},
            "columns": {"start": "A", "station": "B"},
            "hubs": "3",
        }
    )
    assert texts == data
    assert texts.kind == "hub"
    assert texts.files == [Path("a.csv")]
    assert texts.source == {"trips": [Path("a.csv")], "status": [], "stations": []}
    assert "memory" not in texts.settings
    by_file = PanelInputs.among({"trips": "a.csv", "hubs": "hubs.csv", "weather": "w.csv"})
    assert by_file.files == [Path("a.csv"), Path("w.csv"), Path("hubs.csv")]


def test_a_page_that_is_written_again_keeps_its_title(copy: unmet.Run):
    first = pipeline.report(copy, title="Jersey City").page.read_bytes()
    assert b"<title>Jersey City" in first
    assert pipeline.report(copy).page.read_bytes() == first


def test_a_panel_that_cannot_be_fitted_leaves_nothing_behind(given: dict[str, Any], tmp_path: Path):
    from unmet.tables import read_columns, write_columns

    pipeline.panel(**given, output=tmp_path / "panel.parquet", progress=False)
    columns, about = read_columns(tmp_path / "panel.parquet")
    early = columns["ds"] < columns["ds"].min() + np.timedelta64(5, "D")
    write_columns(
        tmp_path / "short.parquet", {name: column[early] for name, column in columns.items()}, about=about
    )
    with pytest.raises(ValueError, match="days"):
        pipeline.fit(tmp_path / "short.parquet", output=tmp_path / "out", jobs=1, progress=False)
    assert not (tmp_path / "out").exists()
