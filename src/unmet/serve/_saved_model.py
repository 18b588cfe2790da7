"""The saved model of a run: forecasts and plans for days the run itself did not compute."""

from __future__ import annotations

from collections import OrderedDict
from datetime import date
from threading import Lock
from typing import Any

import numpy as np
from fastapi import HTTPException

from unmet.planning import lost_share
from unmet.serve._curves import Curves, Window
from unmet.serve._source import Source
from unmet.tables import Columns

KEPT_DAYS = 32


class SavedModel:
    """A demand model that one thread at a time may ask. It keeps the curves of the last days asked for."""

    def __init__(self, source: Source, model: Any) -> None:
        self.source = source
        self.model = model
        self._lock = Lock()
        self._kept: OrderedDict[date, Curves] = OrderedDict()
        self._panel: Any = None

    @staticmethod
    def of(source: Source) -> SavedModel | None:
        """Load the model of a run, ready to answer; None if the run has none."""
        model = source.load_model()
        if model is None:
            return None
        found = SavedModel(source, model)
        found.forecast(str(model.places[0]), 1, None)  # compile now, not during the first question
        return found

    def forecast(self, place: str, horizon: int, start: np.datetime64 | None) -> Columns:
        """Return calibrated quantiles for a place. Raises ValueError beyond the model's range."""
        with self._lock:
            return self.model.forecast(
                horizon, places=[place], start=start, covariates=self.source.covariates
            )

    def curves(self, window: Window) -> Curves:
        """Return lost rides by starting stock for one day."""
        with self._lock:
            if window.day not in self._kept:
                self._kept[window.day] = self._make_curves(window)
            self._kept.move_to_end(window.day)
            while len(self._kept) > KEPT_DAYS:
                self._kept.popitem(last=False)
            return self._kept[window.day]

    def _make_curves(self, window: Window) -> Curves:
        from unmet.planning import plan_stock, usual_day

        if self._panel is None:
            try:
                self._panel = self.source.read_panel()
            except (ValueError, OSError):
                raise HTTPException(
                    404,
                    "the panel was removed or damaged since the service started: "
                    "plan the first day, or start the service again",
                ) from None
        total = self.source.lost_total
        usual = usual_day(
            self._panel,
            self.model,
            0.0 if total is None else total,
            start=window.start,
            covariates=self.source.covariates,
        )
        places = tuple(str(place) for place in self.model.places)
        docks = [self.source.stations.get(place, {}).get("capacity") for place in places]
        known = np.array([np.nan if count is None else count for count in docks], dtype=float)
        plan = plan_stock(
            usual["rate"],
            usual["shape"],
            usual["returns"],
            capacity=np.maximum(known, np.ceil(usual["stock"])),
            usual_stock=usual["stock"],
            identified=usual["identified"],
            moves=0,
            lost_share=1.0 if total is None else lost_share(total),
        )
        room = plan.table["capacity"].astype(np.int64)
        return Curves(places, plan.curves, room, plan.table["usual_stock"], plan.table["identified"], window)
