"""A run folder with plausible numbers and hostile names, for tests of the report and of the service."""

from __future__ import annotations

import csv
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import nbinom

from unmet.datasets import make_city
from unmet.planning import planned_day, such_days
from unmet.tables import Columns, write_columns

LEVELS = (0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95)
SHAPE = 4.0  # of the negative binomial: the city's shocks have variance 1/4
HORIZON = 72
SCRIPT_NAME = "</script><script>alert(1)</script>"
LINK_NAME = "javascript:alert(1)"
FORMULA_NAME = '=HYPERLINK("http://evil.example")'
BREAK_NAME = 'Line\u2028break & "quotes" <b>bold</b> \' <!--'


def write_sample_run(
    folder: str | os.PathLike[str],
    places: int = 60,
    days: int = 28,
    seed: int = 0,
    evil: bool = True,
    horizon: int = HORIZON,
) -> Path:
    """Write every file of a run folder except the model; the model here is the truth of a simulated city.

    With ``evil`` the four places that lose most rides get names that attack pages and spreadsheets. At most
    28 days are simulated; a longer run repeats them. The two places that are empty most of the time are
    marked as not identified above 0.75.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    town = _Town(places, days, seed, horizon, evil)
    about = {"zone": "America/New_York", "by": "hour", "kind": "stations"}
    write_columns(folder / "panel.parquet", town.panel(), about=about)
    write_columns(folder / "stations.parquet", town.stations(), about=about)
    lost = town.lost()
    write_columns(folder / "lost.parquet", lost, about=about)
    write_columns(folder / "forecast.parquet", town.forecast(), about=about)
    write_columns(folder / "backtest.parquet", town.backtest(), about=about)
    _write_json(folder / "lost_total.json", town.lost_total(lost))
    _write_json(folder / "calibration.json", CALIBRATION)
    _write_json(folder / "measures.json", MEASURES)
    plan = town.plan()
    _write_csv(folder / "plan.csv", plan)
    _write_csv(folder / "moves.csv", town.moves(plan))
    _write_csv(folder / "fleet.csv", town.fleet(plan))
    curves = {row["unique_id"]: _curve(row["expected_lost_usual"]) for row in plan}
    _write_json(folder / "curves.json", {**town.planned(lost), "places": curves})
    _write_json(folder / "hubs.geojson", {"type": "FeatureCollection", "features": []})
    _write_json(folder / "panel.json", town.account())
    return folder


class _Town:
    """Arrays of shape (places, hours), places ordered by id."""

    def __init__(self, places: int, days: int, seed: int, horizon: int, evil: bool) -> None:
        # a month in which the clocks do not change, so that every day has 24 hours
        city = make_city("town", places=places, days=min(days, 28), seed=seed, start="2024-04-01")
        hours = 24 * days
        wrap = np.arange(hours + horizon) % city.rate.shape[1]
        self.ids = np.array(city.map.ids, dtype=object)
        self.names = list(city.map.names)
        self.lat, self.lng, self.capacity = city.map.lat, city.map.lng, city.capacity
        first = np.datetime64(city.hours.first, "s").astype("datetime64[us]")
        self.ds = first + np.arange(hours + horizon) * np.timedelta64(3600, "s")
        self.rate = city.rate[:, wrap]
        self.y = city.truth.served[:, wrap[:hours]]
        self.true_lost = city.truth.lost[:, wrap[:hours]]
        empty, stock = _empty_share(city)
        self.exposure = np.maximum(0.0, 1.0 - empty)[:, wrap[:hours]]
        self.censored = empty[:, wrap[:hours]] > 0
        self.stock = stock[:, wrap[:hours]]
        self.hours, self.horizon = hours, horizon
        self.unknown = np.argsort(-self.censored.mean(axis=1), kind="stable")[:2]
        if evil:
            worst = np.argsort(-self.true_lost.sum(axis=1), kind="stable")
            for place, name in zip(worst, (SCRIPT_NAME, LINK_NAME, FORMULA_NAME, BREAK_NAME)):
                self.names[place] = name

    def _rows(self, first: int, last: int) -> Columns:
        span = last - first
        return {"unique_id": np.repeat(self.ids, span), "ds": np.tile(self.ds[first:last], len(self.ids))}

    def _quantiles(self, first: int, last: int) -> Columns:
        mean = self.rate[:, first:last].ravel()
        chance = SHAPE / (SHAPE + mean)
        found: Columns = {"mean": mean}
        for level in LEVELS:
            # ppf of the repeated days is looked up once
            values, back = np.unique(np.round(chance, 4), return_inverse=True)
            found[f"q{100 * level:02.0f}"] = np.round(nbinom.ppf(level, SHAPE, values)[back], 2)
        unknown = np.isin(np.repeat(np.arange(len(self.ids)), last - first), self.unknown)
        for name in ("q90", "q95"):
            found[name][unknown] = np.inf
        found["identified_up_to"] = np.where(unknown, 0.75, 0.95)
        return found

    def panel(self) -> Columns:
        flat = {"y": self.y, "censored": self.censored, "exposure": self.exposure, "threshold": self.stock}
        return self._rows(0, self.hours) | {name: np.ravel(values) for name, values in flat.items()}

    def account(self) -> dict[str, Any]:
        rides = int(self.y.sum())
        trips = {"lines": rides + 4, "headers": 1, "rides": rides, "rejected": 2, "duplicates": 1}
        panel = {
            "rows": self.y.size,
            "rows_inferred": 0,
            "kind": "station",
            "feed": "events",
            "pickups": rides,
        }
        return {"trips": trips, "panel": panel | {"inferred_from": None}}

    def stations(self) -> Columns:
        capacity = self.capacity.astype(float)
        capacity[-1] = np.nan
        names = np.array(self.names, dtype=object)
        names[-1] = None
        return {"unique_id": self.ids, "name": names, "lat": self.lat, "lng": self.lng, "capacity": capacity}

    def lost(self) -> Columns:
        """Retrospective: the count plus a negative binomial for the time without a vehicle."""
        y, seen, rate = (np.ravel(v) for v in (self.y, self.exposure, self.rate[:, : self.hours]))
        flags = np.ravel(self.censored)
        rest = np.where(flags, rate * (1 - seen) * (SHAPE + y) / (SHAPE + rate * seen), 0.0)
        lost = {"mean": rest, **{name: np.zeros_like(rest) for name in ("q05", "q50", "q95")}}
        for name, level in (("q05", 0.05), ("q50", 0.5), ("q95", 0.95)):
            shape = SHAPE + y[flags]
            lost[name][flags] = nbinom.ppf(level, shape, shape / (shape + rest[flags]))
        known = ~np.isin(np.repeat(np.arange(len(self.ids)), self.hours), self.unknown) | ~flags
        lost["q95"] = np.where(known, lost["q95"], np.inf)
        names = ("mean", "q05", "q50", "q95")
        return {
            **self._rows(0, self.hours),
            "y": y,
            "censored": flags,
            "exposure": seen,
            **{f"demand_{name}": y + lost[name] for name in names},
            **{f"lost_{name}": lost[name] for name in names if name != "q50"},
            "next_door_mean": np.zeros_like(rest),
            "identified": known,
        }

    def forecast(self) -> Columns:
        first, last = self.hours, self.hours + self.horizon
        found = self._rows(first, last) | self._quantiles(first, last)
        found["unmet"] = found["q50"]
        for side, low, high in (("90", "q05", "q95"), ("50", "q25", "q75")):
            found[f"unmet-lo-{side}"], found[f"unmet-hi-{side}"] = found[low], found[high]
        return found

    def backtest(self) -> Columns:
        first = max(0, self.hours - 28 * 24)
        found = self._rows(first, self.hours)
        for name, values in (
            ("y", self.y),
            ("censored", self.censored),
            ("exposure", self.exposure),
            ("threshold", self.stock),
        ):
            found[name] = np.ravel(values[:, first : self.hours])
        quantiles = self._quantiles(first, self.hours)
        found |= quantiles
        found |= {f"raw{name[1:]}": quantiles[name] for name in quantiles if name.startswith("q")}
        found["pit"] = np.full(len(found["y"]), 0.5)
        found["pit_censored"] = found["censored"]
        return found

    def lost_total(self, lost: Columns) -> dict[str, Any]:
        shape = (len(self.ids), self.hours)
        mean = lost["lost_mean"].reshape(shape)
        spread = np.sqrt(mean + mean**2 / SHAPE)
        seen = self.y.sum(axis=1)
        entries = {}
        for place, identity in enumerate(self.ids):
            middle, error = mean[place].sum(), 1.645 * np.sqrt((spread[place] ** 2).sum())
            high = None if place in self.unknown else middle + error
            entries[identity] = _totals(int(seen[place]), middle, max(0.0, middle - error), high)
        middle, error = mean.sum(), 1.645 * np.sqrt((spread**2).sum())
        per_day = mean.reshape(len(self.ids), -1, 24).sum(axis=(0, 2))
        day_error = 1.645 * np.sqrt((spread**2).reshape(len(self.ids), -1, 24).sum(axis=(0, 2)))
        day_seen = self.y.reshape(len(self.ids), -1, 24).sum(axis=(0, 2))
        start = (self.ds[0] - np.timedelta64(4, "h")).astype("datetime64[D]")
        rows = [
            {
                "date": str(start + number),
                "observed": int(n),
                "demand": round(float(n + m), 3),
                "lo": round(float(n + max(0.0, m - e)), 3),
                "hi": round(float(n + m + e), 3),
            }
            for number, (n, m, e) in enumerate(zip(day_seen, per_day, day_error))
        ]
        total = _totals(int(seen.sum()), middle, middle - error, middle + error)
        return {**total, "places": entries, "days": rows}

    @property
    def starts(self) -> str:
        """Four in the morning, local time, of the day after the data."""
        return str((self.ds[self.hours] - np.timedelta64(4, "h")).astype("datetime64[D]")) + "T04:00"

    def planned(self, lost: Columns) -> dict[str, Any]:
        hours = self.ds[self.hours] + np.arange(4, 28) * np.timedelta64(1, "h")
        day = planned_day(hours, "America/New_York", "hour")
        wanted = float(self.rate[:, :24].sum())
        return {
            "day": {**day, "demand": wanted},
            "such_days": such_days(lost, hours, "America/New_York", "hour"),
        }

    def plan(self) -> list[dict[str, Any]]:
        per_day = self.true_lost.sum(axis=1) / (self.hours / 24)
        rows = []
        for place, identity in enumerate(self.ids):
            before = round(float(per_day[place]), 3)
            saved = round(0.6 * before, 3)
            usual = int(self.capacity[place] // 2)
            rows.append(
                {
                    "unique_id": identity,
                    "name": self.names[place],
                    "capacity": int(self.capacity[place]),
                    "usual_stock": usual,
                    "target": int(min(self.capacity[place], usual + round(per_day[place]))),
                    "expected_lost_usual": before,
                    "expected_lost_target": round(before - saved, 3),
                    "rides_saved": saved,
                    "value_of_next_vehicle": round(before / 10, 3),
                    "identified": bool(place not in self.unknown),
                    "starts": self.starts,
                }
            )
        return rows

    def moves(self, plan: list[dict[str, Any]]) -> list[dict[str, Any]]:
        ranked = sorted(plan, key=lambda row: -row["rides_saved"])
        found = []
        best = ranked[: max(1, len(ranked) // 3)]
        for rank, (to, origin) in enumerate(zip(best, reversed(ranked)), start=1):
            found.append(
                {
                    "rank": rank,
                    "from": origin["unique_id"],
                    "to": to["unique_id"],
                    "vehicles": 1 + rank % 3,
                    "rides_saved": round(to["rides_saved"] - 0.01 * rank, 3),
                    "from_name": origin["name"],
                    "to_name": to["name"],
                    "starts": self.starts,
                }
            )
        return found

    def fleet(self, plan: list[dict[str, Any]]) -> list[dict[str, Any]]:
        size, lost = sum(row["usual_stock"] for row in plan), sum(row["expected_lost_usual"] for row in plan)
        wanted = float(self.rate.sum()) / (self.hours + self.horizon) * 24
        rows = []
        for share in np.linspace(0.5, 1.6, 23):
            left = lost * 4.0 ** (1 - share)
            rows.append(
                {
                    "fleet": round(size * share),
                    "service_level": round(1 - left / wanted, 4),
                    "expected_lost": round(left, 3),
                }
            )
        return rows


def _empty_share(city: Any) -> tuple[np.ndarray, np.ndarray]:
    """Share of each hour without a vehicle, and the stock when it began."""
    places, hours = city.rate.shape
    share, stock = np.zeros((places, hours)), np.zeros((places, hours), dtype=np.int64)
    for place in range(places):
        own = city.stock.place == place
        second, available = city.stock.second[own], city.stock.available[own]
        stock[place] = available[np.searchsorted(second, 3600 * np.arange(hours), side="right") - 1]
        until = np.append(second[1:], city.hours.seconds)
        for begin, end in zip(second[available == 0], until[available == 0]):
            edges = np.arange(begin // 3600, -(-end // 3600))
            share[place, edges] += (
                np.minimum(end, 3600 * (edges + 1)) - np.maximum(begin, 3600 * edges)
            ) / 3600
    return share, stock


def _totals(seen: int, mean: float, low: float, high: float | None) -> dict[str, Any]:
    lost = {"mean": mean, "q05": low, "q95": high}
    rounded = {name: None if value is None else round(float(value), 3) for name, value in lost.items()}
    demand = {name: None if value is None else round(seen + value, 3) for name, value in rounded.items()}
    return {"observed": seen, "demand": demand, "lost": rounded}


def _curve(lost: float) -> list[float]:
    return [round(2 * lost * 0.8**stock, 4) for stock in range(12)]


def _write_json(path: Path, value: Any) -> None:
    path.write_text(json.dumps(value, ensure_ascii=False, indent=1), encoding="utf-8")


def _write_csv(path: Path, rows: list[dict[str, Any]]) -> None:
    def cell(value: Any) -> Any:
        return "'" + value if isinstance(value, str) and value[:1] in tuple("=+-@") else value

    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows({name: cell(value) for name, value in row.items()} for row in rows)


CALIBRATION: dict[str, Any] = {
    "bands": [
        {
            "low": low,
            "high": high,
            "rows": rows,
            "at_risk": [0 if one is None else (7 - n) * risk for n, one in enumerate(levels)],
            "nominal": list(LEVELS),
            "level": levels,
            "identified_up_to": top,
        }
        for low, high, rows, risk, levels, top in (
            (None, 0.5, 9120, 3120, [0.04, 0.09, 0.24, 0.51, 0.76, 0.91, 0.96], 0.95),
            (0.5, 1.5, 14200, 2210, [0.05, 0.11, 0.26, 0.52, 0.77, 0.92, 0.96], 0.95),
            (1.5, 4.0, 12650, 940, [0.06, 0.11, 0.27, 0.53, 0.79, 0.93, 0.97], 0.95),
            (4.0, None, 4350, 61, [0.06, 0.12, 0.29, 0.55, 0.8, None, None], 0.75),
        )
    ],
    "coverage": {
        "plain": 0.947,
        "randomised": 0.903,
        "lower_tail": 0.046,
        "upper_tail": 0.051,
        "weeks": [0.911, 0.898, 0.903, 0.899],
        "bands": [0.905, 0.902, 0.897, 0.911],
        "uncensored_rows": 0.951,
        "levels": [
            {"nominal": nominal, "before": before, "after": after}
            for nominal, before, after in zip(
                LEVELS,
                (0.04, 0.085, 0.23, 0.48, 0.73, 0.88, 0.93),
                (0.046, 0.098, 0.248, 0.502, 0.751, 0.903, 0.949),
            )
        ],
    },
    "daily": {"coverage": {"randomised": 0.893}},
    "assumption": {"difference": 0.011, "warn": False},
}

MEASURES: list[dict[str, Any]] = [
    {"model": name, "pinball": loss, "pinball_starved_places": starved, "coverage": cover, "chosen": chosen}
    for name, loss, starved, cover, chosen in (
        ("censored quantile network (linear)", 0.2917, 0.3312, 0.903, True),
        ("censored quantile network (mlp)", 0.2931, 0.3340, 0.899, False),
        ("censored quantile network (lstm)", 0.2958, 0.3391, 0.911, False),
        ("negative binomial with exposure", 0.2924, 0.3298, 0.905, False),
        ("unaware of censoring", 0.3150, 0.4021, 0.842, False),
        ("censored rows dropped", 0.3098, 0.3877, 0.861, False),
        ("seasonal naive", 0.3720, 0.4410, None, False),
    )
]
