"""The plan as a terminal shows it: for which day, what it saves, and the best moves."""

from __future__ import annotations

from unmet.results import Run, plan_sentences

_SHOWN = 10


def show_plan(run: Run) -> None:
    """Print what the plan saves and its best moves; readable from 60 columns on."""
    from rich.console import Console
    from rich.table import Table

    from unmet.cli._terminal import shown

    console = Console(highlight=False)
    plan, moves = run.planned, run.rows("moves")
    if plan is not None:
        summary = run.summary()
        bounds, totals = not summary.total.lost.point, summary.trust.show_total
        for line in plan_sentences(plan, at_least=bounds, shown=totals):
            console.print(shown(line))
    if moves:
        table = Table(box=None, padding=(0, 2, 0, 0), title=None)
        table.add_column("from", overflow="fold")
        table.add_column("to", overflow="fold")
        table.add_column("vehicles", justify="right", no_wrap=True)
        table.add_column("rides saved", justify="right", no_wrap=True)
        for row in moves[:_SHOWN]:
            ends = (shown(row.get(f"{end}_name") or row[end]) for end in ("from", "to"))
            table.add_row(*ends, f"{row['vehicles']:,}", f"{row['rides_saved']:.2f}")
        console.print(table)
        console.print("Moves start from the usual stock of the last four weeks and go as far as --max-move.")
    for name in ("plan.csv", "moves.csv"):
        console.print(f"Written: {shown(run.folder / name)}", soft_wrap=True)
