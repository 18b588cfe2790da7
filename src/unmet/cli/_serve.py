"""`unmet serve`: the report with a what-if panel and a JSON API."""

from typing import Annotated

import typer

from unmet.cli import _options as options
from unmet.cli._terminal import printable

EXAMPLE = "Example: unmet serve out --port 8765 --open"


def serve(
    folder: options.RunFolder,
    host: Annotated[str, typer.Option(metavar="ADDRESS", help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(metavar="N", min=0, max=65535, help="Port to listen on; 0 takes any free one.")
    ] = 8765,
    token: Annotated[
        str | None,
        typer.Option(
            envvar="UNMET_TOKEN",
            metavar="TEXT",
            help="Ask every request for this token. Required if other machines can reach the address.",
        ),
    ] = None,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Also answer to this host name, for instance behind a proxy."),
    ] = None,
    open_browser: Annotated[bool, typer.Option("--open", help="Open the page in your browser.")] = False,
    quiet: options.Quiet = False,
) -> None:
    """Show the report of a run in the browser, with what-if questions and a JSON API.

    By default only this machine can reach it. The page is at http://127.0.0.1:8765/ and the API is described
    at /docs. The page loads nothing from other servers.
    """
    from unmet.serve import serve as listen

    stopped_by = listen(
        folder,
        host,
        port,
        token,
        allow_hosts=allow_host or (),
        open_browser=open_browser,
        say=_silent if quiet else _say,
    )
    if stopped_by is not None:
        raise typer.Exit(128 + stopped_by)


def _say(line: str) -> None:
    print(printable(line), flush=True)


def _silent(line: str) -> None:
    """Print nothing."""
