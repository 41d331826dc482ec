"""Posts JSON to an address that only the operator's settings name.

No address comes from a request, a reading or an answer: redirects are not followed. So nobody but the operator can make
billing call a host. The address may be a secret, and is in no log and no error.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from typing import Annotated, Self

import httpx
from pydantic import AfterValidator, Field, SecretStr, model_validator

from services.billing.alerts.channels.channel import LOOPBACK, ChannelError, Options


def _address(url: SecretStr) -> SecretStr:
    try:
        parsed = httpx.URL(url.get_secret_value())
    except httpx.InvalidURL:
        raise ValueError("is not a URL") from None
    if parsed.scheme not in {"http", "https"} or not parsed.host:
        raise ValueError("must be a URL that begins with https://")
    return url


class PostOptions(Options):
    """Options of every channel that posts."""

    url: Annotated[SecretStr, AfterValidator(_address)]
    timeout_seconds: Annotated[float, Field(gt=0, le=20)] = 10.0
    """Longest time of one try."""
    allow_http: bool = False
    """Allows an address without TLS on another host."""

    @model_validator(mode="after")
    def _private(self) -> Self:
        url = httpx.URL(self.url.get_secret_value())
        if url.scheme == "http" and url.host not in LOOPBACK and not self.allow_http:
            raise ValueError('url: must begin with https://, or set "allow_http": true in a network that you trust')
        return self


async def post(options: PostOptions, body: bytes, headers: Mapping[str, str]) -> None:
    """Posts `body`; returns if the answer is 2xx, else raises ChannelError."""
    # httpx logs every address that it calls.
    logging.getLogger("httpx").setLevel(logging.WARNING)
    try:
        async with asyncio.timeout(options.timeout_seconds):
            status = await _status(options, body, headers)
    except TimeoutError:
        raise ChannelError(f"no answer within {options.timeout_seconds:g} s") from None
    except httpx.HTTPError as error:
        raise ChannelError(f"it cannot be reached ({type(error).__name__})") from None
    if not httpx.codes.is_success(status):
        redirected = ", and redirects are not followed" if httpx.codes.is_redirect(status) else ""
        raise ChannelError(f"it answered HTTP {status}{redirected}")


async def _status(options: PostOptions, body: bytes, headers: Mapping[str, str]) -> int:
    sent = {"Content-Type": "application/json", "User-Agent": "wavepool", **headers}
    # The answer's body is not read, however long it is.
    async with (
        httpx.AsyncClient(timeout=options.timeout_seconds, follow_redirects=False) as client,
        client.stream("POST", options.url.get_secret_value(), content=body, headers=sent) as answer,
    ):
        return answer.status_code
