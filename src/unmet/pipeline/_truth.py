"""What only a simulated city can tell: how close the estimates come, and what they are worth."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from unmet.results import Run

if TYPE_CHECKING:
    from unmet.datasets.city import City


def compare_with_truth(run: Run, city: City, shown: bool | None) -> dict[str, Any]:
    """Return lost rides, coverage and the worth of stock targets, beside the truth of the city of a run."""
    from unmet.metrics import icp

    truth = _Truth(city)
    backtest, lost = run.columns("backtest"), run.columns("lost")
    latent = truth.of(backtest, city.truth.latent)
    cut = lost["censored"].astype(bool)
    behind = truth.of(lost, city.truth.latent)[cut]
    requests, missed = int(city.truth.latent.sum()), int((city.truth.lost - city.truth.rival).sum())
    return {
        "lost": {"true": missed, "estimated": run.totals["lost"], "requests": requests},
        "share_empty": city.share_empty,
        "forecast_coverage": {
            "randomised": icp(latent, backtest["q05"], backtest["q95"], randomised=True),
            "plain": icp(latent, np.floor(backtest["q05"]), np.floor(backtest["q95"])),
        },
        "censored_rows_coverage": icp(
            behind, lost["demand_q05"][cut], lost["demand_q95"][cut], randomised=True
        ),
        "targets": _play(run, city, backtest, truth, shown),
    }


class _Truth:
    """Finds the truth of rows by place and hour."""

    def __init__(self, city: City) -> None:
        self.place = {name: index for index, name in enumerate(city.map.ids)}
        self.first, self.shape = city.hours.first, city.rate.shape

    def of(self, columns: dict[str, np.ndarray], values: np.ndarray) -> np.ndarray:
        """Return the entries of a table (places, hours) for the rows of `columns`."""
        return values[self._where(columns)]

    def table(self, columns: dict[str, np.ndarray], values: np.ndarray) -> np.ndarray:
        """Return values of rows as a table (places, hours), 0 where there is no row."""
        found = np.zeros(self.shape)
        found[self._where(columns)] = values
        return found

    def _where(self, columns: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        row = np.array([self.place[str(name)] for name in columns["unique_id"]])
        return row, (columns["ds"].astype("datetime64[s]").astype(np.int64) - self.first) // 3600


def _play(
    run: Run, city: City, backtest: dict[str, np.ndarray], truth: _Truth, shown: bool | None
) -> dict[str, Any]:
    """Play the days of the backtest with stock targets from usage, from the estimate and from the truth.

    The estimate is that of the backtest: made for each day with what was known before it.
    """
    from unmet.planning import gap_closed, play_three
    from unmet.runs import progress

    rate = truth.table(backtest, backtest["mean"])
    hours = np.flatnonzero(rate.any(axis=0))
    # Hours before the first whole local day of the backtest stay as they were.
    first_day = int(city.hours.day[hours[0]] + (city.hours.hour[hours[0]] > 0))
    shape = float(np.median(run.model.rates(1)["shape"]))
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
