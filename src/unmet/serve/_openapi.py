"""The OpenAPI document of the service, made from its routes."""

from __future__ import annotations

from typing import Any

from unmet import __version__
from unmet.serve._http import JSON
from unmet.serve._routes import ROUTES, Route

PROBLEM = {
    "type": "object",
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
    },
    "required": ["type", "title", "status", "detail"],
}
PROBLEMS = {
    400: "a parameter is wrong",
    401: "the token is missing or wrong",
    403: "the request comes from the page of another origin",
    404: "there is no such place or period",
    405: "the method is not one of this path",
    408: "the body did not arrive in time",
    413: "the body is too large",
    415: "the body is not JSON",
    421: "the Host header names another service",
    503: "too many requests at once, or the answer took too long",
}


def openapi(token: bool) -> dict[str, Any]:
    """The document; with `token`, every operation asks for it."""
    paths = {
        path: {m.lower(): _operation(path, m, route) for m in route.methods} for path, route in ROUTES.items()
    }
    components: dict[str, Any] = {"schemas": {"Problem": PROBLEM}}
    document: dict[str, Any] = {
        "openapi": "3.1.0",
        "info": {
            "title": "unmet",
            "version": __version__,
            "description": "Demand that a service did not see: panel, forecast, plan of one run. All in UTC.",
        },
        "servers": [{"url": "/"}],
        "paths": paths,
        "components": components,
    }
    if token:
        components["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        document["security"] = [{"token": []}]
    return document


def _operation(path: str, method: str, route: Route) -> dict[str, Any]:
    name = path.rsplit("/", 1)[-1]
    found: dict[str, Any] = {
        "operationId": name if method == "GET" else f"{name}_{method.lower()}",
        "summary": route.summary,
        "responses": {"200": {"description": "the answer", "content": {JSON: {"schema": route.schema}}}}
        | {str(status): _problem(about) for status, about in PROBLEMS.items()},
    }
    if method == "POST":
        properties = {p.name: p.schema() | {"description": p.about} for p in route.parameters}
        body = {"type": "object", "properties": properties, "additionalProperties": False}
        found["requestBody"] = {"required": True, "content": {JSON: {"schema": body}}}
    else:
        found["parameters"] = [
            {
                "name": p.name,
                "in": "query",
                "required": p.required,
                "description": p.about,
                "schema": p.schema(),
            }
            for p in route.parameters
        ]
    return found


def _problem(about: str) -> dict[str, Any]:
    schema = {"$ref": "#/components/schemas/Problem"}
    return {"description": about, "content": {"application/problem+json": {"schema": schema}}}
