"""Refuses large bodies as they arrive, even if their length was not reported beforehand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException

from gateway.http.error_responses import problem_response
from gateway.http.errors import body_problem
from vocabulary.build_contexts import MOST_CONTEXT_BYTES

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

MAX_BODY_BYTES = 2 * 1024 * 1024
"""A source of 1 MiB fits, even with the escapes of practical JSON."""
TOO_LARGE = f"The body is larger than {MAX_BODY_BYTES} bytes; a source may have 1 MiB."
LARGE_BODY_BYTES = MOST_CONTEXT_BYTES * 3 // 2
"""The folder that an image is built from fits, in base64."""
LARGE_PATHS = frozenset({"/api/v1/build-contexts"})
LARGE_TOO_LARGE = f"The body is larger than {LARGE_BODY_BYTES} bytes; what is built from may have 8 MiB, compressed."


class BodyLimit:
    """An ASGI application that wraps another and limits bodies."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves the request, or answers 413."""
        if scope["type"] == "http":
            is_large = scope["path"] in LARGE_PATHS
            most, words = (LARGE_BODY_BYTES, LARGE_TOO_LARGE) if is_large else (MAX_BODY_BYTES, TOO_LARGE)
            if _reported_length(scope) > most:
                await problem_response(body_problem(413, words), scope["path"])(scope, receive, send)
                return
            receive = _counted(receive, most, words)
        await self._app(scope, receive, send)


def _reported_length(scope: Scope) -> int:
    text = Headers(scope=scope).get("content-length", "0")
    return int(text) if text.isascii() and text.isdigit() else 0


def _counted(receive: Receive, most: int, words: str) -> Receive:
    received_bytes = 0

    async def counting() -> Message:
        nonlocal received_bytes
        message = await receive()
        received_bytes += len(message.get("body", b""))
        if received_bytes > most:
            # The framework's body parser lets this exception through unchanged.
            raise HTTPException(413, words)
        return message

    return counting
