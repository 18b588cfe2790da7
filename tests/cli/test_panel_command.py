"""`unmet panel` from files to a panel, a summary and a picture."""

import json
import re

import pytest

from unmet.cli import main
from unmet.datasets import make_city
from unmet.mobility import read_panel

ZONE = ["--zone", "America/New_York"]


@pytest.fixture(scope="module")
def city(tmp_path_factory):
    folder = tmp_path_factory.mktemp("city")
    make_city("village", days=7, seed=5).write(folder)
    return folder


def run(*arguments) -> int:
    with pytest.raises(SystemExit) as ended:
        main(["panel", *map(str, arguments)])
    return int(ended.value.code or 0)


def inputs(city):
    return [city / "trips.csv.gz", "--status", city / "station_status_events.csv.gz",
            "--stations", city / "station_information.json", *ZONE]  # fmt: skip


def test_a_panel_and_a_summary_that_adds_up(city, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    target = tmp_path / "panel.parquet"
    assert run(*inputs(city), "-o", target) == 0
    text = capsys.readouterr().out
    assert max(map(len, text.splitlines()[:-1])) <= 60
    numbers = dict(re.findall(r"^ *(\w+(?: \w+)?) +([\d,]+) ", text, re.M))
    count = {name: int(value.replace(",", "")) for name, value in numbers.items()}
    panel = read_panel(target)
    assert count["lines"] == count["headers"] + count["rides"] + count["rejected"]
    assert count["in panel"] == panel["y"].sum()
    assert count["panel"] == len(panel)
    assert "empty" in text
    assert "censored" in text


def test_the_summary_as_data(city, tmp_path, capsys):
    arguments = [*inputs(city), "-o", tmp_path / "panel.parquet", "--json", "--by", "day",
                 "--holidays", "US-NJ",
                 "--weather", city / "weather_daily.csv", "--hubs", 2]  # fmt: skip
    assert run(*arguments) == 0
    data = json.loads(capsys.readouterr().out)
    trips, panel = data["trips"], data["panel"]
    assert trips["lines"] == trips["headers"] + trips["accepted"] + trips["rejected"]
    assert trips["accepted"] == trips["rides"] + trips["duplicates"] + trips["left_out"]
    assert trips["rides"] == panel["rides"] + trips["not_counted"]
    assert panel["rides"] == panel["pickups"] + panel["rides_without_place"] + panel["rides_outside"]
    assert (panel["places"], panel["periods"], panel["kind"]) == (2, 7, "hub")
    assert "holiday" in panel["covariates"]
    assert "temperature" in " ".join(panel["covariates"])


def test_without_a_feed_rows_are_inferred(city, tmp_path, capsys):
    assert run(city / "trips.csv.gz", *ZONE, "-o", tmp_path / "panel.csv", "--quiet") == 0
    assert capsys.readouterr().out == ""
    assert run(city / "trips.csv.gz", *ZONE, "-o", tmp_path / "panel.parquet") == 0
    assert "vehicle ids" in capsys.readouterr().out
    assert read_panel(tmp_path / "panel.parquet")["inferred"].all()


def test_describe_takes_a_name_as_well_as_an_id(city, tmp_path):
    station = json.loads((city / "station_information.json").read_text())["data"]["stations"][0]
    pictures = []
    for place in (station["station_id"], station["name"].upper()):
        picture = tmp_path / f"{len(pictures)}.png"
        assert (
            run(*inputs(city), "-o", tmp_path / "p.parquet", "-q", "--describe", place, "--picture", picture)
            == 0
        )
        pictures.append(picture.read_bytes())
    assert pictures[0] == pictures[1]


def test_describe_draws_a_picture(city, tmp_path, capsys):
    place = read_place(city)
    target = tmp_path / "panel.parquet"
    assert run(*inputs(city), "-o", target, "--describe", place) == 0
    (picture,) = tmp_path.glob("*.png")
    assert picture.read_bytes().startswith(b"\x89PNG")
    chosen = tmp_path / "chosen.png"
    drawing = [*inputs(city), "-o", target, "--describe", place, "--picture", chosen]
    assert run(*drawing, "--since", "2024-03-06", "--days", 1) == 0
    assert chosen.is_file()
    capsys.readouterr()
    chosen.unlink()
    assert run(*drawing, "--since", "1999-01-01") == 1
    assert "--since 1999-01-01" in capsys.readouterr().err
    assert not chosen.exists()


def read_place(city) -> str:
    held = json.loads((city / "station_information.json").read_text())
    return held["data"]["stations"][0]["station_id"]


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["-o", "{tmp}/panel.xlsx"], "parquet"),
        (["-o", "{tmp}/none/panel.parquet"], "does not exist"),
        (["-o", "{tmp}/p.parquet", "--hubs", "2", "--cells", "8"], "--hubs and --cells"),
        (["-o", "{tmp}/p.parquet", "--hubs", "{tmp}/no.csv"], "no.csv"),
        (["-o", "{tmp}/p.parquet", "--describe", "nowhere"], "nowhere"),
        (["-o", "{tmp}/p.parquet", "--picture", "a.png"], "--describe"),
        (["-o", "{tmp}/p.parquet", "--keep", "landmark"], "name=value"),
        (["-o", "{tmp}/p.parquet", "--by", "blink"], "--by '1 blink'"),
        (["-o", "{tmp}/p.parquet", "--zone", "Nowhere/Land"], "Nowhere/Land"),
        (["-o", "{tmp}/p.parquet", "--status", "{tmp}/gone.json"], "gone.json"),
        (["-o", "{tmp}/p.parquet", "--memory", "lots"], "--memory"),
    ],
)
def test_wrong_input_is_one_line_and_leaves_nothing(city, tmp_path, capsys, more, words):
    more = [text.replace("{tmp}", str(tmp_path)) for text in more]
    assert run(city / "trips.csv.gz", *ZONE, *more) == 1
    said = capsys.readouterr()
    assert words in said.err
    assert said.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []
