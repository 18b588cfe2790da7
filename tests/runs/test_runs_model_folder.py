"""Saved models: exact round trips, and every kind of damage refused with one class of error."""

import hashlib
import json
import os
import struct
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from unmet.runs import ModelFileError, _model_folder, load_model, save_model
from unmet.runs._model_folder import _checksum
from unmet.runs._strict_json import to_json

CONFIG = {"network": "linear", "quantiles": [0.05, 0.5, 0.95], "l2": 0.001, "seed": None, "joint": True}
ARRAYS = {
    "layers[0].weight": np.array([[0.1, -2.5], [3.0, 4.0]], dtype=np.float32),
    "bias": np.array(1.5),
    "flags": np.array([True, False]),
    "steps": np.array([7], dtype=np.int64),
}


def assert_same(left: dict[str, np.ndarray], right: dict[str, np.ndarray]) -> None:
    assert left.keys() == right.keys()
    for name, array in left.items():
        assert array.shape == right[name].shape
        assert array.dtype == right[name].dtype
        assert array.tobytes() == np.ascontiguousarray(right[name]).tobytes()


def weights_of(folder: Path) -> Path:
    (path,) = folder.glob("weights-*.safetensors")
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    save_model(tmp_path / "model", CONFIG, ARRAYS)
    return tmp_path / "model"


def refused(folder: Path, message: str = "model|weights") -> None:
    with pytest.raises(ModelFileError, match=message):
        load_model(folder)


def rewrite(folder: Path, header: Any, values: bytes = b"") -> None:
    """Put a hand-made weights file into a folder, with all checksums right."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    data = struct.pack("<Q", len(text)) + text + values
    digest = hashlib.sha256(data).hexdigest()
    name = f"weights-{digest}.safetensors"
    weights_of(folder).unlink()
    (folder / name).write_bytes(data)
    redescribe(folder, weights={"file": name, "sha256": digest, "bytes": len(data)})


def redescribe(folder: Path, **changes: Any) -> None:
    """Change entries of model.json and make its checksum right again."""
    document = json.loads((folder / "model.json").read_text())
    del document["checksum"]
    document = {key: value for key, value in {**document, **changes}.items() if value is not ...}
    (folder / "model.json").write_bytes(to_json({**document, "checksum": _checksum(document)}))


def test_round_trip(folder: Path) -> None:
    config, arrays = load_model(str(folder))
    assert config == CONFIG
    assert_same(arrays, ARRAYS)
    arrays["bias"][...] = 2.0  # writable
    assert sorted(path.name for path in folder.iterdir()) == ["model.json", weights_of(folder).name]


def test_saving_again_replaces_and_leaves_nothing_behind(folder: Path) -> None:
    (folder / "weights-notes.txt").write_text("a user's file")
    save_model(folder, {"other": 1}, {"w": np.zeros(3)})
    config, arrays = load_model(folder)
    assert config == {"other": 1}
    assert_same(arrays, {"w": np.zeros(3)})
    assert len(list(folder.iterdir())) == 3


def test_equal_models_are_equal_bytes(folder: Path, tmp_path: Path) -> None:
    save_model(tmp_path / "twin", dict(reversed(CONFIG.items())), dict(reversed(ARRAYS.items())))
    for path in folder.iterdir():
        assert (tmp_path / "twin" / path.name).read_bytes() == path.read_bytes()


def test_big_endian_fortran_and_strided_arrays(tmp_path: Path) -> None:
    values = np.arange(12.0).reshape(3, 4)
    save_model(
        tmp_path,
        {},
        {"big": values.astype(">f8"), "fortran": np.asfortranarray(values), "cut": values[:, ::2]},
    )
    _, arrays = load_model(tmp_path)
    assert_same(arrays, {"big": values, "cut": values[:, ::2].copy(), "fortran": values})


DTYPES = st.sampled_from([np.float32, np.float64, np.int32, np.int64, np.uint32, np.bool_])
NAMES = st.text("abcXYZ019_.:/[]-", min_size=1, max_size=200).filter(lambda name: name[:2] != "__")


@st.composite
def finite_arrays(draw: st.DrawFn) -> np.ndarray:
    dtype = np.dtype(draw(DTYPES))
    elements = {"allow_nan": False, "allow_infinity": False} if dtype.kind == "f" else None
    return draw(
        hnp.arrays(dtype, hnp.array_shapes(min_dims=0, max_dims=8, min_side=0, max_side=3), elements=elements)
    )


@settings(deadline=None, max_examples=60)
@given(
    config=st.dictionaries(
        st.text(),
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats(allow_nan=False, allow_infinity=False)
        | st.text(),
    ),
    arrays=st.dictionaries(NAMES, finite_arrays(), max_size=5),
)
def test_any_model_comes_back_exactly(
    tmp_path_factory: pytest.TempPathFactory, config: dict[str, Any], arrays: dict[str, np.ndarray]
) -> None:
    folder = tmp_path_factory.mktemp("any")
    save_model(folder, config, arrays)
    found_config, found_arrays = load_model(folder)
    assert found_config == config
    assert_same(found_arrays, arrays)


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
        refused(folder, "names a weights file in a way")
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
        ({"version": 2}, "has version 2 .* reads only 1"),
        ({"version": True}, "version True"),
        ({"version": ...}, "version None"),
        ({"format": "other"}, "does not describe a model"),
        ({"extra": 1}, "other entries"),
        ({"config": [1]}, "other entries"),
        ({"weights": {"file": "x"}}, "something else than file"),
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
    refused(folder, "key 'l2' twice")
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


ENTRY = {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}
TWO = np.array([1, 2], dtype="<f4").tobytes()


def test_hand_made_weights_load(folder: Path) -> None:
    rewrite(folder, {"w": ENTRY}, TWO)
    assert load_model(folder)[1]["w"].tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    ("header", "values", "message"),
    [
        (b"{", b"", "not valid JSON"),
        (b"[]", b"", "not a table"),
        (b'{"w": 1, "w": 1}', b"", "'w' twice"),
        ({"w": 1}, b"", "something else than dtype"),
        ({"w": {**ENTRY, "more": 1}}, TWO, "something else than dtype"),
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


def test_a_damaged_model_can_be_replaced(folder: Path) -> None:
    (folder / "model.json").write_bytes(b"\0\0")
    save_model(folder, CONFIG, ARRAYS)
    assert load_model(folder)[0] == CONFIG


def test_a_reader_gets_the_new_model_when_the_old_weights_vanish(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = _model_folder._read_weights

    def replaced_meanwhile(path: Path, expected: dict[str, Any]) -> dict[str, np.ndarray]:
        monkeypatch.undo()
        save_model(folder, {"new": True}, {"w": np.ones(2)})
        return read(path, expected)

    monkeypatch.setattr(_model_folder, "_read_weights", replaced_meanwhile)
    config, arrays = load_model(folder)
    assert config == {"new": True}
    assert arrays["w"].tolist() == [1.0, 1.0]


def test_two_savers_and_a_reader_at_once(tmp_path: Path) -> None:
    """Without the lock between savers, one removes the weights that the other is about to name."""
    models = {name: np.full(2000, value) for name, value in (("a", 1.0), ("b", 2.0), ("c", 3.0))}
    save_model(tmp_path, {"name": "c"}, {"w": models["c"]})
    failures: list[BaseException] = []

    def save(name: str) -> None:
        try:
            for _ in range(25):
                save_model(tmp_path, {"name": name}, {"w": models[name]})
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=save, args=(name,)) for name in "ab"]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        config, arrays = load_model(tmp_path)
        assert_same(arrays, {"w": models[config["name"]]})
    assert not failures
    config, arrays = load_model(tmp_path)
    assert_same(arrays, {"w": models[config["name"]]})
    assert len(list(tmp_path.iterdir())) == 2


def test_saving_and_loading_import_nothing_heavy(folder: Path) -> None:
    program = """
import sys
import numpy as np
from unmet.runs import load_model, save_model
config, arrays = load_model(sys.argv[1])
save_model(sys.argv[1], config, arrays)
heavy = {"jax", "jaxlib", "sklearn", "scipy", "torch", "tensorflow", "rich", "loky", "equinox", "pandas"}
heavy |= {"joblib", "cloudpickle"}
print(sorted(heavy & {name.partition(".")[0] for name in sys.modules}))
"""
    done = subprocess.run(
        [sys.executable, "-c", program, str(folder)], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
