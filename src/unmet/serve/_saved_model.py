"""The saved model of a run: forecasts and plans for days that its files do not hold."""

from __future__ import annotations

from collections import OrderedDict
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from unmet.planning import lost_share
from unmet.serve._curves import Curves, Window
from unmet.serve._http import Problem
from unmet.serve._tables import read_json
from unmet.tables import Columns

KEPT_DAYS = 32


class SavedModel:
    """A demand model, asked by one thread at a time; the curves of the last days asked for are kept."""

    def __init__(self, folder: Path) -> None:
        from unmet.forecasting import load_demand

        self.model = load_demand(folder / "model")
        self.panel = folder / "panel.parquet"
        total = read_json(folder / "lost_total.json")
        self.lost: Any = 0.0 if total is None else total
        self.lost_share = 1.0 if total is None else lost_share(total)
        self._lock = Lock()
        self._kept: OrderedDict[Any, Curves] = OrderedDict()
        self._seen: Any = None

    @staticmethod
    def read(folder: Path) -> SavedModel | None:
        """The model of a run folder, ready to answer; None if there is none."""
        if not (folder / "model" / "model.json").is_file():
            return None
        found = SavedModel(folder)
        found.forecast(str(found.model.places[0]), 1, None)  # compiles what the first question would wait for
        return found

    def forecast(self, place: str, horizon: int, start: np.datetime64 | None) -> Columns:
        """Calibrated quantiles of a place; ValueError where the model cannot tell."""
        with self._lock:
            return self.model.forecast(horizon, places=[place], start=start)

    def curves(self, window: Window, docks: dict[str, float | None]) -> Curves:
        """Lost rides by starting stock on another day; `docks` by place, None where nobody knows."""
        with self._lock:
            if window.day not in self._kept:
                self._kept[window.day] = self._curves(window, docks)
            self._kept.move_to_end(window.day)
            while len(self._kept) > KEPT_DAYS:
                self._kept.popitem(last=False)
            return self._kept[window.day]

    def _curves(self, window: Window, docks: dict[str, float | None]) -> Curves:
        from unmet.mobility import read_panel
        from unmet.planning import plan_stock, usual_day

        if self._seen is None:
            try:
                self._seen = read_panel(self.panel)
            except (ValueError, OSError):
                told = (
                    "panel.parquet was removed or damaged since the service started: plan for the first day"
                )
                raise Problem(404, f"{told}, or start the service again") from None
        usual = usual_day(self._seen, self.model, self.lost, start=window.start)
        places = tuple(str(place) for place in self.model.places)
        known = np.array(
            [np.nan if docks.get(place) is None else docks[place] for place in places], dtype=float
        )
        plan = plan_stock(
            usual["rate"],
            usual["shape"],
            usual["returns"],
            capacity=np.maximum(known, np.ceil(usual["stock"])),
            usual_stock=usual["stock"],
            identified=usual["identified"],
            moves=0,
            lost_share=self.lost_share,
        )
        room = plan.table["capacity"].astype(np.int64)
        return Curves(places, plan.curves, room, plan.table["usual_stock"], plan.table["identified"], window)
