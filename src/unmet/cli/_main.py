"""`main`, which runs one command.

Exit codes: 0 done, 1 bad input, 2 wrong usage, 130 interrupted, 143 terminated.
"""

import gc
import sys
from collections.abc import Sequence

from unmet.cli._signals import leave, stop_in_one_line

# Nearly all that a command makes lives until it is freed by its count or until the command ends, so Python
# looks for cycles less often than by default (700, 10, 10).
_GARBAGE = 10_000, 20, 10


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command and exit with its code."""
    called_by_shell = arguments is None
    if called_by_shell:
        gc.set_threshold(*_GARBAGE)
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    if arguments[:1] in ([], ["help"]):
        arguments = [*arguments[1:2], "--help"]
    with stop_in_one_line(f"unmet {arguments[0]}", called_by_shell):
        code = _run(arguments)
    if called_by_shell and (code > 128 or _is_told()):  # above 128: a signal that the command itself handled
        leave(code)
    raise SystemExit(code)


def _run(arguments: list[str]) -> int:
    """Run one command and return its code; what takes time to import is imported here."""
    import typer

    from unmet.cli._app import application
    from unmet.cli._errors import usage_line
    from unmet.cli._terminal import printable

    wrong_name = next((one for one in arguments if not _is_text(one)), None)
    if wrong_name is not None:  # neither DuckDB nor JSON could hold it
        print(
            printable(f"unmet: {wrong_name!r} is not UTF-8 here; rename the file, or set a UTF-8 locale"),
            file=sys.stderr,
        )
        return 2
    try:
        return application().main(arguments, prog_name="unmet", standalone_mode=False, obj=arguments) or 0
    except typer.TyperException as wrong:
        print(printable(usage_line(wrong)), file=sys.stderr)
        return 2


def _is_told() -> bool:
    """Whether all output could be written; if not, the interpreter says so when it is taken apart."""
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError, AttributeError):
        return False
    return True


def _is_text(argument: str) -> bool:
    """Whether an argument can be written as UTF-8; Python keeps other bytes as lone surrogates."""
    try:
        argument.encode()
    except UnicodeEncodeError:
        return False
    return True
