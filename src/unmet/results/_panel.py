"""A panel file, of a run or given by somebody, checked before anything is computed from it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from unmet.results._read import check_columns
from unmet.results._schema import PANEL

_REMEDY = "build it with `unmet panel`"


def checked_panel(path: Path, *, also: Sequence[str] = (), only: Sequence[str] | None = None) -> Any:
    """Return a panel (`mobility.read_panel`) whose columns, `also` among them, hold what they should.

    With `only`, the other columns are neither read nor checked.
    """
    from unmet.mobility import read_panel

    panel = read_panel(path, only=only and (*only, *PANEL.needed_columns, *also))
    check_panel(panel, str(path), also=also)
    return panel


def check_panel(panel: Any, source: str, *, also: Sequence[str] = ()) -> None:
    """Refuse a panel whose columns, `also` among them, do not hold what they should."""
    check_columns(source, PANEL, panel.columns, _REMEDY, tuple(also))
    if not len(panel):
        raise ValueError(f"{source} has no rows; {_REMEDY} from files that hold rides")
