"""Times of a table of your own: naive UTC, regular steps, and which period each row belongs to."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo, available_timezones

import numpy as np
from numpy.typing import NDArray

from unmet.calendar import Step, in_words, local_seconds, next_periods, step_of_seconds

_MOST_PERIODS = 5_000_000


@dataclass(frozen=True)
class Times:
    """Starts of periods: `ds` in naive UTC, `seen` as the table has them, the zone of the local clock."""

    ds: NDArray[np.datetime64]
    seen: NDArray[np.datetime64]
    zone: str


def read_times(values: np.ndarray, said: str, own_zone: str | None, zone: str | None, times: str) -> Times:
    """Return the times of a column.

    Parameters
    ----------
    said : what to call the column in an error.
    own_zone : zone that the times themselves had; they are then UTC already.
    zone, times : see `as_panel`.
    """
    if values.dtype.kind != "M":
        if values.dtype.kind in "biuf":
            raise ValueError(
                f"{said} must hold times, but holds numbers such as {values[0]}; write them as 2024-03-31 or "
                "2024-03-31 14:00"
            )
        try:
            values = np.array([np.datetime64(one, "us") for one in values.tolist()], "datetime64[us]")
        except (ValueError, TypeError):
            odd = next((one for one in values.tolist() if not _is_time(one)), None)
            raise ValueError(
                f"{said} must hold times, but has {str(odd)[:40]!r}; write them as 2024-03-31 or "
                "2024-03-31 14:00"
            ) from None
    seen = values.astype("datetime64[s]")
    if np.isnat(seen).any():
        raise ValueError(f"{said} is empty in {int(np.isnat(seen).sum()):,} rows; fill or drop them")
    if (values != seen).any():
        raise ValueError(f"{said} must hold the starts of periods in whole seconds")
    if own_zone is not None:
        named = own_zone if own_zone in available_timezones() else "UTC"
        return Times(seen.astype("datetime64[us]"), seen, zone or named)
    if zone is None or times == "utc":
        return Times(seen.astype("datetime64[us]"), seen, zone or "UTC")
    return Times(_to_utc(seen, zone), seen, zone)


def _is_time(one: Any) -> bool:
    try:
        return bool(np.datetime64(one, "us") is not None)
    except (ValueError, TypeError):
        return False


def _to_utc(local: NDArray[np.datetime64], zone: str) -> NDArray[np.datetime64]:
    """Return moments of a local clock in UTC; an hour that the clock shows twice is the first one."""
    moments, back = np.unique(local, return_inverse=True)
    place = ZoneInfo(zone)
    found = [int(one.replace(tzinfo=place).timestamp()) for one in moments.astype(datetime).tolist()]
    return np.array(found, "datetime64[s]").astype("datetime64[us]")[back]


def regular_times(
    times: Times, ids: NDArray[Any], said: str
) -> tuple[Step, NDArray[np.datetime64], NDArray[np.int64]]:
    """Return the step, the starts of all periods from the first to the last, and the period of each row.

    The step is the commonest distance between neighbouring times. A table may lack rows, but every time must
    lie on the steps from the first one.
    """
    moments = np.unique(times.ds)
    if len(moments) < 2:
        raise ValueError(f"{said} has a single time; demand needs at least 14 days, or 14 weeks")
    elapsed = np.diff(moments).astype("timedelta64[s]").astype(np.int64)
    local = np.diff(local_seconds(moments, times.zone))
    gaps, counts = np.unique(np.where(local > 0, local, elapsed), return_counts=True)
    common = int(gaps[counts.argmax()])
    step = _step(common, said)
    count = int((moments[-1] - moments[0]) / np.timedelta64(step.seconds, "s")) + 2
    if count > _MOST_PERIODS:
        raise ValueError(f"{said} runs from {moments[0]} to {moments[-1]}: too long for steps of {step.by}")
    starts = np.concatenate([moments[:1], next_periods(moments[0], count, times.zone, step.by)])
    starts = starts[starts <= moments[-1]]
    period = np.minimum(np.searchsorted(starts, times.ds), len(starts) - 1)
    off = np.flatnonzero(starts[period] != times.ds)
    if len(off):
        row = off[times.ds[off].argmin()]
        before = times.ds[(ids == ids[row]) & (times.ds < times.ds[row])]
        gap = float((times.ds[row] - before.max()) / np.timedelta64(1, "s")) if len(before) else 0.0
        away = f", {in_words(gap)} after the row before" if len(before) else ""
        raise ValueError(
            f"{said} has steps of {_one(step)}, but {ids[row]} has a row at {times.seen[row]}{away}: all "
            f"series must lie on the same steps{_clock_hint(times, step)}; shift or sum rows to them"
        )
    return step, starts, period


def _step(seconds: int, said: str) -> Step:
    try:
        return step_of_seconds(seconds)
    except ValueError as error:
        raise ValueError(f"{said}: {error}") from None


def _one(step: Step) -> str:
    return f"one {step.by}" if step.by in ("hour", "day", "week") else step.by


def _clock_hint(times: Times, step: Step) -> str:
    """Return the likely cause where all rows are off by the change of a clock."""
    if step.seconds < 86_400:
        return ""
    hours = np.unique(times.ds.astype("datetime64[s]").astype(np.int64) % 86_400)
    if len(hours) == 2 and hours[1] - hours[0] in (3600, 82_800):
        return " (they start at two hours of UTC, as local days do: give zone=, such as America/New_York)"
    return ""
