"""`unmet paper bikes` and `fleet`: a quick pass, the same when asked again, and refusals in one line."""

import os
from pathlib import Path

import pytest

import unmet
from unmet.cli import main

DATA = Path(os.environ.get("UNMET_DATA") or Path(unmet.__file__).parents[3] / "shared" / "data")


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as stop:
        main(["paper", *arguments])
    return int(stop.value.code or 0)


def test_a_quick_pass_of_both(tmp_path, capsys):
    folder = tmp_path / "smoke"
    for what in ("bikes", "fleet"):
        assert run(what, "--smoke", "-o", str(tmp_path), "--jobs", "1") == 0
        text = (folder / f"{what}-city.md").read_text(encoding="utf-8")
        assert "| as published | Multi-CQNN+LSTM |" in text
        assert "| ours | default |" in text
        assert "networks/s" in (folder / f"{what}-city-cost.md").read_text(encoding="utf-8")
    figures = sorted(path.name for path in (folder / "figures").glob("*.png"))
    assert figures == [
        *("bikes-city-icp-ours.png", "bikes-city-icp.png", "bikes-city-mil-ours.png", "bikes-city-mil.png"),
        "fleet-city.png",
    ]
    printed = capsys.readouterr().out
    assert "One-at-a-time Keras would need" in printed
    before = (folder / "bikes-city.md").read_bytes()
    assert run("bikes", "--smoke", "-o", str(tmp_path), "--jobs", "1", "--quiet") == 0
    assert (folder / "bikes-city.md").read_bytes() == before
    assert "were not run again" in (folder / "bikes-city-cost.md").read_text(encoding="utf-8")


def test_trips_of_ones_own(tmp_path):
    here = DATA / "bay_area_2014"
    if not here.is_dir():
        pytest.skip("real data bay_area_2014 are not here; set UNMET_DATA")
    options = ["--trips", str(here / "trips.csv.gz"), "--stations", str(here / "stations.csv")]
    options += ["--zone", "America/Los_Angeles", "--times", "utc", "--keep", "landmark=San Francisco"]
    assert run("fleet", "--smoke", *options, "--holidays", "US-CA", "-o", str(tmp_path), "--jobs", "1") == 0
    text = (tmp_path / "smoke" / "fleet-bay-area-2014.md").read_text(encoding="utf-8")
    assert text.startswith("365 days from 2014-01-01, 802 rides a day")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("table1", "--full"), "--full belongs to"),
        (("bikes", "--full", "--smoke"), "exclude each other"),
        (("bikes", "--zone", "Europe/Paris"), "--zone says how to read trips"),
        (("fleet", "--times", "utc"), "--times says how to read trips"),
        (("bikes", "--trips", "nowhere.csv"), "nowhere.csv"),
        (("bikes", "--smoke", "--units", "0"), "units"),
    ],
)
def test_refusals_are_one_line(tmp_path, capsys, arguments, words):
    assert run(*arguments, "-o", str(tmp_path / "x"), "--jobs", "1") == 1
    text = capsys.readouterr().err.strip()
    assert words in text
    assert "\n" not in text
