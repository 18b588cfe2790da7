"""`unmet fit` of a panel file, and the steps after it, without `unmet run`."""

import json
import shutil

import numpy as np
import pytest
from cli_tools import QUICK, call

from unmet.mobility import read_panel
from unmet.pipeline import panel_places
from unmet.runs import load_model, read_record, save_model, stale_steps
from unmet.tables import read_columns, write_columns


def test_fit_forecast_plan_report(alone, given_panel, tmp_path, capsys):
    output = shutil.copytree(alone, tmp_path / "out")
    for command in ("forecast", "plan", "report"):
        assert call(command, output) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    total = json.loads((output / "lost_total.json").read_text())
    assert total["observed"] == read_panel(given_panel)["y"].sum()
    plan = (output / "plan.csv").read_text().splitlines()
    assert len(plan) == 1 + 6
    page = (output / "report.html").read_text()
    assert all(f"P0{number}" in page for number in range(1, 7))
    assert list(read_record(output)["steps"]) == ["fit", "forecast", "panel", "plan", "report"]


def test_places_come_from_the_panel(alone, finished):
    places, about = read_columns(alone / "stations.parquet")
    known, _ = read_columns(finished / "stations.parquet")
    assert about == {"kind": "station"}
    assert list(places["unique_id"]) == list(places["name"]) == list(known["unique_id"])
    assert np.isnan(places["lat"]).all()
    assert np.array_equal(places["capacity"], known["capacity"])


def test_asked_again_nothing_is_done(alone, given_panel):
    before = {path: path.stat().st_mtime_ns for path in alone.rglob("*") if path.name != "log.jsonl"}
    assert call("fit", given_panel, "-o", alone, *QUICK, "--quiet") == 0
    assert call("fit", alone, *QUICK, "--quiet") == 0
    assert before == {path: path.stat().st_mtime_ns for path in before}


@pytest.mark.parametrize("source", ["station_information.json", "stations.parquet"])
def test_stations_give_names_and_coordinates(city, finished, source):
    path = finished / source if source.endswith("parquet") else city[0] / source
    places = panel_places(read_panel(finished / "panel.parquet"), [path])
    known, _ = read_columns(finished / "stations.parquet")
    for name, values in known.items():
        assert np.array_equal(places[name], values), name


def test_stations_of_another_city_are_refused(finished, tmp_path, capsys):
    columns, about = read_columns(finished / "stations.parquet")
    columns["unique_id"] = np.array([f"other {place}" for place in columns["unique_id"]], object)
    other = write_columns(tmp_path / "stations.parquet", columns, about=about)
    output = tmp_path / "out"
    assert call("fit", finished / "panel.parquet", "--stations", other, "-o", output, *QUICK) == 1
    assert "--stations knows none of the places of the panel, such as 'P01'" in capsys.readouterr().err
    assert call("fit", finished / "panel.parquet", "--stations", "gone.json", "-o", output, *QUICK) == 1
    assert "gone.json does not exist" in capsys.readouterr().err
    assert call("fit", finished, "--replace") == 1
    assert "--replace goes with a panel file" in capsys.readouterr().err


def test_replace_starts_over_in_the_folder_of_another_run(finished, tmp_path, monkeypatch):
    fitted = []
    monkeypatch.setattr("unmet.pipeline._run.fit_step", lambda steps, **_: fitted.append(steps.folder))
    output = shutil.copytree(finished, tmp_path / "out")
    panel = shutil.copy(finished / "panel.parquet", tmp_path / "mine.parquet")
    assert call("fit", panel, "-o", output, *QUICK, "--quiet", "--replace") == 0
    record = read_record(output)
    assert [file["name"] for file in record["source"]["panel"]] == ["mine.parquet"]
    assert fitted[0].parent == output  # built beside the run that was there
    assert list(record["steps"]) == ["panel"]
    assert not (output / "plan.csv").exists()  # of the run that was there
    assert not (output / "report.html").exists()


def test_a_place_without_a_vehicle_is_told(alone, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    assert call("fit", alone, *QUICK) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "P03 never had a vehicle: lost rides there are guessed from other places." in printed
    assert call("fit", alone, *QUICK, "--json") == 0
    assert json.loads(capsys.readouterr().out)["never_available"] == ["P03"]
    assert read_record(alone)["notes"]["measures"]["never_available"] == ["P03"]


def test_a_report_of_an_older_forecast_is_refused(finished, tmp_path, capsys):
    output = shutil.copytree(finished, tmp_path / "out")
    config, arrays = load_model(output / "model")
    save_model(output / "model", {**config, "seed": 99}, arrays)  # as if fitted again
    assert stale_steps(output) == ["forecast", "plan"]
    assert call("report", output) == 1
    told = capsys.readouterr().err
    assert f"holds the forecast and plan of an earlier fit; do `unmet forecast {output}`" in told
    assert call("forecast", output, "--quiet") == 0
    assert call("plan", output, "--quiet") == 0
    assert call("report", output, "--quiet") == 0
    assert stale_steps(output) == []


def test_a_table_without_supply_is_refused_with_a_remedy(tmp_path, capsys):
    (tmp_path / "panel.csv").write_text("unique_id,ds,y\na,2024-01-01,3\n")
    assert call("fit", tmp_path / "panel.csv", "-o", tmp_path / "out") == 1
    assert 'Name it, such as --columns "exposure=in_stock"' in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_the_given_panel_stays_as_it_is(alone, given_panel):
    assert (alone / "panel.parquet").read_bytes() == given_panel.read_bytes()
