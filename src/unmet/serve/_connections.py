"""Connections with limits: their number, the time to ask, the time to read, and a quiet stop."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import socket
import time
from collections.abc import Callable
from types import FrameType
from typing import Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

CONNECTIONS = 256
HEAD_SECONDS = 10.0  # for the first line and the headers of a request
SEND_SECONDS = 20.0  # for a client to take what was sent
IDLE_SECONDS = 15  # between two requests
STOP_SECONDS = 2.0  # for answers under way when the service stops
ACCEPTED_AT_ONCE = 64  # between two looks at the limit, so that file descriptors do not run out
SEND_BUFFER = 256 * 1024  # bytes of answers the system keeps for a client
QUEUE = 1024  # connections the system holds until they are accepted


class Connection(H11Protocol):
    """A client that must finish its request and take its answer in time; uvicorn waits forever for both."""

    _asking: asyncio.TimerHandle | None = None
    _reading: asyncio.TimerHandle | None = None
    _since = 0.0  # when it last asked or took something

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        transport.set_write_buffer_limits(high=0)  # pause whenever the client has not taken everything
        self._since = time.monotonic()
        if len(self.connections) > CONNECTIONS:
            self.server_state.least_deserving().transport.abort()  # type: ignore[attr-defined]
        self._watch_request()

    def data_received(self, data: bytes) -> None:
        self._since = time.monotonic()
        super().data_received(data)
        self._watch_request()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._since = time.monotonic()
        self._reading = self.loop.call_later(SEND_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._reading = _cancelled(self._reading)

    def connection_lost(self, exc: Exception | None) -> None:
        self._asking, self._reading = _cancelled(self._asking), _cancelled(self._reading)
        super().connection_lost(exc)

    @property
    def answering(self) -> bool:
        """Whether an answer is being computed, or sent to a client that reads."""
        under_way = self.cycle is not None and not self.cycle.response_complete
        return under_way and self._reading is None

    @property
    def claim(self) -> tuple[int, float]:
        """How much speaks for keeping this connection: first what it does, then how lately it asked."""
        if self._reading is not None or self.cycle is None:
            return 0, self._since
        return (2 if self.answering else 1), self._since

    def _watch_request(self) -> None:
        """Start the clock when a request is awaited; stop it when its head is complete."""
        if self.conn.their_state is not h11.IDLE:
            self._asking = _cancelled(self._asking)
        elif self._asking is None:
            self._asking = self.loop.call_later(HEAD_SECONDS, self.transport.close)


def _cancelled(timer: asyncio.TimerHandle | None) -> asyncio.TimerHandle | None:
    if timer is not None:
        timer.cancel()
    return None


class State(ServerState):
    """The connections of a server, and which of them to close first."""

    def __init__(self) -> None:
        super().__init__()
        self._next: list[tuple[tuple[int, float], Any]] = []

    def least_deserving(self) -> Any:
        """Return the connection to close for a new one: idle and unread ones first, the oldest of them."""
        while True:
            while self._next:
                claim, one = self._next.pop()
                if one in self.connections and not one.transport.is_closing() and one.claim == claim:
                    return one
            # Look at all of them once for many new clients: they may come by the hundred.
            held: list[Any] = [one for one in self.connections if not one.transport.is_closing()]
            found = sorted(((one.claim, one) for one in held), key=lambda pair: pair[0])
            self._next = found[: max(1, len(found) // 4)][::-1]


class Server(uvicorn.Server):
    """A server that says when it listens, and stops without waiting for clients that do not read."""

    listening: Callable[[], None] | None = None
    stopped_by: int | None = None

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.server_state = State()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        for listener in sockets or ():
            listener.listen(QUEUE)  # asyncio took the number it accepts at once for the queue as well
        if self.listening is not None:
            self.listening()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for server in self.servers:
            server.close()
        for listener in sockets or ():
            listener.close()
        connections: set[Any] = self.server_state.connections
        for connection in list(connections):
            with contextlib.suppress(h11.LocalProtocolError):
                connection.shutdown()
        ends = time.monotonic() + STOP_SECONDS
        while any(one.answering for one in connections) and time.monotonic() < ends and not self.force_exit:
            await asyncio.sleep(0.05)
        for connection in list(connections):
            connection.transport.abort()
        await asyncio.sleep(0)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self.force_exit = self.should_exit and sig == signal.SIGINT
        self.should_exit = True
        self.stopped_by = sig


def make_server(app: Any) -> Server:
    """Return a server for an application; it gets its socket when it runs."""
    config = uvicorn.Config(
        app,
        http=Connection,
        ws="none",
        loop="asyncio",
        lifespan="off",
        log_level="critical",  # the application logs its own mistakes
        access_log=False,
        server_header=False,
        proxy_headers=False,
        backlog=ACCEPTED_AT_ONCE,
        timeout_keep_alive=IDLE_SECONDS,
    )
    return Server(config)
