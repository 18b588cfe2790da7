"""Steps of work in one folder: each is done once, and again only when what it was made from has changed."""

import contextlib
import hashlib
import os
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from unmet.runs import _replacement
from unmet.runs._addresses import refuse_address
from unmet.runs._atomic import remove_leftovers
from unmet.runs._checksum import checksum, code_version
from unmet.runs._lock import LOCK_NAME, FolderLock
from unmet.runs._record import (
    JOURNAL,
    RECORD,
    ForeignError,
    Record,
    RunError,
    adds_files,
    append_line,
    describe_file,
    difference,
    in_words,
    is_inside,
    load,
    same_source,
)
from unmet.runs._stages import Stages, cost_since, cpu_seconds
from unmet.runs._strict_json import check_json, to_json

LOG = "log.jsonl"
STAGES = ".unmet-stages-"  # and the name of the step


class Steps:
    """Named steps that turn inputs into files of one folder, kept across kills.

    A step may be one of five that write many files, or one of thousands of shards that write one each. It is
    skipped if its settings, its inputs, the code and the files it wrote are as recorded. Finished steps are
    listed in `journal.jsonl`, and in `run.json` once the block ends. Neither depends on time: a run that was
    killed and repeated ends in the same bytes. Timings go to `log.jsonl`.

    Parameters
    ----------
    folder : made if needed; one process at a time.
    source : what the run is about: JSON values, paths, and lists of paths. A path stands for the content of
        the file, whatever its name. A folder that holds a run about something else is refused, unless its
        files are all among these: files may be added to a run.
    replace : replace such a run. The new one is built beside it and takes its place when the block ends
        without an error; until then the old run stays as it is.

    Attributes
    ----------
    folder : Path
        Where steps write: the given folder, or while another run is replaced, a folder inside it.

    Examples
    --------
    >>> with Steps("out", source={"trips": [Path("a.csv")]}) as steps:  # doctest: +SKIP
    ...     steps.run("panel", build, inputs=["a.csv"], settings={"by": "hour"}, outputs=["panel.parquet"])
    """

    # Whether the last block of this program ended early and left finished steps to go on from.
    left_unfinished = False

    def __init__(
        self, folder: str | os.PathLike[str], *, source: Mapping[str, Any], replace: bool = False
    ) -> None:
        self.folder = Path(folder)
        self.code = code_version()
        self._home = self.folder
        self._source = source
        self._replace = replace
        self._lock = FolderLock(self.folder)
        self._known: dict[str, str] = {}  # checksums of the files of the source
        self._record = Record({})
        self._open = False
        self._under_way = ("", "")

    @property
    def home(self) -> Path:
        """The folder of the run, also while another run is replaced."""
        return self._home

    def __enter__(self) -> "Steps":
        refuse_address(self._home)
        if os.path.exists(self._home) and not os.path.isdir(self._home):
            raise RunError(f"{self._home} is a file: give the path of a folder")
        source = {name: self._described(value) for name, value in self._source.items()}
        check_json(source, "source")
        self._home.mkdir(parents=True, exist_ok=True)
        self._lock.__enter__()
        try:
            _replacement.complete(self._home)
            self._resume(source)
        except BaseException:
            self._lock.__exit__(None, None, None)
            raise
        self._open = True
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open = False
        Steps.left_unfinished = error is not None and bool(self._record.steps)
        try:
            # After an error the journal is as good as the record, and the error is what matters.
            with contextlib.nullcontext() if error is None else contextlib.suppress(OSError):
                if (self.folder / JOURNAL).exists():
                    self._record.write(self.folder)
            if error is None and self.folder != self._home:
                _replacement.put_in_place(self._home)
                self.folder = self._home
        finally:
            self._lock.__exit__(kind, error, trace)

    def run(
        self,
        name: str,
        make: Callable[[], Any],
        *,
        outputs: Iterable[str],
        inputs: Iterable[str | os.PathLike[str]] = (),
        settings: Mapping[str, Any] | None = None,
    ) -> bool:
        """Do the step unless it is done; return whether it was done now.

        Parameters
        ----------
        make : writes all of `outputs` to `folder`, each whole or not at all.
        outputs : files or folders in `folder`, by name.
        inputs : files or folders that `make` reads, here or elsewhere.
        settings : JSON values that decide the result.
        """
        outputs = list(outputs)
        made_from = self._made_from(outputs, inputs, settings)
        if self._is_done(name, made_from, outputs):
            return False
        started, busy = time.monotonic(), cpu_seconds()
        self._under_way = name, hashlib.sha256(to_json(made_from)).hexdigest()
        make()
        written = {output: checksum(self.folder / output) for output in outputs}
        self._record.add_step(self.folder, name, {**made_from, "outputs": written})
        self.log(step=name, **cost_since(started, busy))
        return True

    def stages(self) -> Stages:
        """Return the stages of the step under way, for a `make` that takes long; clear them at its end."""
        name, made_from = self._under_way

        def log(**fields: Any) -> None:
            self.log(step=name, **fields)

        return Stages(self.folder / f"{STAGES}{name}", made_from, log)

    def forget_stages(self, name: str) -> None:
        """Remove what is kept of the stages of a finished step."""
        Stages(self.folder / f"{STAGES}{name}").clear()

    def done(
        self,
        name: str,
        *,
        outputs: Iterable[str],
        inputs: Iterable[str | os.PathLike[str]] = (),
        settings: Mapping[str, Any] | None = None,
    ) -> bool:
        """Return whether `run` with these arguments would skip the step."""
        outputs = list(outputs)
        return self._is_done(name, self._made_from(outputs, inputs, settings), outputs)

    def note(self, **notes: Any) -> None:
        """Keep facts about the run, such as measures and versions, in its record."""
        self._check_open()
        check_json(notes, "notes")
        if self._record.notes != {**self._record.notes, **notes}:
            self._record.add_notes(self.folder, notes)

    def log(self, **fields: Any) -> None:
        """Append a line with the time to `log.jsonl`, the only file that differs from run to run."""
        self._check_open()
        check_json(fields, "fields")
        append_line(self.folder / LOG, {"time": round(time.time(), 3), **fields}, durable=False)

    def _resume(self, source: dict[str, Any]) -> None:
        """Take up the run that the folder holds, begin a new one, or refuse."""
        beside = self._home / _replacement.NEXT
        try:
            found = load(self._home) if os.path.lexists(self._home / RECORD) else None
        except RunError as error:
            if not self._replace or isinstance(error, ForeignError):
                raise
            self._build_in(beside, source)
            return
        if found is None:
            ours = (LOCK_NAME, LOG, _replacement.NEXT)
            others = sorted(entry.name for entry in self._home.iterdir() if entry.name not in ours)
            if others:  # with --replace too: it replaces a run, and nothing else
                raise ForeignError(
                    f"{self._home} holds files of something else ({', '.join(others[:3])}): "
                    "choose another folder"
                )
        elif not found.steps and not same_source(found.source, source):
            found = None  # that run failed at once and left nothing to lose
        elif found.steps and not self._replace and adds_files(found.source, source):
            found.source = source  # written with the first step that is done anew
        elif not same_source(found.source, source):
            if not self._replace:
                differs = difference(found.source, source)
                other = " of other content" if in_words(found.source) == in_words(source) else ""
                how = f"with {differs}" if differs else f"made from {in_words(found.source)}{other}"
                raise RunError(
                    f"{self._home} holds another run, {how}: choose another folder, or start over in this "
                    "one with --replace"
                )
            self._build_in(beside, source)
            return
        _replacement.remove([beside])
        self._build_in(self._home, source, found)

    def _build_in(self, folder: Path, source: dict[str, Any], found: Record | None = None) -> None:
        """Work in `folder`, going on with `found` or with what a killed replacement left there."""
        if found is None and folder != self._home:
            with contextlib.suppress(RunError):
                found = load(folder)
            if found is None or not same_source(found.source, source):
                found = None
                _replacement.remove([folder])
                folder.mkdir()
        for place in (folder, *(entry for entry in folder.iterdir() if entry.is_dir())):
            remove_leftovers(place)
        if found is None:
            # In this order: the journal must never be read together with the record of another run.
            (folder / JOURNAL).unlink(missing_ok=True)
            found = Record(source)
            found.write(folder)
        self.folder, self._record = folder, found

    def _described(self, value: Any) -> Any:
        """Return JSON for a part of the source, with files described by their content."""
        if isinstance(value, Path):
            self._known[os.path.abspath(value)] = sha256 = checksum(value)
            return describe_file(value, sha256)
        if isinstance(value, list | tuple) and all(isinstance(part, Path) for part in value):
            return [self._described(path) for path in sorted(value)]
        return value

    def _made_from(
        self, outputs: list[str], inputs: Iterable[str | os.PathLike[str]], settings: Mapping[str, Any] | None
    ) -> dict[str, Any]:
        self._check_open()
        settings = dict(settings or {})
        check_json(settings, "settings")
        outside = [name for name in outputs if not is_inside(name)]
        if outside:
            raise ValueError(f"outputs must be names inside the folder, not {outside[0]!r}")
        read = {}
        for path in inputs:
            full = os.path.abspath(path)
            read[self._name(full)] = self._known.get(full) or checksum(full)
        return {"code": self.code, "inputs": read, "settings": settings}

    def _is_done(self, name: str, made_from: dict[str, Any], outputs: list[str]) -> bool:
        known = self._record.steps.get(name)
        if known is None or {**made_from, "outputs": known["outputs"]} != known:
            return False
        return known["outputs"] == {output: _checksum_or_none(self.folder / output) for output in outputs}

    def _name(self, path: str) -> str:
        """Return a path as it is recorded: files of the folder by their name, wherever the folder is."""
        folder = Path(os.path.abspath(self.folder))
        return Path(path).relative_to(folder).as_posix() if Path(path).is_relative_to(folder) else path

    def _check_open(self) -> None:
        if not self._open:
            raise RunError("use Steps in a with statement: it is not open")


def read_record(folder: str | os.PathLike[str]) -> dict[str, Any]:
    """Return what is recorded of the run in a folder: its `source`, `steps` and `notes`."""
    folder = Path(folder)
    _replacement.complete_alone(folder)
    return vars(load(folder))


def stale_steps(folder: str | os.PathLike[str]) -> list[str]:
    """Return the finished steps whose inputs in the folder have changed since, in the order of names."""
    folder, known = Path(folder), {}
    found = []
    for name, step in sorted(read_record(folder)["steps"].items()):
        for file, recorded in step["inputs"].items():
            if not is_inside(file) or not (folder / file).exists():
                continue
            if file not in known:
                known[file] = checksum(folder / file)
            if known[file] != recorded and name not in found:
                found.append(name)
    return found


def _checksum_or_none(path: Path) -> str | None:
    return checksum(path) if path.exists() else None
