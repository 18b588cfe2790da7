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


@pytest.mark.parametrize(
    ("what", "figures"),
    [
        ("fleet", {"fleet-city"}),
        pytest.param(
            "bikes",
            {"bikes-city-icp-ours", "bikes-city-icp", "bikes-city-mil-ours", "bikes-city-mil"},
            marks=pytest.mark.slow,
        ),
    ],
)
def test_a_quick_pass_and_the_same_again(tmp_path, capsys, what, figures):
    folder = tmp_path / "smoke"
    quick = (what, "--smoke", "-o", str(tmp_path), "--jobs", "1")
    assert run(*quick) == 0
    before = (folder / f"{what}-city.md").read_bytes()
    assert b"| as published | Multi-CQNN+LSTM |" in before
    assert b"| ours | default |" in before
    assert "networks/s" in (folder / f"{what}-city-cost.md").read_text(encoding="utf-8")
    assert {path.stem for path in (folder / "figures").glob("*.png")} == figures
    assert "One-at-a-time Keras would need" in capsys.readouterr().out
    assert run(*quick, "--quiet") == 0
    assert (folder / f"{what}-city.md").read_bytes() == before
    assert "were not run again" in (folder / f"{what}-city-cost.md").read_text(encoding="utf-8")
    assert capsys.readouterr() == ("", "")


OWN = "--stations s.csv --zone America/Los_Angeles --times utc --keep landmark=x --holidays US-CA"


def test_trips_of_ones_own_reach_the_experiment(tmp_path, monkeypatch):
    import unmet.papers
    from unmet.papers.mobility import Asked, Trips

    asked = []
    monkeypatch.setattr(unmet.papers, "reproduce", lambda *_, mobility, **__: asked.append(mobility) or ())
    more = ["--full", "--units", "8", "--activation", "relu", "--jobs", "2", "--cluster", "tcp://x:1"]
    assert run("fleet", "--trips", "a.csv", "b.csv", *OWN.split(), *more, "-o", str(tmp_path)) == 0
    source = Trips(
        (Path("a.csv"), Path("b.csv")),
        (Path("s.csv"),),
        "America/Los_Angeles",
        "utc",
        {"landmark": "x"},
        "US-CA",
    )
    assert asked == [Asked("full", source, 2, "tcp://x:1", 8, "relu")]


@pytest.mark.slow
def test_real_trips(tmp_path):
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
        (("table1", "--full"), "--full"),
        (("bikes", "--full", "--smoke"), "--smoke and --full"),
        (("bikes", "--zone", "Europe/Paris"), "give --trips too"),
        (("fleet", "--times", "utc"), "--times"),
        (("bikes", "--trips", "nowhere.csv"), "nowhere.csv"),
    ],
)
def test_refusals_are_one_line(tmp_path, capsys, arguments, words):
    assert run(*arguments, "-o", str(tmp_path / "x"), "--jobs", "1") == 1
    text = capsys.readouterr().err.strip()
    assert words in text
    assert "\n" not in text


def test_a_network_without_units_is_wrong_usage(tmp_path, capsys):
    assert run("bikes", "--smoke", "--units", "0", "-o", str(tmp_path / "x")) == 2
    assert "'--units'" in capsys.readouterr().err
