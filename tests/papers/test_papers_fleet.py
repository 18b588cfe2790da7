"""The fleet grid: smaller fleets, the published Table V, and findings that can say no."""

import numpy as np
import pytest

from unmet.papers._cells import Cell, one, read_published, select
from unmet.papers.mobility import _fleet, _fleet_tables, _protocols
from unmet.papers.mobility._demand import CityDemand, Trips, holidays_of
from unmet.papers.mobility._grid_models import DEFAULT, RAW

CONFIG = _fleet.FleetConfig(alphas=(0.0, 0.4), subsets=3)


@pytest.fixture(scope="module")
def fleets():
    return _fleet.reduced_fleets(CityDemand("village", days=40), CONFIG)


def test_a_smaller_fleet_shows_less_and_the_whole_one_everything(fleets):
    demand, observed = fleets
    assert demand.latent.shape == (40,)
    assert (observed[0.0] == demand.latent).all()
    seen = observed[0.4]
    assert seen.shape == (3, 40)
    assert (seen <= demand.latent).all()
    assert seen.sum(axis=1) / demand.latent.sum() == pytest.approx([0.6] * 3, abs=0.06)
    assert len({row.tobytes() for row in seen}) == 3
    again = _fleet.reduced_fleets(CityDemand("village", days=40), CONFIG)
    assert _fleet.describe(CONFIG, *again) == _fleet.describe(CONFIG, *fleets)


def test_trips_of_a_city_give_the_same_days(fleets, tmp_path):
    from unmet.datasets import make_city

    make_city("village", days=40, seed=1).write(tmp_path, snapshots=None)
    source = Trips((tmp_path / "trips.csv.gz",), zone="America/New_York", holidays="US-NJ")
    demand = fleets[0]
    read, _ = _fleet.reduced_fleets(source, CONFIG)
    assert (read.days == demand.days).all()
    assert (read.latent == demand.latent).all()
    assert read.days[read.holiday].astype(str).tolist() == ["2024-03-29"]
    assert source.name == "".join(c if c.isalnum() else "-" for c in tmp_path.name.lower()).strip("-")


def test_shards_and_networks(fleets):
    shards = _fleet.make_shards(CONFIG, *fleets)
    assert len({shard.key for shard in shards}) == len(shards) == 2 * 6
    assert sum(shard.networks for shard in shards) == 2 * 3 * (2 + 2 + 1 + 2 + 1 + 1)


def test_all_rows_are_censored_as_published_and_none_in_ours(fleets, monkeypatch):
    from unmet import estimators

    caught = []

    def catch(estimator, problems, **_):
        caught.extend(problems)
        return iter(())

    monkeypatch.setattr(estimators, "iter_fit_many", catch)
    shards = {s.key: s for s in _fleet.make_shards(CONFIG, *fleets)}
    list(_protocols._as_published(shards["a40_CQNN.parquet"]))
    assert all(p["censored"].all() and np.array_equal(p["threshold"], p["y"]) for p in caught)
    caught.clear()
    list(_protocols._ours(shards["a40_default.parquet"]))
    assert np.allclose(caught[0]["y"], fleets[1][0.4][0][7 : 7 + len(caught[0]["y"])] / 0.6)
    assert "censored" not in caught[0]


def test_table5_as_printed():
    cells = select(read_published(), table="table5")
    assert len(cells) == 3 * 4 * 5
    pick = {"data": "0.4", "model": "Multi-CQNN+LSTM"}
    assert (one(cells, measure="ICP", **pick).mean, one(cells, measure="MIL", **pick).sd) == (0.411, 159)
    assert one(cells, measure="CL", data="0.2", model="CQNN+LSTM").mean == 0.002


def made(block, model, alpha, icp):
    return Cell("table5", block, alpha, model, "", "all", "", "ICP", icp, 0.01, 10)


def grid(ours, last):
    models = ("QNN", "CQNN", "Multi-CQNN", "CQNN+LSTM", "Multi-CQNN+LSTM")
    cells = [
        made("as published", m, a, icp + 0.01 * (m != "QNN"))
        for m in models
        for a, icp in (("0", 0.9), ("0.1", 0.8), ("0.4", last))
    ]
    cells += [
        made("ours", DEFAULT.name + end, a, icp)
        for end, icp in (("", ours), (RAW, 0.4))
        for a in ("0", "0.1", "0.4")
    ]
    return cells


def test_checks_say_yes_and_no():
    assert [check.holds for check in _fleet_tables.checks(grid(0.9, 0.2))] == [True, True, True]
    assert [check.holds for check in _fleet_tables.checks(grid(0.84, 0.85))] == [False, True, False]


def test_the_table_shows_published_numbers_beside_ours():
    cells = select(read_published(), table="table5", measure="ICP") + grid(0.9, 0.2)
    table = _fleet_tables.tables(cells)[0]
    assert table.head == ("block", "model", "α = 0%", "α = 10%", "α = 20%", "α = 30%", "α = 40%")
    assert table.lines[0] == (
        *("published", "QNN", "–"),
        *("0.870 ± 0.0", "0.659 ± 0.0", "0.341 ± 0.1", "0.106 ± 0.0"),
    )
    assert table.lines[5][:4] == ("as published", "QNN", "0.900 ± 0.010", "0.800 ± 0.010")


def test_holidays():
    days = np.datetime64("2024-07-01") + np.arange(7)
    assert np.flatnonzero(holidays_of("US-CA", days)).tolist() == [3]
    assert not holidays_of(None, days).any()
