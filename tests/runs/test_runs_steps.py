"""Steps of a folder: done once, redone when something changed, never in the folder of another run."""

import json
import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from unmet.runs import FolderInUseError, RunError, Steps, code_version, read_record, stale_steps, write_bytes
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


def write_shards(folder, keys, *, stop_at=None):
    """Steps with one output each, in a folder of their own; returns those that were done now."""
    done = []
    with Steps(folder, source=SOURCE) as steps:
        (folder / "shards").mkdir(exist_ok=True)
        for key in keys:
            if key == stop_at:
                raise RuntimeError(key)
            output = f"shards/{key}"
            if not steps.done(key, outputs=[output]):
                steps.run(key, partial(write_bytes, folder / output, key.encode()), outputs=[output])
                done.append(key)
    return done


def artefacts(folder):
    """Everything that is promised to be the same: all files but the log."""
    found = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    found.pop("log.jsonl", None)
    return found


@pytest.fixture
def given(tmp_path):
    path = tmp_path / "given.txt"
    path.write_text("3")
    return path


def test_finished_steps_are_kept(tmp_path, given):
    folder, done = tmp_path / "out", []
    make_chain(folder, given, done)
    first = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    make_chain(folder, given, done)
    assert done == ["double", "square"]
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == first
    assert (folder / "model" / "square.txt").read_text() == "36"
    record = read_record(folder)
    assert record["notes"] == {"measure": 1.5}
    assert record["steps"]["square"]["code"] == code_version()
    assert record["steps"]["double"]["inputs"].keys() == {str(given)}
    assert record["steps"]["square"]["inputs"] == record["steps"]["double"]["outputs"]
    assert [json.loads(line)["step"] for line in (folder / "log.jsonl").read_text().splitlines()] == [
        "double",
        "square",
    ]


def test_changed_input_and_setting_redo_what_depends_on_them(tmp_path, given):
    folder, done = tmp_path / "out", []
    make_chain(folder, given, done)
    given.write_text("4")
    make_chain(folder, given, done)
    make_chain(folder, given, done, factor=5)
    assert done == ["double", "square"] * 3
    assert (folder / "model" / "square.txt").read_text() == "1600"


def test_changed_code_redoes_every_step(tmp_path, given, monkeypatch):
    from unmet.runs import _steps

    folder, done = tmp_path / "out", []
    make_chain(folder, given, done)
    monkeypatch.setattr(_steps, "code_version", lambda: "another")
    make_chain(folder, given, done)
    assert done == ["double", "square"] * 2


def test_an_equal_result_ends_the_chain(tmp_path, given):
    folder, done = tmp_path / "out", []
    make_chain(folder, given, done)
    given.write_text("3 ")
    make_chain(folder, given, done)
    assert done == ["double", "square", "double"]


@pytest.mark.parametrize("damage", ["37", "", None])
def test_damaged_output_is_made_again(tmp_path, given, damage):
    folder, done = tmp_path / "out", []
    make_chain(folder, given, done)
    path = folder / "model" / "square.txt"
    path.unlink() if damage is None else path.write_text(damage)
    make_chain(folder, given, done)
    assert done == ["double", "square", "square"]


def test_steps_that_rest_on_changed_files(tmp_path, given):
    make_chain(tmp_path / "out", given, [])
    given.write_text("5")  # elsewhere: the step itself would notice
    assert stale_steps(tmp_path / "out") == []
    (tmp_path / "out" / "double.txt").write_text("7")
    assert stale_steps(tmp_path / "out") == ["square"]


def test_an_input_elsewhere_is_not_taken_for_a_file_of_the_folder(tmp_path, monkeypatch):
    (tmp_path / "a.txt").write_text("elsewhere")
    monkeypatch.chdir(tmp_path)
    with Steps("out", source=SOURCE) as steps:
        steps.run("one", lambda: write_bytes("out/a.txt", b"here"), inputs=["a.txt"], outputs=["a.txt"])
        assert not steps.run("one", lambda: None, inputs=[tmp_path / "a.txt"], outputs=["a.txt"])
    assert stale_steps("out") == []


def test_shards_in_any_order_and_with_interruptions_end_in_the_same_bytes(tmp_path):
    keys = [f"{number:03}" for number in range(12)]
    write_shards(tmp_path / "once", keys)
    with pytest.raises(RuntimeError):
        write_shards(tmp_path / "twice", keys[::-1], stop_at="004")
    assert len(read_record(tmp_path / "twice")["steps"]) == 7
    assert write_shards(tmp_path / "twice", keys) == keys[:5]
    assert write_shards(tmp_path / "twice", keys) == []
    assert artefacts(tmp_path / "once") == artefacts(tmp_path / "twice")


def test_the_record_is_not_rewritten_for_each_step(tmp_path):
    folder = tmp_path / "out"
    with Steps(folder, source=SOURCE) as steps:
        before = (folder / "run.json").stat().st_ino
        for name in "abc":
            steps.run(name, lambda n=name: write_bytes(folder / n, b"x"), outputs=[name])
        assert (folder / "run.json").stat().st_ino == before
        assert read_record(folder)["steps"].keys() == set("abc")  # a reader sees them all the same
        (folder / "journal.jsonl").rename(tmp_path / "journal")
    assert read_record(folder)["steps"] == {}  # so they were in the journal alone
    (tmp_path / "journal").rename(folder / "journal.jsonl")
    with Steps(folder, source=SOURCE):
        pass
    assert not (folder / "journal.jsonl").exists()
    assert read_record(folder)["steps"].keys() == set("abc")


def test_a_journal_cut_short_loses_only_its_last_line(tmp_path):
    folder = tmp_path / "out"
    with Steps(folder, source=SOURCE) as steps:
        for name in "ab":
            steps.run(name, lambda n=name: write_bytes(folder / n, b"x"), outputs=[name])
        journal = (folder / "journal.jsonl").read_bytes()
        (folder / "journal.jsonl").unlink()
    (folder / "journal.jsonl").write_bytes(journal[:-20])
    with Steps(folder, source=SOURCE) as steps:
        assert steps.done("a", outputs=["a"])
        assert not steps.done("b", outputs=["b"])
        steps.run("c", lambda: write_bytes(folder / "c", b"x"), outputs=["c"])
        assert read_record(folder)["steps"].keys() == {"a", "c"}
    assert read_record(folder)["steps"].keys() == {"a", "c"}


def test_another_run_is_refused(tmp_path, given):
    folder = tmp_path / "out"
    make_chain(folder, given, [])
    before = artefacts(folder)
    with pytest.raises(RunError, match=r"another run, made from trips a.csv: .*--replace"):
        Steps(folder, source={}).__enter__()
    assert artefacts(folder) == before
    with pytest.raises(RunError, match="is a file"):
        Steps(given, source=SOURCE).__enter__()


def test_another_run_is_told_by_the_settings_that_differ_and_not_by_checksums(tmp_path):
    def run(**source):
        with Steps(tmp_path / "out", source=source) as steps:
            steps.run("a", lambda: write_bytes(steps.folder / "a", b""), outputs=["a"])

    run(folds=5, seed=0, data="0" * 64)
    with pytest.raises(RunError, match=r"holds another run, with folds 5 instead of 2: choose"):
        run(folds=2, seed=0, data="1" * 64)
    with pytest.raises(RunError, match=r"holds another run, made from folds 5 of other content: choose"):
        run(folds=5, seed=0, data="1" * 64)


def test_a_block_that_ends_early_with_finished_steps_is_remembered(tmp_path):
    def run(happens=None, finish=True):
        with Steps(tmp_path / f"{finish}", source={}) as steps:
            if finish:
                steps.run("a", lambda: write_bytes(steps.folder / "a", b""), outputs=["a"])
            if happens is not None:
                raise happens

    for finish in (False, True):
        with pytest.raises(KeyboardInterrupt):
            run(KeyboardInterrupt(), finish)
        assert Steps.left_unfinished == finish
    run()
    assert not Steps.left_unfinished


def test_a_run_is_known_by_the_content_of_its_inputs(tmp_path):
    for city, text in (("one", "rides"), ("two", "other rides"), ("copy", "rides")):
        (tmp_path / city).mkdir()
        (tmp_path / city / "trips.csv").write_text(text)
    folder = tmp_path / "out"

    def run(path, **options):
        with Steps(folder, source={"trips": [path], "status": None}, **options) as steps:
            text = path.read_bytes()
            return steps.run(
                "panel", lambda: write_bytes(steps.folder / "a", text), inputs=[path], outputs=["a"]
            )

    assert run(tmp_path / "one" / "trips.csv")
    assert not run(tmp_path / "one" / "trips.csv")
    before = artefacts(folder)
    with pytest.raises(RunError, match=r"another run, made from trips trips\.csv of other content"):
        run(tmp_path / "two" / "trips.csv")
    assert artefacts(folder) == before
    (tmp_path / "copy" / "trips.csv").rename(tmp_path / "copy" / "renamed.csv")
    run(tmp_path / "copy" / "renamed.csv")
    assert run(tmp_path / "two" / "trips.csv", replace=True)
    assert (folder / "a").read_text() == "other rides"


def test_files_may_be_added_to_a_run_but_not_taken_away(tmp_path):
    paths = [tmp_path / f"{n}.csv" for n in range(3)]
    for path in paths:
        path.write_text(path.name)
    folder = tmp_path / "out"

    def run(given, fails=False, **options):
        with Steps(folder, source={"trips": given}, **options) as steps:

            def make() -> None:
                if fails:
                    raise ValueError("a bad file")
                write_bytes(steps.folder / "a", b"".join(path.read_bytes() for path in given))

            return steps.run("panel", make, inputs=given, outputs=["a"])

    assert run(paths[:1])
    with pytest.raises(ValueError, match="a bad file"):
        run([paths[0], paths[2]], fails=True)
    assert run(paths[:2])  # what failed left no trace
    assert not run(paths[:2])
    assert (folder / "a").read_text() == "0.csv1.csv"
    for fewer in (paths[:1], paths[1:]):
        with pytest.raises(RunError, match="--replace"):
            run(fewer)
    assert run(paths[:1], replace=True)
    assert [file["name"] for file in read_record(folder)["source"]["trips"]] == ["0.csv"]


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
    for replace in (False, True):
        with pytest.raises(RunError, match=r"something else \(thesis.txt\)"):
            Steps(tmp_path, source=SOURCE, replace=replace).__enter__()
    assert os.listdir(tmp_path) == ["thesis.txt"]


def test_a_record_of_something_else_is_never_replaced(tmp_path):
    (tmp_path / "run.json").write_bytes(to_json({"scripts": "mine"}))
    for replace in (False, True):
        with pytest.raises(RunError, match="not the record of a run of unmet: choose another"):
            Steps(tmp_path, source=SOURCE, replace=replace).__enter__()
    assert os.listdir(tmp_path) == ["run.json"]


def test_two_at_once_are_refused(tmp_path):
    with Steps(tmp_path, source=SOURCE), pytest.raises(FolderInUseError, match=f"process {os.getpid()}"):
        Steps(tmp_path, source=SOURCE).__enter__()
    with Steps(tmp_path, source=SOURCE):
        pass


def record(**changes):
    return to_json(
        {"format": "unmet folder", "version": 1, "source": {}, "notes": {}, "steps": {}, **changes}
    )


def step(**changes):
    return {"fit": {"code": "1", "inputs": {}, "settings": {}, "outputs": {}, **changes}}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"{", "not valid JSON"),
        (b"", "not valid JSON"),
        (record()[:-1], "edited or is damaged"),
        (record(version=9), "version 9"),
        (record(notes=[]), "is damaged"),
        (record(steps={"fit": {"code": "1"}}), "is damaged"),
        (record(steps=step(inputs={"a": 1})), "is damaged"),
        # An output is removed when its run is replaced.
        *(
            (record(steps=step(outputs={name: "0"})), "is damaged")
            for name in ("../a", "/a", "..", "", "a//b")
        ),
    ],
)
def test_bad_record_is_refused_or_replaced(tmp_path, text, message):
    (tmp_path / "run.json").write_bytes(text)
    with pytest.raises(RunError, match=message):
        read_record(tmp_path)
    with pytest.raises(RunError, match=message):
        Steps(tmp_path, source=SOURCE).__enter__()
    with Steps(tmp_path, source=SOURCE, replace=True) as steps:
        steps.run("one", lambda: write_bytes(steps.folder / "a.txt", b"a"), outputs=["a.txt"])
    assert list(read_record(tmp_path)["steps"]) == ["one"]


@pytest.mark.parametrize("name", ["run.json", "journal.jsonl", "log.jsonl"])
def test_a_pipe_does_not_block(tmp_path, name):
    with Steps(tmp_path, source=SOURCE) as steps:
        steps.run("one", lambda: write_bytes(tmp_path / "a", b"a"), outputs=["a"])
    (tmp_path / name).unlink(missing_ok=True)
    os.mkfifo(tmp_path / name)
    with pytest.raises(RunError, match=rf"{name} is .*(pipe|not a regular file)"):  # noqa: SIM117
        with Steps(tmp_path, source=SOURCE) as steps:
            steps.log(hello=1)


def test_no_record(tmp_path):
    with pytest.raises(RunError, match="not the folder of a run"):
        read_record(tmp_path)


def test_wrong_arguments(tmp_path):
    with pytest.raises(ValueError, match=r"source\['a'\] is a tuple"):
        Steps(tmp_path, source={"a": (1,)}).__enter__()
    with pytest.raises(FileNotFoundError):
        Steps(tmp_path / "out", source={"trips": tmp_path / "missing.csv"}).__enter__()
    assert not (tmp_path / "out").exists()
    with pytest.raises(RunError, match="with statement"):
        Steps(tmp_path, source=SOURCE).note(a=1)
    with Steps(tmp_path / "out", source=SOURCE) as steps:
        with pytest.raises(FileNotFoundError):
            steps.run("nothing", lambda: None, outputs=["missing.txt"])
        with pytest.raises(ValueError, match=r"inside the folder, not '\.\./a'"):
            steps.run("one", lambda: None, outputs=["../a"])
        with pytest.raises(ValueError, match="settings"):
            steps.run("one", lambda: None, outputs=["a"], settings={"a": float("nan")})
    assert read_record(tmp_path / "out")["steps"] == {}


def test_a_full_disk_leaves_earlier_steps_intact(tmp_path: Path) -> None:
    program = """
import resource, signal, sys
from pathlib import Path
from unmet.runs import Steps, write_bytes
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
folder = Path(sys.argv[1])
with Steps(folder, source={}) as steps:
    steps.run("a", lambda: write_bytes(folder / "a", b"one"), outputs=["a"])
    resource.setrlimit(resource.RLIMIT_FSIZE, (50, 50))
    for data in (b"x" * 1000, b"y"):  # too large for its own file, then for the journal
        try:
            steps.run("b", lambda: write_bytes(folder / "b", data), outputs=["b"])
        except OSError as error:
            print(error, flush=True)
"""
    command = [sys.executable, "-c", program, str(tmp_path / "out")]
    done = subprocess.run(command, capture_output=True, text=True)
    first, second = done.stdout.splitlines()
    assert "cannot write b: the file is larger" in first
    assert "cannot write journal.jsonl" in second
    assert "cannot write run.json" in done.stderr  # the block itself cannot end well
    with Steps(tmp_path / "out", source={}) as steps:
        assert steps.done("a", outputs=["a"])
        assert not steps.done("b", outputs=["b"])
