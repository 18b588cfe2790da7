"""Saved models: every kind of damage is refused with one class of error, and what cannot be saved too."""

import hashlib
import json
import os
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from model_tools import ARRAYS, CONFIG, ENTRY, TWO, redescribe, refused, rewrite, weights_of

from unmet.runs import ModelFileError, _model_folder, load_model, save_model


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    save_model(tmp_path / "model", CONFIG, ARRAYS)
    return tmp_path / "model"


@pytest.mark.parametrize("flip", [0x01, 0x20, 0x07])
def test_a_flipped_byte_anywhere_is_refused(folder: Path, flip: int) -> None:
    for path in sorted(folder.iterdir()):
        good = path.read_bytes()
        for position in range(len(good)):
            bad = bytearray(good)
            bad[position] ^= flip
            path.write_bytes(bad)
            refused(folder)
        path.write_bytes(good)
    load_model(folder)


def test_a_cut_or_longer_file_is_refused(folder: Path) -> None:
    for path in sorted(folder.iterdir()):
        good = path.read_bytes()
        for bad in [good[:size] for size in range(0, len(good), 7)] + [good + b"\n", good + b"\0", good * 2]:
            path.write_bytes(bad)
            refused(folder)
        path.write_bytes(good)
    load_model(folder)


@given(st.binary(max_size=200))
def test_noise_is_refused(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    folder = tmp_path_factory.mktemp("noise")
    (folder / "model.json").write_bytes(data)
    refused(folder)


def test_missing_files(folder: Path, tmp_path: Path) -> None:
    refused(tmp_path / "no", "does not exist")
    refused(tmp_path, "holds no saved model")
    refused(folder / "model.json", "is a file, not the folder")
    weights_of(folder).unlink()
    refused(folder, "is missing: the model is incomplete")


@pytest.mark.parametrize("name", ["model.pkl", "model.PKL", "m.joblib", "m.pickle"])
def test_pickles_are_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"\x80\x04.")
    refused(tmp_path / name, "names a pickle")
    with pytest.raises(ModelFileError, match="names a pickle"):
        save_model(tmp_path / name, {}, {})


def test_the_weights_cannot_lie_elsewhere(folder: Path, tmp_path: Path) -> None:
    weights = weights_of(folder)
    entry = json.loads((folder / "model.json").read_text())["weights"]
    weights.rename(tmp_path / weights.name)
    for name in [f"../{weights.name}", str(tmp_path / weights.name), "", ".", "model.json", None, 3]:
        redescribe(folder, weights={**entry, "file": name})
        refused(folder, "names its weights file wrongly")
    redescribe(folder, weights=entry)
    weights.symlink_to(tmp_path / weights.name)
    refused(folder, "is a link")
    weights.unlink()
    os.mkfifo(weights)
    refused(folder, "not a plain file")


def test_model_json_may_not_be_a_link(folder: Path, tmp_path: Path) -> None:
    (folder / "model.json").rename(tmp_path / "elsewhere.json")
    (folder / "model.json").symlink_to(tmp_path / "elsewhere.json")
    refused(folder, "is a link")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"version": 2}, "has version 2, .* reads only version 1"),
        ({"version": True}, "version True"),
        ({"version": ...}, "version None"),
        ({"format": "other"}, "does not describe a model"),
        ({"extra": 1}, "entries that a model does not have"),
        ({"config": [1]}, "entries that a model does not have"),
        ({"weights": {"file": "x"}}, "describe its weights by file"),
    ],
)
def test_descriptions_with_right_checksums_but_wrong_content(
    folder: Path, changes: dict[str, Any], message: str
) -> None:
    redescribe(folder, **changes)
    refused(folder, message)


def test_json_tricks(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = folder / "model.json"
    text = path.read_text()
    path.write_text(text.replace('"l2": 0.001', '"l2": 0.001,\n  "l2": 0.002'))
    refused(folder, "duplicate key 'l2'")
    path.write_text(text.replace("0.001", "NaN"))
    refused(folder, "holds NaN")
    path.write_text(text.replace("0.001", "1e999"))
    refused(folder, "beyond the range")
    path.write_text("[" * 200_000)
    refused(folder)
    monkeypatch.setattr(_model_folder, "MAX_JSON_BYTES", 100)
    path.write_text(text)
    refused(folder, "more than the 100 allowed")
    with pytest.raises(ModelFileError, match="more than the 100 allowed"):
        save_model(folder, CONFIG, ARRAYS)


@pytest.mark.parametrize(
    ("header", "values", "message"),
    [
        (b"{", b"", "not valid JSON"),
        (b"[]", b"", "not a table"),
        (b'{"w": 1, "w": 1}', b"", "duplicate key 'w'"),
        ({"w": 1}, b"", "by dtype, shape"),
        ({"w": {**ENTRY, "more": 1}}, TWO, "by dtype, shape"),
        ({"__metadata__": {"a": "b"}, "w": ENTRY}, TWO, "not allowed"),
        ({"": ENTRY}, TWO, "not allowed"),
        ({"w w": ENTRY}, TWO, "not allowed"),
        ({"é": ENTRY}, TWO, "not allowed"),
        ({"w\n": ENTRY}, TWO, "not allowed"),
        ({"w" * 201: ENTRY}, TWO, "not allowed"),
        ({"w": {**ENTRY, "dtype": "F16"}}, TWO, "of dtype 'F16'"),
        ({"w": {**ENTRY, "dtype": ["F32"]}}, TWO, "of dtype"),
        ({"w": {**ENTRY, "shape": [-2]}}, TWO, "whole numbers"),
        ({"w": {**ENTRY, "shape": [2.0]}}, TWO, "whole numbers"),
        ({"w": {**ENTRY, "shape": [True, 2]}}, TWO, "whole numbers"),
        ({"w": {**ENTRY, "shape": 2}}, TWO, "whole numbers"),
        ({"w": {**ENTRY, "shape": [3]}}, TWO, "number of bytes disagree"),
        ({"w": {**ENTRY, "shape": [1] * 9}}, TWO, "too large"),
        ({"w": {**ENTRY, "shape": [2**40]}}, TWO, "too large"),
        ({"w": {**ENTRY, "shape": [0, 2**62], "data_offsets": [0, 0]}}, b"", "too large"),
        ({"w": {**ENTRY, "shape": [2**32, 2**32], "data_offsets": [0, 0]}}, b"", "too large"),
        ({"w": {**ENTRY, "data_offsets": [0, 4]}}, TWO, "number of bytes disagree"),
        ({"w": {**ENTRY, "data_offsets": [8, 16]}}, TWO + TWO, "overlap or leave gaps"),
        ({"v": ENTRY, "w": ENTRY}, TWO, "overlap or leave gaps"),
        ({"w": ENTRY}, TWO + b"more", "12 bytes of values where its header says 8"),
        ({"w": ENTRY}, b"", "0 bytes of values"),
        ({"w": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}, b"\x00\x00\xc0\x7f", "not finite"),
        (
            {"w": {"dtype": "F64", "shape": [1], "data_offsets": [0, 8]}},
            struct.pack("<d", np.inf),
            "not finite",
        ),
        ({"w": {"dtype": "BOOL", "shape": [1], "data_offsets": [0, 1]}}, b"\x02", "neither true nor false"),
        (
            {f"w{i}": {**ENTRY, "shape": [0], "data_offsets": [0, 0]} for i in range(10_001)},
            b"",
            "10001 arrays",
        ),
    ],
)
def test_weights_with_right_checksums_but_wrong_content(
    folder: Path, header: Any, values: bytes, message: str
) -> None:
    rewrite(folder, header, values)
    refused(folder, message)


def test_a_header_that_claims_to_be_huge(folder: Path) -> None:
    data = struct.pack("<Q", 2**63) + b"{}"
    digest = hashlib.sha256(data).hexdigest()
    (folder / f"weights-{digest}.safetensors").write_bytes(data)
    entry = {"file": f"weights-{digest}.safetensors", "sha256": digest, "bytes": len(data)}
    redescribe(folder, weights=entry)
    refused(folder, "announces a header")


@pytest.mark.parametrize(
    ("config", "arrays", "message"),
    [
        ({"a": {"b": {1}}}, {}, r"config\['a'\]\['b'\] is a set"),
        ({"quantiles": (0.1,)}, {}, r"config\['quantiles'\] is a tuple"),
        ({"a": float("nan")}, {}, r"config\['a'\] is nan"),
        ([1], {}, "config must be a dict"),
        ({}, {"w": np.array([np.nan])}, "array 'w' holds values that are not finite"),
        ({}, {"w": np.zeros(2, np.float16)}, "array 'w' has dtype float16"),
        ({}, {"w": np.zeros(2, complex)}, "array 'w' has dtype complex128"),
        ({}, {"w": np.array(["a"])}, "array 'w' has dtype"),
        ({}, {"w": np.array([{}])}, "array 'w' has dtype object"),
        ({}, {"w": np.zeros([1] * 9)}, "9 axes"),
        ({}, {"w w": np.zeros(2)}, "'w w' is not allowed"),
        ({}, {3: np.zeros(2)}, "'3' is not allowed"),
    ],
)
def test_what_cannot_be_saved(folder: Path, config: Any, arrays: Any, message: str) -> None:
    with pytest.raises(ModelFileError, match=message):
        save_model(folder, config, arrays)
    assert load_model(folder)[0] == CONFIG


def test_paths_that_cannot_be_saved_to(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(ModelFileError, match="is a file"):
        save_model(tmp_path / "file", {}, {})
    (tmp_path / "model.json").write_text('{"architecture": "resnet"}')
    with pytest.raises(ModelFileError, match="another program"):
        save_model(tmp_path, {}, {})
    assert (tmp_path / "model.json").read_text() == '{"architecture": "resnet"}'
