"""`python -m benchmarks.space_time`: pinball loss of next-hour forecasts on uncensored held-out hours."""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.environment import ROOT
from benchmarks.space_time import boosting
from benchmarks.space_time.cities import Case, jersey_city, town
from unmet.forecasting import LEVELS
from unmet.forecasting._around import make_site
from unmet.forecasting._backtest import backtest
from unmet.forecasting._inputs import make_ahead
from unmet.losses import tilted_loss
from unmet.runs import one_blas_thread

NETWORKS = ("linear", "mlp", "lstm", "graph", "grid")
FINAL = range(101, 111)  # seeds on which nothing was chosen


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.space_time", description=__doc__)
    parser.add_argument("--seeds", type=int, nargs="*", default=list(FINAL), help="of the simulated town")
    parser.add_argument("--places", type=int, default=40, help="of the town")
    parser.add_argument("--days", type=int, default=63, help="of the town, the last 14 held out")
    parser.add_argument("--jersey-city", action="store_true", help="real data instead of the town")
    parser.add_argument("--hold-back", type=int, default=0, help="last days to leave out, to choose settings")
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data", help="real data")
    parser.add_argument("--networks", nargs="*", default=list(NETWORKS))
    parser.add_argument("--neighbours", nargs="*", default=["distance"], help="distance, learned")
    parser.add_argument("--no-boosting", action="store_true", help="leave LightGBM out")
    parser.add_argument("--every-level", action="store_true", help="also LightGBM with quantile loss")
    parser.add_argument("--output", type=Path, help="JSON lines, one a case")
    return parser.parse_args()


def losses(case: Case, options: argparse.Namespace) -> dict[str, dict[str, float]]:
    """Return for each method the mean loss against pickups, against demand if known, and CPU seconds."""
    grid, levels = case.grid, np.array(LEVELS)
    first = len(grid.ds) - case.test_days * grid.per_day
    judged = (grid.known & ~grid.censored & (grid.exposure > 0.999))[:, first:]
    truth = {"pickups": grid.y[:, first:]}
    if case.latent is not None:
        truth["demand"] = case.latent[:, first:]
    found: dict[str, dict[str, float]] = {}

    def judge(name: str, quantiles: Any, seconds: float) -> None:
        rows = np.asarray(quantiles).reshape(*judged.shape, -1)[judged]
        found[name] = {
            what: float(tilted_loss(values[judged][:, None], rows, levels).mean())
            for what, values in truth.items()
        } | {"seconds": seconds}

    ahead = make_ahead("period", grid.per_day, grid.per_week)
    site = make_site(grid.places, case.stations, "distance")
    for how in options.neighbours:
        here = make_site(grid.places, case.stations, how)
        began = time.process_time()
        names = tuple(options.networks if how == options.neighbours[0] else ["graph"])
        # Pickups are judged, walkers among them, so nobody is told apart as a walker.
        test, _ = backtest(grid, None, names, case.test_days, 0, ahead=ahead, site=here)
        taken = time.process_time() - began
        if how == options.neighbours[0]:
            judge("negative binomial", np.floor(test.quantiles(levels, None)), taken)
        for name in names:
            title = f"{name} ({how})" if name == "graph" else name
            judge(title, np.floor(test.quantiles(levels, name)), taken)
    if not options.no_boosting:
        for around, told in ((False, False), (True, False), (True, True)):
            began = time.process_time()
            every = around and not told and options.every_level
            kinds = ("quantile", "counts") if every else ("counts",)
            results = boosting.forecast(grid, first, levels, site if around else None, kinds, told)
            taken = time.process_time() - began
            for name, quantiles in results.items():
                lags = "neighbours' lags" if around else "own lags"
                lags += ", told" if told else ""
                judge(f"LightGBM {name}, {lags}", quantiles, taken)
                if name == "quantile":
                    judge(f"LightGBM rounded, {lags}", np.round(quantiles), taken)
    return found


def show(rows: list[dict[str, dict[str, float]]]) -> None:
    for name in rows[0]:
        text = f"{name:38}"
        for what in rows[0][name]:
            values = np.array([row[name][what] for row in rows])
            text += f"  {what} {values.mean():.4f}" if what != "seconds" else f"  {values.mean():5.0f} s"
        rivals = [key for key in rows[0] if key.startswith("LightGBM") and "told" not in key]
        if rivals:
            lower = sum(row[name]["pickups"] < min(row[key]["pickups"] for key in rivals) for row in rows)
            text += f"  below the best LightGBM in {lower} of {len(rows)}"
        print(text, flush=True)


def main() -> None:
    options = arguments()
    rows = []
    with one_blas_thread():
        towns = (town(seed, days=options.days, places=options.places) for seed in options.seeds)
        cases: Any = [jersey_city(options.data)] if options.jersey_city else towns
        for case in cases:
            if options.hold_back:
                shorter = case.grid.until(len(case.grid.ds) - options.hold_back * case.grid.per_day)
                case = Case(case.name, shorter, case.stations, case.test_days, case.latent, case.rate)
            rows.append(losses(case, options))
            if options.output:
                with options.output.open("a") as file:
                    file.write(json.dumps({"case": case.name, "losses": rows[-1]}) + "\n")
            print(case.name, flush=True)
            show(rows[-1:])
    if len(rows) > 1:
        print(f"mean of {len(rows)}")
        show(rows)


if __name__ == "__main__":
    main()
