"""Checks every answer that the gateway's tests receive against the OpenAPI document."""

from __future__ import annotations

import re
from typing import Any

import httpx


class Documented:
    """A hook for a client; fails the test if its answer is not documented."""

    def __init__(self, document: dict[str, Any]) -> None:
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
