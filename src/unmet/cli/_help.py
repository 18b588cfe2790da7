"""How a command reads its words and lays out its help: plain text for any terminal from 30 columns on."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import typer
from typer.core import TyperCommand

from unmet.cli._errors import one_line

# Where less width than this is left beside the names of a group, texts go under the names.
_LEAST = 24


def columns() -> int:
    """Return the width to write in."""
    return max(30, min(100, shutil.get_terminal_size().columns))


class PlainFormatter(typer.Context.formatter_class):  # type: ignore[valid-type, misc]
    """Typer's plain formatter, except that it fits narrow terminals and keeps hyphenated names whole."""

    def write_text(self, text: str) -> None:
        indent = " " * self.current_indent
        blocks = [_fill(block, self.width, indent, indent) for block in text.split("\n\n")]
        self.write("\n\n".join(blocks) + "\n")

    def write_dl(self, rows: Sequence[tuple[str, str]], col_max: int = 28, col_spacing: int = 2) -> None:
        longest = min(col_max, max(len(names) for names, _ in rows))
        beside = self.width - self.current_indent - longest - col_spacing >= _LEAST
        indent = " " * (self.current_indent + (longest + col_spacing if beside else 4))
        for names, text in rows:
            first = " " * self.current_indent + names
            if not beside or len(names) > longest:
                self.write_text(names)
                first = indent
            self.write((_fill(text, self.width, first.ljust(len(indent)), indent) or first) + "\n")


def _fill(text: str, width: int, first: str, rest: str) -> str:
    text = " ".join(text.split())
    return textwrap.fill(text, width, initial_indent=first, subsequent_indent=rest, break_on_hyphens=False)


class HelpContext(typer.Context):
    """A context that formats help as above."""

    formatter_class = PlainFormatter


class Command(TyperCommand):
    """A Typer command with grouped options, lists of files as a shell writes them, and one-line errors."""

    context_class = HelpContext

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        lists = [one for one in self.params if getattr(one, "multiple", False) and one.metavar == "FILE…"]
        paths = [name for one in self.params if _is_path(one) for name in one.opts]
        for before, value in pairwise(["", *args]):
            # What an unset variable of the shell leaves. It would mean the folder that one is in.
            if value == "" and (before in paths or not before.startswith("-")):
                raise typer.BadParameter("an empty path: name a file or folder", ctx=ctx)
        try:
            return super().parse_args(ctx, spread(args, [name for one in lists for name in one.opts]))
        except typer.TyperException as error:
            wrong: Any = error
            wrong.ctx = getattr(wrong, "ctx", None) or ctx  # else the error would name no command
            raise

    def invoke(self, ctx: Any) -> Any:
        with one_line(ctx):
            return super().invoke(ctx)

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        return [*(_metavar(one) for one in self.params if one.param_type_name == "argument"), "[OPTIONS]"]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write arguments, then options by group, in the order in which the groups first appear."""
        groups: dict[str, list[tuple[str, str]]] = {}
        for one in self.get_params(ctx):
            if one.param_type_name == "argument":
                groups.setdefault("Arguments", []).append((_metavar(one), getattr(one, "help", None) or ""))
            elif (record := one.get_help_record(ctx)) is not None:
                title = getattr(one, "rich_help_panel", None) or "General"
                groups.setdefault(title, []).append(record)
        for title, rows in groups.items():
            with formatter.section(title):
                formatter.write_dl(rows)


def _is_path(parameter: Any) -> bool:
    return any(word in str(parameter.metavar) for word in ("FILE", "DIR"))


def _metavar(argument: Any) -> str:
    return argument.metavar or argument.name.upper()


def spread(arguments: Sequence[str], lists: Sequence[str]) -> list[str]:
    """Repeat each option of `lists` before every value that follows it, as a shell expands a pattern.

    Examples
    --------
    >>> spread(["a.csv", "--status", "1.json", "2.json", "-o", "out"], ["--status"])
    ['a.csv', '--status', '1.json', '--status', '2.json', '-o', 'out']
    """
    found: list[str] = []
    option: str | None = None
    for argument in arguments:
        if argument.startswith("-") and argument != "-":
            option = argument if argument in lists else None
        elif option is not None and found[-1] != option:
            found.append(option)
        found.append(argument)
    return found
