"""The day that a plan is for, from the file that the plan wrote."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

from unmet.report._data import PlannedDay
from unmet.report._files import made_again, read_object
from unmet.report._numbers import day as in_words
from unmet.report._numbers import known, listed, number
from unmet.report._same_run import check_places

_WORDS = {2: "two", 3: "three", 4: "four"}


def read_planned(path: Path, places: list[str] | None = None) -> PlannedDay | None:
    """The planned day of ``curves.json``; None without the file, or where an earlier version wrote it.

    Curves of others than these `places` are refused.
    """
    found = read_object(path)
    if not found:
        if path.is_file():
            raise ValueError(f"{path} holds no curves; {made_again(path)}")
        return None
    if places is not None and isinstance(found.get("places"), dict):
        check_places(path, found["places"], places)
    day = found.get("day")
    # An earlier version wrote curves of places alone.
    if day is None or isinstance(day, list):
        return None
    try:
        starts = datetime.fromisoformat(day["starts"])
        past = tuple(_past(one) for one in found.get("such_days", ()))
        return PlannedDay(
            date=starts.date().isoformat(),
            weekday=str(day["weekday"]),
            starts=f"{starts:%Y-%m-%dT%H:%M}",
            zone=str(day["zone"]),
            demand=float(day["demand"]) if known(day.get("demand")) else None,
            past=past,
        )
    except (KeyError, TypeError, ValueError, AttributeError):
        raise ValueError(f"{path} does not say which day was planned; {made_again(path)}") from None


def _past(entry: Any) -> tuple[str, float, float]:
    return str(entry["date"]), float(entry["demand"]), float(entry["lost"])


def day_in_words(planned: PlannedDay) -> str:
    """Sunday, 2 Jun 2024, from 04:00."""
    return f"{planned.weekday}, {in_words(planned.date)}, from {planned.clock}"


def such_days_in_words(planned: PlannedDay) -> str | None:
    """What the last days of the planned weekday lost, in one sentence to set the expected loss against."""
    if not planned.past:
        return None
    lost = [number(round(gone)) for _, _, gone in planned.past]
    wanted = [number(round(demand)) for _, demand, _ in planned.past]
    many = _WORDS.get(len(lost), str(len(lost)))
    days = f"The last {many} {planned.weekday}s" if len(lost) > 1 else f"The last {planned.weekday}"
    if planned.clock not in ("", "00:00"):  # so that nobody looks for these figures among calendar days
        days += f", from {planned.clock} too,"
    ahead = "" if planned.demand is None else f"; {number(round(planned.demand))} are expected on this one"
    return f"{days} lost {listed(lost)} rides of {listed(wanted)} wanted{ahead}."
