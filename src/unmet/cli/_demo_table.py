"""What `unmet demo` prints: a table, what its columns mean, and what was seen, in plain words."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from unmet.cli._demo_models import Result
    from unmet.datasets import SyntheticData


def tell(data: SyntheticData, results: list[Result], preparing: float, files: list[Path]) -> None:
    """Print the results; readable from 60 columns on."""
    from rich.console import Console
    from rich.table import Table

    from unmet.cli._terminal import shown

    console = Console(highlight=False)
    table = Table(box=None, header_style="bold", padding=(0, 3 if console.width >= 80 else 1, 0, 0))
    table.add_column("\nmodel", no_wrap=True)
    for level in results[0].model.quantiles:
        table.add_column(f"MAE\n{level:.0%}", justify="right", no_wrap=True)
    for heading in ("ICP\n90%", "\nMIL", "cross-\nings", "\nseconds"):
        table.add_column(heading, justify="right", no_wrap=True)
    for one in results:
        table.add_row(
            one.name,
            *(f"{error:.3f}" for error in one.errors),
            f"{one.covered:.1%}",
            f"{one.length:.2f}",
            f"{one.crossings:,}",
            f"{one.seconds:.1f}",
            style="bold" if one.name == "unmet" else None,
        )
    console.print(table)
    test = len(data.split().test)
    error = {one.name: f"{one.error:.2f}" for one in results}
    console.print(
        f"\nOn {test:,} test rows. MAE: mean distance to the true quantile of the latent values. ICP: share "
        "of latent values inside the 90% interval. MIL: mean length of that interval. Crossings: quantiles "
        "in the wrong order. Seconds: to fit, programs being ready.\n"
        "QNN, CQNN and Multi-CQNN follow the paper, but start at random: its start, ones, is the truth here.",
        style="dim",
    )
    console.print(
        f"\nOf {len(data.y):,} values, the {data.censored.mean():.0%} below 0 were seen as 0. Ignoring that, "
        f"QNN misses the true quantiles by {error['QNN']} on average. Multi-CQNN misses them by "
        f"{error['Multi-CQNN']}, the default of unmet by [bold]{error['unmet']}[/bold]; the same model shown "
        f"every latent value (the oracle) by {error['oracle']}."
    )
    console.print(f"Figure: {shown(files[0])} (and {shown(files[1].suffix)})", soft_wrap=True)
    if preparing > 2:
        console.print(
            f"Preparing programs took {preparing:.0f} s; compiled ones are kept for the next run.",
            style="dim",
        )
