"""A panel as matrices of places by periods, checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmet.calendar import Calendar, PlaceGrid, check_zone, lay_out, make_calendar, step_of
from unmet.mobility import FROM_COUNTS, PANEL_COLUMNS

Floats = NDArray[np.float64]
NEEDED = ("unique_id", "ds", "y", "censored", "exposure")
LEAST_DAYS = 14
HOLIDAY = "holiday"  # the covariate that marks public holidays
# Columns of a panel that say what happened, and those of the calendar; all other numbers may explain demand.
_NO_COVARIATES = {
    *(column.name for column in PANEL_COLUMNS),
    *("hour", "weekday", "month", "day", "week", "year", "dayofyear", "weekend"),
}

NO_USE = tuple(_NO_COVARIATES - {*NEEDED, "threshold", "observed", "exposure_low", "exposure_high"})
_MATRICES = ("y", "exposure", "low", "high", "censored", "threshold", "known", "open")
_SOMETIMES = ("unseen", "untimed", "ran_out")  # matrices that few grids have


@dataclass(frozen=True)
class Grid:
    """A panel as matrices of shape (P places, T periods).

    Attributes
    ----------
    places, ds
        Ids (P,) and starts of periods (T,), naive UTC.
    y, exposure, threshold
        Pickups, share of time with a vehicle, stock that was certainly there (NaN where not known).
    low, high
        Bounds of the exposure: share of time in which a vehicle surely stood, and that not provably empty.
    censored, known
        Whether the place ran out; whether the row says anything (open and known throughout the period).
    open
        Share of the period in which the place was known and open.
    bounded
        Whether nothing tells where between the bounds the exposure lies: no feed and no vehicle ids.
    covariates
        Columns that are the same at all places, by name, shape (T,).
    holidays
        Region whose public holidays the column ``holiday`` marks; None if nobody says.
    unused
        Columns left out because they differ between places or are not numbers.
    untimed
        Rows that ran out at an unknown moment, whose exposure is estimated; None if there is no such row.
    unseen
        Share of the period whose demand is to be estimated; None: the known time without a vehicle.
    ran_out
        How often the place ran out in the period, where that was counted; None: it is estimated.
    groups
        Size of groups that set out together, as pickups within a minute tell it; None: nobody looked.
    """

    places: NDArray[Any]
    ds: NDArray[Any]
    y: Floats
    exposure: Floats
    low: Floats
    high: Floats
    censored: NDArray[np.bool_]
    threshold: Floats
    known: NDArray[np.bool_]
    open: Floats
    covariates: dict[str, Floats]
    zone: str
    by: str
    holidays: str | None = None
    unused: tuple[str, ...] = ()
    unseen: Floats | None = None
    bounded: bool = False
    untimed: NDArray[np.bool_] | None = None
    ran_out: Floats | None = None
    groups: float | None = None

    @property
    def per_day(self) -> int:
        return step_of(self.by).per_day

    @property
    def per_week(self) -> int:
        return step_of(self.by).per_week

    @property
    def missing(self) -> Floats:
        """The share of each period whose demand was not served and is to be estimated."""
        return (1 - self.exposure) * self.known if self.unseen is None else self.unseen

    @property
    def calendar(self) -> Calendar:
        """The local clock of the periods; holidays have the kind of day of a Sunday."""
        return make_calendar(self.ds, self.zone, self.by, self.covariates.get(HOLIDAY))

    @property
    def end(self) -> int:
        """End of the last day, counted back from the last period, of which anything is known."""
        last = int(np.flatnonzero(self.known.any(axis=0))[-1])
        return len(self.ds) - (len(self.ds) - 1 - last) // self.per_day * self.per_day

    def of_places(self, index: NDArray[np.int64]) -> Grid:
        """Return the grid of some places."""
        cut = {name: getattr(self, name)[index] for name in ("places", *_MATRICES)}
        cut |= {name: held[index] for name in _SOMETIMES if (held := getattr(self, name)) is not None}
        return replace(self, **cut)

    def until(self, period: int) -> Grid:
        """Return the grid as it was before `period`."""
        cut = {name: getattr(self, name)[:, :period] for name in _MATRICES}
        covariates = {name: values[:period] for name, values in self.covariates.items()}
        cut |= {name: held[:, :period] for name in _SOMETIMES if (held := getattr(self, name)) is not None}
        return replace(self, ds=self.ds[:period], covariates=covariates, **cut)


def make_grid(panel: Any, *, never_available: str = "raise") -> Grid:
    """Check a panel and lay it out as a grid.

    Parameters
    ----------
    panel : a `Panel`, or a mapping of columns with `about`; `as_panel` makes one.
    never_available : {"raise", "keep"}
        What to do with places that never had a vehicle, about whose own demand nothing can be learned.
    """
    if never_available not in ("raise", "keep"):
        raise ValueError(f"never_available must be 'raise' or 'keep', not {never_available!r}")
    columns: Mapping[str, Any] = panel.columns
    missing = [name for name in NEEDED if name not in columns]
    if missing:
        raise ValueError(
            f"panel has no column {', '.join(missing)}: build it with `unmet panel`, which writes all of them"
        )
    zone, by = panel.about.get("zone"), panel.about.get("by", "hour")
    if zone is None:
        raise ValueError("panel has no time zone: build it with `unmet panel --zone …`")
    try:
        check_zone(zone)
    except ValueError:
        raise ValueError(
            f"panel has an unknown time zone, {zone!r}: build it with `unmet panel --zone …`"
        ) from None
    try:
        per_day = step_of(by).per_day
    except ValueError as error:
        raise ValueError(f"panel: {error}") from None
    layout = lay_out(columns, zone)
    places, ds, shape = np.array(layout.ids, object), layout.times, layout.shape
    if not layout.complete:
        raise ValueError(
            f"panel has {len(layout.place)} rows for {shape[0]} places and {shape[1]} periods: it needs one "
            "row for each place and period; build it with `unmet panel`"
        )
    _check_steps(ds, by)
    unit = "weeks" if by == "week" else "days"
    if len(ds) / per_day < LEAST_DAYS:
        raise ValueError(
            f"panel covers {len(ds) / per_day:.1f} {unit}; demand needs at least {LEAST_DAYS}: add more data"
        )

    def matrix(name: str, default: float) -> Floats:
        if name not in columns:
            return np.full(shape, default)
        return layout.matrix(np.asarray(columns[name]).astype(np.float64))

    y, exposure, seen = matrix("y", 0), matrix("exposure", 1), matrix("observed", 1)
    if (y < 0).any() or np.isinf(y).any() or ((y != np.floor(y)) & ~np.isnan(y)).any():
        raise ValueError("panel column y must hold whole numbers of at least 0: what was counted")
    for name, share in (("exposure", exposure), ("observed", seen)):
        if ((share < 0) | (share > 1 + 1e-9)).any():
            raise ValueError(
                f"panel column {name} must hold shares from 0 to 1, or NaN where nothing is known"
            )
    flags = layout.matrix(np.asarray(columns["censored"]).astype(bool))
    untimed = None
    if panel.about.get("exposure") == "estimated":
        untimed = flags & np.isfinite(y) & ~np.isfinite(exposure)
        exposure = np.where(untimed, np.where(y > 0, 0.5, 0.0), exposure)
    known = np.isfinite(exposure) & np.isfinite(y) & (seen > 0.99)
    days = known.any(axis=0).sum() / per_day
    if days < LEAST_DAYS:
        raise ValueError(
            f"panel knows something of only {days:.1f} {unit} of {len(ds) / per_day:.1f}; demand needs at "
            f"least {LEAST_DAYS}: add data of the same {unit}, both counts and supply"
        )
    # Pickups at a place that was never open contradict its feed; a rate cannot rest on them.
    known &= (np.where(known, exposure, 0.0).sum(axis=1) > 0)[:, None] | (y == 0)
    covariates, unused = _covariates(columns, layout)
    used = allow_time(np.where(known, np.clip(exposure, 0, 1), 0.0), np.where(known, y, 0.0), by)
    low, high = (
        np.where(known & np.isfinite(bound), np.clip(bound, 0, 1), used)
        for bound in (matrix("exposure_low", np.nan), matrix("exposure_high", np.nan))
    )
    grid = Grid(
        places=places,
        ds=ds,
        y=np.where(known, y, 0.0),
        exposure=used,
        low=used if (low >= used).all() else np.minimum(low, used),
        high=used if (high <= used).all() else np.maximum(high, used),
        censored=flags & known,
        threshold=matrix("threshold", np.nan),
        known=known,
        open=np.where(np.isfinite(seen), seen, 0.0),
        covariates=covariates,
        zone=zone,
        by=by,
        holidays=panel.about.get("holidays"),
        unused=unused,
        bounded=panel.about.get("inferred_from") == FROM_COUNTS,
        untimed=untimed,
        groups=_groups(panel.about.get("groups")),
    )
    never = places[(grid.exposure.sum(axis=1) <= 0)]
    if len(never) and never_available == "raise":
        raise ValueError(
            f"{len(never)} places never had any supply (such as {', '.join(never[:5])}): "
            "their demand cannot be estimated; remove them from the panel or give never_available='keep'"
        )
    if len(never) == len(places):
        raise ValueError("no place ever had any supply: check the exposure of the panel")
    return grid


def _groups(told: Any) -> float | None:
    """Return the size of groups that a panel tells, or raise ValueError."""
    if told is None:
        return None
    try:
        size = float(told)
    except ValueError:
        size = np.nan
    if not 1 <= size < np.inf:
        raise ValueError(f"panel has groups of {told!r} people: build it with `unmet panel`")
    return size


def at_worst(grid: Grid) -> Grid:
    """Return the grid with the lower bound of exposure as its exposure."""
    least = allow_time(grid.low, grid.y, grid.by)
    return replace(grid, exposure=least, low=least, high=least, bounded=False)


def allow_time(exposure: Floats, y: Floats, by: str) -> Floats:
    """Return exposure with a minute for each pickup that took no time, at places where such pickups matter.

    With stamps in whole minutes a vehicle may come and go in no time. A rate that rests on such pickups has
    no bound; where they are fewer than one in a hundred, the other periods bound it.
    """
    timeless = (exposure <= 0) & (y > 0)
    share = np.where(timeless, y, 0.0).sum(axis=1) / np.maximum(y.sum(axis=1), 1.0)
    minutes = np.minimum(60 * y / step_of(by).seconds, 1.0)
    return np.where(timeless & (share > 0.01)[:, None], minutes, exposure)


def _check_steps(ds: NDArray[Any], by: str) -> None:
    """Refuse periods with gaps between them: a lag of a week is counted in periods.

    An hour or a day in which the clocks change may be longer or shorter.
    """
    step, wanted = np.diff(ds) / np.timedelta64(1, "h"), step_of(by).seconds / 3600
    slack = min(wanted / 2, 2.0)
    wrong = np.flatnonzero((step < wanted - slack) | (step > wanted + slack))
    if len(wrong):
        first = int(wrong[0])
        raise ValueError(
            f"panel is by {by}, but its period after {ds[first]} is {ds[first + 1]}: it needs every {by} "
            "in between, with exposure NaN where nothing is known; build it with `unmet panel`"
        )


def _covariates(columns: Mapping[str, Any], layout: PlaceGrid) -> tuple[dict[str, Floats], tuple[str, ...]]:
    """Return the columns that are numbers and the same at all places, and the names of the others."""
    found, unused = {}, []
    for name, values in columns.items():
        if name in _NO_COVARIATES:
            continue
        array = np.asarray(values)
        if array.dtype.kind not in "biuf":
            unused.append(name)
            continue
        matrix = layout.matrix(array.astype(np.float64))
        first = matrix[0]
        if not ((matrix == first) | (np.isnan(matrix) & np.isnan(first))).all():
            unused.append(name)
        elif np.isfinite(first).any():
            found[name] = first.copy()
    return found, tuple(unused)
