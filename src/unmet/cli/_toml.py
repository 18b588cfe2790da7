"""Options from a TOML file: defaults of a command, each checked with its file and key named."""

from __future__ import annotations

from datetime import date
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import typer


def read_toml(context: typer.Context, value: Path | None) -> Path | None:
    """Take the options of a TOML file as defaults; those of the command line win."""
    if value is None:
        return None
    import tomllib

    try:
        found: dict[str, Any] = tomllib.loads(value.read_text(encoding="utf-8"))
    except OSError as error:
        raise typer.BadParameter(f"{value}: {error.strerror}") from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise typer.BadParameter(f"{value} is not TOML: {error}") from None
    known = {}
    for parameter in context.command.params:
        if parameter.name is not None and parameter.name != "config":
            known[parameter.name] = parameter
            for option in parameter.opts:
                known[option.lstrip("-").replace("-", "_")] = parameter
    chosen = {}
    for key, setting in found.items():
        meant: Any = known.get(key.replace("-", "_"))
        if meant is None:
            near = get_close_matches(key.replace("-", "_"), known, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise typer.BadParameter(f"{value} has {key!r}, which is no option{hint}")
        chosen[meant.name] = _setting(meant, setting, f"{value}: {key}")
    context.default_map = {**(context.default_map or {}), **chosen}
    return value


def _setting(parameter: Any, setting: Any, name: str) -> Any:
    """A value as the command line would give it."""
    if getattr(parameter, "is_flag", False):
        if not isinstance(setting, bool):
            raise typer.BadParameter(f"{name} must be true or false, not {_kind(setting)}")
        return setting
    if getattr(parameter, "multiple", False) or parameter.nargs == -1:
        return [_word(one, name) for one in (setting if isinstance(setting, list) else [setting])]
    return _word(setting, name)


def _word(setting: Any, name: str) -> str:
    if isinstance(setting, bool) or not isinstance(setting, str | int | float | date):
        raise typer.BadParameter(f"{name} must be one text or number, not {_kind(setting)}")
    return setting.isoformat() if isinstance(setting, date) else str(setting)


def _kind(setting: Any) -> str:
    kinds = {dict: "a table", list: "a list", str: "a text", bool: "true or false"}
    return kinds.get(type(setting), repr(setting))
