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


@pytest.mark.parametrize("options", [("--size", "hamlet"), ("--shocks", "rare"), ("--days", "many")])
def test_wrong_usage_names_the_option_and_writes_nothing(tmp_path, capsys, options):
    assert run("-o", str(tmp_path / "x"), *options) == 2
    told = capsys.readouterr().err
    assert told.startswith(f"unmet city: invalid value for '{options[0]}'")
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize("options", [("--days", "0"), ("--start", "soon"), ("--zone", "Mars")])
def test_bad_input_is_one_line_that_names_the_option(tmp_path, capsys, options):
    assert run("-o", str(tmp_path / "x"), *options) == 1
    told = capsys.readouterr().err
    assert options[0] in told
    assert told.count("\n") == 1
    assert not (tmp_path / "x").exists()


def test_output_is_required(capsys):
    assert run("--size", "village") == 2
    assert "--output" in capsys.readouterr().err
