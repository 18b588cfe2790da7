"""The table of commands and the one place where errors become a line and an exit code.

Exit codes: 0 done, 1 bad input, 2 wrong usage, 130 interrupted.
"""

import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import wraps
from importlib import import_module
from typing import Any

# Command → one line of help. The command `name` is the function `name` in unmet.cli._name, which may hold an
# EXAMPLE that ends its help, MANY: options that take every path up to the next option, and CHOICES: what the
# Tab key offers for a parameter whose placeholder does not list it.
COMMANDS = {
    "demo": "See the idea at work on data whose truth is known.",
    "run": "From trips to latent demand, lost rides, a forecast, a plan and a report.",
    "city": "Write a simulated city: trips, feeds and the demand nobody saw.",
    "panel": "Turn trips and feeds into a demand panel that knows what it did not see.",
    "fit": "Fit latent demand to a panel: model, backtest, calibration, lost rides.",
    "forecast": "Forecast quantiles of demand with the model of a run.",
    "plan": "Plan stock: targets, moves between places, fleet size.",
    "report": "Write the page of a run.",
    "serve": "Show a run live on this machine, with what-if questions.",
    "paper": "Reproduce the published experiments, beside the published numbers.",
    "completion": "Print what makes the Tab key complete commands, options and choices.",
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command and exit with its code."""
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    if not arguments or arguments[0] in ("--help", "-h", "help"):
        print(overview())
        raise SystemExit(0)
    name, *rest = arguments
    if name == "--version":
        import unmet

        print(f"unmet {unmet.__version__}")
        raise SystemExit(0)
    if name == "--complete":  # asked by the shell
        print("\n".join(complete(rest)))
        raise SystemExit(0)
    if name not in COMMANDS:
        print(f"unmet: {unknown(name)}", file=sys.stderr)
        raise SystemExit(2)

    many = getattr(import_module(f"unmet.cli._{name}"), "MANY", ())
    try:
        code = command_of(name).main(spread(rest, many), prog_name=f"unmet {name}", standalone_mode=False)
    except Exception as wrong:
        if not hasattr(wrong, "format_message"):
            raise
        from unmet.cli._messages import usage_line

        print(f"unmet {name}: {usage_line(wrong)} (see unmet {name} --help)", file=sys.stderr)
        raise SystemExit(2) from None
    raise SystemExit(code or 0)


def command_of(name: str) -> Any:
    """The command as Typer's parser knows it."""
    import typer

    from unmet.cli._help import PlainCommand

    module = import_module(f"unmet.cli._{name}")
    app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    settings = {"help_option_names": ["-h", "--help"]}
    epilog = getattr(module, "EXAMPLE", None)
    add = app.command(name=name, cls=PlainCommand, epilog=epilog, context_settings=settings)
    add(_one_line(name, getattr(module, name)))
    return typer.main.get_command(app)


def complete(words: Sequence[str]) -> list[str]:
    """What the last of these words, typed after `unmet`, may become; nothing where a file name may stand.

    Examples
    --------
    >>> complete(["re"])
    ['report']
    """
    *before, last = words or [""]
    if not before:
        return [name for name in (*COMMANDS, "--help", "--version") if name.startswith(last)]
    if before[0] not in COMMANDS:
        return []
    from unmet.cli._choices import choices_for

    choices = getattr(import_module(f"unmet.cli._{before[0]}"), "CHOICES", {})
    return choices_for(command_of(before[0]).params, choices, before[1:], last)


def overview() -> str:
    """The list of commands for this terminal, without importing any of them, nor anything slow."""
    import shutil
    import textwrap

    import unmet

    width = max(30, min(100, shutil.get_terminal_size().columns))
    room = max(map(len, COMMANDS)) + 4
    lines = [*textwrap.wrap(f"unmet {unmet.__version__}: recover the demand a service did not see.", width)]
    lines += ["", "Usage: unmet COMMAND [OPTIONS]", "       unmet COMMAND --help", ""]
    for name, text in COMMANDS.items():
        lines += textwrap.wrap(
            text, width, initial_indent=f"  {name}".ljust(room), subsequent_indent=" " * room
        )
    return "\n".join([*lines, "", "Example: unmet demo"])


def unknown(name: str) -> str:
    """What to say about a command that does not exist."""
    from difflib import get_close_matches

    near = get_close_matches(name, COMMANDS, n=1)
    if near:
        return f"there is no command {name!r}; did you mean {near[0]!r}?"
    return f"there is no command {name!r}; choose from {', '.join(COMMANDS)}."


def spread(arguments: Sequence[str], many: Sequence[str]) -> list[str]:
    """Repeat each option of `many` before every value that follows it, as a shell's pattern leaves them.

    Examples
    --------
    >>> spread(["a.csv", "--status", "1.json", "2.json", "-o", "out"], ["--status"])
    ['a.csv', '--status', '1.json', '--status', '2.json', '-o', 'out']
    """
    found: list[str] = []
    option: str | None = None
    first = False
    for argument in arguments:
        if argument.startswith("-") and argument != "-":
            option, first = (argument, True) if argument in many else (None, False)
            found.append(argument)
        elif option is not None and not first:
            found += [option, argument]
        else:
            found.append(argument)
            first = False
    return found


def _silence(quiet: bool) -> AbstractContextManager[None]:
    """No progress bar with --quiet."""
    if not quiet:
        return nullcontext()
    from unmet.runs import no_progress

    return no_progress()


def _of_database(problem: Exception) -> bool:
    """Whether DuckDB raised it: memory or disk gave out."""
    return type(problem).__module__.split(".")[0] in ("duckdb", "_duckdb")


def _one_line(name: str, command: Callable[..., Any]) -> Callable[..., Any]:
    """The command with its errors, and the warnings of the library, told in one line each."""

    def say(words: str) -> None:
        print(f"unmet {name}: {' '.join(words.splitlines())}", file=sys.stderr)

    @wraps(command)
    def run(*args: Any, **options: Any) -> Any:
        import warnings

        def tell(message: Warning | str, *more: Any) -> None:
            if not options.get("quiet"):
                say(f"warning: {message}")

        with warnings.catch_warnings(), _silence(bool(options.get("quiet"))):
            warnings.showwarning = tell  # type: ignore[assignment]
            try:
                return command(*args, **options)
            except BrokenPipeError:
                raise  # the reader has gone: Typer ends quietly
            except KeyError as missing:
                say(
                    f"a file of the run lacks {missing}: it is damaged or of another run; "
                    "do the step that writes it again."
                )
                raise SystemExit(1) from None
            except MemoryError as problem:
                say(f"not enough memory ({problem or 'none is left'}); give less data or a larger machine.")
                raise SystemExit(1) from None
            except Exception as problem:
                if not isinstance(problem, ValueError | OSError) and not _of_database(problem):
                    raise  # a mistake of ours is not hidden
                from unmet.cli._messages import from_file, in_options, with_folder

                known = [one.name for one in command_of(name).params if one.param_type_name == "option"]
                words = with_folder(in_options(str(problem), known), options.get("folder"))
                say(words + from_file(words, options))
                raise SystemExit(1) from None
            except KeyboardInterrupt:
                print(file=sys.stderr)
                say("interrupted.")
                raise SystemExit(130) from None

    return run
