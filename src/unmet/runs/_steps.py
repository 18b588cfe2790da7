"""A folder of steps: each is done once, and again only when what it was made from has changed."""

import hashlib
import os
import shutil
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from textwrap import shorten
from types import TracebackType
from typing import Any

from unmet.runs._atomic import remove_leftovers, write_bytes
from unmet.runs._lock import LOCK_NAME, FolderLock
from unmet.runs._manifest import RunError, append_line, code_version
from unmet.runs._strict_json import check_json, from_json, to_json

FORMAT = "unmet folder"
VERSION = 1
RECORD = "run.json"
LOG = "log.jsonl"
_MAX_RECORD_BYTES = 2**26
_AGAIN = "make the run again with its command and --replace"


class Steps:
    """Steps that lead from inputs to files in one folder, kept across kills.

    `run.json` says of each finished step its settings, and the checksums of what it read and wrote. A step
    whose settings, inputs and code are as recorded, and whose files are unchanged, is not run again. Nothing
    in `run.json` depends on time, so a run that was killed and repeated ends in the same bytes; timings go
    to `log.jsonl`.

    Parameters
    ----------
    folder : made if needed; one process at a time.
    source : what the folder is about (JSON). A folder about something else is refused unless `replace`.
    replace : start over in a folder that holds another run. What that run wrote goes once the first step of
        the new one is done, not before.

    Examples
    --------
    >>> with Steps("out", source={"trips": ["a.csv"]}) as steps:  # doctest: +SKIP
    ...     steps.run("panel", build, inputs=["a.csv"], settings={"by": "hour"}, outputs=["panel.parquet"])
    """

    def __init__(
        self, folder: str | os.PathLike[str], *, source: Mapping[str, Any], replace: bool = False
    ) -> None:
        check_json(dict(source), "source")
        self.folder = Path(folder)
        self.code = code_version()
        self._source = dict(source)
        self._replace = replace
        self._lock = FolderLock(self.folder)
        self._steps: dict[str, Any] = {}
        self._notes: dict[str, Any] = {}
        self._replaced: list[str] | None = None  # what the run that is to be replaced wrote

    def __enter__(self) -> "Steps":
        if self.folder.exists() and not self.folder.is_dir():
            raise RunError(f"{self.folder} is a file: give the path of a folder")
        self.folder.mkdir(parents=True, exist_ok=True)
        self._lock.__enter__()
        try:
            self._resume()
        except BaseException:
            self._lock.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
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
        """Do the step unless it is done; returns whether anything was done.

        Parameters
        ----------
        make : writes all of `outputs`, each whole or not at all.
        outputs : files or folders inside the folder, by name.
        inputs : files or folders that `make` reads, here or elsewhere.
        """
        settings = dict(settings or {})
        check_json(settings, "settings")
        outputs = list(outputs)
        read = {self._name(path): checksum(path) for path in inputs}
        made_from = {"code": self.code, "inputs": read, "settings": settings}
        known = self._steps.get(name)
        if known is not None and {key: known[key] for key in made_from} == made_from:
            current = {output: _checksum_or_none(self.folder / output) for output in outputs}
            if current == known["outputs"]:
                return False
        started = time.monotonic()
        make()
        written = {output: checksum(self.folder / output) for output in outputs}
        self._drop_replaced(outputs)
        self._steps[name] = {**made_from, "outputs": written}
        self._write()
        self.log(step=name, seconds=round(time.monotonic() - started, 3))
        return True

    def _name(self, path: str | os.PathLike[str]) -> str:
        """A path as it is recorded: files of the folder by their name in it, wherever the folder is."""
        path = Path(path)
        return path.relative_to(self.folder).as_posix() if path.is_relative_to(self.folder) else str(path)

    def note(self, **notes: Any) -> None:
        """Keep facts about the run (measures, versions) in `run.json`."""
        check_json(notes, "notes")
        if self._notes != {**self._notes, **notes}:
            self._notes.update(notes)
            self._write()

    def log(self, **fields: Any) -> None:
        """Append a line with the time to `log.jsonl`, which is outside the promise of the same bytes."""
        check_json(fields, "fields")
        append_line(self.folder / LOG, {"time": round(time.time(), 3), **fields}, durable=False)

    def _resume(self) -> None:
        remove_leftovers(self.folder)
        path = self.folder / RECORD
        if not path.exists():
            others = sorted(
                entry.name for entry in self.folder.iterdir() if entry.name not in (LOCK_NAME, LOG)
            )
            if others and not self._replace:
                raise RunError(
                    f"{self.folder} holds files of something else ({', '.join(others[:3])}): choose another "
                    "folder"
                )
            self._write()
            return
        try:
            found = read_record(self.folder)
        except RunError:
            if not self._replace:
                raise
            self._replaced = []
            return
        if to_json(found["source"]) != to_json(self._source):
            if not found["steps"]:  # a run that failed at once left nothing to lose
                self._write()
                return
            if not self._replace:
                raise RunError(
                    f"{self.folder} holds another run, made from {_brief(found['source'])}: choose another "
                    "folder, or start over in this one with --replace"
                )
            self._replaced = sorted({name for step in found["steps"].values() for name in step["outputs"]})
            return
        self._steps, self._notes = found["steps"], found["notes"]

    def _drop_replaced(self, kept: Iterable[str]) -> None:
        """Remove what the replaced run wrote, so that none of it is taken for a part of this one."""
        for name in sorted(set(self._replaced or ()) - set(kept)):
            path = self.folder / name
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)
        self._replaced = None

    def _write(self) -> None:
        content = {
            "format": FORMAT,
            "version": VERSION,
            "source": self._source,
            "steps": self._steps,
            "notes": self._notes,
        }
        write_bytes(self.folder / RECORD, to_json(content), tidy=False)


def read_record(folder: str | os.PathLike[str]) -> dict[str, Any]:
    """What `run.json` of a folder says."""
    path = Path(folder) / RECORD
    if not path.is_file():
        raise RunError(
            f"{folder} is not the folder of a run: it has no {RECORD}; make one with `unmet run … -o`"
        )
    try:
        content = from_json(path.read_bytes(), max_bytes=_MAX_RECORD_BYTES)
    except ValueError as error:
        raise RunError(f"{path} {error}; {_AGAIN}") from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise RunError(f"{path} is not the record of a run of unmet: choose another folder")
    if content.get("version") != VERSION:
        raise RunError(
            f"{path} has version {content.get('version')}, and this unmet reads only {VERSION}; {_AGAIN}"
        )
    whole = all(isinstance(content.get(key), dict) for key in ("source", "steps", "notes"))
    if not whole or not all(map(_is_step, content["steps"].values())):
        raise RunError(f"{path} is damaged; {_AGAIN}")
    return content


def _is_step(entry: Any) -> bool:
    keys = ("code", "inputs", "settings", "outputs")
    if not isinstance(entry, dict) or not set(entry) >= set(keys):
        return False
    # Outputs of a run that is replaced are removed: names alone, so that nothing outside can be.
    names = entry["outputs"]
    return isinstance(names, dict) and isinstance(entry["inputs"], dict) and all(map(_is_name, names))


def _is_name(name: str) -> bool:
    return name not in ("", ".", "..") and Path(name).name == name and "\0" not in name


def stale_steps(folder: str | os.PathLike[str]) -> list[str]:
    """Finished steps of a folder that rest on files of it which have changed since, in the order of names."""
    folder, known = Path(folder), {}
    found = []
    for name, step in sorted(read_record(folder)["steps"].items()):
        for file, recorded in step["inputs"].items():
            if Path(file).is_absolute() or not (folder / file).exists():
                continue
            if file not in known:
                known[file] = checksum(folder / file)
            if known[file] != recorded and name not in found:
                found.append(name)
    return found


def checksum(path: str | os.PathLike[str]) -> str:
    """SHA-256 of a file, or of the names and contents of a folder's files."""
    path = Path(path)
    if not path.is_dir():
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    digest = hashlib.sha256()
    for file_path in sorted(entry for entry in path.rglob("*") if entry.is_file()):
        digest.update(f"{file_path.relative_to(path).as_posix()}\0{checksum(file_path)}\n".encode())
    return digest.hexdigest()


def _checksum_or_none(path: Path) -> str | None:
    return checksum(path) if path.exists() else None


def _brief(source: Mapping[str, Any]) -> str:
    """What a run was made from, as much as fits: whole words, and of many names the first."""

    def words(value: Any) -> str:
        if isinstance(value, (list, tuple)):
            return f"{value[0]} and {len(value) - 1} more" if len(value) > 1 else ", ".join(map(str, value))
        return str(value)

    parts = [f"{key} {words(value)}" for key, value in sorted(source.items()) if value]
    return shorten(", ".join(parts), 160, placeholder=" …")
