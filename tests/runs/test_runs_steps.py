"""Steps of a folder: done once, redone when something changed, never in the folder of another run."""

import os
import signal
import subprocess
import sys
import textwrap
import time

import pytest

from unmet.runs import FolderInUseError, RunError, Steps, read_record, write_bytes
from unmet.runs._strict_json import to_json

SOURCE = {"trips": ["a.csv"]}


def make_chain(folder, given, done, *, factor=1):
    """Two steps: `double` reads a file from elsewhere, `square` reads what `double` wrote."""

    def double():
        done.append("double")
        write_bytes(folder / "double.txt", str(2 * factor * int(given.read_text())).encode())

    def square():
        done.append("square")
        (folder / "model").mkdir(exist_ok=True)
        write_bytes(
            folder / "model" / "square.txt", str(int((folder / "double.txt").read_text()) ** 2).encode()
        )

    with Steps(folder, source=SOURCE) as steps:
        steps.run("double", double, inputs=[given], settings={"factor": factor}, outputs=["double.txt"])
        steps.run("square", square, inputs=[folder / "double.txt"], outputs=["model"])
        steps.note(measure=1.5)


@pytest.fixture
def given(tmp_path):
    path = tmp_path / "given.txt"
    path.write_text("3")
    return path


def test_finished_steps_are_kept(tmp_path, given):
    folder, done = tmp_path / "out", []
    make_chain(folder, given, done)
    first = (folder / "run.json").read_bytes()
    make_chain(folder, given, done)
    assert done == ["double", "square"]
    assert (folder / "run.json").read_bytes() == first
    assert (folder / "model" / "square.txt").read_text() == "36"
    assert read_record(folder)["notes"] == {"measure": 1.5}


def test_changed_input_and_setting_redo_what_depends_on_them(tmp_path, given):
    folder, done = tmp_path / "out", []
    make_chain(folder, given, done)
    given.write_text("4")
    make_chain(folder, given, done)
    make_chain(folder, given, done, factor=5)
    assert done == ["double", "square"] * 3
    assert (folder / "model" / "square.txt").read_text() == "1600"


def test_an_equal_result_ends_the_chain(tmp_path, given):
    folder, done = tmp_path / "out", []
    make_chain(folder, given, done)
    given.write_text("3 ")
    make_chain(folder, given, done)
    assert done == ["double", "square", "double"]


def test_damaged_output_is_made_again(tmp_path, given):
    folder, done = tmp_path / "out", []
    make_chain(folder, given, done)
    (folder / "model" / "square.txt").write_text("37")
    make_chain(folder, given, done)
    assert done == ["double", "square", "square"]


def test_another_run_is_refused(tmp_path, given):
    folder = tmp_path / "out"
    make_chain(folder, given, [])
    before = (folder / "run.json").read_bytes()
    with pytest.raises(RunError, match=r"another run, made from trips a.csv:"), Steps(folder, source={}):
        pass
    assert (folder / "run.json").read_bytes() == before


def test_a_replaced_run_goes_when_the_first_step_of_the_new_one_is_done(tmp_path, given):
    folder = tmp_path / "out"

    def write(name: str, data: bytes = b"x"):
        return lambda: write_bytes(folder / name, data)

    with Steps(folder, source=SOURCE) as steps:
        steps.run("one", write("panel.txt", b"old"), outputs=["panel.txt"])
        steps.run("two", write("truth.txt"), outputs=["truth.txt"])
        steps.run("three", lambda: (folder / "model").mkdir(), outputs=["model"])
    (folder / "mine.txt").write_text("not of the run")
    before = (folder / "run.json").read_bytes()

    def fail() -> None:
        raise ValueError("no such trips")

    with pytest.raises(ValueError, match="no such"), Steps(folder, source={}, replace=True) as steps:
        steps.run("one", fail, outputs=["panel.txt"])
    assert (folder / "run.json").read_bytes() == before
    assert (folder / "truth.txt").exists()
    with Steps(folder, source={}, replace=True) as steps:
        steps.run("one", write("panel.txt", b"new"), outputs=["panel.txt"])
    assert list(read_record(folder)["steps"]) == ["one"]
    assert (folder / "panel.txt").read_bytes() == b"new"
    assert (folder / "mine.txt").exists()
    assert not (folder / "truth.txt").exists()
    assert not (folder / "model").exists()


def test_a_run_that_failed_at_once_does_not_hold_the_folder(tmp_path):
    def fail() -> None:
        raise ValueError("no such trips")

    with pytest.raises(ValueError, match="no such"), Steps(tmp_path / "out", source=SOURCE) as steps:
        steps.run("one", fail, outputs=["a.txt"])
    with Steps(tmp_path / "out", source={"trips": ["b.csv"]}):
        pass
    assert read_record(tmp_path / "out")["source"] == {"trips": ["b.csv"]}


def test_foreign_files_are_refused(tmp_path):
    (tmp_path / "thesis.txt").write_text("do not lose me")
    with pytest.raises(RunError, match=r"something else \(thesis.txt\)"), Steps(tmp_path, source=SOURCE):
        pass


def test_two_at_once_are_refused(tmp_path):
    with (
        Steps(tmp_path / "out", source=SOURCE),
        pytest.raises(FolderInUseError),
        Steps(tmp_path / "out", source=SOURCE),
    ):
        pass


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"{", "not valid JSON .*--replace"),
        (to_json({}), "not the record"),
        (to_json({"format": "unmet folder", "version": 9}), "version 9.*--replace"),
        (
            to_json(
                {
                    "format": "unmet folder",
                    "version": 1,
                    "source": SOURCE,
                    "notes": {},
                    "steps": {"fit": {"code": "1"}},
                }
            ),
            "is damaged; .*--replace",
        ),
        *(
            (
                to_json(
                    {
                        "format": "unmet folder",
                        "version": 1,
                        "source": {},
                        "notes": {},
                        "steps": {"fit": {"code": "1", "inputs": {}, "settings": {}, "outputs": {name: "0"}}},
                    }
                ),
                "is damaged; .*--replace",
            )
            for name in ("../mine.txt", "/etc/hosts", "..", "")  # a name is removed when its run is replaced
        ),
    ],
)
def test_bad_record_is_refused_or_replaced(tmp_path, text, message):
    (tmp_path / "run.json").write_bytes(text)
    with pytest.raises(RunError, match=message), Steps(tmp_path, source=SOURCE):
        pass
    with Steps(tmp_path, source=SOURCE, replace=True) as steps:
        steps.run("one", lambda: write_bytes(tmp_path / "a.txt", b"a"), outputs=["a.txt"])
    assert list(read_record(tmp_path)["steps"]) == ["one"]


def test_no_record(tmp_path):
    with pytest.raises(RunError, match="not the folder of a run"):
        read_record(tmp_path)


def test_a_missing_output_is_an_error(tmp_path):
    with Steps(tmp_path / "out", source=SOURCE) as steps, pytest.raises(FileNotFoundError):
        steps.run("nothing", lambda: None, outputs=["missing.txt"])


def test_kill_and_repeat_gives_the_same_bytes(tmp_path, given):
    code = """
    import sys, time
    from pathlib import Path
    from unmet.runs import Steps, write_bytes
    folder = Path(sys.argv[1])
    with Steps(folder, source={}) as steps:
        for number in range(6):
            def make(number=number):
                time.sleep(0.05)
                write_bytes(folder / f"{number}.txt", b"x" * number * 1000)
            steps.run(str(number), make, outputs=[f"{number}.txt"])
    """
    command = [sys.executable, "-c", textwrap.dedent(code)]
    subprocess.run([*command, tmp_path / "whole"], check=True)
    killed = tmp_path / "killed"
    for delay in (0.3, 0.4, 0.5):
        process = subprocess.Popen([*command, killed])
        time.sleep(delay)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    subprocess.run([*command, killed], check=True)
    names = {path.name for path in (tmp_path / "whole").iterdir()} - {"log.jsonl"}
    assert {path.name for path in killed.iterdir()} - {"log.jsonl"} == names
    for name in names:
        assert (killed / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
