"""Wraps every request: its id, a log line, a metric, and security headers for browsers."""

from __future__ import annotations

import time
from http import HTTPMethod, HTTPStatus

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gateway.http.ticket import PARAMETER, take_ticket
from gateway.metrics import request_seconds
from servicekit.logging import get_logger
from servicekit.request_id import set_request_id

log = get_logger(__name__)

SECURITY_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; worker-src 'self'; style-src 'self'; connect-src 'self'; "
        "img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
NO_STORE = {"Cache-Control": "no-store, no-transform"}
"""For answers to tickets: without an Authorization header, a proxy would take them for public."""
CLIENT_WENT_AWAY = 499
"""The logged status of a request whose answer never began."""


class RequestScope:
    """An ASGI application that wraps another."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves the request."""
        if scope["type"] not in {"http", "websocket"}:
            await self._app(scope, receive, send)
            return
        take_ticket(scope)
        request_id = set_request_id(Headers(scope=scope).get("x-request-id"))
        begin = time.monotonic()
        status = CLIENT_WENT_AWAY
        kept_by_none = NO_STORE if PARAMETER in scope else {}

        async def with_headers(message: Message) -> None:
            nonlocal status
            # A WebSocket that is refused is answered as a request is.
            if message["type"] in {"http.response.start", "websocket.http.response.start"}:
                status = message["status"]
                MutableHeaders(scope=message).update({"X-Request-Id": request_id, **SECURITY_HEADERS, **kept_by_none})
            elif message["type"] == "websocket.accept":
                status = HTTPStatus.SWITCHING_PROTOCOLS
                MutableHeaders(scope=message).update({"X-Request-Id": request_id})
            await send(message)

        try:
            await self._app(scope, receive, with_headers)
        finally:
            _record(scope, status, time.monotonic() - begin)


def _record(scope: Scope, status: int, seconds: float) -> None:
    route = getattr(scope.get("route"), "path", "unmatched")
    method = scope.get("method", "GET")
    # Clients may send any word.
    request_seconds.labels(method if method in HTTPMethod.__members__ else "other", route, str(status)).observe(seconds)
    log.info(
        "request",
        extra={
            "method": method,
            "path": scope["path"],
            "status": status,
            "duration_ms": round(seconds * 1000, 1),
        },
    )
