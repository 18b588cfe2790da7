"""A small saved model, and ways to write one that is wrong."""

import hashlib
import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from unmet.runs import ModelFileError, load_model
from unmet.runs._model_folder import _checksum
from unmet.runs._strict_json import to_json

CONFIG = {"network": "linear", "quantiles": [0.05, 0.5, 0.95], "l2": 0.001, "seed": None, "joint": True}
ARRAYS = {
    "layers[0].weight": np.array([[0.1, -2.5], [3.0, 4.0]], dtype=np.float32),
    "bias": np.array(1.5),
    "flags": np.array([True, False]),
    "steps": np.array([7], dtype=np.int64),
}
ENTRY = {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}
TWO = np.array([1, 2], dtype="<f4").tobytes()


def assert_same(left: dict[str, np.ndarray], right: dict[str, np.ndarray]) -> None:
    assert left.keys() == right.keys()
    for name, array in left.items():
        assert array.shape == right[name].shape
        assert array.dtype == right[name].dtype
        assert array.tobytes() == np.ascontiguousarray(right[name]).tobytes()


def weights_of(folder: Path) -> Path:
    (path,) = folder.glob("weights-*.safetensors")
    return path


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
