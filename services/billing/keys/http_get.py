"""Gets one small document from an address that only the operator's settings name.

Redirects are not followed, and the time and the size of an answer are limited. So no answer can make billing call
another host, wait for long, or fill its memory.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import dataclass

import httpx

from vocabulary.web_addresses import is_loopback_url


class NoAnswerError(Exception):
    """There is no answer that can be used; the message says why."""


@dataclass(frozen=True)
class Reply:
    """An answer with any status."""

    status: int
    headers: Mapping[str, str]
    text: str


async def get(url: str, headers: Mapping[str, str], timeout_seconds: float, most_bytes: int) -> Reply:
    """The answer of `url`; raises NoAnswerError."""
    # httpx logs every address that it calls.
    logging.getLogger("httpx").setLevel(logging.WARNING)
    try:
        async with asyncio.timeout(timeout_seconds):
            return await _reply(url, headers, timeout_seconds, most_bytes)
    except TimeoutError:
        raise NoAnswerError(f"no answer within {timeout_seconds:g} s") from None
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise NoAnswerError(f"it cannot be reached ({type(error).__name__})") from None
    except UnicodeDecodeError:
        raise NoAnswerError("its answer is not text") from None


async def _reply(url: str, headers: Mapping[str, str], timeout_seconds: float, most_bytes: int) -> Reply:
    sent = {"User-Agent": "wavepool", **headers}
    body = b""
    async with (
        # No proxy of the environment leads to this machine.
        httpx.AsyncClient(
            timeout=timeout_seconds, follow_redirects=False, trust_env=not is_loopback_url(url)
        ) as client,
        client.stream("GET", url, headers=sent) as answer,
    ):
        async for chunk in answer.aiter_bytes():
            body += chunk
            if len(body) > most_bytes:
                raise NoAnswerError(f"its answer has more than {most_bytes} bytes")
    return Reply(answer.status_code, answer.headers, body.decode())
