"""The panel benchmark: contenders agree on a small input in every form; verdicts follow from the costs."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks.panel import with_duckdb, with_pandas, with_unmet
from benchmarks.panel.compare import differences, middle, ratios, verdicts
from benchmarks.panel.config import FORMS, Config
from benchmarks.panel.data import trip_files, write_districts
from benchmarks.panel.meter import Cost

TINY = Config(size="village", days=8, districts=2, fewer=2, memory_limit="500MB", floors=False)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("districts")
    assert write_districts(TINY, folder) > 100
    return folder


def _made(module, folder: Path, form: str, option: str, name: str) -> Path:
    target = folder / f"{name}.parquet"
    steps = module.build(folder, 2, TINY.zone, form, option, target)
    assert list(steps) == ["trips read", "status read", "panel built", "panel written"]
    return target


@pytest.fixture(scope="module")
def ours(folder) -> Path:
    return _made(with_unmet, folder, "modern", "500MB", "ours")


def test_the_input_is_written_once(folder):
    before = [path.stat().st_mtime_ns for form in FORMS for path in trip_files(folder, form, 2)]
    write_districts(TINY, folder)
    assert [path.stat().st_mtime_ns for form in FORMS for path in trip_files(folder, form, 2)] == before


@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_same_panel(folder, ours, form):
    other = _made(with_unmet, folder, form, "500MB", "form")
    assert other.read_bytes() == ours.read_bytes()


@pytest.mark.parametrize("form", FORMS)
def test_rivals_give_the_same_panel(folder, ours, form):
    found = differences(ours, _made(with_pandas, folder, form, "c", "pandas"))
    assert not any(found.values())
    assert set(found) >= {"rows", "y", "exposure", "threshold"}
    assert not any(differences(ours, _made(with_duckdb, folder, form, "500MB", "duckdb")).values())


def test_a_difference_is_seen(folder, ours):
    import duckdb

    other = folder / "other.parquet"
    rows = f"SELECT *, row_number() OVER () AS number FROM '{ours}'"
    changed = "* EXCLUDE (number) REPLACE (y + (number = 3)::INTEGER AS y)"
    duckdb.connect().execute(f"COPY (SELECT {changed} FROM ({rows})) TO '{other}'")
    assert differences(ours, other)["y"] == 1
    duckdb.connect().execute(f"COPY (FROM '{ours}' LIMIT 10) TO '{other}'")
    assert differences(ours, other)["rows"] > 0


def _cost(seconds: float, peak: float = 1e9) -> Cost:
    return Cost(seconds, 2 * seconds, int(peak), {})


def test_verdicts_follow_from_the_costs():
    costs = {"unmet": _cost(1), "other": _cost(1.1), "pandas": _cost(3), "duckdb": _cost(0.9)}
    assert ratios(costs)["pandas"] == {"time": 3, "CPU time": 3, "memory": 1}
    assert all(verdicts({"modern": costs}, {"pandas": {"y": 0}}).values())
    slow = {**costs, "unmet": _cost(4, peak=3e9)}
    assert not any(verdicts({"modern": costs, "modern-zip": slow}, {"pandas": {"y": 1}}).values())


def test_the_middle_turn_counts_with_the_highest_peak():
    assert middle([_cost(3), _cost(1, peak=2e9), _cost(2)]) == _cost(2, peak=2e9)
