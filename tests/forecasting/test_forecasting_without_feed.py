"""Lost rides without a status feed: simulated villages with a known truth, and Jersey City with its feed."""

import os
import warnings
from pathlib import Path

import numpy as np
import pytest

import unmet
from unmet.datasets.city import make_city
from unmet.forecasting import fit_demand
from unmet.forecasting._exposure_draws import make_exposure_draws
from unmet.forecasting._grid import make_grid
from unmet.forecasting._parametric import fit_parametric, look_back
from unmet.mobility import (
    Panel,
    build_panel,
    connect,
    read_panel,
    read_stations,
    read_status,
    read_trips,
    write_panel,
)

ZONE = "America/New_York"
DATA = Path(os.environ.get("UNMET_DATA") or Path(unmet.__file__).parents[3] / "shared" / "data")
TRAPS = {
    "broken": 0.08,
    "retiring": 0.2,
    "van_hours": (2, 11, 16),
    "shocks": "persistent",
    "persistence": 0.95,
}
FAST = {"networks": ("linear",), "baselines": False, "backtest_days": 7, "progress": False}


def village(folder: Path, seed: int, *, ids: bool, days: int = 42) -> tuple[int, dict]:
    """Return the true lost rides of a village, odd ones with traps, and the estimate without its feed."""
    city = make_city("village", days=days, seed=seed, **(TRAPS if seed % 2 else {}))
    city.write(folder)
    with connect(threads=1) as con:
        read_stations(con, folder / "station_information.json")
        read_trips(con, folder / "trips.csv.gz", zone=ZONE)
        if not ids:
            con.execute("UPDATE trips SET vehicle_id = NULL")
        build_panel(con, by="hour", zone=ZONE)
        write_panel(con, folder / "panel.parquet")
    stations = {"unique_id": city.map.ids, "lat": city.map.lat, "lng": city.map.lng}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = fit_demand(folder / "panel.parquet", stations=stations, **FAST)
    return int(city.truth.lost.sum()), model.lost_total()


def test_without_ids_there_are_bounds_and_no_point(tmp_path):
    true, total = village(tmp_path, 8, ids=False, days=21)
    assert (total["lost"]["mean"], total["lost"]["q95"]) == (None, None)
    assert all(place["lost"]["mean"] is None for place in total["places"].values())
    bounds = total["ambiguous"]["bounds"]
    assert all(bound["assumption"] for bound in bounds)
    assert bounds[0]["lost"] == 0 < true < bounds[1]["lost"]  # its vans come at night only


def test_with_ids_the_interval_carries_the_doubt(tmp_path):
    true, total = village(tmp_path, 8, ids=True, days=21)
    lost, doubt = total["lost"], total["ambiguous"]
    assert lost["q05"] < true < lost["q95"] < 4 * lost["q05"]
    curve = [point["lost"] for point in doubt["curve"]]
    assert curve == sorted(curve)
    assert curve[0] < lost["mean"] < curve[-1]
    assert [point["empty"] for point in doubt["curve"]] == pytest.approx(np.linspace(0, 1, 11))
    assert 0 < doubt["empty"]["q05"] < doubt["empty"]["mean"] < doubt["empty"]["q95"] < 1
    assert "assumption" in doubt["assumption"]


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_forty_villages_with_ids(tmp_path):
    held, ratios = [], []
    for seed in range(9001, 9041):
        true, total = village(tmp_path, seed, ids=True)
        lost = total["lost"]
        held.append(lost["q05"] <= true <= lost["q95"])
        ratios.append(lost["q95"] / lost["q05"])
        print(
            f"{seed} {'traps' if seed % 2 else 'plain'}: true {true}, estimate {lost['mean']:.0f} "
            f"({lost['q05']:.0f}–{lost['q95']:.0f}) {'holds' if held[-1] else 'MISSES'}",
            flush=True,
        )
    print(f"held {sum(held)} of {len(held)}, median upper / lower {np.median(ratios):.2f}")
    assert sum(held) >= 33
    assert np.median(ratios) <= 3


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_forty_villages_without_ids(tmp_path):
    held = {"plain": 0, "traps": 0}
    for seed in range(9001, 9041):
        true, total = village(tmp_path, seed, ids=False)
        assert (total["lost"]["mean"], total["lost"]["q05"], total["lost"]["q95"]) == (None, 0, None)
        most, kind = total["ambiguous"]["bounds"][1]["lost"], "traps" if seed % 2 else "plain"
        most = np.inf if most is None else most
        held[kind] += true <= most
        print(f"{seed} {kind}: true {true}, at most {most:.0f} if vans come only at night", flush=True)
    print(
        f"the bound holds in {held['plain']} of 20 where vans come at night, {held['traps']} of 20 elsewhere"
    )
    assert held["plain"] >= 18


def jersey_city(folder: Path) -> tuple[Panel, Panel, dict]:
    """Return the months with vehicle ids with the feed and without, the same rows known, and the stations."""
    here = DATA / "jersey_city_winter"
    if not here.is_dir():
        pytest.skip("real data jersey_city_winter are not here; set UNMET_DATA")
    panels = []
    for feed in (True, False):
        with connect(threads=1) as con:
            read_stations(con, here / "station_information.json")
            months = ("202011", "202012", "202101")
            read_trips(con, [here / f"JC-{month}-citibike-tripdata.csv.zip" for month in months], zone=ZONE)
            if feed:
                read_status(con, here / "station_status_events.csv.gz")
                stations = con.execute("SELECT place AS unique_id, lat, lng FROM stations").fetchnumpy()
            build_panel(con, by="hour", zone=ZONE)
            if feed:
                con.execute("CREATE TABLE known AS SELECT unique_id, ds, observed FROM panel")
                known = con.execute("SELECT unique_id, ds FROM known WHERE observed > 0.99").df()
            con.register("_known", known)
            con.execute("""UPDATE panel SET exposure = NULL, exposure_low = NULL, exposure_high = NULL
                           WHERE (unique_id, ds) NOT IN (SELECT (unique_id, ds) FROM _known)""")
            con.execute("DELETE FROM panel WHERE unique_id NOT IN (SELECT unique_id FROM _known)")
            write_panel(con, folder / "panel.parquet")
        panels.append(read_panel(folder / "panel.parquet"))
    return panels[0], panels[1], dict(stations)


@pytest.mark.slow
def test_jersey_city_with_ids_alone_agrees_with_its_feed(tmp_path):
    with_feed, alone, stations = jersey_city(tmp_path)
    grid, truth = make_grid(alone, never_available="keep"), make_grid(with_feed, never_available="keep")
    same = np.isin(truth.places, grid.places)
    assert (truth.places[same] == grid.places).all()
    rows = grid.known & truth.known[same]
    past = look_back(fit_parametric(grid), grid)
    draws = make_exposure_draws(grid, past, 200, 0)
    week = np.arange(rows.shape[1]) // 168
    inside = []
    for place in range(len(grid.places)):
        found = draws.of(place)
        drawn = np.broadcast_to(grid.exposure[place], (200, rows.shape[1])) if found is None else found[0]
        for one in np.unique(week):
            at = rows[place] & (week == one)
            if at.sum() < 24:
                continue
            empty = (1 - drawn[:, at]).sum(axis=1)
            real = (1 - truth.exposure[same][place, at]).sum()
            low, high = np.quantile(empty, (0.05, 0.95))
            inside.append(low - 0.1 <= real <= high + 0.1)  # hours: clocks of feed and rides differ
    totals = []
    for panel in (with_feed, alone):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = fit_demand(panel, stations=stations, never_available="keep", **FAST)
        totals.append(model.lost_total()["lost"])
    feed, ids = totals
    print(f"empty time of {len(inside)} station-weeks: intervals hold {np.mean(inside):.1%}")
    print(f"lost with the feed {feed['mean']:.0f} ({feed['q05']:.0f}–{feed['q95']:.0f}), "
          f"with ids alone {ids['mean']:.0f} ({ids['q05']:.0f}–{ids['q95']:.0f})")  # fmt: skip
    assert np.mean(inside) >= 0.85
    assert abs(ids["mean"] / feed["mean"] - 1) <= 0.25
