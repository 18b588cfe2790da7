"""The columns of a panel: name, type, meaning, and the SQL that computes each of them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class PanelColumn:
    """A column of the panel.

    Attributes
    ----------
    sql : expression over the sums of a place and period (see `_rows`); sums of seconds end in ``_s``.
    """

    name: str
    type: str
    meaning: str
    sql: str


PANEL_COLUMNS = (
    PanelColumn("unique_id", "VARCHAR", "place: station, H3 cell or hub", "unique_id"),
    PanelColumn("ds", "TIMESTAMP", "start of the local period, naive UTC", "make_timestamp(start * 1000000)"),
    PanelColumn("y", "INTEGER", "pickups seen", "y"),
    PanelColumn(
        "censored",
        "BOOLEAN",
        "whether there was, or may have been, a moment without vehicles",
        "low_s < available_s + empty_s",
    ),
    PanelColumn(
        "exposure",
        "DOUBLE",
        "share of known, open time with a vehicle; null if there was no such time",
        "exposure",
    ),
    PanelColumn(
        "exposure_low",
        "DOUBLE",
        "share of that time in which a vehicle surely stood; the same as exposure with a feed",
        "exposure_low",
    ),
    PanelColumn(
        "exposure_high",
        "DOUBLE",
        "share of that time that was not provably empty; the same as exposure with a feed",
        "exposure_high",
    ),
    PanelColumn(
        "reach",
        "DOUBLE",
        "share of that time in which a request was served; below exposure where few vehicles stood",
        "reach",
    ),
    PanelColumn(
        "threshold",
        "INTEGER",
        "stock at the start - removals; 0 implies nothing about demand; null for hubs",
        "CASE WHEN usable IS NULL THEN NULL WHEN usable THEN greatest(0, stock_start - removals) ELSE 0 END",
    ),
    PanelColumn(
        "supply",
        "INTEGER",
        "stock at the start + returns + deliveries; y never exceeds it",
        "stock_start + returns + deliveries",
    ),
    PanelColumn("returns", "INTEGER", "vehicles that riders returned", "returns"),
    PanelColumn("deliveries", "INTEGER", "vehicles that arrived without a ride", "deliveries"),
    PanelColumn("removals", "INTEGER", "vehicles that left without a ride", "removals"),
    PanelColumn("stock_start", "INTEGER", "vehicles at the start of the period", "stock_start"),
    PanelColumn("stock_end", "INTEGER", "vehicles at its end", "stock_end"),
    PanelColumn("capacity", "INTEGER", "docks", "capacity"),
    PanelColumn(
        "inferred", "BOOLEAN", "whether stock was inferred from rides for part of the period", "inferred"
    ),
    PanelColumn(
        "observed",
        "DOUBLE",
        "share of the period in which the place was known and open",
        "(available_s + empty_s) / (available_s + empty_s + closed_s + unknown_s)::DOUBLE",
    ),
)


def select_columns() -> str:
    """Return the SELECT clause for all columns."""
    return "SELECT " + ", ".join(f"({c.sql})::{c.type} AS {c.name}" for c in PANEL_COLUMNS)
