"""Turns a failed HTTP response into the client's exception for it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast

from wavepool_client.errors import (
    AuthenticationError,
    InputError,
    NotFoundError,
    RateLimitedError,
    ServerError,
    UnreachableError,
    WavepoolError,
)
from wavepool_client.http.connection import has_server

if TYPE_CHECKING:
    import httpx

BAD_GATEWAYS = frozenset({502, 503, 504})
EXCERPT_CHARACTERS = 200


def failure_of(response: httpx.Response) -> WavepoolError:
    """The exception for a response whose body has been read and whose status is 400 or more."""
    body = _json_object(response.text)
    message = _message(body) or f"HTTP {response.status_code}: {response.text[:EXCERPT_CHARACTERS]}".rstrip(": ")
    status = response.status_code
    if status == 401:  # noqa: PLR2004 - HTTP's own number
        return AuthenticationError(
            f"{message}\nGive the token with --token, WAVEPOOL_TOKEN or a profile (`wavepool config set`), or sign in "
            f"with `wavepool login`{'; `wavepool up` leaves one in .wavepool/token' if has_server() else ''}."
        )
    if status == 403:  # noqa: PLR2004 - HTTP's own number
        has_token = "Authorization" in response.request.headers
        fix = "\n`wavepool config get` shows your token's user, role and scopes." if has_token else ""
        return AuthenticationError(message + fix)
    if status == 404:  # noqa: PLR2004 - HTTP's own number
        return NotFoundError(message, _fields(body))
    if status == 429:  # noqa: PLR2004 - HTTP's own number
        return RateLimitedError(message, _retry_after(response, body))
    if status in BAD_GATEWAYS:
        return UnreachableError(message)
    return InputError(message, _fields(body)) if status < 500 else ServerError(message)  # noqa: PLR2004 - HTTP's own


def _json_object(text: str) -> dict[str, Any]:
    try:
        value = cast("object", json.loads(text))
    except ValueError:
        return {}
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _message(body: dict[str, Any]) -> str:
    """`detail` of RFC 9457, whose `title` is only the status in words, or `error` and `details` of older routes."""
    said = body.get("detail") or body.get("title")
    parts = (said,) if said else (body.get("error"), body.get("details"))
    return ": ".join(str(part) for part in parts if part)


def _fields(body: dict[str, Any]) -> dict[str, str]:
    fields: dict[str, str] = {}
    for entry in cast("list[Any]", body.get("errors") or []):
        if isinstance(entry, dict):
            row = cast("dict[str, Any]", entry)
            fields[str(row.get("field") or "?")] = str(row.get("message") or "")
    for name in cast("list[Any]", body.get("missing") or []):
        fields[str(name)] = "is missing"
    return fields


def _retry_after(response: httpx.Response, body: dict[str, Any]) -> float | None:
    try:
        return float(response.headers.get("Retry-After") or body.get("retry_after") or "")
    except ValueError:
        return None
