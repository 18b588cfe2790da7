"""What the Tab key offers inside a command: its options, and the values of those that have a few."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def choices_for(
    parameters: Sequence[Any], more: Mapping[str, Sequence[str]], before: Sequence[str], last: str
) -> list[str]:
    """Words that `last` may become after the words `before` of a command; nothing where a file may stand.

    Parameters
    ----------
    more : values by name of the parameter, for those whose placeholder does not list them.
    """
    options: dict[str, Any] = {}
    argument = None
    for parameter in parameters:
        if parameter.param_type_name == "option":
            options |= dict.fromkeys([*parameter.opts, *parameter.secondary_opts], parameter)
        elif argument is None:
            argument = parameter
    before = [word for word in before if word != "="]  # bash makes three words of --by=day
    last = "" if last == "=" else last
    opened, sign, value = last.partition("=")
    if sign and opened in options:
        return [f"{opened}={one}" for one in values_of(options[opened], more) if one.startswith(value)]
    asked = options.get(before[-1]) if before else None
    if asked is not None and not asked.is_flag:
        return [one for one in values_of(asked, more) if one.startswith(last)]
    if last.startswith("-"):
        return [name for name in (*options, "--help") if name.startswith("--") and name.startswith(last)]
    known = () if argument is None else values_of(argument, more)
    return [] if set(known) & set(before) else [one for one in known if one.startswith(last)]


def values_of(parameter: Any, more: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """The words that may stand for a parameter: the lower-case ones of a placeholder such as hour|day.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> values_of(SimpleNamespace(name="by", metavar="hour|day|INTERVAL"), {})
    ('hour', 'day')
    """
    if parameter.name in more:
        return tuple(more[parameter.name])
    listed = (parameter.metavar or "").split("|")
    return tuple(word for word in listed if word.islower()) if len(listed) > 1 else ()
