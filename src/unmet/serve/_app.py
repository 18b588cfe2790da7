"""The application: FastAPI routes over the answers of a run, with the guards around them."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Annotated, Any
from urllib.parse import parse_qsl

from fastapi import Depends, FastAPI, HTTPException, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from fastapi.security import HTTPBearer
from starlette.exceptions import HTTPException as AnyHTTPException
from starlette.types import ASGIApp

from unmet import __version__
from unmet.serve._answers import Answers
from unmet.serve._documents import Forecast, Panel, Places, Plan
from unmet.serve._encode import encode
from unmet.serve._guards import Limits, guarded
from unmet.serve._hosts import LOOPBACK_NAMES, Hosts
from unmet.serve._pages import Page, static_pages
from unmet.serve._problems import ANY_PROBLEM, problem, wrong_parameter
from unmet.serve._questions import (
    MAX_PLACES,
    ForecastQuestion,
    NoQuestion,
    PanelQuestion,
    PlanQuestion,
)
from unmet.serve._source import read_source

JSON = "application/json"
THREADS = 2  # answers computed at once; other requests wait their turn
# FastAPI can send traces and logs elsewhere if the environment asks for it; this service never does.
NO_TELEMETRY: Any = dict.fromkeys(("tracing", "metrics", "logs", "operation_spans", "auto_configure"), False)


def make_app(
    folder: str | os.PathLike[str],
    *,
    token: str | None = None,
    hosts: Hosts | Sequence[str] = LOOPBACK_NAMES,
    limits: Limits | None = None,
) -> ASGIApp:
    """Return the ASGI application that serves a run folder. The folder is read now, once.

    Parameters
    ----------
    folder : path
        The folder that ``unmet run … -o`` wrote.
    token : str, optional
        Required of every request if given.
    hosts : sequence of str
        Names that the Host header may carry.
    limits : Limits, optional
        Limits of a request.

    Examples
    --------
    >>> app = make_app("out")  # doctest: +SKIP
    """
    names = hosts if isinstance(hosts, Hosts) else Hosts(frozenset(name.lower() for name in hosts))
    source = read_source(folder)
    api = make_api(Answers(source), static_pages(source), with_token=token is not None)
    return guarded(api, names, token, limits or Limits())


def make_api(answers: Answers, pages: Mapping[str, Page], *, with_token: bool = False) -> FastAPI:
    """Return the application without its guards."""
    security = [Depends(HTTPBearer(scheme_name="token", auto_error=False))] if with_token else []
    api = FastAPI(
        title="unmet",
        version=__version__,
        description="Demand a service did not see: panel, forecast and plan of one run. All times are UTC.",
        docs_url=None,  # FastAPI's pages load scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,
        responses=ANY_PROBLEM,
        dependencies=[Depends(check_query), *security],
        telemetry=NO_TELEMETRY,
    )
    add_routes(api, answers)
    for path, page in pages.items():
        api.add_route(path, _show(page), methods=["GET"], include_in_schema=False)

    async def refused(request: Request, error: Any) -> Response:
        if error.status_code == 404 and error.detail == "Not Found":
            error = HTTPException(404, "there is nothing here; /docs lists what there is")
        if error.status_code == 405:
            methods = [name.upper() for name in api.openapi()["paths"].get(request.url.path, ["get"])]
            methods.insert(1, "HEAD")
            error = HTTPException(405, f"use {' or '.join(methods)}", {"allow": ", ".join(methods)})
        return problem(error)

    async def invalid(request: Request, error: Any) -> Response:
        return problem(wrong_parameter(error))

    async def failed(request: Request, error: Exception) -> Response:
        return problem(HTTPException(500, "the service failed; its log says why"))

    api.add_exception_handler(AnyHTTPException, refused)
    api.add_exception_handler(RequestValidationError, invalid)
    api.add_exception_handler(Exception, failed)
    return api


def add_routes(api: FastAPI, answers: Answers) -> None:
    """Add the questions of the API."""
    pool = ThreadPoolExecutor(THREADS, "unmet-serve")

    async def in_thread(answer: Callable[..., Any], *question: Any) -> Response:
        loop = asyncio.get_running_loop()
        body = await loop.run_in_executor(pool, lambda: encode(answer(*question)))
        return Response(body, media_type=JSON)

    @api.get("/api/places", response_model=Places, operation_id="places")
    async def places(question: Annotated[NoQuestion, Query()]) -> Any:
        """List places and the times covered."""
        return await in_thread(answers.places)

    @api.get("/api/panel", response_model=Panel, operation_id="panel")
    async def panel(question: Annotated[PanelQuestion, Query()]) -> Any:
        """Return observed rides at a place and the demand behind them."""
        return await in_thread(answers.panel, question)

    @api.get("/api/forecast", response_model=Forecast, operation_id="forecast")
    async def forecast(question: Annotated[ForecastQuestion, Query()]) -> Any:
        """Forecast demand at a place."""
        if answers.needs_model(question):
            return await in_thread(answers.forecast, question)
        return Response(encode(answers.forecast(question)), media_type=JSON)

    @api.get("/api/plan", response_model=Plan, operation_id="plan")
    async def plan(question: Annotated[PlanQuestion, Query()]) -> Any:
        """Plan stock targets for a fleet."""
        return await in_thread(answers.plan, question)

    @api.post("/api/plan", response_model=Plan, operation_id="plan_post", dependencies=[Depends(check_body)])
    async def plan_post(question: PlanQuestion) -> Any:
        """Plan stock targets for a fleet, with the parameters in the body."""
        return await in_thread(answers.plan, question)


async def check_query(request: Request) -> None:
    """Refuse a query that is not UTF-8, repeats a parameter, or comes with a body."""
    query = request.scope["query_string"].decode("latin-1")
    if request.method == "POST" and query:
        raise HTTPException(400, "a POST takes its parameters from its body, not from the query")
    try:
        pairs = parse_qsl(query, keep_blank_values=True, max_num_fields=MAX_PLACES + 100, errors="strict")
    except ValueError:
        raise HTTPException(400, "the query is not UTF-8 or has too many parameters") from None
    names = [name for name, _ in pairs if name != "places"]
    for name in names:
        if names.count(name) > 1:
            raise HTTPException(400, f"{name[:40]!r} is given twice")


async def check_body(request: Request) -> None:
    """Refuse a body that does not call itself JSON."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != JSON:
        raise HTTPException(415, f"the body must be {JSON}")


def _show(page: Page) -> Callable[[Request], Any]:
    async def show(request: Request) -> Response:
        return Response(page.body, media_type=page.media_type, headers=page.headers)

    return show
