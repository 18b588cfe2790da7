"""The plan as a terminal shows it: for which day, what is gained, and the best moves."""

from __future__ import annotations

import csv
from pathlib import Path

_SHOWN = 10


def show_plan(folder: Path) -> None:
    """Print what the plan saves and its best moves; readable from 60 columns on."""
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    moves = _rows(folder / "moves.csv")
    console = Console(highlight=False)
    for line in plan_sentences(folder):
        console.print(line)
    table = Table(box=None, padding=(0, 2, 0, 0), title=None)
    table.add_column("from", overflow="fold")
    table.add_column("to", overflow="fold")
    table.add_column("vehicles", justify="right", no_wrap=True)
    table.add_column("rides saved", justify="right", no_wrap=True)
    for row in moves[:_SHOWN]:
        ends = (escape(row[f"{end}_name"] or row[end]) for end in ("from", "to"))
        table.add_row(*ends, row["vehicles"], f"{float(row['rides_saved']):.2f}")
    if moves:
        console.print(table)
        console.print(
            "Moves start from the usual stock of the last four weeks and take no account of distance."
        )
    for name in ("plan.csv", "moves.csv"):
        console.print(f"Written: {escape(str(folder / name))}", soft_wrap=True)


def plan_sentences(folder: Path) -> list[str]:
    """The day planned for and what the plan saves, then what the last such days lost; none without a plan."""
    from rich.markup import escape

    from unmet.report._planned import day_in_words, read_planned, such_days_in_words

    places = _rows(folder / "plan.csv") if (folder / "plan.csv").is_file() else []
    if not places:
        return []
    planned = read_planned(folder / "curves.json")
    usual, target = (
        sum(float(row[f"expected_lost_{kind}"]) for row in places) for kind in ("usual", "target")
    )
    digits = 0 if usual >= 20 else 1  # as in the report
    day = "Plan" if planned is None else f"Plan for {escape(day_in_words(planned))}"
    saved = (
        f"{day}: {sum(int(row['target']) for row in places):,} vehicles at {len(places):,} places; expected "
        f"lost rides {usual:,.{digits}f} with the usual stock, [bold]{target:,.{digits}f}[/bold] with the "
        "plan, if no van comes in between."
    )
    past = None if planned is None else such_days_in_words(planned)
    return [saved] if past is None else [saved, escape(past)]


def _rows(path: Path) -> list[dict[str, str]]:
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))
