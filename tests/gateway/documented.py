"""Checks every answer and event that the gateway's tests receive against the OpenAPI document."""

from __future__ import annotations

import re
from typing import Any, cast

import httpx
from pydantic import TypeAdapter

from gateway.document import EVENTS

_EVENTS = {name: TypeAdapter(event) for name, event in EVENTS.items()}


def check_event(name: str, data: dict[str, Any]) -> None:
    """Fails the test unless the data of an event have the fields of its schema in `EVENTS`, and no others.

    Words of enums are not checked: others may follow.
    """
    adapter = _EVENTS[name]
    known = adapter.dump_python(adapter.validate_python(data), mode="json", by_alias=True, warnings=False)
    assert _keys(data) == _keys(known), "a field is missing in the schema"


def _keys(value: object) -> Any:
    """The names of all fields, at any depth."""
    if isinstance(value, dict):
        return {key: _keys(below) for key, below in cast("dict[str, object]", value).items()}
    return [_keys(below) for below in cast("list[object]", value)] if isinstance(value, list) else None


class Documented:
    """A hook for a client; fails the test if its answer is not documented."""

    def __init__(self, document: dict[str, Any]) -> None:
        self.document = document
        self._operations = [
            (method.upper(), re.compile(re.sub(r"\{\w+\}", "[^/]+", path)), operation["responses"])
            for path, operations in document["paths"].items()
            for method, operation in operations.items()
        ]

    async def check(self, response: httpx.Response) -> None:
        """Looks up the status and the content type."""
        request = response.request
        known = [
            responses
            for method, path, responses in self._operations
            if method == request.method and path.fullmatch(request.url.path)
        ]
        if not known:
            return
        reported = f"{request.method} {request.url.path} answered {response.status_code}"
        documented = known[0].get(str(response.status_code))
        assert documented is not None, f"{reported}; OpenAPI has {', '.join(known[0])}"
        content_type = response.headers.get("content-type", "").partition(";")[0]
        if "content" in documented:
            assert content_type in documented["content"], f"{reported} with {content_type}, which OpenAPI does not have"
