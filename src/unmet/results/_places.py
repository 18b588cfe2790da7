"""Totals of every place and of all places together, from the rows and totals of a run."""

from __future__ import annotations

import unicodedata
from math import inf, isfinite
from typing import Any

import numpy as np

from unmet.results._values import Interval, PlaceTotals
from unmet.tables import Columns

UNSURE = 0.1  # a sum has no upper bound if more of its lost rides than this fall in periods without one
UNBOUNDED = 0.5  # the same for the total of all places, whose other rides bound it
_LONGEST_NAME = 120


def place_of_rows(lost: Columns) -> tuple[list[str], np.ndarray]:
    """Return the places in the order of the table, and the number of the place of each row."""
    identity = lost["unique_id"]
    fresh = np.ones(len(identity), dtype=bool)
    fresh[1:] = identity[1:] != identity[:-1]
    ids = [str(one) for one in identity[fresh]]
    if len(set(ids)) != len(ids):
        raise ValueError("rows of lost.parquet must be ordered by unique_id and ds; run `unmet fit` again")
    return ids, np.cumsum(fresh) - 1


def make_places(lost: Columns, totals: dict[str, Any], stations: Columns | None) -> tuple[PlaceTotals, ...]:
    """Return the totals of each place in the order of lost.parquet."""
    ids, place = place_of_rows(lost)
    count = len(ids)

    def sums(values: np.ndarray, rows: Any = slice(None)) -> np.ndarray:
        return np.bincount(place[rows], weights=values[rows], minlength=count)

    exposure = lost["exposure"].astype(float)
    seen = np.isfinite(exposure)
    empty = 1 - sums(exposure, seen) / np.maximum(1, sums(np.ones(len(place)), seen))
    censored = sums(lost["censored"].astype(float)) / sums(np.ones(len(place)))
    gone = np.nan_to_num(lost["lost_mean"].astype(float))
    beyond = np.where(lost["identified"].astype(bool), 0.0, gone)
    unsure = sums(beyond) / np.maximum(1e-9, sums(gone))
    row_of = {} if stations is None else {str(one): row for row, one in enumerate(stations["unique_id"])}
    found = []
    for number, identity in enumerate(ids):
        entry, row = totals["places"][identity], row_of.get(identity)

        def value(name: str, row: int | None = row) -> Any:
            return None if row is None or stations is None or name not in stations else stations[name][row]

        found.append(
            PlaceTotals(
                unique_id=identity,
                name=shown_name(value("name"), shown_name(identity, "(no name)")),
                lat=_finite(value("lat")),
                lng=_finite(value("lng")),
                capacity=_finite(value("capacity")),
                observed=float(entry["observed"]),
                demand=_bounded(Interval.read(entry["demand"]), unsure[number]),
                lost=_bounded(Interval.read(entry["lost"]), unsure[number]),
                censored=float(censored[number]),
                empty=float(empty[number]),
                unsure=float(unsure[number]),
                next_door=maybe_interval(entry.get("next_door")),
            )
        )
    return tuple(found)


def make_total(lost: Columns, totals: dict[str, Any]) -> PlaceTotals:
    """Return the totals of all places."""
    exposure = lost["exposure"].astype(float)
    seen = exposure[np.isfinite(exposure)]
    gone = np.nan_to_num(lost["lost_mean"].astype(float))
    unsure = float(gone[~lost["identified"].astype(bool)].sum() / max(1e-9, gone.sum()))
    # Where most of a total has no upper bound, neither has the total.
    share = unsure if unsure > UNBOUNDED else 0.0
    unserved = maybe_interval(totals.get("unserved"))
    return PlaceTotals(
        unique_id="",
        name="All places",
        lat=None,
        lng=None,
        capacity=None,
        observed=float(totals["observed"]),
        demand=_bounded(Interval.read(totals["demand"]), share),
        lost=_bounded(Interval.read(totals["lost"]), share),
        censored=float(lost["censored"].astype(float).mean()),
        empty=float(1 - seen.mean()) if len(seen) else 0.0,
        unsure=unsure,
        next_door=maybe_interval(totals.get("next_door")),
        unserved=None if unserved is None else _bounded(unserved, share),
    )


def maybe_interval(entry: Any) -> Interval | None:
    """Return an interval that a file may lack."""
    return Interval.read(entry) if isinstance(entry, dict) and entry.get("mean") is not None else None


def shown_name(text: Any, otherwise: str, longest: int = _LONGEST_NAME) -> str:
    """Return a name that can be shown: no control signs, not endless, never empty."""
    if text is None or (isinstance(text, float) and not isfinite(text)):
        return otherwise
    shown = "".join("\ufffd" if unicodedata.category(sign) in ("Cc", "Cs") else sign for sign in str(text))
    shown = shown if len(shown) <= longest else shown[: longest - 1] + "…"
    return shown if shown.strip() else otherwise


def _bounded(found: Interval, unsure: float) -> Interval:
    return Interval(found.mean, found.low, inf) if unsure > UNSURE else found


def _finite(value: Any) -> float | None:
    return None if value is None or not isfinite(value) else float(value)
