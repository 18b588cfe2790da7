"""Name the extra that brings a missing package: the core does not install what only some parts need."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

# What each extra of pyproject.toml brings, by the name to import.
EXTRAS = {
    "mobility": ("duckdb", "_duckdb", "h3", "holidays", "tzdata", "backports"),
    "report": ("jinja2", "markupsafe"),
    "serve": ("fastapi", "starlette", "uvicorn", "h11"),
    "cluster": ("distributed", "dask"),
    "plots": ("matplotlib",),
    "boosting": ("lightgbm",),
    "onnx": ("onnx",),
    "bayes": ("blackjax",),
}


class MissingExtraError(ImportError):
    """A package is missing that an extra would have brought."""


@contextmanager
def naming_extras() -> Iterator[None]:
    """Turn a missing package of an extra into an error that names the extra. Also works as a decorator.

    Examples
    --------
    >>> with naming_extras():
    ...     import sys
    """
    try:
        yield
    except ModuleNotFoundError as missing:
        package = (missing.name or "").split(".")[0]
        extra = next((name for name, brought in EXTRAS.items() if package in brought), None)
        if extra is None:
            raise
        raise MissingExtraError(
            f"{package.removeprefix('_')} is not installed: this needs the extra '{extra}': "
            f"pip install 'unmet[{extra}]'",
            name=missing.name,
        ) from None
