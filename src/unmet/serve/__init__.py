"""Serve a run on this machine: a live page and a small JSON API. Needs the extra ``unmet[serve]``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from unmet.serve._app import make_app
    from unmet.serve._server import serve

__all__ = ["make_app", "serve"]


def __getattr__(name: str) -> Any:
    """Import on first use, so that a missing extra is named."""
    if name not in __all__:
        raise AttributeError(f"module 'unmet.serve' has no attribute {name!r}")
    from unmet.runs import naming_extras

    with naming_extras():
        from unmet.serve._app import make_app
        from unmet.serve._server import serve
    return {"make_app": make_app, "serve": serve}[name]
