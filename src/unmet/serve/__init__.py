"""A run folder as a live page and a small JSON API on this machine; needs the extra ``unmet[serve]``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from unmet.serve._app import make_app

if TYPE_CHECKING:
    from unmet.serve._server import serve

__all__ = ["make_app", "serve"]


def __getattr__(name: str) -> Any:
    """`serve` needs uvicorn; the application itself does not."""
    if name != "serve":
        raise AttributeError(f"module 'unmet.serve' has no attribute {name!r}")
    try:
        from unmet.serve._server import serve
    except ModuleNotFoundError as missing:
        if missing.name not in ("uvicorn", "h11"):
            raise
        raise ValueError("serving needs uvicorn: install it with `pip install uvicorn`") from None
    return serve
