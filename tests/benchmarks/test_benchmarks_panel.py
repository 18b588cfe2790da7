"""The panel benchmark: contenders agree on a small input, and verdicts follow from the costs."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks.panel import with_pandas, with_unmet
from benchmarks.panel.compare import differences, verdicts
from benchmarks.panel.config import Config
from benchmarks.panel.data import files, write_districts, write_parquet
from benchmarks.panel.meter import Cost

TINY = Config(size="village", days=8, districts=2, fewer=1, memory_limit="500MB", floors=False)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("districts")
    assert write_districts(TINY, folder) > 100
    write_parquet(folder, TINY.districts)
    return folder


@pytest.fixture(scope="module")
def ours(folder) -> Path:
    return _made(
        with_unmet.build(folder, 2, TINY.zone, "500MB", "csv", folder / "ours.parquet"), folder, "ours"
    )


def _made(steps, folder: Path, name: str) -> Path:
    assert list(steps) == ["trips read", "status read", "panel built", "panel written"]
    return folder / f"{name}.parquet"


def test_the_input_is_written_once(folder):
    before = [path.stat().st_mtime_ns for path in files(folder, "trips", 2)]
    write_districts(TINY, folder)
    assert [path.stat().st_mtime_ns for path in files(folder, "trips", 2)] == before


@pytest.mark.parametrize(
    ("checks", "engine", "kind"),
    [(True, "c", "csv"), (True, "pyarrow", "csv"), (False, "pyarrow", "csv"), (False, "pyarrow", "parquet")],
)
def test_pandas_gives_the_same_panel(folder, ours, checks, engine, kind):
    theirs = folder / "theirs.parquet"
    _made(with_pandas.build(folder, 2, TINY.zone, checks, engine, kind, theirs), folder, "theirs")
    found = differences(ours, theirs)
    assert not any(found.values())
    assert set(found) >= {"rows", "y", "exposure", "threshold"}


def test_trips_as_parquet_give_the_same_panel(folder, ours):
    typed = folder / "typed.parquet"
    _made(with_unmet.build(folder, 2, TINY.zone, "500MB", "parquet", typed), folder, "typed")
    assert typed.read_bytes() == ours.read_bytes()


def test_a_difference_is_seen(folder, ours):
    import duckdb

    other = folder / "other.parquet"
    rows = f"SELECT *, row_number() OVER () AS number FROM '{ours}'"
    changed = "* EXCLUDE (number) REPLACE (y + (number = 3)::INTEGER AS y)"
    duckdb.connect().execute(f"COPY (SELECT {changed} FROM ({rows})) TO '{other}'")
    assert differences(ours, other)["y"] == 1
    duckdb.connect().execute(f"COPY (FROM '{ours}' LIMIT 10) TO '{other}'")
    assert differences(ours, other)["rows"] > 0


def test_verdicts_follow_from_the_costs():
    def cost(seconds, peak=1e9):
        return Cost(seconds, 2 * seconds, int(peak), {})

    costs = {"unmet-fewer": cost(1), "unmet": cost(11), "unmet-typed": cost(1), "pandas-typed": cost(3)}
    costs |= {"unmet-second": cost(9), "unmet-third": cost(80), "unmet-again": cost(2)}
    costs |= {"pandas-checks": cost(55), "pandas-plain": cost(33)}
    costs |= {"checks-fewer": cost(4), "checks-arrow": cost(2)}
    figures, reached = verdicts(costs, 10, {"pandas": {"y": 0}}, same_bytes=True)
    assert figures["× the time: pandas + checks / unmet"] == pytest.approx(5)
    assert figures["× the time: pandas plain / unmet"] == pytest.approx(3)
    assert figures["× the time per ride: all rides / fewer rides"] == pytest.approx(1.1)
    assert all(reached.values())
    slower = {**costs, "unmet": cost(13, peak=3e9)}
    assert sum(verdicts(slower, 10, {"pandas": {"y": 1}}, same_bytes=False)[1].values()) == 0
