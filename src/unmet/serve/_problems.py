"""Why a request was not answered, as a problem document (RFC 9457)."""

from __future__ import annotations

import json
from http import HTTPStatus
from typing import Any

from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from pydantic import TypeAdapter
from starlette.exceptions import HTTPException

from unmet.serve._documents import ProblemDocument

PROBLEM_JSON = "application/problem+json"
MEANINGS = {
    400: "a parameter is wrong",
    401: "the token is missing or wrong",
    403: "the request comes from a page of another origin",
    404: "no such place or period",
    405: "this path has other methods",
    408: "the body did not arrive in time",
    413: "the body is too large",
    415: "the body is not JSON",
    421: "the Host header names another service",
    503: "too many requests at once, or the answer took too long",
}
ANY_PROBLEM: dict[int | str, dict[str, Any]] = {
    "default": {
        "description": "Problems: " + "; ".join(f"{status} {text}" for status, text in MEANINGS.items()),
        "content": {PROBLEM_JSON: {"schema": TypeAdapter(ProblemDocument).json_schema()}},
    }
}


def problem(error: HTTPException) -> Response:
    """Tell a problem."""
    status = error.status_code
    title = HTTPStatus(status).phrase
    document = {"type": "about:blank", "title": title, "status": status, "detail": error.detail}
    return Response(json.dumps(document), status, error.headers, PROBLEM_JSON)


def wrong_parameter(error: RequestValidationError) -> HTTPException:
    """Name the first wrong parameter and what it should be."""
    first = error.errors()[0]
    kind, told = first["type"], first["msg"].removeprefix("Value error, ")
    name = next((part for part in first["loc"][1:] if isinstance(part, str)), "")[:40]
    if kind == "missing":
        return HTTPException(400, f"{name} is missing" if name else "the body is missing")
    if kind == "extra_forbidden":
        return HTTPException(400, f"{name!r} is not a parameter here; /docs lists those that are")
    if kind == "json_invalid" or not name:
        return HTTPException(400, "the body must be a JSON object")
    told = told.removeprefix("Input ") if kind != "value_error" else told
    return HTTPException(400, f"{name} {told[0].lower()}{told[1:]}")
