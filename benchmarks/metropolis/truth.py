"""Coverage and lost rides of a run of a simulated city, held against the truth that was written with it."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from unmet.metrics import icp

# Name of a figure → the limits that the city of `unmet demo` is held to (docs/results/demand.md).
LIMITS = {
    "coverage": (0.88, 0.92),
    "lower tail": (0.035, 0.065),
    "upper tail": (0.035, 0.065),
    "weeks": (0.85, 0.95),
    "bands": (0.86, 0.96),
    "censored rows": (0.86, 0.94),
    "unserved": (0.9, 1.1),
    "places": (0.85, 1.0),
}
_BANDS = 5
_BACKTEST = """SELECT q05, q95, mean, latent, epoch(b.ds) AS at
    FROM '{run}/backtest.parquet' b JOIN '{city}/truth.parquet' t USING (unique_id, ds)"""
_CENSORED = """SELECT demand_q05, demand_q95, latent
    FROM '{run}/lost.parquet' l JOIN '{city}/truth.parquet' t USING (unique_id, ds) WHERE l.censored"""
_PLACES = """SELECT unique_id, sum(lost - rival) AS lost, sum(spilled_out) AS next_door
    FROM '{city}/truth.parquet' GROUP BY unique_id ORDER BY unique_id"""


def compare(run: Path, city: Path) -> dict[str, Any]:
    """Return the figures of a run folder beside the truth of its city.

    Coverage is that of 90% intervals of demand + U. `weeks` are those of the past forecasts, `bands` fifths
    of the rows by predicted rate; of both the worst is told. `unserved`, `lost` and `next_door` are ratios of
    estimate and truth (mean, 5%, 95%), `places` the share of places whose interval of lost rides holds.
    """
    import duckdb

    with duckdb.connect() as con:

        def rows(query: str) -> dict[str, np.ndarray]:
            return con.sql(query.format(run=run, city=city)).fetchnumpy()

        past, cut, places = rows(_BACKTEST), rows(_CENSORED), rows(_PLACES)
    demand, low, high = past["latent"].astype(float), past["q05"], past["q95"]
    week = ((past["at"] - past["at"].min()) // (7 * 86400)).astype(int)
    edges = np.quantile(past["mean"], np.arange(1, _BANDS) / _BANDS)
    band = np.searchsorted(edges, past["mean"])
    totals = json.loads((run / "lost_total.json").read_text())
    truth = {"lost": int(places["lost"].sum()), "next_door": int(places["next_door"].sum())}
    truth["unserved"] = truth["lost"] + truth["next_door"]
    held = [
        totals["places"][str(name)]["lost"]["q05"] <= lost <= totals["places"][str(name)]["lost"]["q95"]
        for name, lost in zip(places["unique_id"], places["lost"])
        if str(name) in totals["places"]
    ]
    return {
        "coverage": icp(demand, low, high, randomised=True),
        "lower tail": float(np.clip(np.minimum(low, demand + 1) - demand, 0, 1).mean()),
        "upper tail": float(np.clip(demand + 1 - np.maximum(high, demand), 0, 1).mean()),
        "weeks": _worst(demand, low, high, week),
        "bands": _worst(demand, low, high, band),
        "censored rows": icp(
            cut["latent"].astype(float), cut["demand_q05"], cut["demand_q95"], randomised=True
        ),
        **{
            name: [totals[name][end] / max(true, 1) for end in ("mean", "q05", "q95")]
            for name, true in truth.items()
        },
        "places": sum(held) / len(held),
        "truth": truth,
        "rows": len(demand),
        "rows censored": len(cut["latent"]),
    }


def _worst(demand: np.ndarray, low: np.ndarray, high: np.ndarray, group: np.ndarray) -> float:
    """Return the coverage that is farthest from 90% among those of the groups."""
    found = [icp(demand, low, high, randomised=True, rows=group == k) for k in np.unique(group)]
    return max(found, key=lambda one: abs(one - 0.9))


def words(found: dict[str, Any]) -> list[str]:
    """Return one line for each figure, with its limits and whether it holds them."""
    lines = []
    for name, value in found.items():
        if name in ("truth", "rows", "rows censored"):
            continue
        ratio = isinstance(value, list)
        middle = value[0] if ratio else value
        shown = f"{middle:.3f} ({value[1]:.3f}–{value[2]:.3f})" if ratio else f"{middle:.3f}"
        line = f"{name:16}{shown}"
        if name in LIMITS:
            low, high = LIMITS[name]
            line += f"   {low:g}–{high:g} {'holds' if low <= middle <= high else 'MISSED'}"
        if ratio:
            line += f"   {found['truth'][name]:,} in truth, interval "
            line += "holds it" if value[1] <= 1 <= value[2] else "MISSES it"
        lines.append(line)
    return lines
