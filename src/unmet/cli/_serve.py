"""`unmet serve`: the report live, with a what-if panel and a JSON API."""

from pathlib import Path
from typing import Annotated

import typer

EXAMPLE = "Example: unmet serve out --port 8765 --open"


def serve(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder that `unmet run` wrote.")],
    host: Annotated[str, typer.Option(metavar="ADDRESS", help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(metavar="N", min=0, max=65535, help="Port; 0 takes any that is free.")
    ] = 8765,
    token: Annotated[
        str | None,
        typer.Option(
            envvar="UNMET_TOKEN",
            metavar="TEXT",
            help="Asked of every request; needed for addresses that other machines reach.",
        ),
    ] = None,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Another name under which the service is called, as by a proxy."),
    ] = None,
    open_browser: Annotated[bool, typer.Option("--open", help="Open the page in the browser.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing.")] = False,
) -> None:
    """Show the report of a run live, with a what-if panel and a JSON API, on this machine only.

    The page is at http://127.0.0.1:8765/, the API is described at /docs. Nothing is fetched from elsewhere.
    """
    from unmet.serve import serve as listen

    listen(
        folder,
        host,
        port,
        token,
        allow_hosts=allow_host or (),
        open_browser=open_browser,
        say=_silent if quiet else _say,
    )


def _say(line: str) -> None:
    print(line, flush=True)


def _silent(line: str) -> None:
    """What --quiet says."""
