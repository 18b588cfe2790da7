"""A simulated city whose truth is known: the panel built from its files agrees with it on every row."""

import pytest

from unmet.datasets import make_city
from unmet.mobility import build_panel, connect, read_stations, read_status, read_trips

ZONE = "America/New_York"


def compare(folder, feed):
    with connect(threads=2) as con:
        read_stations(con, folder / "station_information.json")
        read_trips(con, folder / "trips.csv.gz", zone=ZONE)
        read_status(con, folder / f"station_status_{feed}.csv.gz")
        report = build_panel(con, by="hour", zone=ZONE)
        found = con.execute(f"""
            SELECT count(*) AS rows, count(p.ds) AS panel, count(t.ds) AS truth,
                count(*) FILTER (y <> served) AS wrong,
                count(*) FILTER (least(y, threshold) <> least(latent, threshold)) AS threshold,
                count(*) FILTER (exposure = 1 AND y <> latent) AS unflagged,
                count(*) FILTER (y > latent) AS above,
                count(*) FILTER (y > supply) AS supply,
                count(*) FILTER (y <> latent - lost - spilled_out + spilled_in) AS sums,
                avg(censored::INTEGER) FILTER (lost > 0) AS caught,
                avg((lost = 0)::INTEGER) FILTER (censored) AS in_vain,
                avg(threshold) AS mean_threshold
            FROM panel p FULL JOIN '{folder / "truth.parquet"}' t
                 ON p.unique_id = t.unique_id AND p.ds = t.ds""")
        names = [column[0] for column in found.description]
        return report, dict(zip(names, found.fetchone()))


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    folder = tmp_path_factory.mktemp("plain")
    make_city("village", days=21, seed=3, spill=False, rival=False).write(folder)
    return folder


@pytest.mark.parametrize(("feed", "share"), [("events", 0.99), ("snapshots", 0.95)])
def test_without_spill_the_panel_is_exact(plain, feed, share):
    report, found = compare(plain, feed)
    assert report.feed == feed
    assert (
        found["rows"] == found["panel"] == found["truth"] == 12 * (21 * 24 - 1)
    )  # it holds a day of 23 hours
    for name in ("wrong", "threshold", "unflagged", "above", "supply", "sums"):
        assert found[name] == 0, name
    assert found["caught"] >= share
    assert 0.4 < found["in_vain"] < 0.8  # about six in ten flagged rows lost nothing
    assert found["mean_threshold"] > 3  # the threshold is not exact by claiming nothing


def test_with_spill_and_a_rival_the_sums_hold(tmp_path):
    make_city("village", days=10, seed=4, spill=True, rival=True).write(tmp_path)
    _, found = compare(tmp_path, "events")
    assert found["wrong"] == found["sums"] == found["supply"] == 0
