"""The command line: a Typer application whose commands are imported only when they are called."""

from unmet.cli._main import main

__all__ = ["main"]
