"""`python -m benchmarks.stockouts`: estimate / hidden rides, and how many intervals of places hold."""

from __future__ import annotations

import argparse
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks.environment import ROOT
from benchmarks.stockouts.cities import CITIES, opened
from unmet.forecasting._grid import make_grid
from unmet.forecasting._self_check import check_itself, lacking_error
from unmet.mobility import build_panel, lowered_columns, read_panel, write_panel


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.stockouts", description=__doc__)
    parser.add_argument("cities", nargs="*", metavar="CITY", help=", ".join(CITIES))
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data", help="real data")
    parser.add_argument("--reserve", type=int, nargs="+", default=[2, 4, 8], help="vehicles held back")
    return parser.parse_args()


def main() -> None:
    options = arguments()
    for city in options.cities or CITIES:
        with opened(city, options.data) as (con, settings), TemporaryDirectory() as folder:
            for reserve in options.reserve:
                build_panel(con, **settings, reserve=reserve)
                panel = read_panel(write_panel(con, Path(folder) / "panel.parquet"))
                grid = make_grid(panel, never_available="keep")
                found = check_itself(grid, lowered_columns(con), reserve, 0)
                mean, low, high = found.total
                rows = found.judged
                lacking = lacking_error(
                    *(part[rows] for part in (found.hidden, found.estimate, found.low, found.high))
                )
                others = [
                    np.quantile(np.delete(lacking, at), 0.9, method="higher") for at in range(len(lacking))
                ]
                print(
                    f"{city:11} c = {reserve}: hidden {found.hidden.sum():8,.0f}, estimate {mean:8,.0f} "
                    f"({low:,.0f}–{high:,.0f}), ratio {found.ratio:.3f}, places held "
                    f"{found.coverage:.0%} of {rows.sum()}, {np.mean(lacking <= others):.0%} when widened",
                    flush=True,
                )


if __name__ == "__main__":
    main()
