"""The record of finished work in a folder: `run.json`, and a journal of what finished since."""

import contextlib
import errno
import json
import os
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import shorten
from typing import Any

from unmet.runs._atomic import explain_error, write_bytes
from unmet.runs._checksum import open_regular
from unmet.runs._strict_json import from_json, parse_json, to_json

FORMAT = "unmet folder"
VERSION = 1
RECORD = "run.json"
JOURNAL = "journal.jsonl"
_MAX_BYTES = 2**28
_REMEDY = "run its command again with --replace"


class RunError(ValueError):
    """The folder holds another run, something else, or a damaged record."""


class ForeignError(RunError):
    """The folder holds something else than a run, which --replace must not touch."""


@dataclass
class Record:
    """What a folder is about (`source`), its finished steps by name, and notes; all JSON values."""

    source: dict[str, Any]
    steps: dict[str, dict[str, Any]] = field(default_factory=dict)
    notes: dict[str, Any] = field(default_factory=dict)

    def write(self, folder: Path) -> None:
        """Write `run.json`, then drop the journal, which it now includes."""
        content = {"format": FORMAT, "version": VERSION, **vars(self)}
        write_bytes(folder / RECORD, to_json(content), tidy=False)
        (folder / JOURNAL).unlink(missing_ok=True)

    def add_step(self, folder: Path, name: str, step: dict[str, Any]) -> None:
        """Record a finished step; once this returns, no kill and no power cut loses it."""
        append_line(folder / JOURNAL, {"name": name, "step": step}, durable=True)
        self.steps[name] = step

    def add_notes(self, folder: Path, notes: dict[str, Any]) -> None:
        append_line(folder / JOURNAL, {"notes": notes}, durable=True)
        self.notes.update(notes)


def load(folder: Path) -> Record:
    """Read `run.json` and the journal; raise RunError if there is no record or it is damaged."""
    path = folder / RECORD
    if not os.path.lexists(path):
        raise RunError(
            f"{folder} is not the folder of a run: it has no {RECORD}; make one with `unmet run … -o`"
        )
    try:
        content = from_json(_read(path), max_bytes=_MAX_BYTES)
        journal = _read(folder / JOURNAL) if os.path.lexists(folder / JOURNAL) else b""
    except ValueError as error:
        said = str(error)
        raise RunError(f"{said if str(path) in said else f'{path} {said}'}; {_REMEDY}") from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise ForeignError(f"{path} is not the record of a run of unmet: choose another folder")
    if content.get("version") != VERSION:
        raise RunError(
            f"{path} has version {content.get('version')}, and this unmet reads version {VERSION}; {_REMEDY}"
        )
    whole = all(isinstance(content.get(key), dict) for key in ("source", "steps", "notes"))
    if not whole or not all(map(_is_step, content["steps"].values())):
        raise RunError(f"{path} is damaged; {_REMEDY}")
    record = Record(content["source"], content["steps"], content["notes"])
    _replay(record, journal)
    return record


def _replay(record: Record, journal: bytes) -> None:
    """Add what the journal lists. A line cut short by a kill is left out, and its step is done again."""
    for line in journal.splitlines():
        with contextlib.suppress(ValueError):
            entry = parse_json(line)
            if not isinstance(entry, dict):
                continue
            if isinstance(entry.get("name"), str) and _is_step(entry.get("step")):
                record.steps[entry["name"]] = entry["step"]
            elif isinstance(entry.get("notes"), dict):
                record.notes.update(entry["notes"])


def _read(path: Path) -> bytes:
    with open_regular(path) as file:
        return file.read(_MAX_BYTES + 1)


def _is_step(entry: Any) -> bool:
    if not isinstance(entry, dict) or set(entry) != {"code", "inputs", "settings", "outputs"}:
        return False
    if not isinstance(entry["code"], str) or not isinstance(entry["settings"], dict):
        return False
    outputs, inputs = entry["outputs"], entry["inputs"]
    return _all_text(inputs) and _all_text(outputs) and all(map(is_inside, outputs))


def _all_text(values: Any) -> bool:
    return isinstance(values, dict) and all(isinstance(value, str) for value in values.values())


def is_inside(name: str) -> bool:
    """Return whether `name` is a path inside the folder: what a record names may be removed with its run."""
    return "\0" not in name and not {"", ".", ".."} & set(name.split("/"))


def same_source(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Return whether two runs are about the same things: files of equal content may have other names."""
    return to_json(_by_content(one)) == to_json(_by_content(other))


def adds_files(old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    """Return whether `new` has everything of `old` and more files: lists of files may only have grown."""
    if set(old) != set(new):
        return False
    grown = False
    for key, value in old.items():
        if _by_content(value) == _by_content(new[key]):
            continue
        if not isinstance(value, list) or not isinstance(new[key], list) or not value:
            return False
        if not all(map(_is_file, value)) or not all(map(_is_file, new[key])):
            return False
        if Counter(_by_content(value)) - Counter(_by_content(new[key])):
            return False
        grown = True
    return grown


def describe_file(path: Path, sha256: str) -> dict[str, str]:
    """Return the form in which a file stands in a source."""
    return {"name": path.name, "sha256": sha256}


def _is_file(value: Any) -> bool:
    return isinstance(value, Mapping) and set(value) == {"name", "sha256"}


def _is_sum(value: Any) -> bool:
    """Whether a value is a checksum, which tells people nothing."""
    return isinstance(value, str) and re.fullmatch("[0-9a-f]{64}", value) is not None


def _by_content(value: Any) -> Any:
    if _is_file(value):
        return value["sha256"]
    if isinstance(value, Mapping):
        return {key: _by_content(part) for key, part in value.items()}
    if isinstance(value, list):
        parts = [_by_content(part) for part in value]
        return sorted(parts) if value and all(map(_is_file, value)) else parts
    return value


def difference(old: Mapping[str, Any], new: Mapping[str, Any]) -> str:
    """Return in which settings two runs differ; nothing if their settings agree or are not the same ones.

    >>> difference({"folds": 5, "seed": 0}, {"folds": 2, "seed": 0})
    'folds 5 instead of 2'
    """
    if set(old) != set(new):
        return ""
    plain = [key for key, value in old.items() if isinstance(value, str | int | float) and not _is_sum(value)]
    differing = [key for key in plain if old[key] != new[key]]
    return shorten(", ".join(f"{key} {old[key]} instead of {new[key]}" for key in differing), 160)


def in_words(source: Mapping[str, Any]) -> str:
    """Return what a run was made from, as much as fits: of many names the first, and no checksums."""

    def words(value: Any) -> str:
        if isinstance(value, list):
            return f"{words(value[0])} and {len(value) - 1} more" if len(value) > 1 else words(value[0])
        return str(value["name"] if _is_file(value) else value)

    parts = [f"{key} {words(value)}" for key, value in sorted(source.items()) if value and not _is_sum(value)]
    return shorten(", ".join(parts), 160, placeholder=" …") or "nothing"


def append_line(path: Path, content: dict[str, Any], *, durable: bool) -> None:
    """Append a line of JSON, whole or not at all; `durable` waits until it is on disk."""
    line = json.dumps(content, sort_keys=True, allow_nan=False).encode() + b"\n"
    if path.exists() and not path.is_file():
        raise RunError(f"{path} is not a regular file: remove it")
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
    with open_regular(path) as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1) == b"\n"
