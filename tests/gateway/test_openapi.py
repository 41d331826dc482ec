"""The OpenAPI document, and its agreement with docs/http-api.md."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from gateway.app import create_app
from gateway.config import GatewaySettings
from tests.gateway.running_gateway import documented

PAGE = Path(__file__).parents[2] / "docs" / "http-api.md"
FIRST_CELL = re.compile(r"^\| (`[A-Z]+ /.*?) \|", re.MULTILINE)
ROUTE = re.compile(r"`([A-Z]+ /[^`]*)`")
PARAMETER = re.compile(r"\{\w+\}")


FREE_FORM = {
    # A plan has a form of its own, which the machine checks (docs/contracts.md).
    "SharedSubmission.launch_plan",
    "SubmissionDetail.launch_plan",
    "SubmissionRequest.launch_plan",
    # Requests and answers of any method that is an act.
    *("AuditedAct.request", "AuditedAct.before", "AuditedAct.after"),
    # Of a queue's document as Kubernetes has it: it is not looked at, and never sent.
    "QueueDocument.status",
}


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    return documented().document


def operations_of(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The operations by their method and path."""
    return {
        f"{method} {path}": operation
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
    }


def test_the_document_is_the_same_whatever_the_settings(document: dict[str, Any]) -> None:
    other = GatewaySettings(public_problems=True, allowed_origins=("https://example.org",), ssh_port=2222)
    assert create_app(other).openapi() == document


async def test_it_is_made_beside_the_event_loop(document: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes a second or two, in which no stream would move."""
    makers: list[threading.Thread] = []
    monkeypatch.setattr("gateway.document._add_access", lambda *_: makers.append(threading.current_thread()))
    transport = httpx.ASGITransport(create_app(GatewaySettings()))
    async with httpx.AsyncClient(transport=transport, base_url="http://gateway") as client:
        wrong = await client.delete("/api/openapi.json")
        answer = await client.get("/api/openapi.json")
    assert (wrong.status_code, answer.json()["paths"].keys()) == (405, document["paths"].keys())
    assert makers
    assert threading.current_thread() not in makers


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
        # Of /readyz: the same as if all were well.
        (False, "application/json", "Readiness"),
    }


def test_operations_have_short_ids_of_their_own(document: dict[str, Any]) -> None:
    ids = Counter(operation["operationId"] for operation in operations_of(document).values())
    assert [name for name, count in ids.items() if count > 1 or not re.fullmatch(r"[a-z]+(_[a-z]+)*", name)] == []


def test_schemas_have_short_names(document: dict[str, Any]) -> None:
    assert [name for name in document["components"]["schemas"] if not re.fullmatch(r"[A-Z][A-Za-z]+", name)] == []


def test_every_operation_says_its_scope_and_in_words_too(document: dict[str, Any]) -> None:
    for name, operation in operations_of(document).items():
        words = operation["description"].rpartition("\n\n")[2]
        named = re.findall(r"`(\w+)`", words)
        assert named == operation["x-scope"] + operation.get("x-role", []), name
        assert named or words == f"Takes {'any token that works' if 'security' in operation else 'no token'}.", name


def test_nothing_that_succeeds_has_a_body_of_an_unknown_form(document: dict[str, Any]) -> None:
    bodies = [
        (name, body.get("schema", {}))
        for name, operation in operations_of(document).items()
        for status, response in operation["responses"].items()
        if int(status) < 300
        for body in response.get("content", {}).values()
    ]
    assert len(bodies) > 90
    seen: set[str] = set()
    assert {place for name, schema in bodies for place in untyped(document, schema, name, seen)} == FREE_FORM


def untyped(document: dict[str, Any], schema: dict[str, Any], place: str, seen: set[str]) -> Iterator[str]:
    """Where a schema says nothing of a form, which generated clients call unknown; shared ones are looked at once."""
    if "$ref" in schema:
        shared = schema["$ref"].rpartition("/")[2]
        if shared not in seen:
            seen.add(shared)
            yield from untyped(document, document["components"]["schemas"][shared], shared, seen)
        return
    below = [(f"{place}.{name}", one) for name, one in schema.get("properties", {}).items()]
    parts = [
        schema.get("items"),
        schema.get("additionalProperties"),
        *schema.get("anyOf", []),
        *schema.get("oneOf", []),
    ]
    below += [(place, one) for one in parts if isinstance(one, dict)]
    if not below and schema.get("type") in {None, "object", "array"}:
        yield place
    for name, one in below:
        yield from untyped(document, one, name, seen)


def test_every_schema_is_there_and_is_used(document: dict[str, Any]) -> None:
    named = set(re.findall(r'"#/components/schemas/([^"]+)"', json.dumps(document)))
    assert named == set(document["components"]["schemas"])


def test_the_command_prints_the_same_document_each_time(document: dict[str, Any]) -> None:
    command = (sys.executable, "-m", "gateway.openapi")
    printed = subprocess.run(command, env=os.environ | {"PYTHONHASHSEED": "7"}, capture_output=True, check=True).stdout
    assert printed.decode() == json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def test_states_and_verdicts_are_enums_that_expect_others(document: dict[str, Any]) -> None:
    schemas = document["components"]["schemas"]
    listed = {name: schema for name, schema in schemas.items() if "enum" in schema}
    assert {"JobState", "FinalStatus", "Verdict", "Timing", "Mode", "MachineState", "ReservationState"} <= set(listed)
    assert all("Answers may have others" in schema["description"] for schema in listed.values())
    fields = {"state", "verdict", "timing", "mode", "role", "level", "severity", "origin", "policy"}
    bare = {
        f"{name}.{field}"
        for name, schema in schemas.items()
        for field in fields & set(schema.get("properties", {}))
        if "$ref" not in str(schema["properties"][field])
    }
    # The first is a place, such as github.com/alice, the second an index, and the third is taken in any case.
    assert bare == {"AddedKey.origin", "ErrorWindow.origin", "FairnessDocument.policy"}
