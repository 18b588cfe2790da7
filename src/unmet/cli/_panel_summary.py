"""What `unmet panel` shows at its end: a summary whose counts add up."""

from __future__ import annotations

from pathlib import Path
from typing import Any

_MOST, _MOST_NOTES = 5, 10


def as_data(reports: dict[str, Any], built: Any, output: Path, picture: Path | None) -> dict[str, Any]:
    """Return the summary as plain data."""
    from unmet.pipeline import account_of

    data = {**account_of(reports, built), "output": str(output)}
    return data if picture is None else {**data, "picture": str(picture)}


def print_summary(reports: dict[str, Any], built: Any, output: Path, picture: Path | None) -> None:
    """Print what a person wants to know; readable from 60 columns on."""
    from rich.console import Console
    from rich.table import Table

    from unmet.cli._terminal import shown

    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    table.add_column(overflow="fold")

    def row(label: str, value: str, note: str = "", bold: bool = False) -> None:
        table.add_row(f"[bold]{label}[/bold]" if bold else label, value, shown(note))

    trips = reports["trips"]
    row(
        "lines",
        f"{trips.lines:,}",
        f"in {len(trips.files)} trip {_many('file', len(trips.files))}",
        bold=True,
    )
    row("  headers", f"{trips.headers:,}")
    row("  rejected", f"{trips.rejected:,}", _reasons(trips.reasons))
    if trips.duplicates:
        row("  repeated", f"{trips.duplicates:,}", "rides that appear twice, counted once")
    if trips.left_out:
        row("  left out", f"{trips.left_out:,}", "by --keep or --area")
    row("  rides", f"{trips.rides:,}", f"of {trips.vehicles:,} vehicles" if trips.vehicles else "")
    row("rides", f"{trips.rides:,}", "", bold=True)
    if trips.rides != built.rides:
        kinds = ", ".join(f"{n:,} {name}" for name, n in sorted(trips.flags.items()) if name != "over-a-day")
        row("  not used", f"{trips.rides - built.rides:,}", kinds)
    if built.rides_without_place:
        row("  no place", f"{built.rides_without_place:,}", "no known start")
    if built.rides_outside:
        row("  outside", f"{built.rides_outside:,}", "start outside all hubs")
    row("  in panel", f"{built.pickups:,}", "pickups")
    if "status" in reports:
        status = reports["status"]
        row("status", f"{status.rows:,}", f"records of {status.places:,} places, {built.feed}", bold=True)
        if status.duplicates:
            row("  repeated", f"{status.duplicates:,}", "same place and second; the last one counts")
        if status.rejected:
            row("  rejected", f"{status.rejected:,}", _reasons(status.reasons))
    row("panel", f"{built.rows:,}", f"rows: {built.places:,} places × {built.periods:,} periods", bold=True)
    row("  period", built.by, f"{built.first[:16]} to {built.last[:16]} UTC; {built.zone}")
    row(
        "  censored",
        f"{built.rows_censored / max(1, built.rows):.1%}",
        f"{built.rows_censored:,} rows ran out of stock{', or may have' if built.rows_inferred else ''}",
    )
    if built.rows_inferred:
        why = f"from {built.inferred_from}" if built.inferred_from else "where the feed has gaps"
        row(
            "  inferred",
            f"{built.rows_inferred / max(1, built.rows):.1%}",
            f"{built.rows_inferred:,} rows, {why}",
        )
    row("time", "", "share over all places", bold=True)
    for label in ("available", "empty", "closed", "unknown"):
        row(f"  {label}", f"{getattr(built, f'share_{label}'):.1%}")
    console = Console(highlight=False)
    console.print(table)
    notes = [note for report in reports.values() for note in report.notes]
    for note in notes[-_MOST_NOTES:]:  # what was judged over all files comes last
        console.print(f"note: {shown(note)}")
    if len(notes) > _MOST_NOTES:
        console.print(f"and {len(notes) - _MOST_NOTES} more notes with --json")
    console.print(f"Written: {shown(output)}", soft_wrap=True)
    if picture is not None:
        console.print(f"Drawn: {shown(picture)}", soft_wrap=True)


def _many(word: str, number: int) -> str:
    return word if number == 1 else f"{word}s"


def _reasons(reasons: dict[str, int]) -> str:
    ordered = sorted(reasons.items(), key=lambda pair: (-pair[1], pair[0]))
    shown = "; ".join(f"{number:,} × {words}" for words, number in ordered[:_MOST])
    return shown + (f"; and {len(ordered) - _MOST} more reasons" if len(ordered) > _MOST else "")
