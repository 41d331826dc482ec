"""Routes that take only JSON bodies."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from fastapi.routing import APIRoute
from starlette.requests import Request
from starlette.responses import Response

from gateway.http.errors import FieldError, Problem, ProblemError

METHODS_WITH_BODY = frozenset({"POST", "PUT", "PATCH"})


class JsonRoute(APIRoute):
    """A route that answers 415 to a body that is not JSON, before it reads it."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The handler, with the check in front."""
        handle = super().get_route_handler()
        takes_body = self.body_field is not None

        async def checked(request: Request) -> Response:
            if takes_body and request.method in METHODS_WITH_BODY:
                _require_json(request.headers.get("content-type", ""))
            return await handle(request)

        return checked


def _require_json(content_type: str) -> None:
    media_type = content_type.partition(";")[0].strip().lower()
    if media_type != "application/json" and not (
        media_type.startswith("application/") and media_type.endswith("+json")
    ):
        given = f"`{media_type}`" if media_type else "no content type"
        detail = f"Send `Content-Type: application/json`; the request has {given}."
        raise ProblemError(Problem(415, detail, (FieldError("Content-Type", detail),)))
