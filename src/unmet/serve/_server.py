"""The process that listens: refuses what is unsafe before it binds, and ends slow or idle connections."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from unmet.runs import stale_steps
from unmet.serve._app import make_app
from unmet.serve._hosts import allowed_hosts, check_token, is_loopback, resolve

CONNECTIONS = 256
HEAD_SECONDS = 10.0  # for the first line and the headers of a request
IDLE_SECONDS = 15


class BoundedHead(H11Protocol):
    """HTTP/1.1 whose clients must finish the head of a request in time; uvicorn itself waits for ever."""

    _late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._watch()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        self._calm()
        super().connection_lost(exc)

    def _watch(self) -> None:
        """Start the clock when a head is awaited, stop it when the head is complete."""
        if self.conn.their_state is not h11.IDLE:
            self._calm()
        elif self._late is None:
            self._late = self.loop.call_later(HEAD_SECONDS, self.transport.close)

    def _calm(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None


class _Server(uvicorn.Server):
    """A server that says when it listens."""

    listening: Callable[[], None] | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.listening is not None:
            self.listening()


@dataclass(frozen=True)
class Ready:
    """A service that is bound and not yet running."""

    server: _Server
    socket: socket.socket
    address: str

    def run(self) -> None:
        """Answer requests until the process is interrupted or ``server.should_exit`` is set."""
        try:
            self.server.run(sockets=[self.socket])
        finally:
            self.socket.close()


def prepare(
    folder: str | os.PathLike[str],
    *,
    host: str = "127.0.0.1",
    port: int = 8765,
    token: str | None = None,
    allow_hosts: Sequence[str] = (),
    say: Callable[[str], None] = lambda line: None,
) -> Ready:
    """Check, bind, read the folder, listen: what can go wrong goes wrong here, the quick things first."""
    family, address = resolve(host, port)
    check_token(token, address)
    hosts = allowed_hosts(host, address, allow_hosts)
    # The protocol is named because asyncio turns Nagle's delay (40 ms on each answer) off only where it is.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        with _explained(address, port):
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind((address, port))
        say(f"Reading {folder} …")
        app = make_app(folder, token=token, hosts=hosts)
        with _explained(address, port):
            listener.listen(CONNECTIONS)
    except BaseException:
        listener.close()
        raise
    config = uvicorn.Config(
        app,
        http=BoundedHead,
        ws="none",
        loop="asyncio",
        lifespan="off",
        log_level="error",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        limit_concurrency=CONNECTIONS,
        timeout_keep_alive=IDLE_SECONDS,
        timeout_graceful_shutdown=2,
    )
    return Ready(_Server(config), listener, _address(address, listener.getsockname()[1]))


def serve(
    folder: str | os.PathLike[str],
    host: str = "127.0.0.1",
    port: int = 8765,
    token: str | None = None,
    *,
    allow_hosts: Sequence[str] = (),
    open_browser: bool = False,
    say: Callable[[str], None] = print,
) -> None:
    """Serve a run folder until interrupted.

    Parameters
    ----------
    folder : what ``unmet run … -o`` wrote; read once, at the start.
    host, port : where to listen. Any address that is not of this machine alone needs a token. Port 0: any.
    token : asked of every request, as ``Authorization: Bearer …`` or once as ``/?token=…``.
    allow_hosts : more names under which the service is called, such as that of a proxy.
    open_browser : open the page in the user's browser.
    say : gets the lines meant for the user.
    """
    ready = prepare(folder, host=host, port=port, token=token, allow_hosts=allow_hosts, say=say)
    for step in stale_steps(folder) if (Path(folder) / "run.json").is_file() else ():
        say(f"The {step} of {folder} rests on files that changed since: `unmet {step} {folder}` renews it.")
    if token is not None and len(token) < 16 and not is_loopback(resolve(host, port)[1]):
        say("The token is short and can be guessed: 16 characters or more are better.")

    def listening() -> None:
        say(f"Serving {folder} at {ready.address} (documentation: {ready.address}docs). Ctrl-C stops it.")
        if open_browser:
            import webbrowser

            webbrowser.open(ready.address + (f"?token={token}" if token else ""))

    ready.server.listening = listening
    with contextlib.suppress(KeyboardInterrupt):
        ready.run()
    say("Stopped.")


@contextlib.contextmanager
def _explained(address: str, port: int) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        told = error.strerror or str(error)
        raise ValueError(f"cannot listen on {address} port {port} ({told}); choose another --port") from None


def _address(address: str, port: int) -> str:
    """The address to open in a browser; a wildcard is reached through this machine's own."""
    shown = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(address, address)
    return f"http://[{shown}]:{port}/" if ":" in shown else f"http://{shown}:{port}/"
