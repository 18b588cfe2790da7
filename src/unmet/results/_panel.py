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

    if path.suffix.lower() == ".csv" and path.is_file():
        raise ValueError(
            f"{path}: a panel is fitted from Parquet; write it with `unmet panel … -o panel.parquet`"
        )
    panel = read_panel(path, only=only and (*only, *PANEL.needed_columns, *also))
    check_columns(path, PANEL, panel.columns, _REMEDY, tuple(also))
    if not len(panel):
        raise ValueError(f"{path} has no rows; {_REMEDY} from files that hold rides")
    return panel
