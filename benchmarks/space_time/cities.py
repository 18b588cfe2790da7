"""The cities: a simulated town with fronts, whose demand is known, and Jersey City."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchmarks.stockouts.cities import opened
from unmet.datasets import make_city
from unmet.forecasting._grid import Grid, make_grid
from unmet.mobility import build_panel, connect, read_panel, read_stations, read_status, read_trips
from unmet.mobility import write_panel as write

ZONE = "America/New_York"
FRONTS = 20.0  # in thirty days


@dataclass(frozen=True)
class Case:
    """A grid, the coordinates of its places, and, if known, demand and rate of every hour."""

    name: str
    grid: Grid
    stations: dict[str, Any]
    test_days: int
    latent: np.ndarray | None = None
    rate: np.ndarray | None = None


def town(seed: int, *, days: int = 63, places: int = 40, test_days: int = 14) -> Case:
    """Return a simulated town with spill, through which storms and crowds move."""
    city = make_city("town", places=places, days=days, seed=seed, weather=False, fronts=FRONTS)
    with connect(memory_limit="2GB") as con, TemporaryDirectory() as folder:
        here = Path(folder)
        city.write(here, snapshots=None)
        read_stations(con, here / "station_information.json")
        read_trips(con, here / "trips.csv.gz", zone=ZONE)
        read_status(con, here / "station_status_events.csv.gz")
        build_panel(con, zone=ZONE)
        grid = make_grid(read_panel(write(con, here / "panel.parquet")), never_available="keep")
    order = [city.map.ids.index(str(place)) for place in grid.places]
    hours = slice(0, len(grid.ds))
    stations = {"unique_id": np.array(city.map.ids), "lat": city.map.lat, "lng": city.map.lng}
    return Case(
        f"town {seed}",
        grid,
        stations,
        test_days,
        city.truth.latent[order][:, hours].astype(np.float64),
        city.rate[order][:, hours],
    )


def jersey_city(data: Path, test_days: int = 28) -> Case:
    """Return Jersey City from November 2020 to February 2021, with its feed."""
    with opened("winter", data) as (con, settings), TemporaryDirectory() as folder:
        build_panel(con, **settings)
        grid = make_grid(read_panel(write(con, Path(folder) / "panel.parquet")), never_available="keep")
        found = con.execute("SELECT place, lat, lng FROM stations").fetchnumpy()
    stations = {"unique_id": found["place"], "lat": found["lat"], "lng": found["lng"]}
    return Case("Jersey City", grid.until(grid.end), stations, test_days)
