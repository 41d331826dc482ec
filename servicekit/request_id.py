"""The request id that follows one call through every service and log line."""

from __future__ import annotations

import secrets
from contextvars import ContextVar

METADATA_KEY = "x-request-id"
MAX_LENGTH = 64

_request_id: ContextVar[str] = ContextVar("request_id", default="")


def current_request_id() -> str:
    """The id of the request being served; empty outside of a request."""
    return _request_id.get()


def set_request_id(request_id: str | None) -> str:
    """Adopts the caller's id, limited to 64 printable ASCII characters, or makes a new one; gives the id in use."""
    cleaned = "".join(c for c in request_id or "" if c.isascii() and c.isprintable())[:MAX_LENGTH]
    adopted = cleaned or secrets.token_hex(8)
    _request_id.set(adopted)
    return adopted
