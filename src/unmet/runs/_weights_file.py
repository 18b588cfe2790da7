"""Named arrays to and from safetensors; every size is checked before anything is read."""

import math
import re
from typing import Any, BinaryIO

import numpy as np
from safetensors.numpy import load as load_tensors
from safetensors.numpy import save as save_tensors

from unmet.runs._strict_json import parse_json

MAX_FILE_BYTES = 2**34
MAX_HEADER_BYTES = 2**23
MAX_TENSORS = 10_000
MAX_NAME = 200
MAX_NDIM = 8
MAX_ELEMENTS = 2**32

# What safetensors calls the dtypes that a model may hold.
DTYPES = {"F32": "<f4", "F64": "<f8", "I32": "<i4", "I64": "<i8", "U32": "<u4", "BOOL": "|b1"}
_ALLOWED = "float32, float64, int32, int64, uint32 or bool"
_NAME = re.compile(r"[A-Za-z0-9_.:/\[\]-]+", re.ASCII)


def weights_to_bytes(arrays: dict[str, np.ndarray]) -> bytes:
    """Return `arrays` as safetensors; a ValueError names the array that cannot be stored."""
    if len(arrays) > MAX_TENSORS:
        raise ValueError(f"there are {len(arrays)} arrays, more than the {MAX_TENSORS} allowed")
    ready = {}
    for name, values in arrays.items():
        _check_name(name)
        array = np.asarray(values)
        dtype = array.dtype.newbyteorder("<")
        if dtype.str not in DTYPES.values():
            raise ValueError(f"array {name!r} has dtype {array.dtype}: use {_ALLOWED}")
        _check_shape(name, array.shape)
        _check_values(name, array)
        ready[name] = np.array(array, dtype=dtype, order="C")
    data = save_tensors(ready)
    if len(data) > MAX_FILE_BYTES:
        raise ValueError(f"the arrays take {len(data)} bytes, more than the {MAX_FILE_BYTES} allowed")
    return data


def check_header(file: BinaryIO, size: int) -> None:
    """Read only the header of a safetensors file of `size` bytes and refuse what a model cannot hold."""
    if not 8 <= size <= MAX_FILE_BYTES:
        raise ValueError(f"has {size} bytes: weights have between 8 and {MAX_FILE_BYTES}")
    length = int.from_bytes(file.read(8), "little")
    if length > min(MAX_HEADER_BYTES, size - 8):
        raise ValueError(f"announces a header of {length} bytes, more than the file or the limit allows")
    header = parse_json(file.read(length))
    if not isinstance(header, dict):
        raise ValueError("has a header that is not a table of arrays")
    if len(header) > MAX_TENSORS:
        raise ValueError(f"holds {len(header)} arrays, more than the {MAX_TENSORS} allowed")
    spans = sorted(_checked_span(name, entry) for name, entry in header.items())
    position = 0
    for begin, end in spans:
        if begin != position:
            raise ValueError("has arrays that overlap or leave gaps")
        position = end
    if position != size - 8 - length:
        raise ValueError(f"has {size - 8 - length} bytes of values where its header says {position}")


def weights_from_bytes(data: bytes) -> dict[str, np.ndarray]:
    """Return writable arrays in native byte order from bytes whose header passed `check_header`."""
    try:
        # Sorted, because safetensors gives them in an order that changes from run to run.
        arrays = {name: np.array(values) for name, values in sorted(load_tensors(data).items())}
    except Exception as error:  # safetensors has an exception class of its own, and numpy adds others
        raise ValueError(f"is not a safetensors file ({error})") from None
    for name, array in arrays.items():
        _check_values(name, array)
    return arrays


def _checked_span(name: str, entry: Any) -> tuple[int, int]:
    """Return where the values of an array are, after checking its name, dtype, shape and length."""
    _check_name(name)
    if not isinstance(entry, dict) or set(entry) != {"dtype", "shape", "data_offsets"}:
        raise ValueError(f"must describe array {name!r} by dtype, shape and data_offsets")
    dtype, shape, span = entry["dtype"], entry["shape"], entry["data_offsets"]
    if not isinstance(dtype, str) or dtype not in DTYPES:
        raise ValueError(f"has array {name!r} of dtype {str(dtype)[:20]!r}: only {_ALLOWED} are read")
    if not _sizes(shape) or not _sizes(span) or len(span) != 2:
        raise ValueError(f"has array {name!r} with a shape or position that is not made of whole numbers")
    _check_shape(name, tuple(shape))
    begin, end = span
    if end - begin != math.prod(shape) * np.dtype(DTYPES[dtype]).itemsize:
        raise ValueError(f"has array {name!r} whose shape and number of bytes disagree")
    return begin, end


def _sizes(values: Any) -> bool:
    return isinstance(values, list) and all(type(size) is int and size >= 0 for size in values)


def _check_name(name: Any) -> None:
    if not isinstance(name, str) or len(name) > MAX_NAME or not _NAME.fullmatch(name) or name[:2] == "__":
        raise ValueError(
            f"array name {str(name)[:80]!r} is not allowed: "
            f"use 1 to {MAX_NAME} letters, digits or _ . : / [ ] -, and no leading __"
        )


def _check_shape(name: str, shape: tuple[int, ...]) -> None:
    # Zeros are left out of the product: (0, 2**60) holds nothing, but numpy cannot shape it.
    if len(shape) > MAX_NDIM or math.prod(size for size in shape if size) > MAX_ELEMENTS:
        raise ValueError(
            f"array {name!r} has a shape of {len(shape)} axes that is too large: "
            f"at most {MAX_NDIM} axes and {MAX_ELEMENTS} values"
        )


def _check_values(name: str, array: np.ndarray) -> None:
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise ValueError(f"array {name!r} holds values that are not finite")
    if array.dtype.kind == "b" and array.size and np.ascontiguousarray(array).view(np.uint8).max() > 1:
        raise ValueError(f"array {name!r} holds bytes that are neither true nor false")
