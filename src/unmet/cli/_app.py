"""The table of commands and the one place where errors become a line and an exit code.

Exit codes: 0 done, 1 bad input, 2 wrong usage, 130 interrupted.
"""

import sys
from collections.abc import Callable, Sequence
from functools import wraps
from importlib import import_module
from typing import Any

# Command → one line of help. The command `name` is the function `name` in unmet.cli._name, which may hold an
# EXAMPLE that ends its help, and MANY: options that take every path up to the next option.
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
    "completion": "Print what makes the Tab key complete commands and options.",
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

    module = import_module(f"unmet.cli._{name}")
    application(name)(args=spread(rest, getattr(module, "MANY", ())), prog_name=f"unmet {name}")


def application(name: str) -> Any:
    """The Typer application of one command."""
    import typer

    module = import_module(f"unmet.cli._{name}")
    # Plain help: boxes cut off the names of options in a narrow terminal.
    app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    settings = {"help_option_names": ["-h", "--help"]}
    command = app.command(name=name, epilog=getattr(module, "EXAMPLE", None), context_settings=settings)
    command(_one_line(name, getattr(module, name)))
    return app


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
    if before[0] not in COMMANDS or not last.startswith("-"):
        return []
    import typer

    found: list[str] = []
    for parameter in typer.main.get_command(application(before[0])).params:
        names = [*parameter.opts, *parameter.secondary_opts] if parameter.param_type_name == "option" else []
        found += [name for name in names if name.startswith("--")]
    return [name for name in (*found, "--help") if name.startswith(last)]


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


def _one_line(name: str, command: Callable[..., Any]) -> Callable[..., Any]:
    """The command with its errors told in one line."""

    @wraps(command)
    def run(*args: Any, **options: Any) -> Any:
        try:
            return command(*args, **options)
        except BrokenPipeError:
            raise  # the reader has gone: Typer ends quietly
        except (ValueError, OSError) as problem:
            print(f"unmet {name}: {problem}", file=sys.stderr)
            raise SystemExit(1) from None
        except KeyError as missing:
            print(
                f"unmet {name}: a file of the run lacks {missing}: it is damaged or of another run; "
                "do the step that writes it again.",
                file=sys.stderr,
            )
            raise SystemExit(1) from None
        except KeyboardInterrupt:
            print(f"\nunmet {name}: interrupted.", file=sys.stderr)
            raise SystemExit(130) from None

    return run
