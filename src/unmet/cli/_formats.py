"""`unmet formats`: what can be read, and the header by which each layout is recognised."""

from typing import Annotated

import typer

from unmet.cli import _options as options

EXAMPLE = "Example: unmet formats --kind status"


def formats(
    kind: Annotated[
        str | None, typer.Option(metavar="trips|status|stations", help="Show only formats of this kind.")
    ] = None,
    markdown: Annotated[
        bool, typer.Option("--markdown", help="Print the page of formats of the documentation.")
    ] = False,
    as_json: options.AsJson = False,
) -> None:
    """List the layouts that are recognised, with the header of each."""
    from unmet.mobility.sources import format_page, format_rows

    if kind not in (None, "trips", "status", "stations"):
        raise ValueError(f"--kind must be trips, status or stations, got {kind!r}")
    rows = [row for row in format_rows() if kind in (None, row.kind)]
    if as_json:
        import json

        print(json.dumps([row._asdict() for row in rows], indent=2, ensure_ascii=False))
        return
    if markdown:
        print(format_page(), end="")
        return
    from rich.console import Console
    from rich.markup import escape

    console = Console(highlight=False)
    for row in rows:
        console.print(f"[bold]{escape(row.name)}[/bold] ({row.kind})")
        console.print(f"  {escape(row.header)}", soft_wrap=True)
    console.print("Any other header: name its columns with --columns or --status-columns.", soft_wrap=True)
