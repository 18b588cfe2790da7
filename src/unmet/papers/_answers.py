"""What a step of a reproduction writes: tables and findings as Markdown, cells as CSV and JSON."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from unmet.papers._cells import Cell, to_csv, to_json
from unmet.papers._tables import Table, to_markdown


@dataclass(frozen=True)
class Check:
    """A statement that a table was meant to show, what was found, and whether it holds."""

    statement: str
    found: str
    holds: bool


@dataclass(frozen=True)
class Answer:
    """The texts that a step wrote, by name, and what a terminal should show of them."""

    title: str
    names: tuple[str, ...]
    tables: Sequence[Table] = ()
    checks: Sequence[Check] = ()


def write_answer(
    folder: Path,
    name: str,
    tables: Sequence[Table],
    checks: Sequence[Check],
    *,
    before: str,
    after: str = "",
    cells: Sequence[Cell] | None = None,
) -> None:
    """Write `name.md` with the tables between two texts, and the cells, if any, as CSV and JSON."""
    findings = ((check.statement, check.found, "yes" if check.holds else "**no**") for check in checks)
    found = Table("", ("to show", "found", "holds"), tuple(findings), 3)
    write_text(folder / f"{name}.md", f"{before}\n\n{to_markdown(tables)}\n{to_markdown([found])}{after}")
    if cells is not None:
        write_text(folder / f"{name}.csv", to_csv(cells))
        write_text(folder / f"{name}.json", to_json(cells))


def write_text(path: Path, text: str) -> None:
    from unmet.runs import write_bytes

    path.parent.mkdir(parents=True, exist_ok=True)
    write_bytes(path, text.encode())
