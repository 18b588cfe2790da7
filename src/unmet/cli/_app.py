"""The table of commands; the file of each is imported when somebody calls it."""

from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from unmet.cli._help import Command, HelpContext, columns

# The command `name` is the function `name` in unmet.cli._name; EXAMPLE in that file ends its help.
COMMANDS = {
    "demo": "Show everything on a simulated city whose true demand is known.",
    "run": "Go from trips to latent demand, lost rides, forecast, plan and report.",
    "city": "Simulate a city: trips, feeds and the demand nobody saw.",
    "formats": "List the file layouts that are recognised.",
    "panel": "Turn trips and feeds into a demand panel.",
    "fit": "Fit latent demand to a panel: model, backtest, calibration, lost rides.",
    "forecast": "Forecast quantiles of demand.",
    "plan": "Plan stock: targets, moves between places, fleet size.",
    "report": "Write the report of a run.",
    "serve": "Show a run in the browser and answer what-if questions.",
    "compare": "Find the best method for a table of your own.",
    "paper": "Reproduce the published experiments.",
    "completion": "Print the script that makes the Tab key complete commands and options.",
}


def application() -> Any:
    """Return all commands as one Typer application, laid out for this terminal."""
    from typer.completion import completion_init

    completion_init()
    app = typer.Typer(cls=Commands, add_completion=False, rich_markup_mode=None)
    settings = {"help_option_names": ["-h", "--help"], "terminal_width": columns()}
    app.callback(context_settings=settings, epilog="Example: unmet demo")(_unmet)
    return typer.main.get_command(app)


class Commands(TyperGroup):
    """A group that imports the file of a command when somebody calls it."""

    context_class = HelpContext

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings | {"commands": dict.fromkeys(COMMANDS)})

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in self.commands:
            return None
        module = import_module(f"unmet.cli._{cmd_name}")
        app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
        app.command(cmd_name, cls=Command, epilog=module.EXAMPLE)(getattr(module, cmd_name))
        return typer.main.get_command(app)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


def _print_version(wanted: bool) -> None:
    if wanted:
        import unmet

        print(f"unmet {unmet.__version__}")
        raise typer.Exit


def _unmet(
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_print_version, help="Show the version.")
    ] = False,
) -> None:
    """Recover the demand that a service could not see."""
