"""`--config FILE.toml`: default values for the options of a command, checked key by key."""

from __future__ import annotations

from datetime import date
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import typer

_MOST_BYTES = 2**20


def read_toml(context: typer.Context, value: Path | None) -> Path | None:
    """Take the options in a TOML file as defaults; options on the command line win."""
    if value is None:
        return None
    import tomllib

    from unmet.runs import read_regular

    try:
        text = read_regular(value, _MOST_BYTES)
    except OSError as error:
        raise typer.BadParameter(f"{value}: {error.strerror}") from None
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    try:
        found: dict[str, Any] = tomllib.loads(text.decode("utf-8"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise typer.BadParameter(f"{value} is not TOML: {error}") from None
    except RecursionError:
        raise typer.BadParameter(f"{value} is not TOML: nested too deeply") from None
    known: dict[str, Any] = {}
    for parameter in context.command.params:
        if parameter.name != "config":
            names = (parameter.name or "", *(option.lstrip("-") for option in parameter.opts))
            known |= {name.replace("-", "_"): parameter for name in names}
    chosen = {}
    for key, setting in found.items():
        meant = known.get(key.replace("-", "_"))
        if meant is None:
            near = get_close_matches(key.replace("-", "_"), known, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise typer.BadParameter(f"{value}: {key!r} is not an option{hint}")
        chosen[meant.name] = _as_typed(meant, setting, f"{value}: {key}")
    context.default_map = {**(context.default_map or {}), **chosen}
    return value


def _as_typed(parameter: Any, setting: Any, name: str) -> Any:
    """Return a value as the command line would give it: true or false for flags, else text."""
    if getattr(parameter, "is_flag", False):
        if not isinstance(setting, bool):
            raise typer.BadParameter(f"{name} must be true or false, got {setting!r}")
        return setting
    if getattr(parameter, "multiple", False) or parameter.nargs == -1:
        return [_text(one, name) for one in (setting if isinstance(setting, list) else [setting])]
    if isinstance(setting, list) and "," in (parameter.metavar or ""):  # an option that takes NAME,…
        return ",".join(_text(one, name) for one in setting)
    return _text(setting, name)


def _text(setting: Any, name: str) -> str:
    if isinstance(setting, bool) or not isinstance(setting, str | int | float | date):
        raise typer.BadParameter(f"{name} must be one text or number, got {setting!r}")
    return setting.isoformat() if isinstance(setting, date) else str(setting)
