"""What only a simulated city can tell: how close the estimates came, and what they were worth."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from unmet.tables import read_columns

if TYPE_CHECKING:
    from unmet.datasets.city import City


def compare_with_truth(folder: Path, city: City, shown: bool | None) -> dict[str, Any]:
    """Lost rides, coverage and the worth of stock targets, against the truth of the city of a run."""
    from unmet.metrics import icp

    truth = _Truth(city)
    total = json.loads((folder / "lost_total.json").read_text())
    backtest, _ = read_columns(folder / "backtest.parquet")
    lost, _ = read_columns(folder / "lost.parquet")
    latent = truth.of(backtest, city.truth.latent)
    cut = lost["censored"].astype(bool)
    behind = truth.of(lost, city.truth.latent)[cut]
    requests, missed = int(city.truth.latent.sum()), int((city.truth.lost - city.truth.rival).sum())
    return {
        "lost": {"true": missed, "estimated": total["lost"], "requests": requests},
        "share_empty": city.share_empty,
        "forecast_coverage": {
            "randomised": icp(latent, backtest["q05"], backtest["q95"], randomised=True),
            "plain": icp(latent, np.floor(backtest["q05"]), np.floor(backtest["q95"])),
        },
        "censored_rows_coverage": icp(
            behind, lost["demand_q05"][cut], lost["demand_q95"][cut], randomised=True
        ),
        "targets": _play(folder, city, backtest, truth, shown),
    }


class _Truth:
    """Finds the truth of rows by place and hour."""

    def __init__(self, city: City) -> None:
        self.place = {name: index for index, name in enumerate(city.map.ids)}
        self.first, self.shape = city.hours.first, city.rate.shape

    def of(self, columns: dict[str, np.ndarray], values: np.ndarray) -> np.ndarray:
        """Entries of a table (places, hours) for the rows of `columns`."""
        return values[self._where(columns)]

    def table(self, columns: dict[str, np.ndarray], values: np.ndarray) -> np.ndarray:
        """Values of rows as a table (places, hours), 0 where there is no row."""
        found = np.zeros(self.shape)
        found[self._where(columns)] = values
        return found

    def _where(self, columns: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        row = np.array([self.place[str(name)] for name in columns["unique_id"]])
        return row, (columns["ds"].astype("datetime64[s]").astype(np.int64) - self.first) // 3600


def _play(
    folder: Path, city: City, backtest: dict[str, np.ndarray], truth: _Truth, shown: bool | None
) -> dict[str, Any]:
    """Lost rides of the days of the backtest, played with targets from usage, estimate and truth.

    The estimate is that of the backtest: made for each day with what was known before it.
    """
    from unmet.forecasting import load_demand
    from unmet.planning import gap_closed, play_three
    from unmet.runs import progress

    rate = truth.table(backtest, backtest["mean"])
    hours = np.flatnonzero(rate.any(axis=0))
    # Hours before the first whole local day of the backtest stay as they were.
    first_day = int(city.hours.day[hours[0]] + (city.hours.hour[hours[0]] > 0))
    shape = float(np.median(load_demand(folder / "model").rates(1)["shape"]))
    with progress(100, "Targets", "percent", shown=shown) as bar:
        played = play_three(
            city,
            rate,
            shape,
            first_day=first_day,
            progress=lambda share: bar.advance(int(100 * share) - bar.done),
        )
    return {
        "days": city.settings.days - first_day,
        "requests": played["true"].requests,
        **{f"lost_{name}": one.lost for name, one in played.items()},
        "gap_closed": gap_closed(played["observed"], played["estimated"], played["true"]),
    }
