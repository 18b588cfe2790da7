"""The same panel in pandas, as a careful user would write it: vectorised, narrow columns, stated formats."""

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks.panel.data import files, trip_files
from benchmarks.panel.meter import metered

_MODERN = {
    "ride": "ride_id", "start": "started_at", "end": "ended_at",
    "start_id": "start_station_id", "start_name": "start_station_name",
    "end_id": "end_station_id", "end_name": "end_station_name",
    "start_lat": "start_lat", "start_lng": "start_lng", "end_lat": "end_lat", "end_lng": "end_lng",
}  # fmt: skip
_QUOTED = {
    "ride": "bikeid", "start": "starttime", "end": "stoptime",
    "start_id": "start station id", "start_name": "start station name",
    "end_id": "end station id", "end_name": "end station name",
    "start_lat": "start station latitude", "start_lng": "start station longitude",
    "end_lat": "end station latitude", "end_lng": "end station longitude",
}  # fmt: skip
_LIMITS = {"start_lat": 90, "start_lng": 180, "end_lat": 90, "end_lng": 180}
HOUR = 3600
_TEST = re.compile(r"(?i)\btest(ing)?\b|_test|-test\b|\b8d\b|^(\w*bs )?depot\b|\bwarehouse\)?$|\bworkshop\b")


def build(folder: Path, districts: int, zone: str, form: str, engine: str, output: Path) -> Iterator[str]:
    """Write the panel, naming each step as it is done.

    As in `unmet`: ids stay text and are mapped by the station information, local stamps become UTC, rows that
    make no sense are counted and left out, equal rides and records count once, rides of no length and of test
    stations are not counted, closed time is neither available nor empty.

    Less than in `unmet`: every change of stock is assumed to have its record, which spares the reconciliation
    of records with rides; lines are not checked against the bytes; rejects are counted without their text;
    the hour that occurs twice is taken as the first.

    `engine` reads CSV: ``"c"``, pandas' own, or ``"pyarrow"``, which uses all cores.
    """
    import numpy as np
    import pandas as pd

    known = _station_ids(files(folder, "stations", districts))
    paths = trip_files(folder, form, districts)
    starts, ends, rejected, repeated = _read_trips(np, pd, paths, form, engine, zone, known)
    yield "trips read"
    status = _read_status(np, pd, files(folder, "status", districts), engine, known)
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
    print(f"{rejected:,} rides rejected, {repeated:,} repeated or not counted", file=sys.stderr)
    yield "panel built"
    panel = panel.reset_index()
    panel["unique_id"] = names.to_numpy()[panel["place"]]
    panel["ds"] = pd.to_datetime(first + HOUR * panel["hour"], unit="s")
    panel.drop(columns=["place", "hour"]).sort_values(["unique_id", "ds"]).to_parquet(output, index=False)
    yield "panel written"


def _station_ids(paths):  # type: ignore[no-untyped-def]
    """Every id of a station → the one id that is used."""
    stations = [station for path in paths for station in json.loads(path.read_text())["data"]["stations"]]
    return {
        str(station[name]): str(station["station_id"])
        for station in stations
        for name in ("station_id", "short_name", "external_id")
        if station.get(name)
    }


def _same_ids(pd, column, known):  # type: ignore[no-untyped-def]
    """Ids of places, each distinct one looked up once."""
    codes, ids = pd.factorize(column)
    return pd.Index([known.get(name, name) for name in ids], dtype="str").take(codes)


def _read_trips(np, pd, paths, form, engine, zone, known):  # type: ignore[no-untyped-def]
    """Pickups and returns as (place, second UTC), and how many rides were rejected or repeated."""
    columns = _QUOTED if form.startswith("quoted") else _MODERN
    names = {column: name for name, column in columns.items()}
    types = {column: "float64" if name in _LIMITS else "str" for column, name in names.items()}

    def read(path):  # type: ignore[no-untyped-def]
        if path.suffix == ".parquet":
            return pd.read_parquet(path, columns=list(types))
        return pd.read_csv(path, usecols=list(types), dtype=types, engine=engine)

    trips = pd.concat([read(path) for path in paths], ignore_index=True).rename(columns=names)

    def utc(stamps):  # type: ignore[no-untyped-def]
        stamp = "%Y-%m-%d %H:%M:%S.%f" if form.startswith("quoted") else "%Y-%m-%d %H:%M:%S"
        local = stamps if stamps.dtype.kind == "M" else pd.to_datetime(stamps, format=stamp, errors="coerce")
        return local.dt.tz_localize(zone, ambiguous=True, nonexistent="shift_forward").dt.tz_convert("UTC")

    given = trips["end"].notna()
    trips["start"], trips["end"] = utc(trips["start"]), utc(trips["end"])
    bad = trips["start"].isna() | (trips["end"].isna() & given)
    for name, limit in _LIMITS.items():
        bad |= trips[name].abs() > limit
    rejected = int(bad.sum())
    if rejected:
        trips = trips[~bad]
    rides = len(trips)
    key = ["ride", "start", "end", "start_id", "end_id"] if form.startswith("quoted") else ["ride"]
    trips = trips.drop_duplicates(key)
    counted = trips["end"] > trips["start"]
    for name in ("start_name", "end_name"):
        tests = [text for text in trips[name].dropna().unique() if re.search(_TEST, text)]
        counted &= ~trips[name].isin(tests)
    if not counted.all():
        trips = trips[counted]

    def events(place, moment):  # type: ignore[no-untyped-def]
        second = trips[moment].dt.tz_localize(None).astype("datetime64[s]").astype("int64")
        return pd.DataFrame({"place": _same_ids(pd, trips[place], known), "t": second.to_numpy()})

    return events("start_id", "start"), events("end_id", "end"), rejected, rides - len(trips)


def _read_status(np, pd, paths, engine, known):  # type: ignore[no-untyped-def]
    """Records as (place, second UTC, level, open), the last of each moment."""
    flags = ["is_renting", "is_returning", "is_installed"]
    types = {"last_reported": "int64", "num_bikes_available": "int32", "num_docks_available": "int32"}
    types |= {"station_id": "str", **dict.fromkeys(flags, "int8")}
    status = pd.concat(
        [pd.read_csv(path, usecols=list(types), dtype=types, engine=engine) for path in paths],
        ignore_index=True,
    )
    good = status["last_reported"].between(631152000, 4102444799)
    for name in ("num_bikes_available", "num_docks_available"):
        good &= status[name].between(0, 1_000_000)
    for name in flags:
        good &= status[name].between(0, 1)
    if not good.all():
        status = status[good]
    status["place"] = _same_ids(pd, status["station_id"], known)
    status["open"] = (status["is_renting"] == 1) & (status["is_installed"] == 1)
    status = status.rename(columns={"last_reported": "t", "num_bikes_available": "level"})
    status = status[["place", "t", "level", "open"]]
    return status.drop_duplicates(["place", "t"], keep="last", ignore_index=True)


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
    steps[["level", "open"]] = steps.groupby("place")[["level", "open"]].ffill()
    steps["level"] = steps["level"].bfill()  # the first edge stands before the opening record
    steps["open"] = steps["open"].bfill().astype(bool)
    until = steps.groupby("place")["t"].shift(-1).fillna(first + HOUR * hours)
    steps["open_s"] = (until - steps["t"]).where(steps["open"], 0).astype("int64")
    steps["empty_s"] = steps["open_s"].where(steps["level"] == 0, 0)
    hour = (steps["t"] - first) // HOUR
    seconds = steps[["open_s", "empty_s"]].groupby([steps["place"], hour]).sum().reindex(panel.index)
    empty = seconds["empty_s"]
    panel["exposure"] = 1.0 - empty / seconds["open_s"].where(seconds["open_s"] > 0)
    panel["censored"] = empty > 0
    panel["stock_start"] = steps.loc[steps["kind"] == 0, "level"].astype("int64").to_numpy()


if __name__ == "__main__":
    folder, districts, zone, form, engine, output = sys.argv[1:]
    metered(build(Path(folder), int(districts), zone, form, engine, Path(output)))
