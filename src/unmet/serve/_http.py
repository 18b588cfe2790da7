"""What a request asks and what it gets: plain values between the server and the answers."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

Message = MutableMapping[str, Any]
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

JSON = "application/json"
HTML = "text/html; charset=utf-8"
NOTHING_ALLOWED = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"


@dataclass(frozen=True)
class Reply:
    """A complete answer; `policy` is its content security policy."""

    body: bytes
    status: int = 200
    content_type: str = JSON
    headers: tuple[tuple[str, str], ...] = ()
    policy: str = NOTHING_ALLOWED


class Problem(Exception):
    """A request that cannot be answered, told as a problem document (RFC 9457).

    Examples
    --------
    >>> Problem(404, "there is no place 'x'").reply().status
    404
    """

    def __init__(self, status: int, detail: str, headers: tuple[tuple[str, str], ...] = ()) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.headers = headers

    def reply(self) -> Reply:
        title = HTTPStatus(self.status).phrase
        told = {"type": "about:blank", "title": title, "status": self.status, "detail": self.detail}
        return Reply(json.dumps(told).encode(), self.status, "application/problem+json", self.headers)


@dataclass(frozen=True)
class Request:
    """Method, path, query and headers of a request; the body is read only when somebody asks for it."""

    method: str
    path: str
    query: str
    headers: dict[str, str]
    receive: Receive

    async def body(self) -> bytes:
        """All bytes of the body; the guard around `receive` bounds their number and the time they take."""
        parts: list[bytes] = []
        while True:
            message = await self.receive()
            if message["type"] == "http.disconnect":
                raise ConnectionResetError("the client has gone")
            parts.append(message.get("body", b""))
            if not message.get("more_body", False):
                return b"".join(parts)


def read_request(scope: Scope, receive: Receive) -> Request:
    """The request of an ASGI scope; a header that may stand only once and stands twice is a Problem."""
    headers: dict[str, str] = {}
    for raw_name, raw_value in scope["headers"]:
        name = raw_name.decode("latin-1").lower()
        if name in headers and name in ("host", "authorization", "content-length", "origin", "content-type"):
            raise Problem(400, f"header {name} is given twice")
        value = raw_value.decode("latin-1")
        headers[name] = f"{headers[name]}; {value}" if name in headers else value
    query = scope.get("query_string", b"").decode("latin-1")
    return Request(scope["method"], scope["path"], query, headers, receive)


# What every reply carries, ready to be sent.
_ALWAYS = tuple(
    (name.encode(), value.encode())
    for name, value in (
        ("x-content-type-options", "nosniff"),
        ("x-frame-options", "DENY"),
        ("referrer-policy", "no-referrer"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
        ("permissions-policy", "camera=(), geolocation=(), microphone=()"),
        ("cache-control", "no-store"),
    )
)


async def send_reply(send: Send, reply: Reply, *, head: bool = False, close: bool = False) -> None:
    """Send a reply; `head` leaves the body out, `close` ends the connection after it."""
    own = [
        ("content-type", reply.content_type),
        ("content-length", str(len(reply.body))),
        ("content-security-policy", reply.policy),
        *reply.headers,
        *([("connection", "close")] if close else []),
    ]
    raw = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in own]
    await send({"type": "http.response.start", "status": reply.status, "headers": [*raw, *_ALWAYS]})
    await send({"type": "http.response.body", "body": b"" if head else reply.body})
