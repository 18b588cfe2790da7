"""Errors speak of options, files and keys, never of Python's arguments."""

import pytest
from cli_tools import QUICK, call, given

from unmet.cli._messages import in_options, with_folder

OPTIONS = (
    *("by", "zone", "times", "hubs", "cells", "keep", "columns", "weather", "weather_keep", "max_gap"),
    *("max_reject_share", "memory", "horizon", "network", "cost_lost"),
)


@pytest.mark.parametrize(
    ("python", "typed"),
    [
        ("memory_limit must read like '2GB', got 'x'", "--memory must read like '2GB', got 'x'"),
        ("h3_resolution must be a whole number", "--cells must be a whole number"),
        ("networks must be among 'mlp'", "--network must be among 'mlp'"),
        ("zone='Mars' is not a time zone", "--zone 'Mars' is not a time zone"),
        ("say where with zone='UTC', or times='utc'", "say where with --zone 'UTC', or --times 'utc'"),
        ("more than max_reject_share=0.01 allows", "more than --max-reject-share 0.01 allows"),
        ("columns must name it: columns={'start': …}", "--columns must name it: --columns start=…"),
        (
            "places='h3' needs coordinates; use places='station'",
            "--cells needs coordinates; leave --cells out",
        ),
        ("weather_keep= picks rows; give weather= too", "--weather-keep picks rows; give --weather too"),
        ("rows with weather_keep, for instance {'a': '1'}", "rows with --weather-keep a=1"),
        ("hubs=99 needs coordinates", "--hubs 99 needs coordinates"),
        ("keep: 'x' is no column", "--keep: 'x' is no column"),
        ("cost_lost must be finite", "--cost-lost must be finite"),
        (
            "x.csv cannot be read: Out of Memory Error: could not allocate\nPossible solutions: SET x",
            "x.csv cannot be read: the database needs more memory than --memory allows",
        ),
        # What only looks like an argument stays as it is.
        ("/data/zone=1/max_gap.csv is empty", "/data/zone=1/max_gap.csv is empty"),
        ("panel columns are by hour", "panel columns are by hour"),
        ("'max_gap' is no column", "'max_gap' is no column"),
    ],
)
def test_arguments_become_options(python, typed):
    assert in_options(python, OPTIONS) == typed


def test_only_options_of_the_command_are_named():
    assert in_options("zone='Mars' is not a time zone", ["by"]) == "zone='Mars' is not a time zone"


def test_advice_names_the_folder():
    assert with_folder("do `unmet fit` again", "out") == "do `unmet fit out` again"
    assert with_folder("do `unmet fit` again", None) == "do `unmet fit` again"


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--memory", "much"], "--memory must read like"),
        (["--cells", "99"], "--cells must be a whole number from 0 to 15"),
        (["--columns", "begin=a"], "--columns has unknown field 'begin'"),
        (["--columns", "station=a"], "--columns must name the column of the start time: --columns start=…"),
        (["--keep", "colour=red"], "--keep: 'colour' is neither"),
        (["--max-gap", "soon"], "--max-gap 'soon' is not a positive interval"),
        (["--max-reject-share", "2"], "--max-reject-share must lie between 0 and 1"),
        (["--holidays", "Atlantis"], "--holidays 'Atlantis' is not a known country"),
        (["--weather-keep", "a=b"], "--weather-keep picks rows of a weather file; give --weather too"),
        (["--times", "noon"], "--times must be"),
        (["--zone", "Mars"], "--zone must"),
        (["--hubs", "999"], "--hubs must be between 1"),
        (["--jobs", "0"], "--jobs must be"),
        (["--free", "--fleet", "3"], "--free ignores the size of the fleet and --fleet sets it"),
        (["--network", "wide"], "--network must be linear, mlp or lstm"),
    ],
)
def test_a_run_names_the_option(city, tmp_path, capsys, more, words):
    assert call("run", *given(city[0]), *more, "-o", tmp_path / "out", "-q") == 1
    told = capsys.readouterr()
    assert words in told.err
    assert told.err.count("\n") == 1
    assert told.out == ""


def test_a_toml_file_holds_options(city, tmp_path, capsys):
    trips = given(city[0])[0]
    config = tmp_path / "run.toml"
    config.write_text(f'trips = "{trips}"\nzone = "Mars"\noutput = "{tmp_path / "out"}"\njobs = 1\n')
    assert call("run", "--config", config) == 1
    assert f"--zone must be a name such as 'America/New_York', got 'Mars' ({config}: zone)" in (
        capsys.readouterr().err
    )
    assert call("run", "--config", config, "--zone", "Venus") == 1  # the command line wins
    assert "'Venus'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("by_hour = true", "run.toml has 'by_hour', which is no option"),
        ("horizn = 3", "run.toml has 'horizn', which is no option; did you mean 'horizon'?"),
        ("title = {a = 1}", "run.toml: title must be one text or number, not a table"),
        ("title = ['a']", "run.toml: title must be one text or number, not a list"),
        ("network = ['linear', {a = 1}]", "run.toml: network must be one text or number, not a table"),
        ("free = 'yes'", "run.toml: free must be true or false, not a text"),
        ("horizon = 'many'", "run.toml: invalid value for '--horizon'"),
        ("horizon = -1", "run.toml: invalid value for '--horizon'"),
        ("cost_lost = inf", "run.toml: invalid value for '--cost-lost': a cost is a finite number"),
        ("title = ", "run.toml is not TOML"),
    ],
)
def test_wrong_toml_names_the_file_and_the_key(city, tmp_path, capsys, line, words):
    config = tmp_path / "run.toml"
    config.write_text(line + "\n")
    assert call("run", *given(city[0]), *QUICK, "--config", config, "-o", tmp_path / "out") == 2
    told = capsys.readouterr().err
    assert words in told
    assert told.count("\n") == 1
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("cost", ["inf", "nan", "-1", "much"])
def test_costs_are_finite_numbers(finished, capsys, cost):
    for option in ("--cost-lost", "--cost-idle"):
        assert call("plan", finished, f"{option}={cost}") == 2
        told = capsys.readouterr().err
        assert f"invalid value for '{option}'" in told
        assert told.count("\n") == 1


@pytest.mark.parametrize("option", ["--cost-lost", "--cost-idle"])
def test_costs_without_effect_are_refused(finished, capsys, option):
    assert call("plan", finished, option, 3) == 1
    assert "add it, or leave them out" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["forecast", "x", "--horizon", "0"], "invalid value for '--horizon': it must be at least 1 (see"),
        (
            ["forecast", "x", "--horizon", "z"],
            "invalid value for '--horizon': it must be a whole number (see",
        ),
        (["serve", "x", "--port", "99999"], "invalid value for '--port': it must be at most 65535 (see"),
        (
            ["run", "x", "-o", "y", "--max-reject-share", "z"],
            "'--max-reject-share': it must be a number (see",
        ),
        (["run", "-o", "y"], "missing argument 'TRIPS…' (see unmet run --help)"),
        (["run", "x"], "missing option '--output'"),
        (["plan", "x", "--colour"], "no such option: --colour"),
        (["plan", "x", "y"], "unexpected extra argument"),
        (["plan", "x", "--fleet"], "'--fleet' requires an argument"),
    ],
)
def test_wrong_usage_is_one_line(arguments, words, capsys):
    assert call(*arguments) == 2
    told = capsys.readouterr()
    assert words in told.err
    assert told.err.startswith(f"unmet {arguments[0]}: ")
    assert told.err.endswith(f" (see unmet {arguments[0]} --help)\n")
    assert told.err.count("\n") == 1
    assert told.out == ""
