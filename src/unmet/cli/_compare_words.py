"""What `unmet compare` writes and prints: a table, a figure, what was left out, a recommendation."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from unmet.comparison import Comparison, Line

Column: TypeAlias = "tuple[str, list[str]]"  # the name, and a cell of each line
METHOD, LOG_SCORE, COVER, D_CAL = "\nmethod", "log\nscore", "cover", "D-cal\np"
KM, CROSSINGS, CPU = "KM\ndist.", "cross-\nings", "CPU\ns"
_MOST_NAMES = 20
# Arguments that notes name; a command has options instead.
_OPTIONS = {name: f"--{name}" for name in ("threshold", "censored", "event", "side")}


def write(found: Comparison, folder: Path, name: str) -> list[Path]:
    """Write the comparison as CSV, JSON and, if Matplotlib is there, as a figure with the table's name."""
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
            figure = new_figure(7, 1.5 + 0.35 * len(found.lines))
            found.plot(figure.subplots(), name)
            return figure

        paths += save_figures(folder, {"comparison": draw})
    except MissingExtraError:
        return paths
    return paths


def _json(found: Comparison) -> str:
    return json.dumps(found.to_dict(), indent=1, ensure_ascii=False) + "\n"


def tell(found: Comparison, files: list[Path], *, as_json: bool, quiet: bool) -> None:
    """Print the comparison, in as many columns as the terminal has room for."""
    if as_json:
        print(_json(found), end="")
        return
    if quiet:
        return
    from rich.console import Console
    from rich.table import Table

    from unmet.cli._errors import in_options
    from unmet.cli._terminal import shown

    console = Console(highlight=False)
    console.print(f"{found.about()}. Loss: {found.loss_words()}.")
    console.print(f"Columns: {shown(_listed(found.columns))}.", style="dim")
    for note in found.notes:
        console.print(shown(in_options(note, _OPTIONS)), style="dim")
    columns, hidden = _fitting(_columns(found), console.width)
    table = Table(box=None, header_style="bold", padding=(0, 1, 0, 0))
    for name, _ in columns:
        table.add_column(name, justify="left" if name == METHOD else "right", no_wrap=True)
    for place, line in enumerate(found.lines):
        cells = [shown(cells[place]) for _, cells in columns]
        table.add_row(*cells, style="bold" if line.method == found.recommended else None)
    # Wider than the terminal if need be: a number that is cut is a different number.
    Console(highlight=False, width=max(console.width, _width(columns))).print(table)
    console.print("\n" + _legend([name for name, _ in columns], hidden), style="dim")
    for line in found.lines:
        if line.note:
            console.print(f"{shown(line.method)}: {shown(line.note)}.", style="dim")
    for name, reason in found.left_out.items():
        console.print(f"Not compared: {shown(name)}, which {shown(reason)}.", style="dim")
    console.print(f"\n[bold]{shown(found.recommendation)}[/bold]")
    for caution in found.cautions:
        console.print(shown(in_options(caution, _OPTIONS)))
    if found.code:
        # Code must be neither indented nor wrapped, or it could not be pasted.
        console.print()
        for part in found.code.splitlines():
            console.print(shown(part), soft_wrap=True)
        console.print(
            "\nquantiles=(…) asks for other levels than 0.05, 0.5 and 0.95.",
            style="dim",
        )
    console.print(f"Written to {shown(files[0].parent)}: {', '.join(path.name for path in files)}")


def _listed(names: Sequence[str]) -> str:
    """Return the names of columns; those of the groups of one text column are one name."""
    groups = Counter(name.split(" = ", 1)[0] for name in names if " = " in name)
    one_each: dict[str, None] = {}
    for name in names:
        column = name.split(" = ", 1)[0]
        many = groups[column] if " = " in name else 0
        one_each[f"{column} ({many + 1} groups)" if many > 1 else name] = None
    names = list(one_each)
    more = len(names) - _MOST_NAMES
    return ", ".join(names[:_MOST_NAMES]) + (f" and {more} more" if more > 0 else "")


def _columns(found: Comparison) -> list[Column]:
    """Return the columns of the table, each with one cell per line."""

    def cells(text: Callable[[Line], str]) -> list[str]:
        return [text(line) for line in found.lines]

    def known(value: float | None, form: str) -> str:
        return "–" if value is None else format(value, form)

    losses, above, errors = found.loss_columns()
    is_best = [not line.above_best for line in found.lines]
    span = found.levels[-1] - found.levels[0]
    return [
        (METHOD, cells(lambda line: line.method)),
        ("\nloss", losses),
        ("above\nbest", ["best" if best else text for best, text in zip(is_best, above, strict=True)]),
        ("\n±", ["" if best else text for best, text in zip(is_best, errors, strict=True)]),
        (LOG_SCORE, cells(lambda line: f"{line.log_score:.2f}")),
        (f"{COVER}\n{span:.0%}", cells(lambda line: known(line.coverage, ".0%"))),
        (D_CAL, cells(lambda line: known(line.d_calibration, ".2f"))),
        (KM, cells(lambda line: known(line.km_distance, ".3f"))),
        (CROSSINGS, cells(lambda line: f"{line.crossings:,}")),
        (CPU, cells(lambda line: f"{line.seconds:.1f}")),
    ]


def _fitting(columns: list[Column], width: int) -> tuple[list[Column], list[str]]:
    """Return the columns that fit into a terminal, the most telling ones, and the names of the others."""
    hidden = []
    for start in (CROSSINGS, KM, CPU, D_CAL, COVER, LOG_SCORE):
        if _width(columns) <= width:
            break
        hidden += [name for name, _ in columns if name.startswith(start)]
        columns = [column for column in columns if not column[0].startswith(start)]
    return columns, [_one_line(name) for name in hidden]


def _one_line(name: str) -> str:
    return name.replace("-\n", "").replace("\n", " ").strip()


def _width(columns: list[Column]) -> int:
    return sum(1 + max(len(text) for text in (*name.split("\n"), *cells)) for name, cells in columns)


def _legend(names: list[str], hidden: list[str]) -> str:
    """Return what the columns mean that are shown, and which are not."""
    lower = [
        "losses",
        *(["log scores"] if LOG_SCORE in names else []),
        *(["KM distances"] if KM in names else []),
    ]
    listed = lower[0] if len(lower) == 1 else f"{', '.join(lower[:-1])} and {lower[-1]}"
    words = [f"Lower {listed} are better. ±: standard error of the difference to the best."]
    if any(name.startswith(COVER) for name in names):
        words.append("Cover: share of latent values between the outer quantiles.")
    if D_CAL in names:
        words.append("D-cal: below 0.05 the predicted distributions do not hold.")
    words.append("–: censoring hides the answer.")
    if hidden:
        words.append(f"Not shown in so narrow a window: {', '.join(hidden)}; comparison.csv has them.")
    return " ".join(words)
