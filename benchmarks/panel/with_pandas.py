"""The same panel in pandas, as a careful user would write it: vectorised, narrow columns, stated formats."""

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks.panel.data import files
from benchmarks.panel.meter import metered

_STAMP = "%Y-%m-%d %H:%M:%S.%f"
HOUR = 3600
_TEST = re.compile(r"(?i)\btest(ing)?\b|_test|-test\b|\b8d\b|^(\w*bs )?depot\b|\bwarehouse\)?$|\bworkshop\b")


def build(
    folder: Path, districts: int, zone: str, checks: bool, engine: str, kind: str, output: Path
) -> Iterator[str]:
    """Write the panel, naming each step as it is done.

    Always as in `unmet`: ids stay text, local stamps become UTC, rides of no length are not counted, closed
    time is neither available nor empty.

    With `checks`, also as in `unmet`: ids are mapped by the station information, rows that make no sense are
    counted and left out, equal rides and records count once, rides of test stations are not counted. Without,
    only the columns that the panel needs are read, and every row is believed.

    Always less than in `unmet`: exact status events are assumed (each change of stock has its record), which
    spares the reconciliation of records with rides; counts of lines are not checked against the bytes;
    rejects are counted without their text; the hour that occurs twice is taken as the first.

    `engine` reads CSV: ``"c"``, pandas' own, or ``"pyarrow"``, which uses all cores. `kind` is ``"csv"`` or
    ``"parquet"``, the files of the trips.
    """
    import numpy as np
    import pandas as pd

    rejected = repeated = 0
    if checks:
        known = _station_ids(files(folder, "stations", districts))
        starts, ends, rejected, repeated = _read_trips(
            np, pd, files(folder, "trips", districts), engine, zone, known
        )
    else:
        starts, ends = _believe_trips(np, pd, files(folder, "trips", districts, kind), engine, zone)
    yield "trips read"
    paths = files(folder, "status", districts)
    status = _read_status(np, pd, paths, engine, known) if checks else _believe_status(np, pd, paths, engine)
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


def _believe_trips(np, pd, paths, engine, zone):  # type: ignore[no-untyped-def]
    """Pickups and returns as (place, second UTC), from the four columns that matter."""
    texts = ["starttime", "stoptime", "start station id", "end station id"]
    if paths[0].suffix == ".parquet":
        tables = [pd.read_parquet(path, columns=texts) for path in paths]
    else:
        tables = [pd.read_csv(path, usecols=texts, dtype="str", engine=engine) for path in paths]
    trips = pd.concat(tables, ignore_index=True)
    del tables

    def utc(stamps):  # type: ignore[no-untyped-def]
        local = stamps if stamps.dtype.kind == "M" else pd.to_datetime(stamps, format=_STAMP)
        return local.dt.tz_localize(zone, ambiguous=True, nonexistent="shift_forward").dt.tz_convert("UTC")

    start, end = utc(trips["starttime"]), utc(trips["stoptime"])
    counted = (end > start).to_numpy()

    def events(place, moment):  # type: ignore[no-untyped-def]
        second = moment.dt.tz_localize(None).astype("datetime64[s]").astype("int64")
        found = pd.DataFrame({"place": trips[place], "t": second})
        return found if counted.all() else found[counted]

    return events("start station id", start), events("end station id", end)


def _believe_status(np, pd, paths, engine):  # type: ignore[no-untyped-def]
    """Records as (place, second UTC, level, open)."""
    types = {"last_reported": "int64", "num_bikes_available": "int32", "station_id": "str"}
    types |= {"is_renting": "int8", "is_installed": "int8"}
    status = pd.concat(
        [pd.read_csv(path, usecols=list(types), dtype=types, engine=engine) for path in paths],
        ignore_index=True,
    )
    status["open"] = (status["is_renting"] == 1) & (status["is_installed"] == 1)
    status = status.rename(
        columns={"last_reported": "t", "num_bikes_available": "level", "station_id": "place"}
    )
    return status[["place", "t", "level", "open"]]


def _read_trips(np, pd, paths, engine, zone, known):  # type: ignore[no-untyped-def]
    """Pickups and returns as (place, second UTC), and how many rides were rejected or repeated."""
    texts = [
        "starttime", "stoptime", "start station id", "start station name",
        "end station id", "end station name", "bikeid",
    ]  # fmt: skip
    degrees = {
        "start station latitude": 90,
        "start station longitude": 180,
        "end station latitude": 90,
        "end station longitude": 180,
    }
    types = dict.fromkeys(texts, "str") | dict.fromkeys(degrees, "float64")
    trips = pd.concat(
        [pd.read_csv(path, usecols=list(types), dtype=types, engine=engine) for path in paths],
        ignore_index=True,
    )

    def utc(stamps):  # type: ignore[no-untyped-def]
        local = pd.to_datetime(stamps, format=_STAMP, errors="coerce")
        return local.dt.tz_localize(zone, ambiguous=True, nonexistent="shift_forward").dt.tz_convert("UTC")

    trips["start"], trips["end"] = utc(trips["starttime"]), utc(trips["stoptime"])
    bad = trips["start"].isna() | (trips["end"].isna() & trips["stoptime"].notna())
    for name, limit in degrees.items():
        bad |= trips[name].abs() > limit
    rejected = int(bad.sum())
    if rejected:
        trips = trips[~bad]
    rides = len(trips)
    trips = trips.drop_duplicates(["bikeid", "start", "end", "start station id", "end station id"])
    counted = trips["end"] > trips["start"]
    for name in ("start station name", "end station name"):
        names = [text for text in trips[name].dropna().unique() if re.search(_TEST, text)]
        counted &= ~trips[name].isin(names)
    if not counted.all():
        trips = trips[counted]

    def events(place, moment):  # type: ignore[no-untyped-def]
        second = trips[moment].dt.tz_localize(None).astype("datetime64[s]").astype("int64")
        return pd.DataFrame({"place": _same_ids(pd, trips[place], known), "t": second.to_numpy()})

    starts, ends = events("start station id", "start"), events("end station id", "end")
    return starts, ends, rejected, rides - len(trips)


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
    folder, districts, zone, checks, engine, kind, output = sys.argv[1:]
    metered(build(Path(folder), int(districts), zone, checks == "checks", engine, kind, Path(output)))
