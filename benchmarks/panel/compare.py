"""Ratios of the contenders, and whether their panels are equal."""

from dataclasses import replace
from pathlib import Path

from benchmarks.panel.config import FASTER, GROWTH, PEAK
from benchmarks.panel.meter import Cost

OURS = ("unmet", "unmet-second", "unmet-third")
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
    """The turn of median time (of two the faster), with the highest peak of all."""
    chosen = sorted(turns, key=lambda cost: cost.seconds)[(len(turns) - 1) // 2]
    return replace(chosen, peak=max(cost.peak for cost in turns))


def verdicts(
    costs: dict[str, Cost], growth: float, different: dict[str, dict[str, int]], same_bytes: bool
) -> tuple[dict[str, float], dict[str, bool]]:
    """Ratios of time, CPU time and memory, and which floors they reach.

    Parameters
    ----------
    growth : how many times larger the large input is than the small one.
    """
    ours = middle([costs[name] for name in OURS])
    few = middle([costs[name] for name in ("unmet-fewer", "unmet-again")])
    figures = {}
    for name, other, own in (
        ("pandas + checks", costs["pandas-checks"], ours),
        ("pandas plain", costs["pandas-plain"], ours),
        ("pandas + checks, fewer rides", costs["checks-fewer"], few),
        ("pandas + checks by PyArrow, fewer rides", costs["checks-arrow"], few),
        ("pandas plain, trips as Parquet, fewer rides", costs["pandas-typed"], costs["unmet-typed"]),
    ):
        figures[f"× the time: {name} / unmet"] = other.seconds / own.seconds
        figures[f"× the CPU time: {name} / unmet"] = other.cpu / own.cpu
        figures[f"× the memory: {name} / unmet"] = other.peak / own.peak
    per_ride = ours.seconds / few.seconds / growth
    figures["× the time per ride: all rides / fewer rides"] = per_ride
    figures["× the CPU time per ride: all rides / fewer rides"] = ours.cpu / few.cpu / growth
    reached = {
        f"at least {FASTER:g} × faster than pandas with the same checks": (
            costs["pandas-checks"].seconds / ours.seconds >= FASTER
        ),
        f"peak memory under {PEAK / 1e9:g} GB": ours.peak < PEAK,
        f"time per ride at most {GROWTH:g} × that of fewer rides": per_ride <= GROWTH,
        "the same panel": not any(any(counts.values()) for counts in different.values()),
        "the same input twice, the same bytes": same_bytes,
    }
    return figures, reached
