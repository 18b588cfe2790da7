"""The process that listens. It refuses what is unsafe before it binds."""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from unmet.serve._app import make_app
from unmet.serve._connections import QUEUE, SEND_BUFFER, Server, make_server
from unmet.serve._hosts import allowed_hosts, check_token, is_loopback, resolve
from unmet.serve._source import check_folder, outdated_steps


@dataclass(frozen=True)
class Ready:
    """A service that is bound but not running yet."""

    server: Server
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
    """Check, bind, read the folder, listen. What can go wrong goes wrong here, quick checks first."""
    family, address = resolve(host, port)
    check_token(token, address)
    hosts = allowed_hosts(host, address, allow_hosts)
    # asyncio turns off Nagle's delay (40 ms on each answer) only for sockets that name their protocol.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        with _explained(address, port):
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            # Each connection inherits this, so clients that do not read hold little memory of the system.
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER)
            listener.bind((address, port))
        check_folder(folder)
        say(f"Reading {folder} …")
        app = make_app(folder, token=token, hosts=hosts)
        with _explained(address, port):
            listener.listen(QUEUE)
    except BaseException:
        listener.close()
        raise
    return Ready(make_server(app), listener, _address(address, listener.getsockname()[1]))


def serve(
    folder: str | os.PathLike[str],
    host: str = "127.0.0.1",
    port: int = 8765,
    token: str | None = None,
    *,
    allow_hosts: Sequence[str] = (),
    open_browser: bool = False,
    say: Callable[[str], None] = print,
) -> int | None:
    """Serve a run folder until SIGINT or SIGTERM arrives; return the number of the signal.

    Parameters
    ----------
    folder : path
        The folder that ``unmet run … -o`` wrote. It is read once, at the start.
    host, port : str, int
        Where to listen. An address that other machines can reach needs a token. Port 0 takes a free one.
    token : str, optional
        Required of every request, as ``Authorization: Bearer …`` or once as ``/?token=…``.
    allow_hosts : sequence of str
        More names under which clients reach the service, such as that of a proxy.
    open_browser : bool
        Open the page in the user's browser.
    say : callable
        Receives the lines meant for the user.
    """
    ready = prepare(folder, host=host, port=port, token=token, allow_hosts=allow_hosts, say=say)
    for step in outdated_steps(folder):
        say(f"The {step} of {folder} is out of date; `unmet {step} {folder}` renews it.")
    if token is not None and len(token) < 16 and not is_loopback(resolve(host, port)[1]):
        say("This token is short enough to guess; use 16 characters or more.")

    def listening() -> None:
        say(f"Serving {folder} at {ready.address} (API: {ready.address}docs). Press Ctrl-C to stop.")
        if open_browser:
            import webbrowser

            webbrowser.open(ready.address + (f"?token={token}" if token else ""))

    ready.server.listening = listening
    ready.run()
    say("Stopped.")
    return ready.server.stopped_by


@contextlib.contextmanager
def _explained(address: str, port: int) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        told = error.strerror or str(error)
        raise ValueError(f"cannot listen on {address} port {port} ({told}); choose another --port") from None


def _address(address: str, port: int) -> str:
    """Return the address to open in a browser; replace a wildcard by this machine's own."""
    shown = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(address, address)
    return f"http://[{shown}]:{port}/" if ":" in shown else f"http://{shown}:{port}/"
