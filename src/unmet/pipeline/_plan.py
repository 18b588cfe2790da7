"""Plan the first whole day ahead from what a run found."""

from __future__ import annotations

import numpy as np

from unmet.results import FILES, Run, write_file

_READ = ("y", "observed", "inferred", "holiday")  # of the panel, besides what every panel has
_OF_LOST = ("ds", "y", "lost_mean", "exposure")


def write_plan(
    run: Run, *, fleet: int | None, cost_lost: float, cost_idle: float, free: bool, max_move: float
) -> None:
    """Write plan.csv, moves.csv, fleet.csv and curves.json into the folder of a run."""
    from unmet.planning import distances_km, lost_share, plan_stock, planned_day, such_days, usual_day

    # Files that people touch come first: what is wrong with them is told before anything is computed.
    panel = run.read_panel(also=("returns", "stock_start"), only=_READ)
    totals, stations = run.totals, run.columns("stations")
    model = run.model
    row_of = {place: row for row, place in enumerate(stations["unique_id"])}
    unknown = [str(place) for place in model.places if place not in row_of]
    if unknown:
        raise ValueError(
            f"{run.folder / 'stations.parquet'} has no place {unknown[0]!r}, but the model has: it belongs "
            f"to a different run; fit again with `unmet fit {run.folder}`"
        )
    rows = np.array([row_of[place] for place in model.places])
    known = run.columns("covariates") if run.has("covariates") else None
    usual = usual_day(panel, model, totals, covariates=known)
    docks = stations["capacity"][rows] if "capacity" in stations else np.full(len(rows), np.nan)
    whole = int(np.rint(usual["stock"].sum())) if fleet is None else fleet
    plan = plan_stock(
        usual["rate"],
        usual["shape"],
        usual["returns"],
        capacity=np.maximum(docks, np.ceil(usual["stock"])),
        usual_stock=usual["stock"],
        fleet=None if free else whole,
        cost_lost=cost_lost,
        cost_idle=cost_idle,
        identified=usual["identified"],
        lost_share=lost_share(totals),
        distance=distances_km(stations["lat"][rows], stations["lng"][rows]),
        max_distance=max_move,
    )
    shown = slice(None) if free or fleet is not None else _possible(run, plan.fleet["fleet"], whole)
    day = planned_day(usual["ds"], model.zone, model.by)
    places, names = model.places.astype(object), stations["name"][rows]
    ends = {end: np.asarray(plan.moves[end], dtype=np.int64) for end in ("from", "to")}
    count = len(ends["from"])
    room = plan.table["capacity"].astype(int)
    contents = {
        "plan.csv": {
            "unique_id": places,
            "name": names,
            **plan.table,
            "starts": [day["starts"]] * len(places),
        },
        "moves.csv": {
            "rank": np.arange(1, count + 1),
            **{end: places[index] for end, index in ends.items()},
            **{name: plan.moves[name] for name in ("vehicles", "rides_saved")},
            **{f"{end}_name": names[index] for end, index in ends.items()},
            "starts": [day["starts"]] * count,
        },
        "fleet.csv": {name: values[shown] for name, values in plan.fleet.items()},
        "curves.json": {
            "day": {**day, "demand": float(usual["rate"].sum())},
            "such_days": such_days(run.columns("lost", _OF_LOST), usual["ds"], model.zone, model.by),
            "places": {
                str(place): [round(float(value), 6) for value in curve[: docked + 1]]
                for place, curve, docked in zip(places, plan.curves, room)
            },
        },
    }
    for name, content in contents.items():
        write_file(run.folder, FILES[name], content)


def _possible(run: Run, fleets: np.ndarray, whole: int) -> slice:
    """Return the sizes of a fleet of free-floating vehicles that are no more than the vehicles seen."""
    account = run.account or {}
    seen = account.get("trips", {}).get("vehicles")
    if account.get("panel", {}).get("kind") != "h3" or not seen:
        return slice(None)
    return slice(int(np.searchsorted(fleets, max(seen, whole), "right")))
