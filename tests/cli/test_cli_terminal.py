"""Names in files and paths reach the terminal as text, whatever they hold."""

import pytest
from cli_tools import call, given

EVIL = "\x1b]0;owned\x07[bold]\x1b[2J[/nothing]\u202e"


def no_control(text: str) -> bool:
    return not any(sign in text for sign in ("\x1b", "\x07", "\u202e"))


def test_a_header_in_an_error(tmp_path, capsys):
    path = tmp_path / "trips.csv"
    path.write_text(f"{EVIL},b\n1,2\n", encoding="utf-8")
    assert call("panel", path, "-o", tmp_path / "p.parquet") == 1
    told = capsys.readouterr().err
    assert no_control(told)
    assert "owned" in told


def test_a_path_in_an_error(tmp_path, capsys):
    path = tmp_path / EVIL.replace("/", "")
    assert call("panel", path, "-o", tmp_path / "p.parquet") == 1
    told = capsys.readouterr().err
    assert no_control(told)
    assert "owned" in told


@pytest.mark.parametrize("where", ["column", "path"])
def test_a_note_and_a_path_in_a_summary(city, tmp_path, capsys, where):
    weather = tmp_path / "weather.csv"
    header = EVIL if where == "column" else "words"
    rows = (city[0] / "weather_daily.csv").read_text().splitlines()
    weather.write_text(
        "\n".join([f"{rows[0]},{header}", *(f"{row},fog" for row in rows[1:])]), encoding="utf-8"
    )
    folder = tmp_path / (EVIL.replace("/", "") if where == "path" else "plain")
    folder.mkdir()
    assert call("panel", *given(city[0]), "--weather", weather, "-o", folder / "p.parquet") == 0
    told = capsys.readouterr().out
    assert no_control(told)
    assert "owned" in told


def test_a_path_of_a_city(tmp_path, capsys):
    folder = tmp_path / "a[" / "b]"
    assert call("city", "-o", folder, "--size", "village", "--days", 1, "--no-snapshots") == 0
    assert "b]" in "".join(capsys.readouterr().out.split())
