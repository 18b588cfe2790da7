"""Guards around the application: small ASGI layers for names, origins, tokens, sizes, time and numbers."""

from __future__ import annotations

import asyncio
import hmac
import logging
import secrets
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs, urlsplit

from fastapi import HTTPException
from fastapi.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from unmet.serve._hosts import Hosts
from unmet.serve._problems import problem

log = logging.getLogger("unmet.serve")

COOKIE = "unmet_session"
CHUNK = 64 * 1024  # bytes of a body sent at once; a client that does not read holds no more than this
NOTHING_ALLOWED = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
UNREAD = (400, 408, 413, 415, 421)  # part of the body may be unread, so the connection cannot go on
SINGLE = (b"host", b"authorization", b"content-length", b"origin", b"content-type")
HEADERS = [
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=()"),
    (b"cache-control", b"no-store"),
]


@dataclass(frozen=True)
class Limits:
    """Limits of a request: bytes of its body, seconds to answer it, requests being answered at once."""

    body: int = 64 * 1024
    seconds: float = 10.0
    requests: int = 64


def guarded(app: ASGIApp, hosts: Hosts, token: str | None, limits: Limits) -> ASGIApp:
    """Put all guards around an application; the last one added is the first to see a request."""
    app = limit_body(app, limits)
    app = limit_time(app, limits.seconds)
    if token is not None:
        app = require_token(app, token)
    app = check_sender(app, hosts)
    app = limit_requests(app, limits.requests)
    return add_headers(tell_problems(app))


def add_headers(app: ASGIApp) -> ASGIApp:
    """Answer HEAD, send large bodies in parts, and give every reply its security headers."""

    async def layer(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
        if scope["type"] != "http":
            return
        head = scope["method"] == "HEAD"

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = message["headers"]
                if not any(name == b"content-security-policy" for name, _ in own):
                    own = [*own, (b"content-security-policy", NOTHING_ALLOWED.encode())]
                if message["status"] in UNREAD:
                    own = [*own, (b"connection", b"close")]
                await send({**message, "headers": [*own, *HEADERS]})
                return
            body = b"" if head else message.get("body", b"")
            last = max(0, len(body) - 1) // CHUNK * CHUNK
            for at in range(0, last, CHUNK):
                await send({"type": "http.response.body", "body": body[at : at + CHUNK], "more_body": True})
                await asyncio.sleep(0)  # let other clients have their turn, and notice one that has gone
            await send({**message, "body": body[last:]})

        await app({**scope, "method": "GET"} if head else scope, receive, sending)

    return layer


def tell_problems(app: ASGIApp) -> ASGIApp:
    """Turn the refusals of the guards into documents, and our own mistakes into a line of the log."""

    async def layer(scope: Scope, receive: Receive, send: Send) -> None:
        started = False

        async def sending(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            await app(scope, receive, sending)
        except HTTPException as error:
            if not started:
                await problem(error)(scope, receive, send)
        except Exception:
            log.exception("%s %r", scope["method"], scope["path"][:80])
            if not started:
                failed = HTTPException(500, "the service failed; its log says why")
                await problem(failed)(scope, receive, send)

    return layer


def limit_requests(app: ASGIApp, most: int) -> ASGIApp:
    """Refuse a request while `most` others wait for their answer. Sending an answer does not count."""
    waiting = 0

    async def layer(scope: Scope, receive: Receive, send: Send) -> None:
        nonlocal waiting
        if waiting >= most:
            raise HTTPException(503, "too many requests at once; try again soon", {"retry-after": "1"})
        waiting += 1
        counted = True

        def done() -> None:
            nonlocal waiting, counted
            waiting -= counted
            counted = False

        async def sending(message: Message) -> None:
            done()
            await send(message)

        try:
            await app(scope, receive, sending)
        finally:
            done()

    return layer


def check_sender(app: ASGIApp, hosts: Hosts) -> ASGIApp:
    """Answer only requests that name this service and come from no page of another origin."""

    async def layer(scope: Scope, receive: Receive, send: Send) -> None:
        names = [name for name, _ in scope["headers"]]
        for name in SINGLE:
            if names.count(name) > 1:
                raise HTTPException(400, f"header {name.decode()} is given twice")
        host = _header(scope, b"host")
        if host is None:
            raise HTTPException(400, "the Host header is missing")
        if not hosts.allows(host):
            raise HTTPException(421, "this service does not answer to that host name")
        origin = _header(scope, b"origin")
        if origin is not None and not _same_origin(origin, host):
            raise HTTPException(403, "requests from pages of another origin are not answered")
        await app(scope, receive, send)

    return layer


def require_token(app: ASGIApp, token: str) -> ASGIApp:
    """Answer only bearers of the token, or of the cookie that a browser gets for opening ``/?token=…``."""
    session = secrets.token_urlsafe(32)  # new at each start

    async def layer(scope: Scope, receive: Receive, send: Send) -> None:
        kind, _, given = (_header(scope, b"authorization") or "").partition(" ")
        bearer = kind.lower() == "bearer" and _equal(given.strip(), token)
        if bearer or _equal(_cookie(_header(scope, b"cookie") or ""), session):
            await app(scope, receive, send)
        elif scope["path"] == "/" and scope["method"] == "GET" and _equal(_token_in(scope), token):
            cookie = f"{COOKIE}={session}; HttpOnly; SameSite=Strict; Path=/"
            await Response(b"", 303, {"location": "/", "set-cookie": cookie})(scope, receive, send)
        else:
            told = "send the token as `Authorization: Bearer …`, or open `/?token=…` once in a browser"
            raise HTTPException(401, told, {"www-authenticate": "Bearer"})

    return layer


def limit_time(app: ASGIApp, seconds: float) -> ASGIApp:
    """Give up an answer that takes too long to compute. The connection limits the time to send it."""

    async def layer(scope: Scope, receive: Receive, send: Send) -> None:
        try:
            async with asyncio.timeout(seconds) as limit:

                async def sending(message: Message) -> None:
                    limit.reschedule(None)
                    await send(message)

                await app(scope, receive, sending)
        except TimeoutError:
            raise HTTPException(
                503, "the answer took too long; ask for less", {"retry-after": "5", "connection": "close"}
            ) from None

    return layer


def limit_body(app: ASGIApp, limits: Limits) -> ASGIApp:
    """Stop reading a body that is too large, whether or not it tells its length, or that does not come."""

    async def layer(scope: Scope, receive: Receive, send: Send) -> None:
        length = _header(scope, b"content-length")
        if length is not None:
            if not (length.isascii() and length.isdigit()):
                raise HTTPException(400, "the Content-Length header is not a number")
            if len(length) > 15 or int(length) > limits.body:
                raise HTTPException(413, f"the body is larger than {limits.body} bytes")
        seen = 0

        async def receiving() -> Message:
            nonlocal seen
            try:
                async with asyncio.timeout(limits.seconds / 2):
                    message = await receive()
            except TimeoutError:
                raise HTTPException(408, "the body did not arrive in time") from None
            seen += len(message.get("body", b""))
            if seen > limits.body:
                raise HTTPException(413, f"the body is larger than {limits.body} bytes")
            return message

        await app(scope, receiving, send)

    return layer


def _header(scope: Scope, name: bytes) -> str | None:
    found = [value.decode("latin-1") for key, value in scope["headers"] if key == name]
    return "; ".join(found) if found else None


def _same_origin(origin: str, host: str) -> bool:
    try:
        parts = urlsplit(origin)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and parts.netloc.lower() == host.lower()


def _token_in(scope: Scope) -> str:
    """Return the token in the query of an address, or nothing."""
    try:
        (found,) = parse_qs(scope["query_string"].decode("latin-1"), max_num_fields=10).get("token", [""])
    except ValueError:
        return ""
    return found


def _equal(given: str, wanted: str) -> bool:
    """Compare in a time that does not tell where the texts differ."""
    return hmac.compare_digest(given.encode("utf-8", "replace"), wanted.encode("utf-8"))


def _cookie(header: str) -> str:
    try:
        found = SimpleCookie(header).get(COOKIE)
    except CookieError:
        return ""
    return found.value if found is not None else ""
