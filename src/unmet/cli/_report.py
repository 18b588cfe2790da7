"""`unmet report`: everything of a run in one page."""

from typing import Annotated

import typer

from unmet.cli import _options as options

EXAMPLE = "Example: unmet report out --title 'Jersey City, winter' --open"


def report(
    folder: options.RunFolder,
    title: options.Title = None,
    show: Annotated[bool, typer.Option("--open", help="Open the report in your browser.")] = False,
    config: options.Config = None,
    quiet: options.Quiet = False,
) -> None:
    """Write report.html, one page that needs no other file and works offline."""
    from unmet.cli._pipeline import do_report
    from unmet.runs import Steps, read_record, stale_steps

    old = [step for step in stale_steps(folder) if step in ("forecast", "plan")]
    if old:
        again = " and ".join(f"`unmet {step} {folder}`" for step in old)
        raise ValueError(f"{folder} holds {' and '.join(old)} of the fit before; do {again} first")
    with Steps(folder, source=read_record(folder)["source"]) as steps:
        do_report(steps, title=title)
    page = folder / "report.html"
    if show:
        import webbrowser

        webbrowser.open(page.resolve().as_uri())
    if not quiet:
        print(f"Written: {page} ({page.stat().st_size / 1e6:.1f} MB)")
