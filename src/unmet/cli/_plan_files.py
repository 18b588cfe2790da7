"""The files of a plan: plan.csv, moves.csv, fleet.csv, curves.json."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from unmet.cli._run_files import table_of, write_csv, write_json
from unmet.tables import read_columns


def write_plan(folder: Path, *, fleet: int | None, cost_lost: float, cost_idle: float, free: bool) -> None:
    """Plan the first whole day ahead from the files of a run folder, and write what to do beside them."""
    from unmet.forecasting import load_demand
    from unmet.mobility import read_panel
    from unmet.planning import lost_share, plan_stock, planned_day, such_days, usual_day

    model = load_demand(folder / "model")
    stations, _ = read_columns(folder / "stations.parquet")
    total = json.loads((folder / "lost_total.json").read_text())
    usual = usual_day(read_panel(folder / "panel.parquet"), model, total)
    order = {place: index for index, place in enumerate(stations["unique_id"])}
    at = np.array([order[place] for place in model.places])
    whole = int(np.rint(usual["stock"].sum())) if fleet is None else fleet
    plan = plan_stock(
        usual["rate"],
        usual["shape"],
        usual["returns"],
        capacity=np.maximum(stations["capacity"][at], np.ceil(usual["stock"])),
        usual_stock=usual["stock"],
        fleet=None if free else whole,
        cost_lost=cost_lost,
        cost_idle=cost_idle,
        identified=usual["identified"],
        lost_share=lost_share(total),
    )
    day = planned_day(usual["ds"], model.zone, model.by)
    lost, _ = read_columns(folder / "lost.parquet")
    about = {
        "day": {**day, "demand": float(usual["rate"].sum())},
        "such_days": such_days(lost, usual["ds"], model.zone, model.by),
    }
    places, names = model.places.astype(object), stations["name"][at]

    def starts(rows: int) -> list[str]:
        return [day["starts"]] * rows

    write_csv(
        folder / "plan.csv",
        {"unique_id": places, "name": names, **plan.table, "starts": starts(len(places))},
    )
    ends = {end: np.asarray(plan.moves[end], dtype=np.int64) for end in ("from", "to")}
    count = len(ends["from"])
    write_csv(
        folder / "moves.csv",
        {
            "rank": np.arange(1, count + 1),
            **{end: places[index] for end, index in ends.items()},
            **{name: plan.moves[name] for name in ("vehicles", "rides_saved")},
            **{f"{end}_name": names[index] for end, index in ends.items()},
            "starts": starts(count),
        },
    )
    write_csv(folder / "fleet.csv", plan.fleet)
    write_json(folder / "curves.json", {**about, **table_of(places, plan)})
