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

    from unmet.cli._terminal import shown

    console = Console(highlight=False)
    if run.kept:
        console.print(f"Nothing changed for {', '.join(run.kept)}: kept from before.")
    for line in run.told:
        console.print(shown(line))
    for line in sentences(summary):
        console.print(shown(line))
    for path in summary.files:
        console.print(f"  {shown(path)}", soft_wrap=True)
