"""Lay out cells as tables: Markdown for files, rich for the terminal."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from unmet.papers._cells import PUBLISHED, Cell

DATA_NAMES = {
    "gaussian": "Standard Gaussian",
    "heteroskedastic": "Heteroskedastic",
    "mixture": "Gaussian Mixture",
    "skewed-right": "Skewed right",
    "skewed-left": "Skewed left",
    "student": "Student, 3 degrees",
    "skewed-heteroskedastic": "Skewed, heteroskedastic",
    "varying-shape": "Shape varies with x",
    # Shares of the fleet that are removed.
    **{f"{share:g}": f"α = {share:.0%}" for share in (0.0, 0.1, 0.2, 0.3, 0.4)},
}
_ROWS = {
    "all": "all rows",
    "non-censored": "only non-censored, as the paper counts them",
    "observed": "only rows that are not censored",
}
# Digits after the point: of a mean, of the spread of our runs, of a published spread. As many as the paper
# prints, or more for our own spreads.
_DIGITS = {
    "% zero": (1, 2, 1),
    "ICP": (2, 2, 1),
    "MIL": (2, 2, 1),
    "tilted loss": (2, 2, 1),
    "crosses": (1, 2, 1),
    "crosses, ties not counted": (1, 2, 1),
    ("table5", "ICP"): (3, 3, 1),
    ("table5", "MIL"): (0, 0, 0),
    ("table5", "CL"): (3, 3, 1),
}
_OTHERS = (3, 2, 1)


@dataclass(frozen=True)
class Table:
    """A table of text, with as many leading columns of labels as `labels` says."""

    title: str
    head: tuple[str, ...]
    lines: tuple[tuple[str, ...], ...]
    labels: int


def lay_out(
    cells: Iterable[Cell],
    sections: Sequence[str],
    lines: Sequence[str],
    columns: Sequence[str],
    *,
    spread: bool = True,
) -> list[Table]:
    """Return one table per section; lines in the order in which they first appear, columns by their data.

    Without `spread`, means are shown without their standard deviations.
    """
    grouped: dict[str, dict[tuple[str, ...], dict[str, str]]] = {}
    heads: dict[str, dict[str, int]] = {}
    order_of = {name: place for place, name in enumerate(DATA_NAMES)}
    for cell in cells:
        section = ", ".join(_say(cell, name) for name in sections)
        line = tuple(_say(cell, name) for name in lines)
        column = ", ".join(_say(cell, name) for name in columns)
        grouped.setdefault(section, {}).setdefault(line, {})[column] = show_number(cell, spread=spread)
        heads.setdefault(section, {})[column] = order_of[cell.data] if "data" in columns else 0
    tables = []
    for section, found in grouped.items():
        head = sorted(heads[section], key=heads[section].__getitem__)
        order = _grouped(list(found))
        text = tuple((*line, *(found[line].get(column, "–") for column in head)) for line in order)
        names = tuple({"theta": "θ"}.get(name, name) for name in lines)
        tables.append(Table(section, (*names, *head), text, len(names)))
    return tables


def _grouped(lines: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Bring lines of equal first label together, otherwise in the order given."""
    first = list(dict.fromkeys(line[0] for line in lines))
    return sorted(lines, key=lambda line: first.index(line[0]))


def _say(cell: Cell, name: str) -> str:
    value = getattr(cell, name)
    if name == "data":
        return DATA_NAMES[value] + (
            " (corrected truth)" if value == "mixture" and cell.truth == "corrected" else ""
        )
    if name == "rows":
        return _ROWS[value]
    return value


def show_number(cell: Cell, *, spread: bool = True) -> str:
    """Return mean ± standard deviation."""
    digits = _DIGITS.get((cell.table, cell.measure), _DIGITS.get(cell.measure, _OTHERS))
    text = f"{cell.mean:.{digits[0]}f}"
    if cell.sd is None or not spread:
        return text
    return f"{text} ± {cell.sd:.{digits[2 if cell.block == PUBLISHED else 1]}f}"


def to_markdown(tables: Sequence[Table]) -> str:
    """Return the tables one after the other; all but the first are folded away under their titles."""
    parts = []
    for index, table in enumerate(tables):
        title = table.title[:1].upper() + table.title[1:]
        if index:
            parts.append(f"<details><summary>{title}</summary>\n")
        elif title:
            parts.append(f"**{title}**\n")
        rule = ["---"] * table.labels + ["---:"] * (len(table.head) - table.labels)
        lines = [table.head, tuple(rule), *table.lines]
        rows = ("| " + " | ".join(text.replace("|", "\\|") for text in line) + " |" for line in lines)
        parts.append("\n".join(rows) + "\n")
        if index:
            parts.append("</details>\n")
    return "\n".join(parts)


def show(table: Table, title: str) -> None:
    """Print the table with rich; groups of lines are set apart, and labels are not repeated."""
    from rich.console import Console
    from rich.table import Table as RichTable

    text = RichTable(title=title, title_justify="left", header_style="bold")
    for index, name in enumerate(table.head):
        text.add_column(name, justify="left" if index < table.labels else "right")
    before: tuple[str, ...] = ()
    for index, line in enumerate(table.lines):
        same = 0
        while same < table.labels - 1 and line[: same + 1] == before[: same + 1]:
            same += 1
        following = table.lines[index + 1 : index + 2]
        ends = table.labels > 1 and bool(following) and following[0][0] != line[0]
        text.add_row(*("" for _ in line[:same]), *line[same:], end_section=ends)
        before = line
    Console(highlight=False).print(text)
