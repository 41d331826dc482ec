"""Asks if another account's submission, whose stream is open, is still shared."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from datetime import timedelta
from http import HTTPStatus

from gateway.http.errors import ProblemError
from servicekit.logging import get_logger
from vocabulary.backoff import Backoff, Retries

log = get_logger(__name__)

RETRIES = Backoff(first=timedelta(milliseconds=500), longest=timedelta(seconds=4))


class SharingCheck:
    """Called before a frame is sent; an answer is good for a time, as that about a token is."""

    def __init__(
        self,
        look_up: Callable[[], Awaitable[object]],
        good_for: timedelta,
        retries: Backoff = RETRIES,
        monotonic_seconds: Callable[[], float] = time.monotonic,
    ) -> None:
        """`look_up` raises ProblemError (404) if the submission is not shared any more; it was shared just now."""
        self._look_up = look_up
        self._good_for_seconds = good_for.total_seconds()
        self._retries = Retries(retries)
        self._monotonic_seconds = monotonic_seconds
        self._asked = monotonic_seconds()

    async def __call__(self) -> None:
        """Returns if it is; raises ProblemError (404) if it is not. In doubt it asks again."""
        while self._monotonic_seconds() - self._asked >= self._good_for_seconds:
            asked = self._monotonic_seconds()
            try:
                await self._look_up()
            except ProblemError as error:
                if error.problem.status == HTTPStatus.NOT_FOUND:
                    raise
                log.warning("it cannot be found out if a submission is shared; trying again")
                await self._retries.wait()
                continue
            self._retries.reset()
            self._asked = asked
            return
