"""Help of a command in plain text that fits any terminal from 30 columns on."""

from __future__ import annotations

import shutil
import textwrap
from pathlib import PurePath
from typing import Any

from typer.core import TyperCommand

_WIDEST, _LEAST = 100, 30
# Below this many columns the text of an option stands under its name, not beside it.
_BESIDE = 56


class PlainCommand(TyperCommand):
    """A command whose help is written here, not by Typer: its boxes cut off names in a narrow terminal."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        formatter.write(help_text(self, ctx) + "\n")


def terminal_width() -> int:
    """Columns to write in."""
    return max(_LEAST, min(_WIDEST, shutil.get_terminal_size().columns))


def help_text(command: Any, ctx: Any) -> str:
    """Usage, description, arguments, options and the example of a command."""
    width = terminal_width()
    parameters = command.get_params(ctx)
    arguments = [one for one in parameters if one.param_type_name == "argument"]
    usage = " ".join([ctx.command_path, *(_placeholder(one) for one in arguments), "[OPTIONS]"])
    blocks = [_wrapped(f"Usage: {usage}", width, "  ")]
    blocks += [_wrapped(" ".join(part.split()), width) for part in (command.help or "").split("\n\n")]
    blocks.append(_section("Arguments", [(_placeholder(one), one.help or "") for one in arguments], width))
    options = [one for one in parameters if one.param_type_name == "option"]
    blocks.append(_section("Options", [(_names(one), _text(one)) for one in options], width))
    blocks.append(_wrapped(command.epilog or "", width, "  "))
    return "\n\n".join(block for block in blocks if block)


def _section(title: str, rows: list[tuple[str, str]], width: int) -> str:
    if not rows:
        return ""
    lines = [f"{title}:"]
    room = min(30, 4 + max(len(names) for names, _ in rows))
    for names, text in rows:
        if width < _BESIDE:
            lines += [_wrapped(f"  {names}", width, "    "), _wrapped(f"      {text}", width, "      ")]
        elif len(names) + 4 > room:
            lines += [f"  {names}", _wrapped(" " * room + text, width, " " * room)]
        else:
            lines.append(_wrapped(f"  {names}".ljust(room) + text, width, " " * room))
    return "\n".join(lines)


def _names(option: Any) -> str:
    """All names of an option, and what follows it."""
    names = ", ".join(sorted(option.opts, key=len))
    if option.secondary_opts:
        names += f" / {', '.join(option.secondary_opts)}"
    return names if option.is_flag else f"{names} {_placeholder(option)}"


def _placeholder(parameter: Any) -> str:
    return parameter.metavar or str(parameter.name).upper()


def _text(option: Any) -> str:
    """What an option does, where it may come from, and what holds without it."""
    notes = [f"env: {option.envvar}"] if option.envvar else []
    default = option.default
    if option.is_flag:
        if option.secondary_opts:
            notes.append(f"default: {(option.opts if default else option.secondary_opts)[0]}")
    elif isinstance(default, str | int | float | PurePath):
        notes.append(f"default: {default}")
    if option.required:
        notes.append("required")
    return f"{option.help or ''} [{'; '.join(notes)}]" if notes else option.help or ""


def _wrapped(text: str, width: int, indent: str = "") -> str:
    """Lines of at most `width`; options keep their hyphens together, long words are cut as a last resort."""
    return textwrap.fill(text, width, subsequent_indent=indent, break_on_hyphens=False)
