"""`python -m benchmarks.stockouts`: estimate / hidden rides, and how many intervals of places hold."""

from __future__ import annotations

import argparse
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.environment import ROOT
from benchmarks.stockouts.cities import CITIES, opened
from unmet.forecasting._grid import make_grid
from unmet.forecasting._lost_rides import with_error
from unmet.forecasting._self_check import SelfCheck, check_itself
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
        checks: list[SelfCheck] = []
        with opened(city, options.data) as (con, settings), TemporaryDirectory() as folder:
            for reserve in options.reserve:
                build_panel(con, **settings, reserve=reserve)
                panel = read_panel(write_panel(con, Path(folder) / "panel.parquet"))
                grid = make_grid(panel, never_available="keep")
                found = check_itself(grid, lowered_columns(con), reserve, 0)
                mean, low, high = found.total
                print(
                    f"{city:11} c = {reserve}: hidden {found.hidden.sum():8,.0f}, estimate {mean:8,.0f} "
                    f"({low:,.0f}–{high:,.0f}), ratio {found.ratio:.3f}, intervals of {found.judged.sum()} "
                    f"places held: {found.coverage_drawn:.0%} as drawn, {found.coverage:.0%} as shown",
                    flush=True,
                )
                checks.append(found)
        # Real stock-outs leave no vehicle at all, so an error must hold where fewer vehicles stand.
        for fewer, more in pairwise(checks):
            print(
                f"{city:11} c = {fewer.reserve} with the error of c = {more.reserve}: places held "
                f"{held_with(fewer, more.error_places):.0%}",
                flush=True,
            )


def held_with(found: SelfCheck, error: float) -> float:
    """Return the share of judged places whose interval holds with a relative error."""
    low, high = with_error(found.low, found.high, found.estimate, error * found.estimate)
    return float(((found.hidden >= low) & (found.hidden <= high))[found.judged].mean())


if __name__ == "__main__":
    main()
