"""Answers from a run: its places, its panel, its forecast and its plan."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import Any, cast

import numpy as np
from fastapi import HTTPException

from unmet.calendar import day_start, local_date
from unmet.serve._by_place import ByPlace
from unmet.serve._curves import Curves, Window
from unmet.serve._documents import Forecast, Head, Panel, Place, Places, Plan, Range
from unmet.serve._encode import column
from unmet.serve._plan import plan_fleet
from unmet.serve._questions import ForecastQuestion, PanelQuestion, PlanQuestion
from unmet.serve._saved_model import SavedModel
from unmet.serve._source import QUANTILES, Source
from unmet.tables import Columns

MAX_ROWS = 10_000  # in one answer: more than a year of hours
MAX_ROWS_AT_ONCE = 1000  # encoded faster than a thread starts
SHOWN_DAYS = 28  # of the panel, unless the client says which
DAYS_AHEAD = 28  # that can be planned with the saved model


class Answers:
    """Answers from a run as it was when the service started. HTTPException says why there is none."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.model = SavedModel.of(source)

    def places(self) -> Places:
        """List all places, and the times the run covers."""
        run = self.source
        first, last = run.first_day.day.isoformat(), self._last_day().isoformat()
        return {
            "places": [self._place(place) for place in run.forecast.rows],
            "zone": run.zone,
            "by": cast(Any, run.by),
            "panel": None if run.panel is None else _range(run.panel.columns["ds"]),
            "forecast": _range(run.forecast.columns["ds"]),
            "plan": None if run.curves is None else {"from": first, "to": last},
            "fleet": None if run.curves is None else run.curves.usual_fleet,
        }

    def panel(self, question: PanelQuestion) -> Panel:
        """Return observed rides at a place, and the estimated demand behind them."""
        seen, place = self.source.panel, question.place
        if seen is None:
            raise HTTPException(404, "this run has no panel")
        self._check_place(place, seen)
        start, end = self._moment(question.start, "from"), self._moment(question.end, "to")
        if start is not None and end is not None and start > end:
            raise HTTPException(400, "from must not be later than to")
        if start is None:
            last = end if end is not None else seen.times(place)[-1]
            start = last - np.timedelta64(SHOWN_DAYS, "D")
        rows = seen.between(place, start, end)
        count = len(rows["ds"])
        if count > MAX_ROWS:
            raise HTTPException(400, f"{count:,} periods are more than {MAX_ROWS:,}: ask for a shorter time")
        lost = self.source.lost
        if lost is not None and place in lost.rows:
            estimated = lost.between(place, start, end)
            if np.array_equal(estimated["ds"], rows["ds"]):
                rows |= {name: values for name, values in estimated.items() if name != "ds"}
        columns = {name: column(values) for name, values in rows.items()}
        return {**self._head(place), "rows": count, "columns": columns}

    def forecast(self, question: ForecastQuestion) -> Forecast:
        """Return quantiles of demand at a place, from the run or, beyond its forecast, from its model."""
        rows = self._forecast_rows(question)
        count = len(rows["ds"])
        quantiles = {name: column(rows[name]) for name in QUANTILES if name in rows}
        return {
            **self._head(question.place),
            "horizon": count,
            "ds": column(rows["ds"]),
            "mean": column(rows["mean"]),
            "quantiles": quantiles,
            "identified_up_to": column(rows.get("identified_up_to", np.full(count, 0.95))),
            "identified": [None not in row for row in zip(*quantiles.values())],
        }

    def needs_model(self, question: ForecastQuestion) -> bool:
        """Whether a forecast takes so long that it should not hold up other requests."""
        place = question.place
        if place not in self.source.forecast.rows:
            return False
        times = self.source.forecast.times(place)
        left, start = len(times), self._moment(question.start, "start")
        if start is not None and start > times[0]:
            left = int((times[-1] - start) // np.timedelta64(1, "D" if self.source.by == "day" else "h"))
        return not (question.horizon or 1) <= left <= MAX_ROWS_AT_ONCE

    def plan(self, question: PlanQuestion) -> Plan:
        """Return the best places for a fleet."""
        curves = self._curves(question.day)
        if question.places:
            chosen = tuple(dict.fromkeys(question.places))
            for place in chosen:
                if place not in curves.places:
                    raise HTTPException(404, f"there is no place {place[:60]!r} in the plan")
            curves = curves.only(chosen)
        names = {place: self._name(place) for place in curves.places}
        return plan_fleet(curves, names, question.fleet, question.cost_lost, question.cost_idle)

    def _curves(self, day: date | None) -> Curves:
        """Return the run's own curves for its own day, the model's for any other."""
        run = self.source
        if run.curves is None:
            raise HTTPException(404, "this run has no plan yet: `unmet plan` makes one")
        if day is None or day == run.first_day.day:
            return run.curves
        if self.model is None or not run.first_day.day <= day <= self._last_day():
            raise HTTPException(404, f"choose a date from {run.first_day.day} to {self._last_day()}")
        return self.model.curves(Window.of(day, run.zone, run.by))

    def _last_day(self) -> date:
        first = self.source.first_day.day
        alone = self.model is None or self.source.panel is None
        return first if alone else first + timedelta(days=DAYS_AHEAD - 1)

    def _forecast_rows(self, question: ForecastQuestion) -> Columns:
        place, horizon = question.place, question.horizon
        self._check_place(place, self.source.forecast)
        times = self.source.forecast.times(place)
        start = self._moment(question.start, "start")
        first = times[0] if start is None else self._period(start, times[0])
        if first < times[0]:
            raise HTTPException(
                404, f"the forecast begins at {times[0]}Z; ask /api/panel for earlier periods"
            )
        rows = self.source.forecast.between(place, first, None)
        count = len(rows["ds"])
        if count and (horizon is None or horizon <= count):
            return {name: values[:horizon] for name, values in rows.items()}
        if self.model is None:
            raise HTTPException(404, f"the forecast ends at {times[-1]}Z, and this run has no saved model")
        try:
            return self.model.forecast(place, horizon or (24 if self.source.by == "hour" else 1), first)
        except ValueError:
            raise HTTPException(404, "the model forecasts at most a year after the panel") from None

    def _period(self, moment: np.datetime64, known: np.datetime64) -> np.datetime64:
        """Return the first period that does not begin before `moment`; some period begins at `known`."""
        if self.source.by == "hour":
            step = np.timedelta64(1, "h")
            return known - (known - moment) // step * step
        day = min(local_date(moment, self.source.zone), date.max - timedelta(days=2))
        today, tomorrow = (self._midnight(day + timedelta(days=n)) for n in (0, 1))
        return today if today >= moment else tomorrow

    def _moment(self, given: date | datetime | None, name: str) -> np.datetime64 | None:
        """Turn a time in UTC, or a date in the zone of the run, into a moment in UTC."""
        if given is None or isinstance(given, datetime):
            return None if given is None else np.datetime64(given, "us")
        try:
            return self._midnight(given)
        except OverflowError:
            raise HTTPException(400, f"{name} must be a date between the years 1 and 9999") from None

    def _midnight(self, day: date) -> np.datetime64:
        return day_start(day, self.source.zone, "day")

    def _name(self, place: str) -> str:
        return str(self.source.stations.get(place, {}).get("name") or place)

    def _place(self, place: str) -> Place:
        known = self.source.stations.get(place, {})
        return {
            "unique_id": place,
            "name": self._name(place),
            "lat": known.get("lat"),
            "lng": known.get("lng"),
            "capacity": known.get("capacity"),
        }

    def _head(self, place: str) -> Head:
        run = self.source
        return {"place": place, "name": self._name(place), "zone": run.zone, "by": cast(Any, run.by)}

    def _check_place(self, place: str, table: ByPlace) -> None:
        if place not in table.rows:
            raise HTTPException(404, f"there is no place {place[:60]!r}; /api/places lists them")


def _range(times: np.ndarray) -> Range:
    first, last = column(np.array([times.min(), times.max()]))
    return {"from": first, "to": last}
