"""Messages of the library in the words of the command line: options in the stead of arguments."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

# Arguments of the library whose option has another name.
_OTHER_NAMES = {
    "memory_limit": "memory",
    "h3_resolution": "cells",
    "networks": "network",
    "n_jobs": "jobs",
    "allow_hosts": "allow-host",
}
# Sayings that only Python understands, by what to type instead.
_SAYINGS = (
    (re.compile(r"columns=\{'start': …, 'station': …\}"), "--columns start=…,station=…"),
    (re.compile(r"columns=\{'start': …\}"), "--columns start=…"),
    (re.compile(r"as in \{'start': 'Departure'\}"), "as in --columns start=Departure"),
    (re.compile(r"give coordinates and places='h3'"), "give coordinates and --cells 8"),
    (re.compile(r"use places='station'"), "leave --cells out"),
    (re.compile(r"places='h3'"), "--cells"),
    (re.compile(r"weather_keep, for instance \{'(\w+)': '(\w+)'\}"), r"--weather-keep \1=\2"),
    (re.compile(r"weather_keep=\{'([^']*)': '([^']*)'\}"), r"--weather-keep \1=\2"),
    (re.compile(r"hubs=(?=\d)"), "--hubs "),
    (re.compile(r"map the station column"), "name the station column with --columns station=…"),
    (re.compile(r"\bpanel names no zone: .*"), "panel names no zone: build it with `unmet panel --zone …`"),
    (re.compile(r"read a stations file, or give a list of hubs"), "give --stations, or --hubs FILE"),
    (re.compile(r" \(max_bytes\)"), ""),
    (re.compile(r"Out of Memory Error:.*", re.S), "the database needs more memory than --memory allows"),
    (re.compile(r", or pass never_available='keep'"), ""),
)
# What Typer says of values, by what people say.
_OF_VALUES = (
    (re.compile(r"Input should be a valid integer.*"), "it must be a whole number"),
    (re.compile(r"Input should be a valid number.*"), "it must be a number"),
    (re.compile(r"Input should be greater than or equal to"), "it must be at least"),
    (re.compile(r"Input should be less than or equal to"), "it must be at most"),
    (re.compile(r"\(Possible options: (.*)\)"), r"(did you mean \1?)"),
)
# Before a name: nothing that makes it part of an option, a path, a quoted text or another word.
_START = r"(?<![\w./'\"`{-])"


def in_options(message: str, options: Iterable[str]) -> str:
    """A message about arguments as one about `options`, which are the names of parameters of a command.

    Examples
    --------
    >>> in_options("zone='Mars' is not a time zone", ["zone"])
    "--zone 'Mars' is not a time zone"
    >>> in_options("max_gap must be positive", ["max_gap"])
    '--max-gap must be positive'
    """
    for python, typed in _SAYINGS:
        message = python.sub(typed, message)
    known = {name: name for name in options}
    known |= {name: other for name, other in _OTHER_NAMES.items() if other.replace("-", "_") in known}
    for name, option in known.items():
        typed = f"--{option.replace('_', '-')}"
        message = re.sub(rf"{_START}{name}=(?=\S)", f"{typed} ", message)
        message = re.sub(rf"{_START}{name}=", typed, message)
        if "_" in name:  # no word of prose looks like this
            message = re.sub(rf"{_START}{name}(?![\w./])", typed, message)
        else:
            message = re.sub(rf"^{name}(?= must | has unknown |: | names )", typed, message)
    return message


def with_folder(words: str, folder: Any) -> str:
    """Commands that a message advises, with the folder of the run that they are about.

    Examples
    --------
    >>> with_folder("it is damaged; fit again with `unmet fit`", "out")
    'it is damaged; fit again with `unmet fit out`'
    """
    return (
        words
        if folder is None
        else re.sub(r"`unmet (fit|forecast|plan|report)`", rf"`unmet \1 {folder}`", words)
    )


def usage_line(wrong: Any) -> str:
    """What is wrong with the words of a command, in one line; `wrong` is what Typer's parser raised.

    A value that came from a TOML file is told with the file and its key.
    """
    words = " ".join(str(wrong.format_message()).split()).rstrip(".")
    words = words[:1].lower() + words[1:]
    for machine, people in _OF_VALUES:
        words = machine.sub(people, words)
    context: Any = getattr(wrong, "ctx", None)
    name = getattr(getattr(wrong, "param", None), "name", None)
    if context is not None and name is not None:
        source = getattr(context.get_parameter_source(name), "name", "")
        if source == "DEFAULT_MAP" and context.params.get("config") is not None:
            words = f"{context.params['config']}: {words}"
    return words


def from_file(words: str, options: Mapping[str, Any]) -> str:
    """Where the option that a message begins with comes from, if that is a TOML file."""
    config = options.get("config")
    if config is None or not words.startswith("--"):
        return ""
    import tomllib

    name = re.split(r"[ :=]", words[2:])[0]
    keys = tomllib.loads(config.read_text(encoding="utf-8"))
    found = [key for key in keys if key.replace("_", "-") == name]
    return f" ({config}: {found[0]})" if found else ""
