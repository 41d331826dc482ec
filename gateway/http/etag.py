"""Gives answers an ETag, so that a client that asks again learns in a few bytes that nothing has changed."""

from __future__ import annotations

import hashlib
from http import HTTPStatus

from starlette.requests import Request
from starlette.responses import Response

CACHE_CONTROL = "private, no-cache"
"""A browser keeps the answer for its user, and asks each time if it still holds."""


def with_etag(request: Request, response: Response) -> Response:
    """The answer to a GET with a strong ETag of its body, or 304 without a body if the caller has that already.

    Other answers than whole JSON with status 200 stay as they are.
    """
    body = getattr(response, "body", b"")
    is_json = response.media_type == "application/json"
    if request.method != "GET" or response.status_code != HTTPStatus.OK or not is_json or not body:
        return response
    tag = f'"{hashlib.blake2b(body, digest_size=16).hexdigest()}"'
    response.headers["ETag"] = tag
    response.headers.setdefault("Cache-Control", CACHE_CONTROL)
    if not _has(request.headers.get("if-none-match", ""), tag):
        return response
    kept = {name: value for name, value in response.headers.items() if not name.startswith("content-")}
    return Response(status_code=HTTPStatus.NOT_MODIFIED, headers=kept)


def _has(if_none_match: str, tag: str) -> bool:
    """True if the header names the tag; a proxy that compresses makes it a weak one."""
    given = [one.strip().removeprefix("W/") for one in if_none_match.split(",")]
    return tag in given or given == ["*"]
