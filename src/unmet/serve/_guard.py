"""What stands before every route: names, origin, token, sizes, time and the number of requests at once."""

from __future__ import annotations

import asyncio
import hmac
import secrets
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs, urlsplit

from unmet.serve._hosts import Hosts
from unmet.serve._http import Message, Problem, Receive, Reply, Request

COOKIE = "unmet_session"


@dataclass(frozen=True)
class Limits:
    """Bounds of a request: bytes of its body, seconds it may take, requests under way at once."""

    body: int = 64 * 1024
    seconds: float = 10.0
    requests: int = 64


@dataclass(frozen=True)
class Guard:
    """The checks of a service; the cookie of a browser that knew the token is drawn anew at each start."""

    hosts: Hosts
    token: str | None = None
    limits: Limits = Limits()
    cookie: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)

    def check(self, request: Request) -> Reply | None:
        """Raise a Problem unless the request may be answered; a reply if the guard answers it itself."""
        host = request.headers.get("host")
        if host is None:
            raise Problem(400, "the Host header is missing")
        if not self.hosts.allows(host):
            raise Problem(421, "this service does not answer to that host name")
        origin = request.headers.get("origin")
        if origin is not None and not self._own(origin, host):
            raise Problem(403, "requests from pages of another origin are not answered")
        self._check_length(request.headers.get("content-length"))
        return None if self.token is None else self._check_token(request, self.token)

    def bounded(self, receive: Receive) -> Receive:
        """`receive` that stops at the largest body, whether or not it tells its length, and at silence."""
        seen = 0

        async def limited() -> Message:
            nonlocal seen
            try:
                async with asyncio.timeout(self.limits.seconds / 2):
                    message = await receive()
            except TimeoutError:
                raise Problem(408, "the body did not arrive in time") from None
            seen += len(message.get("body", b""))
            if seen > self.limits.body:
                raise self._too_large()
            return message

        return limited

    def _own(self, origin: str, host: str) -> bool:
        """Whether an Origin header is this service itself: the same name and port as the Host header."""
        try:
            parts = urlsplit(origin)
        except ValueError:
            return False
        return parts.scheme in ("http", "https") and parts.netloc.lower() == host.lower()

    def _check_length(self, header: str | None) -> None:
        if header is None:
            return
        if not (header.isascii() and header.isdigit()):
            raise Problem(400, "the Content-Length header is not a number")
        if len(header) > 15 or int(header) > self.limits.body:
            raise self._too_large()

    def _too_large(self) -> Problem:
        return Problem(413, f"the body is larger than {self.limits.body} bytes")

    def _check_token(self, request: Request, token: str) -> Reply | None:
        """Let in a bearer of the token or of the cookie; trade ``/?token=…`` for the cookie."""
        scheme, _, given = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer" and _same(given.strip(), token):
            return None
        if _same(_cookie(request.headers.get("cookie", "")), self.cookie):
            return None
        if request.path == "/" and request.method == "GET" and "token=" in request.query:
            try:
                (found,) = parse_qs(request.query, max_num_fields=10).get("token", [""])
            except ValueError:
                found = ""
            if _same(found, token):
                cookie = f"{COOKIE}={self.cookie}; HttpOnly; SameSite=Strict; Path=/"
                return Reply(b"", 303, "text/plain", (("location", "/"), ("set-cookie", cookie)))
        told = "a token is needed: send it as `Authorization: Bearer …`, or open the address `/?token=…` once"
        raise Problem(401, told, (("www-authenticate", "Bearer"),))


def _same(given: str, wanted: str) -> bool:
    """Comparison whose time says nothing about where two texts differ."""
    return hmac.compare_digest(given.encode("utf-8", "replace"), wanted.encode("utf-8"))


def _cookie(header: str) -> str:
    try:
        found = SimpleCookie(header).get(COOKIE)
    except CookieError:
        return ""
    return found.value if found is not None else ""
