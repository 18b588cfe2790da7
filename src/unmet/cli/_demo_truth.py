"""What only a simulated city can tell: how close the estimates came, and what they were worth."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from unmet.runs import read_columns

if TYPE_CHECKING:
    from unmet.datasets.city import City


def compare_with_truth(folder: Path, city: City, days: int, shown: bool | None) -> dict[str, Any]:
    """Lost rides, coverage and the worth of stock targets, against the truth.

    Parameters
    ----------
    folder : a run on the first `days` days of `city`.
    city : the whole city, with the days in which targets are played.
    """
    from unmet.datasets.city import first_days
    from unmet.metrics import icp

    seen = first_days(city, days)
    truth = _Truth(seen)
    total = json.loads((folder / "lost_total.json").read_text())
    backtest, _ = read_columns(folder / "backtest.parquet")
    lost, _ = read_columns(folder / "lost.parquet")
    latent = truth.of(backtest, seen.truth.latent)
    cut = lost["censored"].astype(bool)
    behind = truth.of(lost, seen.truth.latent)[cut]
    requests, missed = int(seen.truth.latent.sum()), int((seen.truth.lost - seen.truth.rival).sum())
    return {
        "lost": {"true": missed, "estimated": total["lost"], "requests": requests},
        "share_empty": seen.share_empty,
        "forecast_coverage": {
            "randomised": icp(latent, backtest["q05"], backtest["q95"], randomised=True),
            "plain": icp(latent, np.floor(backtest["q05"]), np.floor(backtest["q95"])),
        },
        "censored_rows_coverage": icp(
            behind, lost["demand_q05"][cut], lost["demand_q95"][cut], randomised=True
        ),
        "targets": _play(folder, city, days, shown),
    }


class _Truth:
    """Finds the truth of rows by place and hour."""

    def __init__(self, city: City) -> None:
        self.place = {name: index for index, name in enumerate(city.map.ids)}
        self.first = city.hours.first

    def of(self, columns: dict[str, np.ndarray], values: np.ndarray) -> np.ndarray:
        row = np.array([self.place[str(name)] for name in columns["unique_id"]])
        hour = (columns["ds"].astype("datetime64[s]").astype(np.int64) - self.first) // 3600
        return values[row, hour]


def _play(folder: Path, city: City, days: int, shown: bool | None) -> dict[str, Any]:
    """Lost rides in the days after, with targets from usage, from the estimate and from the truth."""
    from unmet.forecasting import load_demand
    from unmet.planning import gap_closed, play_three
    from unmet.runs import progress

    model = load_demand(folder / "model")
    begin = int(np.flatnonzero(city.hours.day >= days)[0])
    horizon = city.rate.shape[1] - begin
    found = model.rates(horizon)
    order = {str(place): index for index, place in enumerate(model.places)}
    rows = [order[name] for name in city.map.ids]
    rate, shape = np.zeros(city.rate.shape), np.ones(city.rate.shape)
    rate[:, begin:] = found["rate"].reshape(-1, horizon)[rows]
    shape[:, begin:] = found["shape"].reshape(-1, horizon)[rows]
    with progress(100, "Targets", "percent", shown=shown) as bar:
        played = play_three(
            city,
            rate,
            shape,
            first_day=days,
            progress=lambda share: bar.advance(int(100 * share) - bar.done),
        )
    return {
        "days": city.settings.days - days,
        "requests": played["true"].requests,
        **{f"lost_{name}": one.lost for name, one in played.items()},
        "gap_closed": gap_closed(played["observed"], played["estimated"], played["true"]),
    }
