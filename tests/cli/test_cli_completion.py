"""Completion of commands and options, in the shells themselves where they are there."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from unmet.cli._app import COMMANDS, complete, main
from unmet.cli._completion import SCRIPTS


def test_commands_and_options_are_completed() -> None:
    assert complete([]) == [*COMMANDS, "--help", "--version"]
    assert complete(["fo"]) == ["forecast"]
    assert "--horizon" in complete(["run", "trips.csv", "--"])
    assert complete(["paper", "bikes", "--smo"]) == ["--smoke"]
    assert complete(["panel", "trips"]) == []  # a file name
    assert complete(["nonsense", "--"]) == []


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["run", "--by", ""], ["hour", "day"]),
        (["run", "trips.csv", "--by", "d"], ["day"]),
        (["run", "--by=h"], ["--by=hour"]),
        (["run", "--by", "=", "h"], ["hour"]),  # as bash cuts --by=h
        (["run", "--by", "="], ["hour", "day"]),
        (["panel", "--by", ""], ["hour", "day"]),  # any other interval may be typed
        (["run", "--times", "u"], ["utc"]),
        (["run", "--network", "l"], ["linear", "lstm"]),
        (["city", "--size", "v"], ["village"]),
        (["city", "--shocks", ""], ["independent", "persistent"]),
        (["demo", "--models", "--noise", "st"], ["student"]),
        (["paper", "table"], ["table1", "table2", "table3", "table4"]),
        (["paper", "bikes", ""], []),
        (["completion", ""], ["bash", "zsh", "fish"]),
        (["run", "--hubs", ""], []),  # a number or a file
        (["run", "--zone", ""], []),
        (["run", "--free", "--q"], ["--quiet"]),  # a flag takes no value
    ],
)
def test_choices_are_offered(words: list[str], found: list[str]) -> None:
    assert complete(words) == found


def test_offered_choices_are_those_that_exist() -> None:
    from unmet.cli import _demo, _paper
    from unmet.datasets._noises import NOISES
    from unmet.papers import WHAT

    assert set(_demo.CHOICES["noise"]) == set(NOISES)
    assert set(_paper.CHOICES["what"]) == set(WHAT)


def test_the_shell_gets_its_script_or_a_clear_line(capsys: pytest.CaptureFixture[str]) -> None:
    for shell, script in SCRIPTS.items():
        with pytest.raises(SystemExit) as end:
            main(["completion", shell])
        assert not end.value.code
        assert capsys.readouterr().out == script
    with pytest.raises(SystemExit) as end:
        main(["completion", "tcsh"])
    assert end.value.code == 1
    assert "bash, zsh, fish" in capsys.readouterr().err


ASK = {
    "bash": "source {script}; COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); _unmet; "
    'printf "%s\\n" "${{COMPREPLY[@]}}"',
    "zsh": "compadd() {{ shift; print -l -- $@ }}; source {script}; words=({words}); CURRENT=${{#words}}; "
    "_unmet",
    "fish": "source {script}; complete -C '{words}'",
}


@pytest.mark.parametrize("shell", ASK)
@pytest.mark.parametrize(
    ("words", "found"),
    [("unmet fore", "forecast"), ("unmet paper bikes --smo", "--smoke"), ("unmet run --by ho", "hour")],
)
def test_in_the_shell(shell: str, words: str, found: str, tmp_path: Path) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"there is no {shell} here")
    (tmp_path / "script").write_text(SCRIPTS[shell])
    environment = os.environ | {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(tmp_path),
    }
    quiet = {"bash": ["--norc"], "zsh": ["-f"], "fish": ["--no-config"]}[shell]
    code = ASK[shell].format(script=tmp_path / "script", words=words)
    answer = subprocess.run(
        [shell, *quiet, "-c", code], env=environment, capture_output=True, text=True, timeout=60
    )
    assert answer.stdout.split()[:1] == [found], answer.stderr
