"""The plan as a terminal shows it: what is gained, and the best moves."""

from __future__ import annotations

import csv
from pathlib import Path

_SHOWN = 10


def show_plan(folder: Path) -> None:
    """Print what the plan saves and its best moves; readable from 60 columns on."""
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    places, moves = _rows(folder / "plan.csv"), _rows(folder / "moves.csv")
    names = {row["unique_id"]: row["name"] for row in places}
    usual, target = (
        sum(float(row[f"expected_lost_{kind}"]) for row in places) for kind in ("usual", "target")
    )
    console = Console(highlight=False)
    console.print(
        f"{sum(int(row['target']) for row in places):,} vehicles at {len(places):,} places: expected lost "
        f"rides {usual:,.1f} with the usual stock, [bold]{target:,.1f}[/bold] with the plan."
    )
    table = Table(box=None, padding=(0, 2, 0, 0), title=None)
    table.add_column("from", overflow="fold")
    table.add_column("to", overflow="fold")
    table.add_column("vehicles", justify="right", no_wrap=True)
    table.add_column("rides saved", justify="right", no_wrap=True)
    for row in moves[:_SHOWN]:
        ends = (escape(names.get(row[end], row[end])) for end in ("from", "to"))
        table.add_row(*ends, row["vehicles"], f"{float(row['rides_saved']):.2f}")
    if moves:
        console.print(table)
    console.print(f"Written: {escape(str(folder / 'plan.csv'))}", soft_wrap=True)


def _rows(path: Path) -> list[dict[str, str]]:
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))
