"""Requests that nobody thought of, drawn by schemathesis from the OpenAPI document: none ends in a 5xx."""

import pytest
from hypothesis import settings
from serve_tools import IDS

from unmet.serve._app import make_api

schemathesis = pytest.importorskip("schemathesis")


def known_places() -> dict:
    """The document with ids of the places, so that most requests get past the first check."""
    document = make_api(None, {}).openapi()  # type: ignore[arg-type]
    for methods in document["paths"].values():
        for operation in methods.values():
            for parameter in operation.get("parameters", ()):
                if parameter["name"] == "place":
                    parameter["schema"] = {"type": "string", "enum": [*IDS, "no such place"]}
    return document


schema = schemathesis.openapi.from_dict(known_places())


@schema.parametrize()
@settings(max_examples=60, deadline=None, derandomize=True)
def test_no_request_breaks_the_service(case, service):
    response = case.call(base_url=f"http://{service.host}:{service.port}")
    assert response.status_code < 500
    if response.status_code == 413:  # a body that is too long is refused unread; the checks do not know 413
        return
    # A well-formed date may lie outside the run, or `from` after `to`: the schema cannot say that.
    case.validate_response(response, excluded_checks=[schemathesis.checks.positive_data_acceptance])
