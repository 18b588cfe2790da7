"""A resumable run: one file per finished shard, and a manifest that says what they are."""

import contextlib
import errno
import hashlib
import json
import os
import re
import time
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Any, Literal

from unmet.runs._atomic import explain_error, is_leftover, remove_leftovers, write_bytes
from unmet.runs._lock import FolderLock
from unmet.runs._strict_json import check_json, from_json, to_json

FORMAT = "unmet run"
VERSION = 1
_MAX_MANIFEST_BYTES = 2**28
_KEY = re.compile(r"[A-Za-z0-9_=+,@%-][A-Za-z0-9_=+,@%.-]{0,149}", re.ASCII)


class RunError(ValueError):
    """A run cannot go on in this folder: it holds another run, is damaged, or is not complete."""


def code_version() -> str:
    """Version of unmet and a checksum of its source, so that changed code is seen as such."""
    import unmet

    root = Path(unmet.__file__).parent
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        digest.update(f"{path.relative_to(root).as_posix()}\0".encode())
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return f"{unmet.__version__}+{digest.hexdigest()[:16]}"


class Run:
    """Results of many shards in one folder, kept across kills.

    The folder holds `shards/KEY` for each finished shard, `manifest.json` (config, code version, checksum of
    each shard, sorted by key) and `log.jsonl` (timings). All but the log are the same bytes whether the run
    was interrupted or not. While the run is under way, finished shards are listed in `journal.jsonl`.

    Parameters
    ----------
    folder : made if needed. One process at a time; a second gets a `FolderInUseError` with the first's pid.
    config : all that determines the results, as JSON values: settings, seeds, checksums of input files.
    changed : what to do if the folder holds a run with another config or code. "refuse" raises RunError;
        "recompute" removes the old shards.
    code : version of the code that makes the shards; by default `code_version()`.

    Examples
    --------
    >>> with Run("out", {"seed": 1}) as run:  # doctest: +SKIP
    ...     todo = [key for key in keys if not run.done(key)]
    ...     for index, data in run_shards(compute, todo, jobs=2):
    ...         run.write(todo[index], data)
    ...     run.finish(keys)
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        config: dict[str, Any],
        *,
        changed: Literal["refuse", "recompute"] = "refuse",
        code: str | None = None,
    ) -> None:
        if changed not in ("refuse", "recompute"):
            raise ValueError(f'changed must be "refuse" or "recompute", not {changed!r}')
        if not isinstance(config, dict):
            raise ValueError(f"config must be a dict, not {type(config).__name__}")
        check_json(config, "config")
        self.folder = Path(folder)
        self.config = config
        self.code = code_version() if code is None else code
        self._changed = changed
        self._lock = FolderLock(self.folder)
        self._shards: dict[str, dict[str, Any]] = {}
        self._verified: set[str] = set()
        self._open = False

    def __enter__(self) -> "Run":
        if os.path.exists(self.folder) and not os.path.isdir(self.folder):
            raise RunError(f"{self.folder} is a file: give the path of a folder")
        self.folder.mkdir(parents=True, exist_ok=True)
        self._lock.__enter__()
        try:
            self._resume()
        except BaseException:
            self._lock.__exit__(None, None, None)
            raise
        self._open = True
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open = False
        self._lock.__exit__(kind, error, trace)

    def path(self, key: str) -> Path:
        """Where the shard `key` is, or will be."""
        if not isinstance(key, str) or not _KEY.fullmatch(key):
            raise ValueError(
                f"key {str(key)[:80]!r} cannot be a file name: "
                "use up to 150 letters, digits or _ = + , @ % . -, and no dot in front"
            )
        return self.folder / "shards" / key

    def done(self, key: str) -> bool:
        """Whether the shard is finished and its file is unchanged; it is read once to make sure."""
        self._check_open()
        path = self.path(key)
        if key in self._verified:
            return True
        entry = self._shards.get(key)
        if entry is None:
            return False
        try:
            data = path.read_bytes()
        except OSError:
            return False
        if _entry(data) != entry:
            return False
        self._verified.add(key)
        return True

    def write(self, key: str, data: bytes) -> None:
        """Store the result of a shard; once this returns, no kill and no power cut loses it."""
        self._check_open()
        if not isinstance(data, bytes):
            raise ValueError(f"data must be bytes, not {type(data).__name__}")
        write_bytes(self.path(key), data, tidy=False)
        entry = _entry(data)
        append_line(self.folder / "journal.jsonl", {"key": key, **entry}, durable=True)
        self._shards[key] = entry
        self._verified.add(key)

    def read(self, key: str) -> bytes:
        """The result of a finished shard, checked against its checksum."""
        self._check_open()
        entry = self._shards.get(key)
        data = self.path(key).read_bytes() if entry is not None else b""
        if entry is None or _entry(data) != entry:
            raise RunError(f"shard {key!r} of {self.folder} is not finished or its file was changed")
        return data

    def log(self, **fields: Any) -> None:
        """Append a line with the time and `fields` to log.jsonl, which is no part of the results."""
        self._check_open()
        check_json(fields, "fields")
        append_line(self.folder / "log.jsonl", {"time": round(time.time(), 3), **fields}, durable=False)

    def finish(self, keys: Iterable[str]) -> None:
        """Write the final manifest, once all of `keys`, and nothing else, are finished."""
        self._check_open()
        wanted = set(keys)
        missing = sorted(key for key in wanted if not self.done(key))
        extra = sorted(self._shards.keys() - wanted)
        for names, what in ((missing, "not finished"), (extra, "not among the keys of this run")):
            if names:
                raise RunError(f"{len(names)} shards of {self.folder} are {what}: {', '.join(names[:5])}, …")
        self._write_manifest(complete=True)
        (self.folder / "journal.jsonl").unlink(missing_ok=True)

    def _resume(self) -> None:
        manifest = self.folder / "manifest.json"
        shards = self.folder / "shards"
        remove_leftovers(self.folder)
        remove_leftovers(shards)
        try:
            found = _read_manifest(manifest) if manifest.exists() else None
            problem = None if found is None else self._difference(found)
        except ValueError as error:
            found, problem = {}, f"its manifest.json {error}"
        if problem is not None and self._changed == "refuse":
            raise RunError(
                f"{self.folder} holds another run: {problem}. Choose another folder, or ask for its shards "
                "to be computed again"
            )
        if found is None and shards.is_dir() and any(shards.iterdir()):
            raise RunError(f"{shards} holds files that no run made: choose another folder")
        if found is None or problem is not None:
            # In this order: the journal must never be read together with the manifest of another run.
            (self.folder / "journal.jsonl").unlink(missing_ok=True)
            self._write_manifest(complete=False)
        else:
            self._shards = {**found["shards"], **_read_journal(self.folder / "journal.jsonl")}
        shards.mkdir(exist_ok=True)
        for path in list(shards.iterdir()):  # written, but killed before it was listed
            if path.name not in self._shards and not is_leftover(path.name) and not path.is_dir():
                path.unlink()

    def _difference(self, found: dict[str, Any]) -> str | None:
        if found["code"] != self.code:
            return f"it was made by version {found['code']} of the code, and this is {self.code}"
        if found["config"] != self.config or to_json(found["config"]) != to_json(self.config):
            keys = sorted(
                key
                for key in found["config"].keys() | self.config.keys()
                if found["config"].get(key, ...) != self.config.get(key, ...)
            )
            return f"its config differs in {', '.join(keys) or 'the type of a value'}"
        return None

    def _write_manifest(self, *, complete: bool) -> None:
        content = {
            "format": FORMAT,
            "version": VERSION,
            "code": self.code,
            "config": self.config,
            "config_sha256": hashlib.sha256(to_json(self.config)).hexdigest(),
            "complete": complete,
            "shards": self._shards,
        }
        write_bytes(self.folder / "manifest.json", to_json(content), tidy=False)

    def _check_open(self) -> None:
        if not self._open:
            raise RunError("use a Run in a with statement: it is not open")


def _entry(data: bytes) -> dict[str, Any]:
    return {"sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)}


def _read_manifest(path: Path) -> dict[str, Any]:
    content = from_json(path.read_bytes(), max_bytes=_MAX_MANIFEST_BYTES)
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise ValueError("is not that of a run of unmet")
    if content.get("version") != VERSION:
        raise ValueError(f"has version {content.get('version')}, and this unmet reads only {VERSION}")
    kinds = {"code": str, "config": dict, "shards": dict}
    if not all(isinstance(content.get(name), kind) for name, kind in kinds.items()):
        raise ValueError("is damaged")
    return content


def _read_journal(path: Path) -> dict[str, dict[str, Any]]:
    """Entries of shards that were finished since the manifest; a line cut short by a kill is left out."""
    entries = {}
    for line in path.read_bytes().splitlines() if path.exists() else []:
        with contextlib.suppress(ValueError, KeyError, TypeError):
            entry = json.loads(line)
            entries[str(entry["key"])] = {"sha256": str(entry["sha256"]), "bytes": int(entry["bytes"])}
    return entries


def append_line(path: Path, content: dict[str, Any], *, durable: bool) -> None:
    line = json.dumps(content, sort_keys=True, allow_nan=False).encode() + b"\n"
    try:
        before = path.stat().st_size if path.exists() else 0
        if before and not _ends_with_newline(path):  # cut short by a kill
            line = b"\n" + line
        with open(path, "ab", buffering=0) as file:
            try:
                if file.write(line) < len(line):
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                if durable:
                    os.fsync(file.fileno())
            except OSError:
                with contextlib.suppress(OSError):
                    file.truncate(before)
                raise
    except OSError as error:
        raise explain_error(error, path) from error


def _ends_with_newline(path: Path) -> bool:
    with open(path, "rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1) == b"\n"
