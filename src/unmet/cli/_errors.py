"""Errors and warnings of a command, each in one line.

The library names Python arguments in its errors; a command shows its options instead, by one rule. The name
of an argument counts as one if it is written as a keyword ("give weather= too"), has an underscore
("max_gap") or begins the sentence ("zone must be …"). Nothing else in a message changes.
"""

from __future__ import annotations

import errno
import os
import re
import shlex
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from typing import Any

import typer

from unmet.cli._signals import stopping
from unmet.cli._terminal import printable

# Arguments of the library whose option has a different name.
OPTIONS = {
    "allow_hosts": "--allow-host",
    "h3_resolution": "--cells",
    "max_rows": "--rows",
    "memory_limit": "--memory",
    "n_jobs": "--jobs",
    "networks": "--network",
}
# A name, alone or as a keyword with its value, that is not part of a path, a quoted text or a longer word.
_NAME = re.compile(r"(?<![\w./'\"`{-])(?P<name>\w+)(?:(?P<keyword>=)(?P<value>True\b|\S?)|(?![\w./=]))")


def in_options(message: str, options: Mapping[str, str]) -> str:
    """Return a message about arguments as one about the `options` of a command, by name of the argument.

    Examples
    --------
    >>> in_options("zone='Mars' is not a time zone", {"zone": "--zone"})
    "--zone 'Mars' is not a time zone"
    >>> in_options("h3_resolution must be a whole number", {"h3_resolution": "--cells"})
    '--cells must be a whole number'
    """

    def typed(found: re.Match[str]) -> str:
        name, rest = found["name"], message[found.end() :]
        first = found.start() == 0 and rest.startswith((" must ", " has ", ": "))
        if name not in options or not (found["keyword"] or "_" in name or first):
            return found[0]
        value = found["value"] if found["value"] != "True" else ""
        return f"{options[name]} {value}" if value else options[name]

    return _NAME.sub(typed, message)


@contextmanager
def one_line(context: Any) -> Iterator[None]:
    """Tell bad input, lack of memory, interrupts and warnings in one line each; let our own bugs through."""
    quiet = bool(context.params.get("quiet"))

    def say(words: str) -> None:
        print(f"{context.command_path}: {printable(' '.join(words.splitlines()))}", file=sys.stderr)

    def tell(message: Warning | str, *more: Any) -> None:
        if not quiet and not stopping():
            say(f"warning: {in_options(str(message), _options_of(context))}")

    with warnings.catch_warnings(), _no_progress() if quiet else nullcontext():
        warnings.showwarning = tell  # type: ignore[assignment]
        try:
            from unmet.runs import naming_extras

            with naming_extras():
                yield
        except BrokenPipeError:
            raise  # the reader has gone: Typer ends quietly
        except Exception as problem:
            words = None if stopping() else _words(problem, context)
            if words is None:
                raise
            say(words)
            raise typer.Exit(1) from None


def usage_line(wrong: Any) -> str:
    """Return what Typer's parser refused as one line; a value from a TOML file is told with that file."""
    words = " ".join(wrong.format_message().replace("Value error, ", "").split()).rstrip(".")
    words = words[:1].lower() + words[1:]
    path = "unmet" if wrong.ctx is None else wrong.ctx.command_path
    return f"{path}: {_config_of(wrong.ctx, getattr(wrong, 'param', None))}{words} (see {path} --help)"


def _no_progress() -> Any:
    from unmet.runs import no_progress

    return no_progress()


def _words(problem: Exception, context: Any) -> str | None:
    """Return what to tell about a problem; None if it is a bug."""
    from unmet.runs import MissingExtraError

    if isinstance(problem, KeyError):
        return (
            f"a file of the run lacks {problem}: it is damaged or belongs to a different run; "
            "repeat the step that writes it."
        )
    if isinstance(problem, MemoryError):
        return f"not enough memory ({problem or 'none is left'}); use less data or a larger machine."
    if _database_memory(problem):
        return "the database needs more memory than --memory allows; raise it."
    if _disk_is_full(problem):
        return "the disk is full, where results are written or in the temporary folder (TMPDIR); make room."
    if isinstance(problem, MissingExtraError):
        return str(problem)
    if (
        not isinstance(problem, ValueError | OSError)
        and not _of_database(problem)
        and not _of_worker(problem)
    ):
        return None
    words = in_options(getattr(problem, "problem", None) or str(problem), _options_of(context))
    words += _remedy(problem, context)
    folder = context.params.get("folder")
    if folder is not None:  # the library does not know which folder its model came from
        words = re.sub(r"`unmet (fit|forecast|plan|report)`", rf"`unmet \1 {folder}`", words)
    return _config_of(context, _parameters(context).get(words.split(" ")[0])) + words


def _parameters(context: Any) -> dict[str, Any]:
    """Return the options of a command as people type them."""
    return {one.opts[0]: one for one in context.command.params if one.param_type_name == "option"}


def _options_of(context: Any) -> dict[str, str]:
    """Return the option for each argument of the library that a command takes."""
    parameters = _parameters(context)
    options = {one.name: option for option, one in parameters.items()}
    return options | {name: option for name, option in OPTIONS.items() if option in parameters}


def _remedy(problem: Exception, context: Any) -> str:
    """Return the command line that would read a file whose layout is unknown; nothing for other problems."""
    arguments = context.find_root().obj
    columns = getattr(problem, "remedy", None)
    if not columns or not isinstance(arguments, list):
        return ""
    more = []
    for name, found in columns.items():
        more += [
            f"--{name.replace('_', '-')}",
            ",".join(f"{field}={column}" for field, column in found.items()),
        ]
    if context.params.get("zone") is None and context.params.get("times") == "local":
        more += ["--times", "utc"]
    return f". Try: {shlex.join(['unmet', *arguments, *more])}"


def _of_database(problem: BaseException) -> bool:
    """Whether DuckDB raised it."""
    return type(problem).__module__.split(".")[0] in ("duckdb", "_duckdb")


def _of_worker(problem: BaseException) -> bool:
    """Whether a worker process died, which says nothing about our code."""
    from unmet.runs import WorkerDiedError

    return isinstance(problem, WorkerDiedError)


def _database_memory(problem: BaseException | None) -> bool:
    """Whether DuckDB ran out of memory, here or in what this error reports."""
    if problem is None:
        return False
    if _of_database(problem) and type(problem).__name__ == "OutOfMemoryException":
        return True
    return _database_memory(problem.__cause__ or problem.__context__)


def _disk_is_full(problem: BaseException) -> bool:
    """Whether there was no room for a file that has no better explanation of its own."""
    if isinstance(problem, OSError):
        return problem.errno == errno.ENOSPC and problem.strerror == os.strerror(errno.ENOSPC)
    return _of_database(problem) and os.strerror(errno.ENOSPC) in str(problem)


def _config_of(context: Any, parameter: Any) -> str:
    """Return the TOML file that gave a parameter its value, to put before a message; else nothing."""
    if context is None or parameter is None or context.params.get("config") is None:
        return ""
    source = context.get_parameter_source(parameter.name)
    return f"{context.params['config']}: " if source is not None and source.name == "DEFAULT_MAP" else ""
