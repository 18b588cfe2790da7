"""The same panel in pandas, as a careful user would write it: vectorised, narrow columns, stated formats."""

import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks.panel.data import files
from benchmarks.panel.meter import metered

_STAMP = "%Y-%m-%d %H:%M:%S.%f"
HOUR = 3600


def build(folder: Path, districts: int, zone: str, output: Path) -> Iterator[str]:
    """Write the panel, naming each step as it is done.

    Exact status events are assumed (each change of stock has its record), which spares pandas the
    reconciliation of records with rides that `unmet` does.
    """
    import numpy as np
    import pandas as pd

    starts, ends = _read_trips(pd, files(folder, "trips", districts), zone)
    yield "trips read"
    status = pd.concat(
        [
            pd.read_csv(
                path,
                usecols=["last_reported", "num_bikes_available", "station_id"],
                dtype={"last_reported": "int64", "num_bikes_available": "int32", "station_id": "str"},
            )
            for path in files(folder, "status", districts)
        ],
        ignore_index=True,
    ).rename(columns={"last_reported": "t", "num_bikes_available": "level", "station_id": "place"})
    yield "status read"
    names = pd.Index(sorted(set(status["place"].unique()) | set(starts["place"].unique())))
    for table in (status, starts, ends):
        table["place"] = names.get_indexer(table["place"]).astype(np.int32)
    first, last = int(status["t"].min()), int(status["t"].max())
    hours = (last - first) // HOUR
    rows = pd.MultiIndex.from_product([range(len(names)), range(hours)], names=["place", "hour"])
    panel = pd.DataFrame(index=rows)
    panel["y"] = starts.groupby(["place", (starts["t"] - first) // HOUR]).size().reindex(rows, fill_value=0)
    inside = ends[ends["t"] < last]
    panel["returns"] = (
        inside.groupby(["place", (inside["t"] - first) // HOUR]).size().reindex(rows, fill_value=0)
    )
    _add_moves(np, pd, panel, status, starts, inside, first)
    _add_exposure(np, pd, panel, status, first, hours)
    panel["supply"] = panel["stock_start"] + panel["returns"] + panel["deliveries"]
    panel["threshold"] = (panel["stock_start"] - panel["removals"]).clip(lower=0)
    yield "panel built"
    panel = panel.reset_index()
    panel["unique_id"] = names.to_numpy()[panel["place"]]
    panel["ds"] = pd.to_datetime(first + HOUR * panel["hour"], unit="s")
    panel.drop(columns=["place", "hour"]).sort_values(["unique_id", "ds"]).to_parquet(output, index=False)
    yield "panel written"


def _read_trips(pd, paths, zone):  # type: ignore[no-untyped-def]
    """Pickups and returns as (place, second UTC)."""
    trips = pd.concat(
        [
            pd.read_csv(
                path,
                usecols=["starttime", "stoptime", "start station id", "end station id"],
                dtype={"start station id": "str", "end station id": "str"},
                parse_dates=["starttime", "stoptime"],
                date_format=_STAMP,
            )
            for path in paths
        ],
        ignore_index=True,
    )

    def seconds(stamps):  # type: ignore[no-untyped-def]
        utc = stamps.dt.tz_localize(zone, ambiguous=True, nonexistent="shift_forward").dt.tz_convert("UTC")
        return utc.dt.tz_localize(None).astype("datetime64[s]").astype("int64")

    starts = pd.DataFrame({"place": trips["start station id"], "t": seconds(trips["starttime"])})
    ends = pd.DataFrame({"place": trips["end station id"], "t": seconds(trips["stoptime"])})
    return starts, ends


def _add_moves(np, pd, panel, status, starts, ends, first) -> None:  # type: ignore[no-untyped-def]
    """Deliveries and removals: changes of stock that rides do not explain."""
    status = status.sort_values(["place", "t"], ignore_index=True)
    change = status.groupby("place")["level"].diff().fillna(0).astype("int32")
    rides = pd.concat([starts.assign(change=np.int32(-1)), ends.assign(change=np.int32(1))])
    rides = rides.groupby(["place", "t"])["change"].sum()
    known = pd.MultiIndex.from_frame(status[["place", "t"]])
    moved = change.to_numpy() - rides.reindex(known, fill_value=0).to_numpy()
    hour = (status["t"] - first) // HOUR
    for name, amount in (("deliveries", np.maximum(moved, 0)), ("removals", np.maximum(-moved, 0))):
        some = amount > 0
        total = (
            pd.Series(amount[some]).groupby([status["place"].to_numpy()[some], hour.to_numpy()[some]]).sum()
        )
        panel[name] = total.reindex(panel.index, fill_value=0)


def _add_exposure(np, pd, panel, status, first, hours) -> None:  # type: ignore[no-untyped-def]
    """Seconds with and without a vehicle in each hour, from records cut at the hours' edges."""
    places = panel.index.get_level_values("place").to_numpy()
    edges = pd.DataFrame(
        {
            "place": places,
            "t": first + HOUR * panel.index.get_level_values("hour").to_numpy(),
            "kind": np.int8(0),
        }
    )
    steps = pd.concat([edges, status.assign(kind=np.int8(1))], ignore_index=True)
    steps = steps.sort_values(["place", "t", "kind"], ignore_index=True)
    steps["level"] = steps.groupby("place")["level"].ffill()
    steps["level"] = steps["level"].bfill()  # the first edge stands before the opening record
    until = steps.groupby("place")["t"].shift(-1).fillna(first + HOUR * hours)
    steps["empty"] = (until - steps["t"]).where(steps["level"] == 0, 0).astype("int64")
    hour = (steps["t"] - first) // HOUR
    empty = steps["empty"].groupby([steps["place"], hour]).sum().reindex(panel.index)
    panel["exposure"] = 1.0 - empty / HOUR
    panel["censored"] = empty > 0
    panel["stock_start"] = steps.loc[steps["kind"] == 0, "level"].astype("int64").to_numpy()


if __name__ == "__main__":
    metered(build(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3], Path(sys.argv[4])))
