"""A panel of your own: a long table of counts, checked, with the rows that are missing filled as unknown."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from unmet.calendar import check_zone
from unmet.forecasting._own_times import Times, read_times, regular_times
from unmet.mobility import FROM_COUNTS, PANEL_COLUMNS, Panel, read_panel
from unmet.tables import AnyTable, Pairs, columns_of, parquet_about, read_any

FIELDS = ("unique_id", "ds", "y", "exposure", "censored", "threshold")
SUPPLY = ("exposure", "censored", "threshold")
# What the file says when it does not say for what share of a censored period there was supply.
UNTIMED = "estimated"
# Columns that only `unmet panel` writes; they mark its CSV files, whose times are UTC.
_OURS = {"unique_id", "ds", "y", "censored", "exposure", "supply", "inferred", "observed"}
_FLAGS = ("censored", "inferred")
_MOST_ROWS = 100_000_000
_MEANING = {
    "unique_id": "the series: a store, a product, a place",
    "ds": "the start of the period",
    "y": "what was counted",
    "exposure": "the share of the period with supply",
    "censored": "whether supply ran out",
    "threshold": "the most that could be counted",
}


def as_panel(
    data: Any,
    *,
    columns: Pairs | None = None,
    zone: str | None = None,
    times: str | None = None,
    without: Sequence[str] = (),
) -> Panel:
    """Return a table as a panel that can be fitted.

    Parameters
    ----------
    data : a frame of pandas, Polars or Arrow, a mapping of columns, or the path of a CSV or Parquet file, in
        long format: `unique_id`, `ds` (start of the period), `y` (a count), and at least one of `exposure`
        (share of the period with supply), `censored` (whether supply ran out) and `threshold` (the most that
        could be counted). Other columns of numbers that are the same for all series explain demand. A
        `Panel`, or a file that ``unmet panel`` wrote, is taken as it is.
    columns : names in the table, such as ``{"y": "sold", "exposure": "in_stock"}``, or as one text
        "y=sold,exposure=in_stock".
    zone : time zone of the local clock. None: that of the times, else "UTC", which takes them as they stand.
    times : {"local", "utc"}
        What times without a zone are. None: local; UTC in a CSV file of ``unmet panel``.
    without : columns of a panel file that need not be read.

    Returns
    -------
    Panel
        With a row for every series and period. ``about["notes"]`` says what was filled and left out.
    """
    if hasattr(data, "about"):
        _refuse_options(columns, zone, times, "a Panel")
        return data  # type: ignore[no-any-return]
    path = Path(data) if isinstance(data, str | os.PathLike) else None
    if path is not None and path.suffix.lower() == ".parquet" and "zone" in parquet_about(path):
        _refuse_options(columns, zone, times, str(path))
        return read_panel(path, without=without)
    named = columns_of(columns) or {}
    table = read_any(data, texts=(named.get("unique_id", "unique_id"),))
    return _Reader(table, named).panel(zone, times)


def _refuse_options(columns: Any, zone: Any, times: Any, source: str) -> None:
    given = [name for name, value in (("columns", columns), ("zone", zone), ("times", times)) if value]
    if given:
        raise ValueError(f"{given[0]} must be left out: {source} is a panel with its own names and zone")


@dataclass(frozen=True)
class _Reader:
    """The checks of one table; each error names the column as the table has it, and the remedy."""

    table: AnyTable
    named: dict[str, str]

    def panel(self, zone: str | None, times: str | None) -> Panel:
        found = self._renamed()
        ours = set(found) >= _OURS
        given = tuple(field for field in SUPPLY if field in found)
        ids = self._ids(found["unique_id"])
        clock = self._clock(found["ds"], zone, times or ("utc" if ours else "local"))
        names, place = np.unique(ids, return_inverse=True)
        self._no_duplicates(names, place, clock)
        step, starts, period = regular_times(clock, names[place], self._say("ds"))
        shape = (len(names), len(starts))
        if shape[0] * shape[1] > _MOST_ROWS:
            raise ValueError(
                f"{self.table.source} has {shape[0]:,} series over {shape[1]:,} periods: too many"
            )
        columns = self._counts(found, names[place], clock.seen)
        if "censored" not in columns:
            columns["censored"] = columns["exposure"] < 1
        notes = []
        cells = shape[0] * shape[1]
        if cells > len(ids):
            missing = f"{cells - len(ids):,} of {cells:,} rows"
            notes.append(f"{missing} are missing in the table: unknown time, which no figure holds.")
        if unknown := int((~np.isfinite(columns["y"])).sum()):
            notes.append(f"{unknown:,} rows have no {self._name('y')}: unknown time, which no figure holds.")
        # In a table of others these names may mean anything.
        used = {"unique_id", "ds", *columns, *(() if ours else (one.name for one in PANEL_COLUMNS))}
        rest = {name: values for name, values in found.items() if name not in used}
        filled = {
            "unique_id": np.repeat(names.astype(object), shape[1]),
            "ds": np.tile(starts, shape[0]),
            **{name: _fill(values, place, period, shape) for name, values in columns.items()},
            **{name: _spread(values, place, period, shape) for name, values in rest.items()},
        }
        about = {"zone": clock.zone, "by": step.by, "kind": "station" if ours else "series"}
        if notes:
            about["notes"] = "\n".join(notes)
        if "exposure" not in given:
            about["exposure"] = UNTIMED
        if ours and _from_counts(filled):
            about["inferred_from"] = FROM_COUNTS
        return Panel(filled, about)

    def _name(self, field: str) -> str:
        return self.named.get(field, field)

    def _say(self, field: str) -> str:
        name = self._name(field)
        return f"column {name} of {self.table.source}" if name == field else f"column {name} ({field})"

    def _renamed(self) -> dict[str, np.ndarray]:
        """Return the columns by the names of a panel."""
        has = self.table.columns
        for field, name in self.named.items():
            if field not in FIELDS:
                raise ValueError(
                    f"columns= has {field!r}; it takes {', '.join(FIELDS)}{_near(field, FIELDS)}"
                )
            if name not in has:
                raise ValueError(
                    f"{self.table.source} has no column {name!r} for {field}{_near(name, has)}; it has "
                    f"{', '.join(has)}"
                )
        renamed = {name: field for field, name in self.named.items()}
        kept = [name for name in has if name in renamed or name not in self.named]
        found = {renamed.get(name, name): has[name] for name in kept}
        for field in ("unique_id", "ds", "y"):
            if field not in found:
                self._lacks(field)
        if not set(SUPPLY) & set(found):
            raise ValueError(
                f"{self.table.source} must say when supply ran out: it needs a column exposure (share of the "
                "period with supply), censored (true if supply ran out) or threshold (the most that could be "
                'counted). Name it, such as columns="exposure=in_stock"; it has '
                f"{', '.join(has)}"
            )
        lengths = {len(values) for values in found.values()}
        if lengths == {0}:
            raise ValueError(f"{self.table.source} has no rows")
        if len(lengths) > 1:
            raise ValueError(f"columns of {self.table.source} must be of one length, got {sorted(lengths)}")
        return found

    def _lacks(self, field: str) -> NoReturn:
        has = list(self.table.columns)
        guess = get_close_matches(field, has, n=1, cutoff=0.6) or _likely(field, has) or ["NAME"]
        raise ValueError(
            f"{self.table.source} has no column {field} ({_MEANING[field]}). Name it, such as "
            f'columns="{field}={guess[0]}"; it has {", ".join(has)}'
        )

    def _ids(self, values: np.ndarray) -> NDArray[Any]:
        empty = [one is None or one != one for one in values.tolist()]
        if any(empty):
            raise ValueError(f"{self._say('unique_id')} is empty in {sum(empty):,} rows; fill or drop them")
        return values.astype(str)

    def _clock(self, values: np.ndarray, zone: str | None, times: str) -> Times:
        if times not in ("local", "utc"):
            raise ValueError(f"times must be 'local' or 'utc', not {times!r}")
        if zone is not None:
            check_zone(zone)
        return read_times(values, self._say("ds"), self.table.zones.get(self._name("ds")), zone, times)

    def _no_duplicates(self, names: NDArray[Any], place: NDArray[np.int64], clock: Times) -> None:
        order = np.lexsort((clock.ds, place))
        same = (np.diff(place[order]) == 0) & (np.diff(clock.ds[order]) == np.timedelta64(0))
        if same.any():
            row = order[np.flatnonzero(same)[0]]
            id_name, time_name = self._name("unique_id"), self._name("ds")
            raise ValueError(
                f"{self.table.source} has several rows for the same series and period, {same.sum():,} too "
                f"many, such as {id_name}={names[place[row]]} at {time_name}={clock.seen[row]}; sum them to "
                f"one row each, for instance with groupby([{id_name!r}, {time_name!r}])"
            )

    def _counts(
        self, found: dict[str, np.ndarray], ids: NDArray[Any], seen: NDArray[Any]
    ) -> dict[str, np.ndarray]:
        """Return y, exposure, censored and threshold, checked; NaN where nothing is known."""
        numbers = {name: self._numbers(name, found[name]) for name in ("y", *SUPPLY) if name in found}

        def refuse(field: str, wrong: NDArray[np.bool_], must: str, remedy: str) -> None:
            if wrong.any():
                row = int(np.flatnonzero(wrong)[0])
                raise ValueError(
                    f"{self._say(field)} must hold {must}, but has {numbers[field][row]:g} in "
                    f"{wrong.sum():,} row{'' if wrong.sum() == 1 else 's'} like it, first for {ids[row]} at "
                    f"{seen[row]}; {remedy}"
                )

        y = numbers["y"]
        refuse("y", y < 0, "counts of at least 0", "take returns out of it, or leave the row empty: unknown")
        refuse("y", np.isinf(y), "finite counts", "leave the row empty: unknown")
        refuse(
            "y", np.isfinite(y) & (y != np.floor(y)), "whole counts",
            "count in smaller units; for amounts use CensoredQuantileRegressor",
        )  # fmt: skip
        if "exposure" in numbers:
            share = numbers["exposure"]
            percent = np.nanmax(share, initial=0.0) > 1.5 and np.nanmax(share, initial=0.0) <= 100
            refuse(
                "exposure", (share < 0) | (share > 1 + 1e-9), "shares from 0 to 1",
                "they look like percentages: divide by 100" if percent else "correct or empty these rows",
            )  # fmt: skip
            numbers["exposure"] = np.clip(share, 0.0, 1.0)
        if "censored" in numbers:
            flag = numbers["censored"]
            refuse("censored", np.isfinite(flag) & (flag != 0) & (flag != 1), "true or false", "use 1 and 0")
        if "threshold" in numbers:
            refuse("threshold", numbers["threshold"] < 0, "numbers of at least 0", "correct these rows")
        if "censored" not in numbers and "exposure" not in numbers:
            refuse(
                "y", y > numbers["threshold"], f"at most what {self._name('threshold')} allows",
                "the threshold is stock at the start and deliveries: correct it, or empty the row",
            )  # fmt: skip
            numbers["censored"] = np.where(
                np.isnan(numbers["threshold"]), np.nan, (y >= numbers["threshold"]).astype(float)
            )
        if "exposure" not in numbers:
            flag = numbers["censored"]
            blank = np.isnan(flag)
            numbers["y"] = np.where(blank, np.nan, y)
            numbers["exposure"] = np.where(flag == 0, 1.0, np.nan)
        if "censored" in numbers:
            numbers["censored"] = np.nan_to_num(numbers["censored"]).astype(bool)
        return numbers

    def _numbers(self, field: str, values: np.ndarray) -> NDArray[np.float64]:
        if values.dtype.kind in "biuf":
            return values.astype(np.float64)
        texts = [None if one is None or one != one else one for one in values.tolist()]
        wanted = "true or false" if field == "censored" else "numbers"
        words = {"true": 1.0, "false": 0.0, "yes": 1.0, "no": 0.0}
        found = np.full(len(texts), np.nan)
        for row, one in enumerate(texts):
            if one is None:
                continue
            try:
                found[row] = words[str(one).lower()] if str(one).lower() in words else float(one)
            except (TypeError, ValueError):
                raise ValueError(
                    f"{self._say(field)} must hold {wanted}, but row {row + 1} has {str(one)[:40]!r}; "
                    "correct it, or leave it empty where nothing is known"
                ) from None
        return found


_USUAL = {
    "unique_id": ("id", "store", "sku", "item", "product", "series", "station", "place"),
    "ds": ("date", "time", "week", "day", "month", "timestamp", "period"),
    "y": ("sales", "sold", "units", "count", "quantity", "qty", "demand", "rides", "trips", "value"),
}


def _likely(field: str, has: list[str]) -> list[str]:
    """Return a column whose name says that it may be this field."""
    return [name for word in _USUAL[field] for name in has if word in name.lower()][:1]


def _near(name: str, among: Any) -> str:
    found = get_close_matches(name, list(among), n=1)
    return f"; did you mean {found[0]!r}?" if found else ""


def _fill(
    values: np.ndarray, place: NDArray[np.int64], period: NDArray[np.int64], shape: tuple[int, int]
) -> np.ndarray:
    """Return values of rows as those of all series and periods; nothing is known of the others."""
    empty = np.zeros(shape, bool) if values.dtype == bool else np.full(shape, np.nan)
    empty[place, period] = values
    return empty.reshape(-1)


def _spread(
    values: np.ndarray, place: NDArray[np.int64], period: NDArray[np.int64], shape: tuple[int, int]
) -> np.ndarray:
    """The same for columns that may explain demand: where all series agree, so does one without a row."""
    if values.dtype.kind not in "biuf":
        filled = np.full(shape, None, object)
        filled[place, period] = values
        return filled.reshape(-1)
    numbers = np.full(shape, np.nan)
    numbers[place, period] = values.astype(np.float64)
    common = np.full(shape[1], np.nan)
    common[period] = values.astype(np.float64)
    agree = (numbers == common) | np.isnan(numbers)
    return np.where(np.isnan(numbers) & agree.all(axis=0), common, numbers).reshape(-1)


def _from_counts(columns: dict[str, np.ndarray]) -> bool:
    """Return whether stock was inferred from ride counts: then exposure is the upper of its two bounds."""
    if not {"exposure_low", "exposure_high"} <= set(columns):
        return False
    low, high, middle = (
        columns[name].astype(float) for name in ("exposure_low", "exposure_high", "exposure")
    )
    unsure = high > low + 1e-9
    return bool(unsure.any() and np.allclose(middle[unsure], high[unsure], atol=1e-9))
