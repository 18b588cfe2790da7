"""What a run says at its end: its figures in sentences, and where its files are."""

from __future__ import annotations

import json

from unmet.results import Run, sentences


def tell(run: Run, *, as_json: bool, quiet: bool, fit_only: bool = False) -> None:
    """Print the summary of a run, or of its fit alone; readable from 40 columns on."""
    if quiet and not as_json:
        return
    summary = run.summary(fit_only=fit_only)
    if as_json:
        print(json.dumps(summary.as_dict(), indent=2))
        return
    from rich.console import Console
    from rich.markup import escape

    console = Console(highlight=False)
    if run.kept:
        console.print(f"Nothing changed for {', '.join(run.kept)}: kept from before.")
    for line in sentences(summary):
        console.print(escape(line))
    for path in summary.files:
        console.print(f"  {escape(str(path))}", soft_wrap=True)
