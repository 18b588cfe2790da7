"""Fleet reduction: fewer vehicles, fewer rides, never more on any row."""

from datetime import datetime, timedelta

import pytest
from small_world import connection, fill

from unmet.mobility import build_panel, reduce_fleet


@pytest.fixture
def con():
    with connection() as con:
        starts = [datetime(2021, 5, 3) + timedelta(minutes=7 * n) for n in range(1000)]
        rides = [
            (f"v{n % 50}", start, start + timedelta(minutes=5), "ABC"[n % 3], "ABC"[n // 3 % 3])
            for n, start in enumerate(starts)
        ]
        fill(con, rides)
        yield con


def test_a_share_of_the_vehicles_is_gone_with_all_their_rides(con):
    found = reduce_fleet(con, 0.2, seed=7)
    assert (found.vehicles, found.vehicles_kept, found.rides, found.rides_kept) == (50, 40, 1000, 800)
    kept = {row[0] for row in con.execute("SELECT DISTINCT vehicle_id FROM trips_reduced").fetchall()}
    assert len(kept) == 40
    assert con.execute("SELECT count(*) FROM trips").fetchone() == (1000,)
    reduce_fleet(con, 0.2, seed=7, into="again")
    assert con.execute("SELECT count(*) FROM (FROM trips_reduced EXCEPT FROM again)").fetchone() == (0,)
    reduce_fleet(con, 0.2, seed=8, into="other")
    assert con.execute("SELECT count(*) FROM (FROM trips_reduced EXCEPT FROM other)").fetchone() != (0,)


def test_no_row_has_more_than_its_latent_count(con):
    reduce_fleet(con, 0.3, seed=1)
    build_panel(con, by="hour", zone="UTC")
    con.execute("CREATE TABLE latent AS FROM panel")
    build_panel(con, by="hour", zone="UTC", trips="trips_reduced")
    row = con.execute("""SELECT count(*), bool_and(p.y <= l.y), sum(p.y), sum(l.y) FROM panel p
                         JOIN latent l USING (unique_id, ds)""").fetchone()
    assert row[1:] == (True, 700, 1000)


@pytest.mark.parametrize(("share", "kept"), [(0, 1000), (1, 0)])
def test_the_ends(con, share, kept):
    assert reduce_fleet(con, share, seed=0).rides_kept == kept


def test_wrong_arguments(con):
    for share in (-0.1, 1.1, float("nan")):
        with pytest.raises(ValueError, match="share"):
            reduce_fleet(con, share, seed=0)
    with pytest.raises(ValueError, match="into"):
        reduce_fleet(con, 0.2, seed=0, into="trips")
    con.execute("UPDATE trips SET vehicle_id = NULL WHERE line = 3")
    with pytest.raises(ValueError, match="1 of 1,000 rides have no vehicle id"):
        reduce_fleet(con, 0.2, seed=0)
