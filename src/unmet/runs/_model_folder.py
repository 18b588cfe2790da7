"""Saved models: a folder with `model.json` and one weights file, replaced together or not at all."""

import contextlib
import hashlib
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from unmet.runs._atomic import fcntl, remove_leftovers, write_bytes
from unmet.runs._strict_json import check_json, from_json, parse_json, to_json
from unmet.runs._weights_file import check_header, weights_from_bytes, weights_to_bytes

FORMAT = "unmet model"
VERSION = 1
MAX_JSON_BYTES = 2**24

_JSON_NAME = "model.json"
_WEIGHTS_NAME = re.compile(r"weights-([0-9a-f]{64})\.safetensors", re.ASCII)
_PICKLES = {".pkl", ".pickle", ".joblib", ".dill", ".cloudpickle"}
_TRIES = 5


class ModelFileError(ValueError):
    """A model folder is missing, damaged or of an unknown version, or cannot hold what it is given."""


def save_model(path: str | os.PathLike[str], config: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
    """Save a model in the folder `path`, which is made if needed.

    The weights go to a file named by their SHA-256. Then `model.json`, which names that file, is replaced in
    one step, and unused weights are removed. After a kill at any moment the folder holds the old model or the
    new one. Savers of one folder wait for each other.

    Parameters
    ----------
    path : folder of the model. A model that is already there is replaced.
    config : description of the model: str, int, finite float, bool, None, and lists and dicts of these.
        Floats come back exactly.
    arrays : weights by name: float32, float64, int32, int64, uint32 or bool, all finite.

    Raises
    ------
    ModelFileError
        `path` is a file or a pickle, or `config` or `arrays` hold what cannot be stored (the key is named).
    OSError
        The folder cannot be written; the old model is intact.
    """
    folder = _folder(path)
    try:
        if not isinstance(config, dict):
            raise ValueError(f"config must be a dict, not {type(config).__name__}")
        check_json(config, "config")
        weights = weights_to_bytes(arrays)
        digest = hashlib.sha256(weights).hexdigest()
        document = {
            "format": FORMAT,
            "version": VERSION,
            "config": config,
            "weights": {"file": _weights_name(digest), "sha256": digest, "bytes": len(weights)},
        }
        description = to_json({**document, "checksum": _checksum(document)}, "model")
        if len(description) > MAX_JSON_BYTES:
            raise ValueError(f"config takes {len(description)} bytes, more than the {MAX_JSON_BYTES} allowed")
    except ValueError as error:
        raise ModelFileError(f"cannot save a model: {error}") from None
    if os.path.exists(folder) and not os.path.isdir(folder):
        raise ModelFileError(f"{folder} is a file: a model is saved as a folder; choose another path")
    folder.mkdir(parents=True, exist_ok=True)
    with _only_saver(folder):
        _refuse_foreign(folder)
        remove_leftovers(folder)
        write_bytes(folder / _weights_name(digest), weights, tidy=False)
        write_bytes(folder / _JSON_NAME, description, tidy=False)
        for entry in list(os.scandir(folder)):
            if _WEIGHTS_NAME.fullmatch(entry.name) and entry.name != _weights_name(digest):
                with contextlib.suppress(OSError):
                    os.unlink(entry.path)


def load_model(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return config and arrays of the model in the folder `path`.

    Nothing in the folder is executed, every size is checked before reading, and every byte is covered by a
    checksum. If another process replaces the model meanwhile, the new one is loaded.

    Raises
    ------
    ModelFileError
        There is no model, it is damaged, or it was written by a later version of unmet.
    """
    folder = _folder(path)
    if not os.path.isdir(folder):
        found = "is a file, not the folder of a saved model" if os.path.exists(folder) else "does not exist"
        raise ModelFileError(f"{folder} {found}")
    for attempt in range(_TRIES):
        description = _read_description(folder / _JSON_NAME)
        weights = folder / description["weights"]["file"]
        try:
            return description["config"], _read_weights(weights, description["weights"])
        except FileNotFoundError:
            # Before the last attempt, a saver may have replaced the model since we read its name.
            if attempt == _TRIES - 1:
                raise ModelFileError(f"{weights} is missing: the model is incomplete") from None
    raise AssertionError("unreachable")


def _read_description(path: Path) -> dict[str, Any]:
    with _explained(path):
        try:
            with _open_plain(path) as (file, size):
                if size > MAX_JSON_BYTES:
                    raise ValueError(f"has {size} bytes, more than the {MAX_JSON_BYTES} allowed")
                data = file.read(MAX_JSON_BYTES + 1)
        except FileNotFoundError:
            raise ValueError("is missing: the folder holds no saved model") from None
        document = from_json(data, max_bytes=MAX_JSON_BYTES)
        if not isinstance(document, dict) or document.get("format") != FORMAT:
            raise ValueError("does not describe a model of unmet")
        if type(document.get("version")) is not int or document["version"] != VERSION:
            found = str(document.get("version"))[:20]
            raise ValueError(
                f"has version {found}, and this unmet reads only version {VERSION} (try a later one)"
            )
        checksum = document.pop("checksum", None)
        if checksum != _checksum(document):
            raise ValueError("does not match its checksum: it is damaged")
        _check_description(document)
    return document


def _check_description(document: dict[str, Any]) -> None:
    if set(document) != {"format", "version", "config", "weights"} or not isinstance(
        document["config"], dict
    ):
        raise ValueError("has entries that a model does not have")
    weights = document["weights"]
    if not isinstance(weights, dict) or set(weights) != {"file", "sha256", "bytes"}:
        raise ValueError("must describe its weights by file, sha256 and bytes")
    name = weights["file"]
    match = _WEIGHTS_NAME.fullmatch(name) if isinstance(name, str) else None
    if match is None or match[1] != weights["sha256"] or type(weights["bytes"]) is not int:
        raise ValueError("names its weights file wrongly")


def _read_weights(path: Path, expected: dict[str, Any]) -> dict[str, np.ndarray]:
    with _explained(path), _open_plain(path) as (file, size):
        if size != expected["bytes"]:
            raise ValueError(f"has {size} bytes instead of {expected['bytes']}: it is damaged")
        check_header(file, size)
        file.seek(0)
        data = file.read(size)
        if hashlib.sha256(data).hexdigest() != expected["sha256"]:
            raise ValueError("does not match its checksum: it is damaged")
        return weights_from_bytes(data)


@contextlib.contextmanager
def _explained(path: Path) -> Iterator[None]:
    """Turn errors with one file into a ModelFileError; a missing file is left to the caller."""
    try:
        yield
    except FileNotFoundError:
        raise
    except OSError as error:
        raise ModelFileError(f"{path} cannot be read: {error.strerror or error}") from error
    except ValueError as error:
        raise ModelFileError(f"{path} {error}") from None


@contextlib.contextmanager
def _open_plain(path: Path) -> Iterator[tuple[BinaryIO, int]]:
    """Open a plain file for reading; follow no link, read no pipe or device."""
    if path.is_symlink():
        raise ValueError("is a link: the files of a model must be plain files")
    flags = os.O_RDONLY
    for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY"):
        flags |= getattr(os, name, 0)
    with os.fdopen(os.open(path, flags), "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise ValueError("is not a plain file")
        yield file, status.st_size


@contextlib.contextmanager
def _only_saver(folder: Path) -> Iterator[None]:
    """Keep other savers out: they could remove the weights that this one is about to name."""
    if fcntl is None:  # pragma: no cover
        yield
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        with contextlib.suppress(OSError):  # some network file systems cannot lock a folder
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _folder(path: str | os.PathLike[str]) -> Path:
    folder = Path(path)
    if folder.suffix.lower() in _PICKLES:
        raise ModelFileError(
            f"{folder} names a pickle: unmet neither reads nor writes them, because loading one runs the "
            "code in it. Give the path of a folder, such as 'my-model'"
        )
    return folder


def _refuse_foreign(folder: Path) -> None:
    """Refuse to overwrite another program's model.json; an unreadable one is a broken model of ours."""
    try:
        with _open_plain(folder / _JSON_NAME) as (file, _):
            document = parse_json(file.read(MAX_JSON_BYTES))
    except (OSError, ValueError):
        return
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise ModelFileError(f"{folder} holds the {_JSON_NAME} of another program: choose another path")


def _weights_name(digest: str) -> str:
    return f"weights-{digest}.safetensors"


def _checksum(document: dict[str, Any]) -> str:
    return hashlib.sha256(to_json(document, "model")).hexdigest()
