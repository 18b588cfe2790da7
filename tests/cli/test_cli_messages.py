"""Errors speak of options, files and keys, never of Python's arguments."""

import pytest
from cli_tools import QUICK, call, given

from unmet.cli._errors import in_options

OPTIONS = {"zone": "--zone", "times": "--times", "weather": "--weather", "weather_keep": "--weather-keep"}
OPTIONS |= {
    "max_gap": "--max-gap",
    "h3_resolution": "--cells",
    "keep": "--keep",
    "columns": "--columns",
    "free": "--free",
}


@pytest.mark.parametrize(
    ("python", "typed"),
    [
        ("h3_resolution must be a whole number", "--cells must be a whole number"),
        ("keep: 'x' is no column", "--keep: 'x' is no column"),
        ("zone='Mars' is not a time zone", "--zone 'Mars' is not a time zone"),
        ("say where with zone='UTC', or times='utc'", "say where with --zone 'UTC', or --times 'utc'"),
        ("weather_keep= picks rows; give weather= too", "--weather-keep picks rows; give --weather too"),
        ("leave out max_gap and free=True", "leave out --max-gap and --free"),
        # What only looks like an argument stays as it is.
        ("/data/zone=1/max_gap.csv is empty", "/data/zone=1/max_gap.csv is empty"),
        ("columns of the panel are by hour", "columns of the panel are by hour"),
        ("'max_gap' must be a column", "'max_gap' must be a column"),
        ("fleet must be positive", "fleet must be positive"),  # no option of this command
    ],
)
def test_arguments_become_options(python, typed):
    assert in_options(python, OPTIONS) == typed


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--memory", "much"], ("--memory", "2GB")),
        (["--cells", "99"], ("--cells", "from 0 to 15")),
        (["--columns", "begin=a"], ("--columns", "'begin'")),
        (["--columns", "station=a"], ("--columns", "start")),
        (["--keep", "colour=red"], ("--keep", "'colour'")),
        (["--max-gap", "soon"], ("--max-gap", "'soon'")),
        (["--max-reject-share", "2"], ("--max-reject-share", "between 0 and 1")),
        (["--holidays", "Atlantis"], ("--holidays", "US-NJ")),
        (["--weather-keep", "a=b"], ("--weather-keep", "--weather")),
        (["--zone", "Mars"], ("--zone", "America/New_York")),
        (["--hubs", "999"], ("--hubs", "between 1")),
        (["--jobs", "0"], ("--jobs", "at least 1")),
        (["--free", "--fleet", "3"], ("--free", "--fleet", "choose one")),
    ],
)
def test_a_run_names_the_option(city, tmp_path, capsys, more, words):
    assert call("run", *given(city[0]), *more, "-o", tmp_path / "out", "-q") == 1
    told = capsys.readouterr()
    assert all(word in told.err for word in words), told.err
    assert told.err.count("\n") == 1
    assert told.out == ""


def test_a_toml_file_holds_options(city, tmp_path, capsys):
    trips = given(city[0])[0]
    config = tmp_path / "run.toml"
    config.write_text(f'trips = "{trips}"\nzone = "Mars"\noutput = "{tmp_path / "out"}"\njobs = 1\n')
    assert call("run", "--config", config) == 1
    told = capsys.readouterr().err
    assert told.startswith(f"unmet run: {config}: --zone ")
    assert "'Mars'" in told
    assert call("run", "--config", config, "--zone", "Venus") == 1  # the command line wins
    told = capsys.readouterr().err
    assert told.startswith("unmet run: --zone ")
    assert "'Venus'" in told


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("by_hour = true", "run.toml: 'by_hour' is not an option"),
        ("horizn = 3", "run.toml: 'horizn' is not an option; did you mean 'horizon'?"),
        ("title = {a = 1}", "run.toml: title must be one text or number"),
        ("title = ['a']", "run.toml: title must be one text or number"),
        ("network = ['linear', {a = 1}]", "run.toml: network must be one text or number"),
        ("times = 'noon'", "run.toml: invalid value for '--times'"),
        ("free = 'yes'", "run.toml: free must be true or false"),
        ("horizon = 'many'", "run.toml: invalid value for '--horizon'"),
        ("horizon = -1", "run.toml: invalid value for '--horizon'"),
        ("cost_lost = inf", "run.toml: invalid value for '--cost-lost'"),
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
def test_costs_are_finite_numbers(capsys, cost):
    for option in ("--cost-lost", "--cost-idle"):
        assert call("plan", "x", f"{option}={cost}") == 2
        told = capsys.readouterr().err
        assert f"invalid value for '{option}'" in told
        assert told.count("\n") == 1


@pytest.mark.parametrize("option", ["--cost-lost", "--cost-idle"])
def test_costs_without_effect_are_refused(capsys, option):
    assert call("plan", "x", option, 3) == 1
    told = capsys.readouterr().err
    assert option in told
    assert "--free" in told


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["forecast", "x", "--horizon", "0"], "invalid value for '--horizon'"),
        (["forecast", "x", "--horizon", "z"], "invalid value for '--horizon'"),
        (["serve", "x", "--port", "99999"], "invalid value for '--port'"),
        (["run", "x", "-o", "y", "--max-reject-share", "z"], "invalid value for '--max-reject-share'"),
        (["run", "x", "-o", "y", "--by", "minute"], "'minute' is not one of 'hour', 'day'"),
        (["run", "x", "-o", "y", "--network", "wide"], "'wide' is not one of 'linear', 'mlp', 'lstm'"),
        (["run", "x", "-o", "y", "--times", "noon"], "'noon' is not one of 'local', 'utc'"),
        (["run", "-o", "y"], "missing argument 'TRIPS…'"),
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


@pytest.mark.filterwarnings("always")
@pytest.mark.parametrize("command", [("run", "--panel"), ("fit",)])
def test_too_little_memory_for_a_fit_is_told_in_one_line(tmp_path, monkeypatch, capsys, command):
    from unmet.forecasting import _fit

    def stop(*_):
        raise ValueError("enough is known")

    monkeypatch.setattr(_fit, "costs_of", stop)
    table = tmp_path / "own.csv"
    rows = [f"a,2024-01-{day:02d},{day % 5},{int(day % 5 == 4)}" for day in range(1, 29)]
    table.write_text("\n".join(["unique_id,ds,y,censored", *rows]) + "\n")
    for memory, lines in ((["--memory", "100MB"], 2), ([], 1)):
        assert call(*command, table, *memory, "-o", tmp_path / "out") == 1
        told = capsys.readouterr().err.splitlines()
        assert len(told) == lines, told
    assert call(*command, table, "--memory", "100MB", "-o", tmp_path / "out") == 1
    told = capsys.readouterr().err
    assert told.startswith(
        f"unmet {command[0]}: warning: --memory: 0.1 GB is too little for a fit of 28 rows"
    )
    assert "Allow 1 GB" in told
