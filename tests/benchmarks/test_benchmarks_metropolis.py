"""The benchmark of a metropolis: figures beside the truth by hand, distinct copies of a city, kills."""

import json
import sys
from pathlib import Path

import duckdb
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks.metropolis.kills import blow
from benchmarks.metropolis.truth import compare, words
from benchmarks.panel import scale
from benchmarks.panel.config import Config


def _table(path: Path, columns: str, rows: list[str]) -> None:
    duckdb.sql(f"COPY (FROM (VALUES {', '.join(rows)}) AS t({columns})) TO '{path}' (FORMAT parquet)")


@pytest.fixture
def compared(tmp_path: Path) -> dict:
    first, second = "TIMESTAMP '2024-01-01 00:00:00'", "TIMESTAMP '2024-01-08 00:00:00'"
    _table(
        tmp_path / "truth.parquet",
        "unique_id, ds, latent, lost, spilled_out, rival",
        [
            f"('a', {first}, 3, 2, 1, 1)",
            f"('a', {second}, 0, 0, 0, 0)",
            f"('b', {first}, 5, 4, 0, 0)",
            f"('b', {second}, 1, 0, 0, 0)",
        ],
    )
    # Demand + U: of [3, 4] half is below 3.5, [0, 1] inside, [5, 6] above 5, [1, 2] inside.
    _table(
        tmp_path / "backtest.parquet",
        "unique_id, ds, q05, q95, mean",
        [
            f"('a', {first}, 3.5, 9.0, 4.0)",
            f"('a', {second}, 0.0, 'Infinity'::DOUBLE, 1.0)",
            f"('b', {first}, 1.0, 5.0, 3.0)",
            f"('b', {second}, 0.0, 2.0, 2.0)",
        ],
    )
    _table(
        tmp_path / "lost.parquet",
        "unique_id, ds, censored, demand_q05, demand_q95",
        [
            f"('a', {first}, true, 3.0, 3.25)",
            f"('b', {first}, true, 0.0, 9.0)",
            f"('b', {second}, false, 0.0, 0.0)",
        ],
    )
    ends = {"q05": 3.0, "mean": 4.0, "q95": 5.0}
    totals = {"lost": ends, "next_door": {**ends, "mean": 2.0}, "unserved": {**ends, "mean": 6.0}}
    totals["places"] = {"a": {"lost": {"q05": 2, "q95": 3}}, "b": {"lost": {"q05": 3.5, "q95": 4.5}}}
    (tmp_path / "lost_total.json").write_text(json.dumps(totals))
    return compare(tmp_path, tmp_path)


def test_figures_beside_the_truth(compared):
    assert compared["coverage"] == pytest.approx(2.5 / 4)
    assert compared["lower tail"] == pytest.approx(0.5 / 4)
    assert compared["upper tail"] == pytest.approx(1 / 4)
    assert compared["weeks"] == pytest.approx(0.25)
    assert compared["censored rows"] == pytest.approx((0.25 + 1) / 2)
    assert compared["truth"] == {"lost": 5, "next_door": 1, "unserved": 6}
    assert compared["lost"] == pytest.approx([0.8, 0.6, 1.0])
    assert compared["unserved"][0] == 1
    assert compared["places"] == 0.5  # the place "a" lost one ride, a rival's not counted


def test_words_tell_what_is_missed(compared):
    told = {line.split("  ")[0].strip(): line for line in words(compared)}
    assert told["coverage"].endswith("MISSED")
    assert "0.9–1.1 holds" in told["unserved"]
    assert told["lost"].endswith("5 in truth, interval holds it")


def test_copies_of_a_city_have_rides_and_places_of_their_own(tmp_path, monkeypatch):
    monkeypatch.setattr(scale, "_BASE", Config(size="village", days=8, districts=1, fewer=1))
    rides = scale.write(tmp_path, 2)
    files = [str(path) for path in scale.trip_files(tmp_path, "modern-parquet", 2)]
    count = "count(*), count(DISTINCT ride_id), count(DISTINCT start_station_id[:3])"
    found = duckdb.sql(f"SELECT {count} FROM read_parquet({files})").fetchall()
    assert found == [(2 * rides, 2 * rides, 2)]
    status = [str(path) for path in scale.files(tmp_path, "status", 2)]
    districts = duckdb.sql(f"SELECT DISTINCT station_id[:3] FROM read_parquet({status})").fetchall()
    assert {name for (name,) in districts} == {"D00", "D01"}
    assert '"D01-' in (tmp_path / "stations-01.json").read_text()


# Three stages, each kept as a file and noted in the log; finished ones are not done again.
_STAGES = """
import json, os, sys, time
folder = sys.argv[1]
os.makedirs(folder, exist_ok=True)
for stage in "abc":
    if os.path.exists(f"{folder}/{stage}"):
        continue
    began = time.time()
    time.sleep(0.15)
    with open(f"{folder}/.part", "w") as part:
        part.write(WHAT)
    os.replace(f"{folder}/.part", f"{folder}/{stage}")
    with open(f"{folder}/log.jsonl", "a") as log:
        entry = {"step": "fit", "stage": stage, "cpu": 0.1, "seconds": time.time() - began}
        log.write(json.dumps({**entry, "time": time.time()}) + chr(10))
"""


@pytest.mark.parametrize(("what", "different"), [("stage", []), ("str(os.getpid())", ["a", "b", "c"])])
def test_kills_come_after_finished_stages_too_and_show_bytes_that_differ(
    tmp_path: Path, what: str, different: list[str]
):
    script = _STAGES.replace("WHAT", what)
    found = blow(lambda output: [sys.executable, "-c", script, str(output)], tmp_path, 12)
    assert len(found.killed) == 12
    assert max(found.killed) > 0  # not only in the first stage
    assert found.different == different
    assert not found.twice
