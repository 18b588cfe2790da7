"""What `unmet compare` writes and prints: a table, a figure, what was left out, a recommendation."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from unmet.comparison import Comparison, Line


def write(found: Comparison, folder: Path) -> list[Path]:
    """Write the comparison as CSV, JSON and, if Matplotlib is there, as a figure."""
    from unmet.runs import MissingExtraError, write_bytes

    text = io.StringIO()
    lines = [asdict(line) for line in found.lines]
    table = csv.DictWriter(text, list(lines[0]), lineterminator="\n")
    table.writeheader()
    table.writerows(lines)
    paths = [folder / "comparison.csv", folder / "comparison.json"]
    write_bytes(paths[0], text.getvalue().encode())
    write_bytes(paths[1], _json(found).encode())
    try:
        from unmet.plotting import new_figure, save_figures

        def draw() -> Any:
            figure = new_figure(7, 1 + 0.35 * len(found.lines))
            found.plot(figure.subplots())
            return figure

        paths += save_figures(folder, {"comparison": draw})
    except MissingExtraError:
        return paths
    return paths


def _json(found: Comparison) -> str:
    return json.dumps(found.to_dict(), indent=1, ensure_ascii=False) + "\n"


def tell(found: Comparison, files: list[Path], *, as_json: bool, quiet: bool) -> None:
    """Print the comparison; readable in 80 columns."""
    if as_json:
        print(_json(found), end="")
        return
    if quiet:
        return
    from rich.console import Console
    from rich.table import Table

    from unmet.cli._terminal import shown

    console = Console(highlight=False)
    console.print(
        f"{found.rows:,} rows, {found.censored:.0%} of them censored, {len(found.columns)} columns, "
        f"{found.folds} folds. Loss: {found.loss_name}, mean over {len(found.levels)} quantiles."
    )
    for note in found.notes:
        console.print(shown(note), style="dim")
    table = Table(box=None, header_style="bold", padding=(0, 1, 0, 0))
    table.add_column("\nmethod", no_wrap=True)
    span = found.levels[-1] - found.levels[0]
    names = ("\nloss", "above\nbest", "\n±", "log\nscore", f"cover\n{span:.0%}", "D-cal\np", "KM\ndist.")
    for name in (*names, "cross-\nings", "CPU\ns"):
        table.add_column(name, justify="right", no_wrap=True)
    for line in found.lines:
        table.add_row(*_cells(line), style="bold" if line.method == found.recommended else None)
    console.print(table)
    console.print(
        "\nLower losses, log scores and KM distances are better. ±: standard error of the difference to the "
        "best. Cover: share of latent values between the outer quantiles. D-cal: below 0.05 the predicted "
        "distributions do not hold. –: censoring hides the answer.",
        style="dim",
    )
    for line in found.lines:
        if line.note:
            console.print(f"{shown(line.method)}: {shown(line.note)}.", style="dim")
    for name, reason in found.left_out.items():
        console.print(f"Not compared: {shown(name)}, which {shown(reason)}.", style="dim")
    console.print(f"\n[bold]{shown(found.recommendation)}[/bold]")
    if found.code:
        # Code must not be wrapped, or it could not be pasted.
        console.print()
        for part in found.code.splitlines():
            console.print(f"    {shown(part)}", soft_wrap=True)
        console.print(
            "\nX: the columns to predict from. quantiles=(…) asks for other levels than 0.05, 0.5 and 0.95.",
            style="dim",
        )
    console.print(f"Written to {shown(files[0].parent)}: {', '.join(path.name for path in files)}")


def _cells(line: Line) -> tuple[str, ...]:
    from unmet.comparison import number

    best = line.above_best == 0
    return (
        line.method,
        number(line.loss),
        "best" if best else number(line.above_best),
        "" if best else number(line.error),
        f"{line.log_score:.2f}",
        "–" if line.coverage is None else f"{line.coverage:.0%}",
        "–" if line.d_calibration is None else f"{line.d_calibration:.2f}",
        "–" if line.km_distance is None else f"{line.km_distance:.3f}",
        f"{line.crossings:,}",
        f"{line.seconds:.1f}",
    )
