"""What commands print: nothing with --quiet, JSON alone with --json, lines that fit the terminal."""

import json
import shutil

import pytest
from cli_tools import QUICK, call, given


@pytest.fixture
def folder(finished, tmp_path):
    return shutil.copytree(finished, tmp_path / "out")


def test_quiet_says_nothing(folder, city, capfd):
    assert call("run", *given(city[0]), *QUICK, "-o", folder, "--quiet") == 0
    assert call("fit", folder, *QUICK, "--quiet") == 0
    for command in ("forecast", "plan", "report"):
        assert call(command, folder, "--quiet") == 0
    assert call("panel", *given(city[0]), "-o", folder / "again.parquet", "--quiet") == 0
    assert capfd.readouterr() == ("", "")


def test_quiet_still_tells_errors(folder, capfd):
    assert call("forecast", folder, "--horizon", 10**6, "--quiet") == 1
    out, err = capfd.readouterr()
    assert out == ""
    assert err.startswith("unmet forecast: --horizon must be")


def test_json_is_json_and_nothing_else(folder, city, capfd):
    for command in (
        ("run", *given(city[0]), *QUICK, "-o", folder),
        ("fit", folder, *QUICK),
        ("panel", *given(city[0]), "-o", folder / "again.parquet"),
    ):
        assert call(*command, "--json") == 0
        out, err = capfd.readouterr()
        assert err == ""
        found = json.loads(out, parse_constant=pytest.fail)  # NaN is not JSON
        assert found.get("observed") or found["panel"]["pickups"]


@pytest.mark.parametrize("width", [40, 60])
def test_summaries_fit_the_terminal(folder, city, capsys, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.chdir(folder)
    for command in (
        ("run", *given(city[0]), *QUICK, "-o", "."),
        ("fit", ".", *QUICK),
        ("forecast", "."),
        ("plan", "."),
        ("report", "."),
        ("panel", *given(city[0]), "-o", "again.parquet"),
    ):
        assert call(*command) == 0
        lines = capsys.readouterr().out.splitlines()
        assert lines, command
        # A path is one word: it is not cut in pieces, so that it can be copied.
        long = [
            line for line in lines if len(line) > width and not line.startswith(("Written:", "Next:", "  /"))
        ]
        assert not long, command
        assert not any(line.endswith("…") for line in lines), command


def test_warnings_are_one_line_each(folder, capsys, monkeypatch):
    import warnings

    from unmet import pipeline
    from unmet.results import open_run

    def warn(*_, **__):
        with warnings.catch_warnings():
            warnings.simplefilter("default")
            warnings.warn("levels differ", UserWarning, stacklevel=1)
        return open_run(folder)

    monkeypatch.setattr(pipeline, "forecast", warn)
    assert call("forecast", folder) == 0
    assert capsys.readouterr().err == "unmet forecast: warning: levels differ\n"
    assert call("forecast", folder, "--quiet") == 0
    assert capsys.readouterr().err == ""
