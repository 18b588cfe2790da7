"""The table of commands and the one place where errors become a line and an exit code."""

import sys
from importlib import import_module

# Command → one line of help. The command `name` is the function `name` in unmet.cli._name.
COMMANDS = {
    "demo": "See the idea at work on data whose truth is known.",
    "city": "Write a simulated city: trips, feeds and the demand nobody saw.",
    "panel": "Turn trips and feeds into a demand panel that knows what it did not see.",
}


def _overview() -> None:
    """Print the list of commands without importing any of them."""
    from rich.console import Console
    from rich.table import Table

    import unmet

    console = Console()
    console.print(f"[bold]unmet[/bold] {unmet.__version__}: recover the demand a service did not see.\n")
    console.print("Usage: unmet COMMAND [OPTIONS]      (unmet COMMAND --help for details)\n", highlight=False)
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 2))
    for name, line in COMMANDS.items():
        table.add_row(f"[bold cyan]{name}[/bold cyan]", line)
    console.print(table)
    console.print("\nExample: unmet demo", highlight=False)


def main(arguments: list[str] | None = None) -> None:
    """Run one command; bad input prints one line and exits with 1."""
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    if not arguments or arguments[0] in ("--help", "-h", "help"):
        _overview()
        raise SystemExit(0)
    name = arguments[0]
    if name == "--version":
        import unmet

        print(f"unmet {unmet.__version__}")
        raise SystemExit(0)
    if name not in COMMANDS:
        print(f"unmet: there is no command {name!r}; choose from {', '.join(COMMANDS)}.", file=sys.stderr)
        raise SystemExit(2)

    import typer

    command = getattr(import_module(f"unmet.cli._{name}"), name)
    app = typer.Typer(add_completion=False, rich_markup_mode="rich", pretty_exceptions_enable=False)
    app.command(name=name)(command)
    try:
        app(args=arguments[1:], prog_name=f"unmet {name}")
    except (ValueError, OSError) as problem:
        print(f"unmet {name}: {problem}", file=sys.stderr)
        raise SystemExit(1) from None
    except KeyboardInterrupt:
        print(f"unmet {name}: interrupted.", file=sys.stderr)
        raise SystemExit(130) from None
