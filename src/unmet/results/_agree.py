"""Whether the files of a folder belong to one run: the same places, the same rides, one after the other."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from unmet.results._places import place_of_rows
from unmet.results._read import refuse
from unmet.results._schema import (
    BACKTEST,
    CURVES,
    FORECAST,
    LOST,
    MOVES,
    PLAN,
    STATIONS,
    TOTALS,
    File,
)

if TYPE_CHECKING:
    from unmet.results._run import Run


def check_fit(run: Run) -> None:
    """Refuse totals or stations of other rides or places than those of lost.parquet."""
    lost = run.columns("lost")
    places = place_of_rows(lost)[0]
    totals = run.totals
    seen, told = float(np.nansum(lost["y"].astype(float))), float(totals["observed"])
    if abs(told - seen) > 0.5:
        _foreign(run, TOTALS, f"counts {told:,.0f} rides, but lost.parquet counts {seen:,.0f}")
    missing = [place for place in places if place not in totals["places"]]
    if missing:
        _foreign(run, TOTALS, f"has no place {missing[0]!r}, but lost.parquet has")
    if run.given("stations"):
        _same_places(run, STATIONS, run.columns("stations")["unique_id"], places, every=True)


def check_all(run: Run) -> None:
    """Refuse damaged files, other places than those of lost.parquet, and a forecast that begins too early."""
    check_fit(run)
    for read in (
        run.calibration,
        run.self_check,
        run.measures,
        run.account,
        run.truth,
        run.planned,
        run.rows("fleet"),
    ):
        del read  # reading checks it
    lost = run.columns("lost")
    places = place_of_rows(lost)[0]
    for file in (BACKTEST, FORECAST, PLAN):
        if run.given(file.name):
            _same_places(run, file, run.columns(file.name)["unique_id"], places)
    if run.given(FORECAST.name) and run.columns(FORECAST.name)["ds"].min() <= lost["ds"].max():
        _foreign(run, FORECAST, f"begins before {LOST.name} ends")
    if run.given(MOVES.name):
        moves = run.columns(MOVES.name)
        _same_places(run, MOVES, [*moves["from"], *moves["to"]], places)
    if run.curves is not None:
        _same_places(run, CURVES, run.curves["places"], places)


def _same_places(run: Run, file: File, found: Iterable[Any], wanted: list[str], every: bool = False) -> None:
    own, given = set(wanted), {str(one) for one in found}
    if given - own:
        _foreign(run, file, f"has place {min(given - own)!r}, but lost.parquet has not")
    if every and own - given:
        _foreign(run, file, f"has no place {min(own - given)!r}, but lost.parquet has")


def _foreign(run: Run, file: File, what: str) -> None:
    refuse(run.folder, file, f"{what}: it belongs to a different run")
