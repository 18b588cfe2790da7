"""The tables of the page, each from the report's data."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from unmet.calendar import step_of
from unmet.report._data import ReportData
from unmet.report._table import Cell, Table, bounds, count, estimate, make_table, named, share, words
from unmet.report.figures._calibration import band_name
from unmet.results import Interval, Words
from unmet.results.numbers import WEEKDAYS, day, known, moment, number


def _place_columns(words: Words) -> tuple[tuple[str, bool], ...]:
    return (
        (words.place.capitalize(), False),
        (f"Lost {words.noun}", True),
        ("90% interval", True),
        ("Demand lost", True),
        ("Observed", True),
        ("Estimated demand", True),
        (f"Time {words.without}" if words.own else "Time empty", True),
    )


def _place_rows(data: ReportData, numbers: Iterable[int]) -> list[list[Cell]]:
    most = max((place.lost.mean for place in data.places), default=0.0)
    rows = []
    for n in numbers:
        place = data.places[n]
        bar = place.lost.mean / most if most > 0 else 0.0
        rows.append(
            [
                named(place, n),
                estimate(place.lost, bar=bar),
                bounds(place.lost),
                share(place.share_lost),
                count(place.observed),
                estimate(place.demand),
                share(place.empty),
            ]
        )
    return rows


def worst_table(data: ReportData) -> Table:
    """The ten places that lost most rides."""
    shown = (0, 1, 2, 3, 6)
    rows = [[row[n] for n in shown] for row in _place_rows(data, data.worst[:10])]
    said = data.summary.words
    columns = [_place_columns(said)[n] for n in shown]
    caption = f"The {said.places} that lost most {said.noun}, at most ten"
    return make_table("worst", caption, columns, rows, sorted_by=(1, "descending"))


def places_table(data: ReportData) -> Table:
    """Every place: the table behind the map."""
    return make_table(
        "places",
        f"All {data.summary.words.places} over the whole period",
        _place_columns(data.summary.words),
        _place_rows(data, data.worst),
        sorted_by=(1, "descending"),
    )


def days_table(data: ReportData) -> Table:
    """All places together, day by day."""
    rows = []
    for one in data.days:
        demand = Interval(one.demand, one.low, one.high)
        # What was seen is certain, so the interval of what was lost is as wide as that of demand.
        lost = estimate(Interval(one.lost, one.low - one.observed, one.high - one.observed))
        when = Cell(day(one.date, year=False))
        if one.known:
            rows.append([when, count(one.observed), estimate(demand), bounds(demand), lost])
        else:
            rows.append([when, Cell("unknown"), Cell("unknown"), Cell(""), Cell("unknown")])
    said = data.summary.words
    columns = (
        (said.block.capitalize(), False),
        ("Observed", True),
        ("Estimated demand", True),
        ("90% interval", True),
        ("Lost", True),
    )
    caption = f"{said.noun.capitalize()} of all {said.places} by local {said.block}"
    return make_table("days", caption, columns, rows, sortable=False)


def week_table(data: ReportData) -> Table | None:
    """Lost rides per hour by weekday and hour."""
    if data.week is None:
        return None
    rows = [
        [Cell(f"{hour:02d}:00"), *(count(data.week.lost[weekday][hour]) for weekday in range(7))]
        for hour in range(24)
    ]
    columns = (("Hour", False), *((name, True) for name in WEEKDAYS))
    said = data.summary.words
    caption = f"Lost {said.noun} per hour, mean over the days of the period, all {said.places}"
    return make_table("week", caption, columns, rows, sortable=False)


def horizon_table(data: ReportData) -> Table | None:
    """What is expected of each place."""
    if data.horizon is None:
        return None
    order = sorted(
        (n for n, entry in enumerate(data.horizon.places) if entry is not None),
        key=lambda n: -data.horizon.places[n].expected,  # type: ignore[union-attr]
    )
    rows = []
    for n in order:
        entry = data.horizon.places[n]
        assert entry is not None
        rows.append(
            [
                named(data.places[n], n),
                count(entry.expected),
                words(entry.busiest),
                count(entry.peak.mean),
                bounds(entry.peak),
                share(entry.unidentified, 0),
            ]
        )
    said = data.summary.words
    columns = (
        (said.place.capitalize(), False),
        (f"Expected {said.noun}", True),
        (f"Busiest {said.period}", False),
        ("Expected then", True),
        ("90% interval then", True),
        (f"{said.period.capitalize()}s without upper bound", True),
    )
    caption = f"Expected demand of each {said.place} over the horizon"
    return make_table("horizon", caption, columns, rows, sorted_by=(1, "descending"))


def horizon_periods_table(data: ReportData) -> Table | None:
    """Expected rides of all places by period."""
    if data.horizon is None:
        return None
    rows = [
        [Cell(moment(clock, step_of(data.summary.by).seconds < 86_400)), count(value)]
        for clock, value in zip(data.horizon.clock, data.horizon.total)
    ]
    said = data.summary.words
    columns = ((said.period.capitalize(), False), (f"Expected {said.noun}", True))
    caption = f"Expected {said.noun} of all {said.places}"
    return make_table("horizon-periods", caption, columns, rows, sortable=False)


def plan_table(data: ReportData) -> Table | None:
    """The stocking table."""
    if not data.plan:
        return None
    known_places = {place.unique_id: n for n, place in enumerate(data.places)}
    most = max((row["rides_saved"] or 0.0 for row in data.plan), default=0.0)
    rows = []
    for row in sorted(data.plan, key=lambda row: -(row["rides_saved"] or 0.0)):
        n = known_places.get(row.get("unique_id", ""))
        name = Cell(row.get("name") or row.get("unique_id", "")) if n is None else named(data.places[n], n)
        saved = row["rides_saved"] or 0.0
        change = None if None in (row["target"], row["usual_stock"]) else row["target"] - row["usual_stock"]
        rows.append(
            [
                name,
                count(row["capacity"]),
                count(row["usual_stock"]),
                count(row["target"]),
                _signed(change),
                count(row["expected_lost_usual"]),
                count(row["expected_lost_target"]),
                count(row["rides_saved"], 1, bar=max(0.0, saved / most) if most > 0 else 0.0),
                count(row["value_of_next_vehicle"]),
                words("yes" if row.get("identified", True) else "no"),
            ]
        )
    columns = (
        ("Place", False),
        ("Docks", True),
        ("Usual stock", True),
        ("Target", True),
        ("Change", True),
        ("Lost at usual stock", True),
        ("Lost at target", True),
        ("Rides saved", True),
        ("Worth of next vehicle", True),
        ("Identified", False),
    )
    return make_table("plan", "Stock at the start of the day", columns, rows, sorted_by=(7, "descending"))


def _signed(value: float | None) -> Cell:
    if value is None:
        return Cell("–")
    return Cell(f"+{number(value)}" if value > 0 else number(value), sort=value)


def moves_table(data: ReportData) -> Table | None:
    """Moves, the most useful first."""
    if not data.moves:
        return None
    known_places = {place.unique_id: n for n, place in enumerate(data.places)}

    def place(identity: str) -> Cell:
        n = known_places.get(identity)
        return Cell(identity) if n is None else named(data.places[n], n)

    rows = [
        [
            count(row["rank"]),
            place(row["from"]),
            place(row["to"]),
            count(row["vehicles"]),
            count(row["rides_saved"]),
        ]
        for row in data.moves
    ]
    columns = (("Rank", True), ("From", False), ("To", False), ("Vehicles", True), ("Rides saved", True))
    caption = "Moves between places, the most useful first"
    return make_table("moves", caption, columns, rows, sorted_by=(0, "ascending"))


def thinned(rows: Sequence[dict[str, Any]], most: int = 60) -> list[dict[str, Any]]:
    """At most about `most` rows in even steps, the first and the last among them."""
    step = max(1, -(-(len(rows) - 1) // most))
    found = list(rows[::step])
    return found if not rows or found[-1] is rows[-1] else [*found, rows[-1]]


def near_fleet(data: ReportData) -> list[dict[str, Any]]:
    """Fleets up to 30% around the usual one, and up to the planned one if that is further away.

    Curves hold the returns fixed, which is close for a fleet near the usual one only.
    """
    usual, planned = (sum(row[name] or 0.0 for row in data.plan) for name in ("usual_stock", "target"))
    low, high = min(0.7 * usual, planned), max(1.3 * usual, planned)
    found = [row for row in data.fleet if row["fleet"] is not None and low <= row["fleet"] <= high]
    return found if len(found) > 1 else list(data.fleet)


def fleet_table(data: ReportData) -> Table | None:
    """Fleet size against service level."""
    if not data.fleet:
        return None
    rows = [
        [count(row["fleet"]), share(row["service_level"]), count(row["expected_lost"])]
        for row in thinned(near_fleet(data))
    ]
    columns = (("Vehicles", True), ("Demand served", True), ("Expected lost rides", True))
    return make_table("fleet", "Fleet size and service level", columns, rows, sorted_by=(0, "ascending"))


def bands_table(data: ReportData) -> Table | None:
    """Which level of the model is used for each nominal one."""
    bands = data.calibration.get("bands") or ()
    if not bands:
        return None
    levels = [f"{100 * level:g}%" for level in bands[0].get("nominal", ())]
    rows = []
    for band in bands:
        used = list(band.get("level", ()))
        used += [None] * (len(levels) - len(used))
        rows.append(
            [
                Cell(band_name(band), sort=float(band["low"]) if known(band.get("low")) else None),
                count(band.get("rows")),
                count(_at_risk(band)),
                *(share(level) if known(level) else Cell("not identified", kind="unknown") for level in used),
            ]
        )
    columns = (
        (f"Predicted {data.summary.words.noun} {data.summary.words.each_period}", False),
        ("Rows", True),
        ("Rows at the top level", True),
        *((name, True) for name in levels),
    )
    return make_table(
        "bands", "Level of the model used for each nominal level", columns, rows, sortable=False
    )


def _at_risk(band: dict[str, Any]) -> Any:
    """Rows on which the highest identified level rests."""
    found = band.get("at_risk")
    return next((rows for rows in reversed(found) if rows), 0) if isinstance(found, list) else found


def measures_table(data: ReportData) -> Table | None:
    """Models compared on the same past forecasts."""
    if not data.measures:
        return None
    rows = [
        [
            Cell(str(row.get("model", "")), kind="chosen" if row.get("chosen") else ""),
            count(row.get("pinball"), 4),
            count(row.get("pinball_starved_places"), 4),
            share(row.get("coverage")),
        ]
        for row in data.measures
    ]
    columns = (
        ("Model", False),
        ("Pinball loss", True),
        (f"Pinball loss, {data.summary.words.places} often empty", True),
        ("Coverage of 90% intervals", True),
    )
    return make_table("measures", "Models compared by rolling-origin validation", columns, rows)
