"""Ratios of the contenders, and whether their panels are equal."""

from dataclasses import replace
from pathlib import Path

from benchmarks.panel.config import FASTER, PEAK
from benchmarks.panel.meter import Cost

_COMPARED = ("y", "returns", "deliveries", "removals", "stock_start", "supply", "threshold", "censored")


def differences(one: Path, two: Path) -> dict[str, int]:
    """Rows in only one panel, and rows on which a column differs."""
    import duckdb

    counts = ", ".join(f"count(*) FILTER (a.{name} IS DISTINCT FROM b.{name})" for name in _COMPARED)
    row = (
        duckdb.connect()
        .execute(f"""
        SELECT count(*) FILTER (a.y IS NULL OR b.y IS NULL), {counts},
               count(*) FILTER (a.exposure IS NULL <> b.exposure IS NULL
                                OR abs(a.exposure - b.exposure) > 1e-9)
        FROM '{one}' a FULL JOIN '{two}' b ON a.unique_id = b.unique_id AND a.ds = b.ds""")
        .fetchone()
    )
    assert row is not None
    return dict(zip(("rows", *_COMPARED, "exposure"), row))


def middle(turns: list[Cost]) -> Cost:
    """Return the turn of median CPU time (of two the cheaper), with the highest peak of all."""
    chosen = sorted(turns, key=lambda cost: cost.cpu)[(len(turns) - 1) // 2]
    return replace(chosen, peak=max(cost.peak for cost in turns))


def ratios(costs: dict[str, Cost]) -> dict[str, dict[str, float]]:
    """Return, for each rival of ``"unmet"``, how many times its time, CPU time and memory."""
    ours = costs["unmet"]
    return {
        name: {
            "time": cost.seconds / ours.seconds,
            "CPU time": cost.cpu / ours.cpu,
            "memory": cost.peak / ours.peak,
        }
        for name, cost in costs.items()
        if name != "unmet"
    }


def verdicts(found: dict[str, dict[str, Cost]], different: dict[str, dict[str, int]]) -> dict[str, bool]:
    """Return which floors are reached; `found` has the costs of each input by contender."""
    return {
        f"at least {FASTER:g} × as fast as pandas with checks on every input": all(
            costs["pandas"].seconds >= FASTER * costs["unmet"].seconds for costs in found.values()
        ),
        f"peak memory under {PEAK / 1e9:g} GB": all(c["unmet"].peak < PEAK for c in found.values()),
        "CPU time at most that of the other checkout on modern files": all(
            costs["unmet"].cpu <= costs["other"].cpu
            for name, costs in found.items()
            if "other" in costs and name.startswith("modern")
        ),
        "the same panel": not any(any(counts.values()) for counts in different.values()),
    }
