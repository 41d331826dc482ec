"""The OpenAPI document, and its agreement with docs/http-api.md."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from gateway.app import create_app
from gateway.config import GatewaySettings

PAGE = Path(__file__).parents[2] / "docs" / "http-api.md"
FIRST_CELL = re.compile(r"^\| (`[A-Z]+ /.*?) \|", re.MULTILINE)
ROUTE = re.compile(r"`([A-Z]+ /[^`]*)`")
PARAMETER = re.compile(r"\{\w+\}")


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    return create_app(GatewaySettings()).openapi()


def test_the_page_has_every_route_and_no_other(document: dict[str, Any]) -> None:
    reported = [route for cell in FIRST_CELL.findall(PAGE.read_text()) for route in ROUTE.findall(cell)]
    routes = [f"{method.upper()} {path}" for path, operations in document["paths"].items() for method in operations]
    assert sorted(PARAMETER.sub("{}", route) for route in reported) == sorted(
        PARAMETER.sub("{}", route) for route in routes
    )


def test_failures_are_documented_in_the_form_that_they_have(document: dict[str, Any]) -> None:
    forms = {
        (path.startswith(("/api/amd/", "/api/submissions/")), media_type, body["schema"]["$ref"].rpartition("/")[2])
        for path, operations in document["paths"].items()
        for operation in operations.values()
        for status, response in operation["responses"].items()
        if int(status) >= 400 and "schema" in str(response)
        for media_type, body in response["content"].items()
    }
    assert forms == {
        (True, "application/json", "SeedProblem"),
        (False, "application/problem+json", "ProblemDocument"),
    }
