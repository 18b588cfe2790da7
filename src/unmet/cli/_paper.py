"""`unmet paper`: the tables and figures of the paper, beside the published numbers."""

from pathlib import Path
from typing import Annotated, Any

import typer

EXAMPLE = "Example: unmet paper table2 -o results"


def paper(
    what: Annotated[
        str,
        typer.Argument(
            help="table1, table2, table3, table4, figures; synthetic (all of these); defaults (why the "
            "settings of the estimator are what they are); all."
        ),
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="DIR", help="Folder for tables and figures.")
    ] = Path("out/paper"),
    smoke: Annotated[
        bool, typer.Option("--smoke", help="A quick pass through everything; the numbers mean nothing.")
    ] = False,
    jobs: Annotated[int, typer.Option(help="Worker processes for `defaults`; -1: one per core.")] = -1,
    into: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Also put the tables between their markers in this Markdown file."),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Do not show the tables.")] = False,
) -> None:
    """Run the paper's synthetic experiments again, beside the published numbers.

    Each table is written as Markdown, CSV and JSON. Asked again, finished parts are not computed again.
    """
    from unmet.papers import insert_tables, reproduce

    folder = output / "smoke" if smoke else output
    if into is not None and smoke:
        raise ValueError("--into with --smoke would put meaningless numbers into a document: choose one")
    done = list(reproduce(what, folder, smoke=smoke, jobs=jobs, say=_silent if quiet else _say))
    if into is not None:
        insert_tables(into, folder, done)
    print(f"Written to {folder}")


def _silent(title: str, tables: list[Any], checks: list[Any]) -> None:
    pass


def _say(title: str, tables: list[Any], checks: list[Any]) -> None:
    from rich.console import Console

    from unmet.papers import show_table

    console = Console(highlight=False)
    for table in tables:
        show_table(table, f"{title} ({table.title})" if table.title else title)
    for check in checks:
        mark = "[green]✓[/]" if check.holds else "[red]✗[/]"
        console.print(f"  {mark} {check.statement}: {check.found}")
    if tables or checks:
        console.print()
