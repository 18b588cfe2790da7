"""`unmet serve`: the report with a what-if panel and a JSON API."""

from pathlib import Path
from typing import Annotated

import typer

EXAMPLE = "Example: unmet serve out --port 8765 --open"


def serve(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder that `unmet run` wrote.")],
    host: Annotated[str, typer.Option(metavar="ADDRESS", help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(metavar="N", min=0, max=65535, help="Port; 0 takes a free one.")
    ] = 8765,
    token: Annotated[
        str | None,
        typer.Option(
            envvar="UNMET_TOKEN",
            metavar="TEXT",
            help="Require this token of every request. Needed where other machines can connect.",
        ),
    ] = None,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Also answer to this host name, such as that of a proxy."),
    ] = None,
    open_browser: Annotated[bool, typer.Option("--open", help="Open the page in the browser.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print errors only.")] = False,
) -> None:
    """Show the report of a run with a what-if panel and a JSON API, on this machine only.

    Open http://127.0.0.1:8765/ for the page and /docs for the API. Nothing is loaded from elsewhere.
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
    """Print nothing."""
