"""Replacing a run: built beside the old one, put in place at the end; one of them is whole after any kill."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from unmet.runs import RunError, Steps, _replacement, read_record, write_bytes

OLD, NEW = {"city": "old"}, {"city": "new"}


def build(
    folder: Path, source: dict, *, replace: bool = False, done: list | None = None, stop_at: str = ""
) -> None:
    """The old run has a file and a folder that the new one lacks; both have one of each."""
    name = source["city"]
    with Steps(folder, source=source, replace=replace) as steps:

        def write(*paths: str) -> None:
            for path in paths:
                if stop_at and path.startswith(stop_at):
                    raise RuntimeError(path)
                (steps.folder / path).parent.mkdir(exist_ok=True)
                write_bytes(steps.folder / path, name.encode())
            if done is not None:
                done.append(paths)

        steps.run("panel", lambda: write("panel.txt"), outputs=["panel.txt"])
        steps.run("model", lambda: write(f"model/{name}.txt"), outputs=["model"])
        if source == OLD:
            steps.run("truth", lambda: write("truth.txt", "city/a.txt"), outputs=["truth.txt", "city"])
        steps.note(name=name)


def contents(folder: Path) -> dict[str, bytes]:
    """Files of the run, wherever a replacement may be under way."""
    found = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    hidden = ("log.jsonl", ".lock", "mine.txt")
    return {
        name: path.read_bytes()
        for name, path in found.items()
        if name not in hidden and not name.startswith(".unmet")
    }


@pytest.fixture
def out(tmp_path: Path) -> Path:
    build(tmp_path / "out", OLD)
    (tmp_path / "out" / "mine.txt").write_text("not of the run")
    return tmp_path / "out"


@pytest.fixture
def wanted(tmp_path: Path) -> dict[str, bytes]:
    build(tmp_path / "wanted", NEW)
    return contents(tmp_path / "wanted")


def test_the_new_run_is_there_whole_and_nothing_of_the_old(out: Path, wanted: dict) -> None:
    build(out, NEW, replace=True)
    assert contents(out) == wanted
    names = {"mine.txt", "model", "panel.txt", "run.json", "log.jsonl"}
    assert {path.name for path in out.iterdir()} == names
    done: list = []
    build(out, NEW, done=done)
    assert done == []


def test_a_failure_keeps_the_old_run_and_what_was_done_for_the_new(out: Path, wanted: dict) -> None:
    before = contents(out)
    for _ in range(2):
        with pytest.raises(RuntimeError, match="model"):
            build(out, NEW, replace=True, stop_at="model")
        assert contents(out) == before
        assert read_record(out)["source"] == OLD
    done: list = []
    build(out, NEW, replace=True, done=done)
    assert done == [("model/new.txt",)]
    assert contents(out) == wanted


def test_another_replacement_starts_over_and_the_old_run_goes_on_without_it(out: Path) -> None:
    before = contents(out)
    for city in ("third", "fourth"):
        done: list = []
        with pytest.raises(RuntimeError, match="model"):
            build(out, {"city": city}, replace=True, done=done, stop_at="model")
        assert done == [("panel.txt",)]
    build(out, OLD)
    assert contents(out) == before
    assert not list(out.glob(".unmet*"))


def test_the_same_run_is_not_replaced(out: Path) -> None:
    done: list = []
    build(out, OLD, replace=True, done=done)
    assert done == []


def test_a_link_in_the_way_is_not_followed(out: Path, tmp_path: Path, wanted: dict) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "precious").write_text("x")
    (out / _replacement.NEXT).symlink_to(tmp_path / "elsewhere")
    (out / "panel.txt").unlink()
    (out / "panel.txt").symlink_to(tmp_path / "elsewhere" / "precious")
    build(out, NEW, replace=True)
    assert contents(out) == wanted
    assert (tmp_path / "elsewhere" / "precious").read_text() == "x"


def build_and_die(folder: Path, left: int) -> int:
    """Replace the run in a process that dies after `left` changes of names; return its exit code."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

    def count(event: str, _: object) -> None:
        nonlocal left
        if event in ("os.rename", "os.remove", "os.rmdir", "os.mkdir"):
            left -= 1
            if left < 0:
                os._exit(9)

    try:
        sys.addaudithook(count)
        build(folder, NEW, replace=True)
    except BaseException:
        os._exit(1)
    os._exit(0)


def die_at_every_moment(out: Path, into: Path) -> None:
    """Replace copies of a run, each killed one change later than the one before; print the exit codes."""
    for moment in range(100):
        shutil.copytree(out, into / str(moment))
        code = build_and_die(into / str(moment), moment)
        print(code, flush=True)
        if code == 0:
            return


def test_killed_at_any_moment_the_old_or_the_new_run_is_whole(
    out: Path, wanted: dict, tmp_path: Path
) -> None:
    # In a process of its own, because this one may hold JAX, which must not be forked.
    program = "import sys; from pathlib import Path; sys.path.insert(0, sys.argv[1]); "
    program += "import test_runs_replacement as test; test.die_at_every_moment(*map(Path, sys.argv[2:]))"
    command = [sys.executable, "-c", program, str(Path(__file__).parent), str(out), str(tmp_path / "killed")]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    before, seen = contents(out), set()
    for moment, code in enumerate(map(int, printed.split())):
        folder = tmp_path / "killed" / str(moment)
        city = read_record(folder)["source"]["city"]
        seen.add((city, code))
        assert contents(folder) == (before if city == "old" else wanted), moment
        assert (folder / "mine.txt").exists()
        build(folder, NEW, replace=True)
        assert contents(folder) == wanted, moment
        assert not list(folder.glob(".unmet*"))
    assert seen == {("old", 9), ("new", 9), ("new", 0)}


def test_a_killed_change_is_refused_to_readers_only_while_somebody_completes_it(out: Path) -> None:
    with Steps(out, source=OLD):
        (out / _replacement.READY).mkdir()
        with pytest.raises(ValueError, match=f"in use by process {os.getpid()}"):
            read_record(out)
    read_record(out)
    assert not (out / _replacement.READY).exists()
    with pytest.raises(RunError):
        Steps(out, source=NEW).__enter__()


def test_whoever_works_in_the_folder_completes_a_killed_change_first(
    out: Path, wanted: dict, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as killed:
        killed.setattr(_replacement, "complete", lambda folder: None)
        build(out, NEW, replace=True)
    assert (out / _replacement.READY).exists()
    build(out, NEW)  # without --replace: the folder holds this run already
    assert contents(out) == wanted
    assert not list(out.glob(".unmet*"))
