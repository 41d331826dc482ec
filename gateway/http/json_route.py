"""Routes that take only JSON bodies, and whose answers to GET have an ETag."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from fastapi.routing import APIRoute
from starlette.requests import Request
from starlette.responses import Response

from gateway.http.errors import FieldError, Problem, ProblemError
from gateway.http.etag import with_etag

METHODS_WITH_BODY = frozenset({"POST", "PUT", "PATCH"})
NOT_CHANGED = {"description": "`If-None-Match` names the answer's `ETag`: it is as it was."}


class JsonRoute(APIRoute):
    """A route that answers 415 to a body that is not JSON, before it reads it, and 304 if its answer is known."""

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:  # noqa: ANN401 - FastAPI's
        if "GET" in (options.get("methods") or ()) and options.get("response_class") is not Response:
            options["responses"] = {304: NOT_CHANGED, **(options.get("responses") or {})}
        super().__init__(path, endpoint, **options)

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The handler, with the check in front and the ETag behind it."""
        handle = super().get_route_handler()
        takes_body = self.body_field is not None

        async def checked(request: Request) -> Response:
            if takes_body and request.method in METHODS_WITH_BODY:
                _require_json(request.headers.get("content-type", ""))
            return with_etag(request, await handle(request))

        return checked


def _require_json(content_type: str) -> None:
    media_type = content_type.partition(";")[0].strip().lower()
    if media_type != "application/json" and not (
        media_type.startswith("application/") and media_type.endswith("+json")
    ):
        given = f"`{media_type}`" if media_type else "no content type"
        detail = f"Send `Content-Type: application/json`; the request has {given}."
        raise ProblemError(Problem(415, detail, (FieldError("Content-Type", detail),)))
