"""Columns as a data frame of the library that the user has: pandas, Polars or Arrow."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from unmet.tables import Columns

_PACKAGES = {"pandas": "pandas", "polars": "polars", "arrow": "pyarrow"}


def choose_backend(backend: str | None) -> str | None:
    """Return the backend that was asked for, or the first one that is installed; None if none is."""
    if backend is None:
        return next((name for name, package in _PACKAGES.items() if find_spec(package)), None)
    if backend not in _PACKAGES:
        raise ValueError(f"backend must be 'pandas', 'polars' or 'arrow', got {backend!r}")
    _package(backend)
    return backend


def make_frame(columns: Columns, backend: str | None) -> Any:
    """Return columns as a frame; nulls in texts stay nulls."""
    if backend is None:
        raise ImportError("a frame needs pandas, polars or pyarrow; install one with `pip install pandas`")
    module = _package(backend)
    if backend == "pandas":
        return module.DataFrame(dict(columns))
    plain = {name: values.tolist() if values.dtype == object else values for name, values in columns.items()}
    return module.DataFrame(plain) if backend == "polars" else module.table(plain)


def _package(backend: str) -> Any:
    package = _PACKAGES[backend]
    try:
        return import_module(package)
    except ImportError:
        raise ImportError(
            f"backend={backend!r} needs the package {package}; install it with `pip install {package}`"
        ) from None
