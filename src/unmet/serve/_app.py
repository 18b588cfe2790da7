"""The ASGI application: the guard, then exactly the paths that exist, each answered from memory."""

from __future__ import annotations

import asyncio
import logging
import os
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

from unmet.serve._answers import Answers
from unmet.serve._encode import encode
from unmet.serve._guard import Guard, Limits
from unmet.serve._hosts import LOOPBACK_NAMES, Hosts
from unmet.serve._http import Problem, Receive, Reply, Request, Scope, Send, read_request, send_reply
from unmet.serve._openapi import openapi
from unmet.serve._pages import static_pages
from unmet.serve._parameters import read_parameters
from unmet.serve._routes import ROUTES, Route
from unmet.serve._run_answers import RunAnswers

log = logging.getLogger("unmet.serve")

KEPT_ANSWERS = 4096
KEPT_BYTES = 64 * 1024 * 1024
WORKERS = 2  # answers computed at once; the rest of the requests wait their turn


class App:
    """An ASGI application. A path is looked up in a table, so that no request can name a file."""

    def __init__(self, answers: Answers, guard: Guard, pages: dict[str, Reply]) -> None:
        self.answers = answers
        self.guard = guard
        document = Reply(encode(openapi(guard.token is not None)))
        self.pages = {**pages, "/openapi.json": document}
        self._kept: OrderedDict[Any, bytes] = OrderedDict()
        self._kept_bytes = 0
        self._under_way = 0
        self._workers: asyncio.Semaphore | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
        if scope["type"] != "http":
            return
        started = False

        async def sending(message: Any) -> None:
            nonlocal started
            started = True
            await send(message)

        self._under_way += 1
        try:
            reply, close = await self._answer(scope, receive)
            await send_reply(sending, reply, head=scope["method"] == "HEAD", close=close)
        except ConnectionResetError:
            log.debug("a client left before its answer")
        except Exception:
            log.exception("%s %r", scope["method"], scope["path"][:80])
            if not started:
                told = Problem(500, "the service made a mistake; its log says more")
                await send_reply(send, told.reply(), close=True)
        finally:
            self._under_way -= 1

    async def _answer(self, scope: Scope, receive: Receive) -> tuple[Reply, bool]:
        """The reply, and whether the connection must end with it because a body was left unread."""
        try:
            if self._under_way > self.guard.limits.requests:
                raise Problem(503, "too many requests at once", (("retry-after", "1"),))
            request = read_request(scope, self.guard.bounded(receive))
            reply = self.guard.check(request)
            if reply is None:
                async with asyncio.timeout(self.guard.limits.seconds):
                    reply = await self._route(request)
            return reply, False
        except Problem as problem:
            return problem.reply(), problem.status in (400, 408, 413, 415, 421)
        except TimeoutError:
            return Problem(
                503, "the answer took too long; ask for less", (("retry-after", "5"),)
            ).reply(), True

    async def _route(self, request: Request) -> Reply:
        route = ROUTES.get(request.path)
        page = self.pages.get(request.path)
        if route is None and page is None:
            raise Problem(404, "there is nothing here; /docs lists what there is")
        methods = ("GET", "HEAD") if route is None else (*route.methods, "HEAD")
        if request.method not in methods:
            raise Problem(405, f"use {' or '.join(methods)}", (("allow", ", ".join(methods)),))
        if route is None:
            assert page is not None
            return page
        values = await read_parameters(request, route.parameters, self.answers.zone)
        return Reply(await self._document(request.path, route, values))

    async def _document(self, path: str, route: Route, values: dict[str, Any]) -> bytes:
        """The encoded answer, kept for the next one who asks the same."""
        key = (path, *(str(values[parameter.name]) for parameter in route.parameters))
        if key in self._kept:
            self._kept.move_to_end(key)
            return self._kept[key]
        if route.at_once(self.answers, values):
            body = encode(route.answer(self.answers, values))
        else:
            if self._workers is None:
                self._workers = asyncio.Semaphore(WORKERS)
            async with self._workers:
                body = await asyncio.to_thread(lambda: encode(route.answer(self.answers, values)))
        self._keep(key, body)
        return body

    def _keep(self, key: Any, body: bytes) -> None:
        if key not in self._kept:
            self._kept_bytes += len(body)
        self._kept[key] = body
        while len(self._kept) > KEPT_ANSWERS or self._kept_bytes > KEPT_BYTES:
            _, dropped = self._kept.popitem(last=False)
            self._kept_bytes -= len(dropped)


def make_app(
    folder: str | os.PathLike[str],
    *,
    token: str | None = None,
    hosts: Hosts | Sequence[str] = LOOPBACK_NAMES,
    limits: Limits | None = None,
) -> App:
    """The ASGI application that serves a run folder, all of it read now.

    Parameters
    ----------
    folder : what ``unmet run … -o`` wrote.
    token : asked of every request if given.
    hosts : names that the Host header may carry.

    Examples
    --------
    >>> app = make_app("out")  # doctest: +SKIP
    """
    names = hosts if isinstance(hosts, Hosts) else Hosts(frozenset(name.lower() for name in hosts))
    guard = Guard(names, token, limits or Limits())
    return App(RunAnswers(folder), guard, static_pages(folder))
