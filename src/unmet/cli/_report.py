"""`unmet report`: everything of a run in one page."""

from typing import Annotated

import typer

from unmet.cli import _options as options
from unmet.cli._terminal import printable

EXAMPLE = "Example: unmet report out --title 'Jersey City, winter' --open"


def report(
    folder: options.RunFolder,
    title: options.Title = None,
    show: Annotated[bool, typer.Option("--open", help="Open the report in your browser.")] = False,
    config: options.Config = None,
    quiet: options.Quiet = False,
) -> None:
    """Write report.html, one page that needs no other file and works offline."""
    from unmet import pipeline

    page = pipeline.report(folder, title=title).page
    assert page is not None
    if show:
        import webbrowser

        webbrowser.open(page.resolve().as_uri())
    if not quiet:
        print(f"Written: {printable(page)} ({page.stat().st_size / 1e6:.1f} MB)")
