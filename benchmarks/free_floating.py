"""`python -m benchmarks.free_floating`: rates of free-floating vehicles on days that the fit has not seen.

Cells are sorted into bands by how long a vehicle stood there on those days. In each band, pickups per hour
with a vehicle present are set beside those predicted. The slope of one on the other is 1 if demand of cells
that are rarely served is neither too high nor too low.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import numpy as np

from benchmarks.environment import ROOT
from unmet.forecasting import _grid
from unmet.forecasting._grid import Grid, make_grid
from unmet.forecasting._lost_rides import estimate_lost
from unmet.forecasting._parametric import fit_parametric, look_back
from unmet.mobility import build_panel, connect, read_panel, read_trips, write_panel
from unmet.tables import private_folder

BANDS = (0.0, 0.1, 0.2, 0.35, 0.5, 0.7, 0.85, 1.0)  # shares of time with a vehicle
WORST = 10
Floats = np.ndarray


@dataclass(frozen=True)
class City:
    """Where its rides are, and the local days that the fit does not see, counted from the first."""

    file: str
    zone: str
    held_out: range


CITIES = {
    # A week is all there is: two working days of it are held out.
    "munich": City("munich_carsharing_2019/carsharing.csv", "Europe/Berlin", range(2, 4)),
    "jump": City("jump_sf_2018/pickups.csv.gz", "America/Los_Angeles", range(28, 100)),
}


@dataclass(frozen=True)
class Band:
    """Hours with a vehicle, and pickups in them, seen and predicted."""

    low: float
    high: float
    hours: float
    seen: float
    predicted: float


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.free_floating", description=__doc__)
    parser.add_argument("cities", nargs="*", metavar="CITY", help=", ".join(CITIES))
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data", help="real data")
    return parser.parse_args()


def by_presence(grid: Grid, rate: Floats, rows: Floats) -> list[Band]:
    """Return the bands of places by presence in some rows (P, T)."""
    used = rows & grid.known
    time = np.where(used, grid.exposure, 0.0)
    presence = time.sum(axis=1) / np.maximum(used.sum(axis=1), 1)
    seen, predicted = np.where(used, grid.y, 0.0).sum(axis=1), (time * rate).sum(axis=1)
    found = []
    for low, high in pairwise(BANDS):
        here = (presence > low) & (presence <= high)
        if here.any():
            hours = float(time[here].sum())
            found.append(Band(low, high, hours, float(seen[here].sum()), float(predicted[here].sum())))
    return found


def slope(bands: list[Band]) -> float:
    """Return the slope of pickups per hour with a vehicle on those predicted, weighted by hours."""
    hours = np.array([band.hours for band in bands])
    seen, predicted = (
        np.array([getattr(band, name) for band in bands]) / hours for name in ("seen", "predicted")
    )
    x, y = (part - np.average(part, weights=hours) for part in (predicted, seen))
    return float((hours * x * y).sum() / (hours * x * x).sum())


def without(grid: Grid, rows: Floats) -> Grid:
    """Return the grid as if nothing were known of some rows."""
    kept = ~rows
    shares = {name: np.where(kept, getattr(grid, name), 0.0) for name in ("y", "exposure", "low", "high")}
    return replace(grid, known=grid.known & kept, censored=grid.censored & kept, **shares)


def measure(name: str, data: Path) -> None:
    """Print what the held-out days of a city say."""
    city = CITIES[name]
    with connect(memory_limit="2GB") as con:
        read_trips(con, data / city.file, zone=city.zone)
        [(vehicles,)] = con.execute("SELECT count(DISTINCT vehicle_id) FROM trips").fetchall()
        report = build_panel(con, zone=city.zone, places="h3")
        panel = read_panel(write_panel(con, Path(private_folder(con)) / "panel.parquet"))
    grid = make_grid(panel, never_available="keep")
    day = grid.calendar.day - grid.calendar.day.min()
    rows = np.broadcast_to(np.isin(day, list(city.held_out)), grid.y.shape)
    model = fit_parametric(without(grid, rows))
    rate = model.rates.rate(grid.calendar, model.terms.matrix(grid.calendar, grid.covariates))
    bands = by_presence(grid, rate, rows)
    for band in bands:
        print(
            f"{name:7} vehicle present {band.low:4.0%}–{band.high:4.0%} of the time: {band.hours:7,.0f} h, "
            f"pickups per hour {band.seen / band.hours:.3f}, predicted {band.predicted / band.hours:.3f}"
        )
    total = sum(band.seen for band in bands) / sum(band.predicted for band in bands)
    print(f"{name:7} slope of pickups on predicted {slope(bands):.3f}, all together {total:.3f}")
    past = look_back(model := fit_parametric(grid), grid)
    lost = estimate_lost(model, grid, past, np.ones(grid.y.shape, bool), 0).total["places"].values()
    worst = sorted(lost, key=lambda place: -place["lost"]["mean"])[:WORST]
    above = sum(place["lost"]["q05"] > 0 for place in worst)
    unknown = [one for one in np.unique(day) if not grid.known[:, day == one].any()]
    print(
        f"{name:7} {above} of the {len(worst)} worst cells have a lower bound above zero; days of which "
        f"nothing is known: {len(unknown)}; {report.vehicles_standing:.0f} vehicles stand on average, "
        f"{vehicles} were seen"
    )
    for note in report.notes:
        print(f"{name:7} {note}")


def main() -> None:
    options = arguments()
    _grid.LEAST_DAYS = 5  # below the floor of the product: only rates are looked at
    for name in options.cities or CITIES:
        measure(name, options.data)


if __name__ == "__main__":
    main()
