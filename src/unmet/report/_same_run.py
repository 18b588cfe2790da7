"""Whether the files of a folder belong to one run: the same places, the same rides, one after the other."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from unmet.report._files import made_again
from unmet.tables import Columns


def check_places(path: Path, found: Iterable[Any], wanted: list[str], every: bool = False) -> None:
    """Refuse places that lost.parquet does not have and, with ``every``, a table that lacks one of them."""
    own, given = set(wanted), {str(one) for one in found}
    other = sorted(given - own) + (sorted(own - given) if every else [])
    if other:
        verb = "lacks place" if other[0] in own else "has a place"
        _refuse(path, f"{verb} {other[0]!r}{'' if other[0] in own else ' that is not'} in lost.parquet")


def check_observed(path: Path, observed: Any, lost: Columns) -> None:
    """Refuse totals of other rides than those of lost.parquet."""
    seen = float(np.nansum(lost["y"]))
    if abs(float(observed) - seen) > 0.5:
        _refuse(path, f"counts {float(observed):,.0f} rides and lost.parquet {seen:,.0f}")


def check_follows(path: Path, ahead: Columns | None, lost: Columns) -> None:
    """Refuse a forecast that begins before the past ends."""
    if ahead is not None and ahead["ds"].min() <= lost["ds"].max():
        _refuse(path, "begins before the end of lost.parquet")


def _refuse(path: Path, what: str) -> None:
    raise ValueError(f"{path} {what}: it is of another run; {made_again(path)}")
