"""Reference pages of the command line, from the Typer application itself."""

from __future__ import annotations

import re
from typing import Any

from unmet.cli._app import COMMANDS, application

_MARKUP = re.compile(r"([*_<>\[\]])")
_OPTION = re.compile(r"(?<![\w-])(--[a-z][a-z-]*)")


def command_pages() -> dict[str, str]:
    """Return a Markdown page for every command, and one that lists them."""
    app = application()
    context = app.make_context("unmet", [], resilient_parsing=True)
    lines = [f"| [`unmet {name}`]({name}.md) | {meaning} |" for name, meaning in COMMANDS.items()]
    tree = "\n".join(COMMANDS)
    pages = {
        "index": "# Commands\n\n"
        "`unmet COMMAND --help` prints the same in the terminal. `--config FILE.toml` may hold any option, "
        "and `unmet --version` shows the version. "
        "Exit codes: 0 done, 1 bad input, 2 wrong usage, 130 interrupted, 143 terminated.\n\n"
        "| command | what it does |\n|---|---|\n" + "\n".join(lines) + "\n\n"
        f"```{{toctree}}\n:hidden:\n\n{tree}\n```\n"
    }
    for name in COMMANDS:
        pages[name] = _page(name, app.get_command(context, name), context)
    return pages


def _page(name: str, command: Any, parent: Any) -> str:
    context = command.make_context(name, [], parent=parent, resilient_parsing=True)
    groups: dict[str, list[tuple[str, str]]] = {}
    for one in command.get_params(context):
        if one.param_type_name == "argument":
            metavar = one.metavar or one.name.upper()
            groups.setdefault("Arguments", []).append((metavar, getattr(one, "help", None) or ""))
        elif (record := one.get_help_record(context)) is not None:
            groups.setdefault(getattr(one, "rich_help_panel", None) or "General", []).append(record)
    usage = " ".join(command.collect_usage_pieces(context))
    parts = [f"# unmet {name}", f"```text\nunmet {name} {usage}\n```", _paragraphs(command.help or "")]
    for title, rows in groups.items():
        what = "argument" if title == "Arguments" else "option"
        table = "\n".join(f"| `{_cell(names)}` | {_escaped(text)} |" for names, text in rows)
        parts.append(f"## {title}\n\n| {what} | meaning |\n|---|---|\n{table}")
    if command.epilog:
        example = " ".join(command.epilog.split()).removeprefix("Example:").strip()
        parts.append(f"## Example\n\n```text\n{example}\n```")
    return "\n\n".join(parts) + "\n"


def _paragraphs(text: str) -> str:
    return "\n\n".join(_escaped(" ".join(block.split())) for block in text.replace("\f", "").split("\n\n"))


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _escaped(text: str) -> str:
    """Return plain text as Markdown: options as code, and signs that would be markup escaped, code aside."""
    pieces = _cell(text).split("`")
    pieces[::2] = [_OPTION.sub(r"`\1`", _MARKUP.sub(r"\\\1", one)) for one in pieces[::2]]
    return "`".join(pieces)
