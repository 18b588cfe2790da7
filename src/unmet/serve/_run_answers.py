"""Answers from a run folder, read once: the panel, lost rides, the forecast, the saved model and the plan."""

from __future__ import annotations

import os
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import numpy as np

from unmet.serve._answers import Answer
from unmet.serve._curves import Curves, Window, read_curves
from unmet.serve._encode import column, number
from unmet.serve._http import Problem
from unmet.serve._plan_answer import plan_answer
from unmet.serve._saved_model import SavedModel
from unmet.serve._tables import Table, read_csv, read_json, read_table
from unmet.tables import Columns, read_columns

QUANTILES = {"q05": 0.05, "q10": 0.1, "q25": 0.25, "q50": 0.5, "q75": 0.75, "q90": 0.9, "q95": 0.95}
SEEN = ("y", "censored", "exposure", "threshold", "returns", "stock_start", "capacity", "inferred")
BEHIND = (
    *("demand_mean", "demand_q05", "demand_q50", "demand_q95"),
    *("lost_mean", "lost_q05", "lost_q95", "identified"),
)
MOST_ROWS = 10_000  # of one answer: over a year of hours
MOST_AT_ONCE = 1000  # rows that are encoded sooner than another thread begins
SHOWN_DAYS = 28  # of the panel when nobody says which
DAYS_AHEAD = 28  # that can be planned with the saved model


class RunAnswers:
    """Answers from the files of a run folder as they were when the service started."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        folder = Path(folder)
        if not folder.is_dir():
            raise ValueError(f"{folder} is not a folder; name the one that `unmet run … -o` wrote")
        forecast = read_table(folder / "forecast.parquet", ("mean", *QUANTILES, "identified_up_to"))
        if forecast is None or not forecast.rows:
            raise ValueError(f"{folder} holds no forecast.parquet: run `unmet run … -o {folder}` first")
        self.seen = read_table(folder / "panel.parquet", SEEN)
        self.behind = read_table(folder / "lost.parquet", BEHIND)
        self.ahead: Table = forecast
        self.by = forecast.about.get("by", "hour")
        self.zone = _zone(forecast.about.get("zone", "UTC"), folder)
        self.stations = _stations(folder / "stations.parquet")
        self.first = Window.first(forecast.columns["ds"].min(), self.zone, self.by)
        path = folder / "curves.json"
        self.curves = read_curves(read_json(path), read_csv(folder / "plan.csv"), path, self.first)
        self.model = SavedModel.read(folder)

    def name(self, place: str) -> str:
        """The name of a place, its id where it has none."""
        return str(self.stations.get(place, {}).get("name") or place)

    def places(self) -> Answer:
        listed = [
            {
                "unique_id": place,
                "name": self.name(place),
                **{key: self.stations.get(place, {}).get(key) for key in ("lat", "lng", "capacity")},
            }
            for place in self.ahead.rows
        ]
        day, last = self.first.day, self._last_day()
        return {
            "places": listed,
            "zone": self.zone.key,
            "by": self.by,
            "panel": None if self.seen is None else _range(self.seen.columns["ds"]),
            "forecast": _range(self.ahead.columns["ds"]),
            "plan": None if self.curves is None else {"from": day.isoformat(), "to": last.isoformat()},
            "fleet": None if self.curves is None else self.curves.usual_fleet,
        }

    def panel(self, place: str, start: np.datetime64 | None, end: np.datetime64 | None) -> Answer:
        if self.seen is None:
            raise Problem(404, "this run holds no panel.parquet")
        self._check(place, self.seen)
        if start is not None and end is not None and start > end:
            raise Problem(400, "from must not be later than to")
        if start is None:
            last = end if end is not None else self.seen.columns["ds"][self.seen.rows[place].stop - 1]
            start = last - np.timedelta64(SHOWN_DAYS, "D")
        rows = self.seen.of(place, start, end)
        count = len(rows["ds"])
        if count > MOST_ROWS:
            raise Problem(400, f"that is {count:,} periods, more than {MOST_ROWS:,}: ask for a shorter time")
        if self.behind is not None and place in self.behind.rows:
            found = self.behind.of(place, start, end)
            if np.array_equal(found["ds"], rows["ds"]):
                rows |= {name: values for name, values in found.items() if name != "ds"}
        columns = {name: column(values) for name, values in rows.items()}
        return self._head(place) | {"rows": count, "columns": columns}

    def forecast(self, place: str, horizon: int | None, start: np.datetime64 | None) -> Answer:
        self._check(place, self.ahead)
        rows = self._ahead(place, horizon, start)
        count = len(rows["ds"])
        up_to = rows.get("identified_up_to", np.full(count, 0.95))
        quantiles = {name: column(rows[name]) for name in QUANTILES if name in rows}
        return self._head(place) | {
            "horizon": count,
            "ds": column(rows["ds"]),
            "mean": column(rows["mean"]),
            "quantiles": quantiles,
            "identified_up_to": column(up_to),
            "identified": [None not in row for row in zip(*quantiles.values())],
        }

    def holds(self, place: str, horizon: int | None, start: np.datetime64 | None) -> bool:
        if place not in self.ahead.rows:
            return True  # a problem is told at once
        rows = self.ahead.rows[place]
        first, last = self.ahead.columns["ds"][rows.start], self.ahead.columns["ds"][rows.stop - 1]
        left = rows.stop - rows.start
        if start is not None and start > first:
            left = int((last - start) // np.timedelta64(1, "D" if self.by == "day" else "h"))
        return (horizon or 1) <= left <= MOST_AT_ONCE

    def plan(
        self,
        fleet: int | None,
        cost_lost: float,
        cost_idle: float,
        places: tuple[str, ...] | None,
        day: date | None,
    ) -> Answer:
        curves = self._curves(day)
        for place in places or ():
            if place not in curves.places:
                raise Problem(404, f"there is no place {place[:60]!r} in the plan")
        found = plan_answer(curves.only(places) if places else curves, fleet, cost_lost, cost_idle)
        for row in found["places"]:
            row["name"] = self.name(row["unique_id"])
        return found

    def _curves(self, day: date | None) -> Curves:
        """Those of the run for its own day, of the saved model for another one."""
        if self.curves is None:
            raise Problem(404, "this run holds no curves.json: `unmet plan` writes it")
        if day is None or day == self.first.day:
            return self.curves
        if not self.first.day <= day <= self._last_day():
            raise Problem(404, f"plans can be made from {self.first.day} to {self._last_day()}")
        assert self.model is not None
        docks = {place: entry.get("capacity") for place, entry in self.stations.items()}
        return self.model.curves(Window.of(day, self.zone, self.by), docks)

    def _last_day(self) -> date:
        alone = self.model is None or self.seen is None
        return self.first.day if alone else self.first.day + timedelta(days=DAYS_AHEAD - 1)

    def _ahead(self, place: str, horizon: int | None, start: np.datetime64 | None) -> Columns:
        """Rows of the run's forecast where it holds them, otherwise of the saved model."""
        times = self.ahead.columns["ds"][self.ahead.rows[place]]
        first = times[0] if start is None else self._period(start, times[0])
        if first < times[0]:
            raise Problem(404, f"the forecast begins at {times[0]}Z; /api/panel has what was before")
        rows = self.ahead.of(place, first, None)
        count = len(rows["ds"])
        if count and (horizon is None or horizon <= count):
            return {name: values[:horizon] for name, values in rows.items()}
        if self.model is None:
            raise Problem(404, f"the forecast ends at {times[-1]}Z, and this run holds no model")
        try:
            return self.model.forecast(place, horizon or (24 if self.by == "hour" else 1), first)
        except ValueError:
            raise Problem(404, "the model foresees a year after the panel, not more") from None

    def _period(self, moment: np.datetime64, known: np.datetime64) -> np.datetime64:
        """The first period that does not begin before `moment`; `known` is the start of some period."""
        if self.by == "hour":
            step = np.timedelta64(1, "h")
            return known - (known - moment) // step * step
        found: datetime = moment.astype("datetime64[s]").item().replace(tzinfo=UTC)
        day = min(found.astimezone(self.zone).date(), date.max - timedelta(days=2))
        starts = [datetime.combine(day + timedelta(days=n), time(0), self.zone) for n in (0, 1)]
        moments = [np.datetime64(one.astimezone(UTC).replace(tzinfo=None), "us") for one in starts]
        return moments[0] if moments[0] >= moment else moments[1]

    def _head(self, place: str) -> Answer:
        return {"place": place, "name": self.name(place), "zone": self.zone.key, "by": self.by}

    def _check(self, place: str, table: Table) -> None:
        if place not in table.rows:
            raise Problem(404, f"there is no place {place[:60]!r}; /api/places lists them")


def _range(times: np.ndarray) -> Answer:
    first, last = column(np.array([times.min(), times.max()]))
    return {"from": first, "to": last}


def _zone(name: str, folder: Path) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (ValueError, OSError, KeyError):
        raise ValueError(f"{folder / 'forecast.parquet'} names an unknown time zone {name!r}") from None


def _stations(path: Path) -> dict[str, Answer]:
    """Name, coordinates and docks by place."""
    if not path.is_file():
        return {}
    columns, _ = read_columns(path)
    found: dict[str, Answer] = {}
    for row, place in enumerate(columns["unique_id"]):
        name = columns["name"][row] if "name" in columns else None
        keys: tuple[str, ...] = ("lat", "lng", "capacity")
        numbers = {key: number(columns[key][row]) for key in keys if key in columns}
        found[str(place)] = {"name": None if name is None else str(name), **numbers}
    return found
