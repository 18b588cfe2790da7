"""The progress bar: counts always, draws only for somebody who watches long work."""

import os
import pty
import re
import select
import subprocess
import sys
import textwrap
import time

import pytest

from unmet.runs import no_progress, progress


def on_a_terminal(program: str, **environment: str) -> str:
    """What a program writes to stderr when that is a terminal."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(program)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "120", **environment},
    )
    os.close(theirs)
    seen = b""
    deadline = time.monotonic() + 300
    while time.monotonic() < deadline:
        if not select.select([ours], [], [], 0.1)[0]:
            continue
        try:
            data = os.read(ours, 65536)
        except OSError:
            break
        if not data:
            break
        seen += data
    os.close(ours)
    out, _ = process.communicate(timeout=300)
    assert process.returncode == 0, seen.decode()
    assert out == b""
    return seen.decode()


def test_it_counts_and_is_silent_without_a_terminal(capfd: pytest.CaptureFixture[str]) -> None:
    with progress(10, "Training", "networks") as bar:
        bar.advance()
        bar.advance(4)
        time.sleep(1.1)
    assert (bar.done, bar.total) == (5, 10)
    assert capfd.readouterr() == ("", "")


def test_it_appears_for_long_work_on_a_terminal() -> None:
    seen = on_a_terminal("""
        import time
        from unmet.runs import progress
        with progress(2000, "Training [1]", "networks") as bar:
            bar.advance(500)
            with progress(3, "Inner", "steps") as inner:
                while bar._display is None:  # it comes after a second
                    time.sleep(0.05)
                inner.advance()
            bar.advance(1500)
    """)
    assert "Training [1]" in seen
    assert "500/2,000 networks" in seen
    assert "2,000/2,000 networks" in seen
    assert "networks/s" in seen
    assert "Inner" not in seen


def test_it_is_silent_for_short_work_and_needs_no_rich() -> None:
    seen = on_a_terminal("""
        import sys
        from unmet.runs import _progress, progress
        _progress._DELAY_SECONDS = 60  # or a busy machine makes the work long
        with progress(20, "Training", "networks") as bar:
            bar.advance(20)
        assert "rich" not in sys.modules
    """)
    assert seen == ""


@pytest.mark.parametrize("change", [{"TERM": "dumb"}, {"UNMET_WORKER": "1"}])
def test_dumb_terminals_and_workers_see_nothing(change: dict[str, str]) -> None:
    program = """
        import time
        from unmet.runs import progress
        with progress(20, "Training", "networks") as bar:
            time.sleep(1.3)
    """
    assert on_a_terminal(program, **change) == ""


@pytest.mark.parametrize(("width", "bar", "rate"), [(30, False, False), (60, True, True)])
def test_words_stay_whole_in_a_narrow_terminal(width: int, bar: bool, rate: bool) -> None:
    program = """
        import time
        from unmet.runs import progress
        with progress(100, "City", "parts", shown=True) as bar:
            time.sleep(0.2)
            bar.advance(30)
            time.sleep(0.3)
    """
    seen = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", on_a_terminal(program, COLUMNS=str(width)))
    lines = [line.rstrip() for line in re.split(r"[\r\n]+", seen) if line.strip()]
    assert lines
    for line in lines:
        assert re.match(r"City .*\d+/100 parts", line), line  # one line, nothing cut
        assert len(line) <= width
        assert ("━" in line) == bar
    assert ("parts/s" in lines[-1]) == rate


def test_slow_work_is_told_by_its_seconds() -> None:
    with progress(4, "Demand", "fits", shown=False) as bar:
        bar.advance()
        bar._began -= 40
        assert bar._rate() == "40 s each"
        bar.advance(2)
        bar._began += 39
        assert bar._rate().endswith(" fits/s")


def test_work_of_an_earlier_run_tells_nothing_of_the_speed() -> None:
    with progress(80, "compare", "fits", shown=False) as bar:
        bar.resume(40)
        assert bar.done == 40
        assert (bar._rate(), bar._left()) == ("", "--:--")
        bar._began -= 40
        bar.advance(4)
        assert bar._rate() == "10 s each"
        assert bar._left() in ("05:59", "06:00")
        bar._began, bar._last = bar._began - 60, bar._last - 60  # a minute later nothing more is done
        assert bar._left() in ("04:59", "05:00")
        bar.advance(36)
        assert bar._left() in ("01:40", "01:41")


def test_time_left_is_told_for_slow_work() -> None:
    seen = on_a_terminal("""
        from unmet.runs import progress
        with progress(10, "compare", "fits", shown=True) as bar:
            bar._began -= 100
            bar.advance()
            bar._display.refresh()
    """)
    assert re.search(r"1/10 fits.*100 s each.*(15:00|14:59)", re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", seen)), (
        seen
    )


def test_no_progress_hides_every_bar(capfd: pytest.CaptureFixture[str]) -> None:
    with no_progress(), progress(1, "Training", "networks", shown=True) as bar:
        bar.advance()
    assert capfd.readouterr() == ("", "")
    with progress(1, "Again", "networks", shown=True):
        pass
    assert "Again" in capfd.readouterr().err


def test_shown_shows_at_once(capfd: pytest.CaptureFixture[str]) -> None:
    with progress(None, "Reading", "rows", shown=True) as bar:
        bar.advance(3)
        with progress(2, "Inner", "rows", shown=True) as inner:
            inner.advance(2)
    out, err = capfd.readouterr()
    assert out == ""
    assert "Reading" in err
    assert "3 rows" in err
    assert "Inner" not in err
    with progress(1, "Next", "rows", shown=True) as bar:
        bar.advance()
    assert "1/1 rows" in capfd.readouterr().err


def test_an_error_passes_through_and_frees_the_terminal(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(KeyboardInterrupt), progress(1, "Training", "networks", shown=True):
        raise KeyboardInterrupt
    capfd.readouterr()
    with progress(1, "Again", "networks", shown=True):
        pass
    assert "Again" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("total", "shown", "name"), [(-1, None, "total"), (1.5, None, "total"), (1, "yes", "shown")]
)
def test_wrong_arguments(total: object, shown: object, name: str) -> None:
    with pytest.raises(ValueError, match=f"{name} must be"):
        progress(total, "Training", "networks", shown)  # type: ignore[arg-type]
