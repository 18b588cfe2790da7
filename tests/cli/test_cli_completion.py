"""Completion through Typer: commands, options and choices, in the shell itself where there is one."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest
from cli_tools import call

from unmet.cli._app import COMMANDS


@pytest.fixture
def complete(monkeypatch, capsys):
    """What the Tab key offers after these words, as bash asks for it."""

    def offered(line: str) -> list[str]:
        words = ["unmet", *line.split(" ")]
        monkeypatch.setenv("_UNMET_COMPLETE", "complete_bash")
        monkeypatch.setenv("COMP_WORDS", "\n".join(words))
        monkeypatch.setenv("COMP_CWORD", str(len(words) - 1))
        assert call() == 0
        return capsys.readouterr().out.split()

    return offered


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("", list(COMMANDS)),
        ("fore", ["forecast"]),
        ("paper bikes --smo", ["--smoke"]),
        ("run --by ", ["hour", "day"]),
        ("run trips.csv --by d", ["day"]),
        ("panel --by ", ["hour", "day"]),  # any other interval may be typed
        ("run --network l", ["linear", "lstm"]),
        ("city --size v", ["village"]),
        ("demo --models --noise st", ["student"]),
        ("paper table", ["table1", "table2", "table3", "table4"]),
        ("completion ", ["bash", "zsh", "fish"]),
        ("run --free --q", ["--quiet"]),  # a flag takes no value
        ("panel trips", []),  # a file name
        ("run --zone ", []),
        ("nonsense --", ["--version", "--help"]),
    ],
)
def test_the_tab_key_offers(complete, line, found):
    assert complete(line) == found


def test_choices_are_those_that_the_library_has():
    from unmet.cli._demo import Noise
    from unmet.cli._paper import What
    from unmet.datasets._noises import NOISES
    from unmet.papers import WHAT

    assert set(get_args(Noise)) == set(NOISES)
    assert set(get_args(What)) == set(WHAT)


def test_an_unknown_shell_is_refused(capsys):
    assert call("completion", "tcsh") == 2
    assert "'bash', 'zsh', 'fish'" in capsys.readouterr().err


ASK = {
    "bash": "source {script}; COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); "
    '_unmet_completion unmet; printf "%s\\n" "${{COMPREPLY[@]}}"',
    "zsh": "compdef() {{ }}; _arguments() {{ print -- $@ }}; source {script}; words=({words}); "
    "CURRENT=${{#words}}; _unmet_completion",
    "fish": "source {script}; complete -C '{words}'",
}


@pytest.mark.parametrize("shell", ASK)
def test_in_the_shell(shell: str, tmp_path: Path, capsys) -> None:
    assert call("completion", shell) == 0
    script = tmp_path / "script"
    script.write_text(capsys.readouterr().out)
    if shutil.which(shell) is None:
        pytest.skip(f"there is no {shell} here")
    environment = os.environ | {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(tmp_path),
    }
    quiet = {"bash": ["--norc"], "zsh": ["-f"], "fish": ["--no-config"]}[shell]
    for words, found in (("unmet paper bikes --smo", "--smoke"), ("unmet run --by ho", "hour")):
        code = ASK[shell].format(script=script, words=words)
        answer = subprocess.run(
            [shell, *quiet, "-c", code], env=environment, capture_output=True, text=True, timeout=300
        )
        assert found in answer.stdout, answer.stderr
