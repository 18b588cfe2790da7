"""The questions a service answers; what it is asked and what it says, whatever computes the answer."""

from __future__ import annotations

from datetime import date
from typing import Any, Protocol
from zoneinfo import ZoneInfo

import numpy as np

Answer = dict[str, Any]


class Answers(Protocol):
    """Answers as JSON documents. A question that has none raises :class:`unmet.serve._http.Problem`."""

    zone: ZoneInfo

    def places(self) -> Answer:
        """All places, the range of the panel and of the forecast."""
        ...

    def panel(self, place: str, start: np.datetime64 | None, end: np.datetime64 | None) -> Answer:
        """What was seen at a place, and the demand behind it."""
        ...

    def forecast(self, place: str, horizon: int | None, start: np.datetime64 | None) -> Answer:
        """Quantiles of demand at a place for the next `horizon` periods."""
        ...

    def holds(self, place: str, horizon: int | None, start: np.datetime64 | None) -> bool:
        """Whether a forecast is at hand, without asking the model."""
        ...

    def plan(
        self,
        fleet: int | None,
        cost_lost: float,
        cost_idle: float,
        places: tuple[str, ...] | None,
        day: date | None,
    ) -> Answer:
        """The best places for a fleet."""
        ...
