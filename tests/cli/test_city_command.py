"""`unmet city` writes a city, says what it did, and refuses bad options in one line."""

import json

import pytest

from unmet.cli import main


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as stop:
        main(["city", *arguments])
    return int(stop.value.code or 0)


def test_writes_a_city_and_sums_it_up(tmp_path, capsys):
    assert run("-o", str(tmp_path / "v"), "--size", "village", "--days", "3", "--rival") == 0
    said = json.loads((tmp_path / "v" / "city.json").read_text())
    told = capsys.readouterr()
    printed = told.out
    assert told.err == ""
    assert f"{said['rides']:,}" in printed
    assert f"{said['requests']:,}" in printed
    assert f"{said['share_empty']:.1%}" in printed
    assert "truth.parquet" in printed
    assert said["settings"]["rival"] == 0.2


def test_switches_reach_the_city_and_quiet_says_nothing(tmp_path, capsys):
    options = (
        "--no-spill --no-rebalancing --no-weather --no-snapshots --months --shocks persistent --places 5"
    )
    assert run("-o", str(tmp_path), "--days", "2", "--quiet", "--vehicles", "20", *options.split()) == 0
    assert capsys.readouterr() == ("", "")
    said = json.loads((tmp_path / "city.json").read_text())
    settings = said["settings"]
    assert [settings[name] for name in ("spill", "rebalancing", "weather")] == [False] * 3
    assert (settings["shocks"], settings["places"], settings["vehicles"]) == ("persistent", 5, 20)
    assert "trips-202403.csv.gz" in said["files"]
    assert not any("snapshots.csv" in name or "weather" in name for name in said["files"])


def test_a_bad_option_is_one_line(tmp_path, capsys):
    assert run("-o", str(tmp_path / "x"), "--size", "hamlet") == 1
    printed = capsys.readouterr().err.strip()
    assert printed.splitlines()[-1].startswith("unmet city: --size must be one of")
    assert not (tmp_path / "x").exists()


def test_output_is_required(capsys):
    assert run("--size", "village") == 2
