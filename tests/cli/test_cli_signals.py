"""Signals at random moments: one line, the right exit code, nothing left behind, no run lost.

Storms are statistical, so they are slow tests; what each guard of a signal does is tested in test_app.
"""

import contextlib
import itertools
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from cli_tools import call, contents, given
from signal_tools import CODES, PATIENCE, Storm, alive

from unmet.runs import read_record

pytestmark = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads /proc")
# A storm of a hundred takes long: UNMET_SIGNALS=25 UNMET_SIGNALS_SEED=3 is the third quarter of one.
MANY, SEED = (int(os.environ.get(name, "100")) for name in ("UNMET_SIGNALS", "UNMET_SIGNALS_SEED"))
hundred = pytest.mark.parametrize("times", [pytest.param(MANY, marks=pytest.mark.slow)])
LONG = pytest.mark.timeout(7200)
FIT = ("--network", "linear", "--jobs", "2", "-q")


def storm(arguments: list[object], folder: Path, most: float, times: int, after=lambda ended: None) -> Storm:
    """Send INT, TERM and KILL in turn; `after` looks at what each left."""
    found = Storm([str(one) for one in arguments], folder / "scratch", most, seed=SEED + times)
    for number in itertools.islice(itertools.cycle(CODES), times):
        after(found.send(number))
    for number in CODES:  # where chance sent every signal of a kind too late, one comes in time
        if not any(one.code for one in found.ended if one.number is number):
            after(found.send(number, at_once=True))
    print(f"\n{arguments[0]}: {found.counts()}")
    assert {one.number for one in found.ended if one.code} == set(CODES)
    return found


def timed(*arguments: object) -> float:
    """Seconds that a command takes."""
    began = time.monotonic()
    assert call(*arguments) == 0
    return time.monotonic() - began


@hundred
@LONG
def test_panel(city, tmp_path, times):
    panel = tmp_path / "panel.parquet"
    arguments = ["panel", *given(city[0]), "-q", "-o", panel]
    timed(*arguments)
    whole = panel.read_bytes()

    def after(ended) -> None:
        assert not panel.exists() or panel.read_bytes() == whole
        assert not [path for path in tmp_path.iterdir() if path.suffix == ".part"] or ended.number == 9
        panel.unlink(missing_ok=True)

    storm(arguments, tmp_path, 1.5, times, after)


@hundred
@LONG
def test_fit(finished, tmp_path, times):
    arguments = ["fit", finished / "panel.parquet", *FIT, "-o", tmp_path / "out"]
    took = timed(*arguments[:-1], tmp_path / "whole")
    wanted = contents(tmp_path / "whole")

    def after(ended) -> None:
        if ended.code == 0:
            assert contents(tmp_path / "out") == wanted
            shutil.rmtree(tmp_path / "out")

    storm(arguments, tmp_path, took, times, after)
    assert call(*arguments) == 0
    assert contents(tmp_path / "out") == wanted


@hundred
@LONG
def test_run(city, tmp_path, times):
    arguments = ["run", *given(city[0]), *FIT, "-o", tmp_path / "out"]
    took = timed(*arguments[:-1], tmp_path / "whole")
    wanted = contents(tmp_path / "whole")

    def after(ended) -> None:
        if ended.code == 0:
            assert contents(tmp_path / "out") == wanted
            shutil.rmtree(tmp_path / "out")

    storm(arguments, tmp_path, took, times, after)
    assert call(*arguments) == 0
    assert contents(tmp_path / "out") == wanted


@hundred
@LONG
def test_run_replace(city, tmp_path, times):
    """The old run or the new one is whole after every signal."""
    from unmet.datasets import make_city

    make_city("village", places=6, days=21, seed=4).write(tmp_path / "other", snapshots=None)
    files = {"old": given(city[0]), "new": given(tmp_path / "other")}
    for name, source in files.items():
        took = timed("run", *source, *FIT, "-o", tmp_path / name)
    wanted = {name: contents(tmp_path / name) for name in files}
    out = shutil.copytree(tmp_path / "old", tmp_path / "out")

    def after(ended) -> None:
        read_record(out)  # completes a change that was under way
        found = {name: data for name, data in contents(out).items() if not name.startswith(".unmet-next")}
        found.pop(".lock", None)
        if found != wanted["old"]:
            assert found == wanted["new"]
            shutil.rmtree(out)
            shutil.copytree(tmp_path / "old", out)

    storm(["run", *files["new"], *FIT, "--replace", "-o", out], tmp_path, took, times, after)


@hundred
@LONG
def test_paper(tmp_path, times):
    arguments = ["paper", "table1", "--smoke", "--jobs", "2", "-q", "-o", tmp_path / "out"]
    took = timed(*arguments[:-1], tmp_path / "whole")
    storm(arguments, tmp_path, took, times, lambda ended: shutil.rmtree(tmp_path / "out", ignore_errors=True))


@hundred
@LONG
def test_serve(finished, tmp_path, times):
    folder = shutil.copytree(finished, tmp_path / "run")
    before = contents(folder)
    storm(["serve", folder, "--port", "0", "-q"], tmp_path, 3.0, times)
    assert contents(folder) == before


def test_workers_that_are_killed_are_one_line(tmp_path):
    """As the system does when memory runs out: the second death of a worker ends the command."""
    arguments = ["paper", "bikes", "--smoke", "--jobs", "2", "-q", "-o", tmp_path / "out"]
    process = subprocess.Popen(
        [sys.executable, "-m", "unmet", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    killed = set()
    while process.poll() is None:
        for line in alive(process.pid):
            pid = int(line.split()[0])
            if "LokyProcess" in line and pid != process.pid and pid not in killed:
                killed.add(pid)
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        time.sleep(0.05)
    out, told = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1, told
    assert len(killed) >= 2
    assert out == ""
    assert told.count("\n") == 1, told
    assert "worker processes died" in told
    assert "--jobs" in told
