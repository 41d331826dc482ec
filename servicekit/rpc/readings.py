"""The loop that reports a service's readings, from which billing makes alerts."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

import grpc

from servicekit.logging import get_logger
from vocabulary.readings import Reading

log = get_logger(__name__)

MISSED_REPORTS = 3
"""A reading stands for so many intervals: one late report is no silence."""


class ReadingReporter:
    """Reports all readings in each pass. If they are not taken, the next pass reports newer ones."""

    name = "readings"

    def __init__(
        self,
        collect: Callable[[], Awaitable[Sequence[Reading]]],
        send: Callable[[Sequence[Reading]], Awaitable[None]],
    ) -> None:
        self._collect = collect
        self._send = send
        self._failure = ""

    async def run_once(self) -> None:
        """Collects and reports the readings; a failure to report is logged when it begins and when it ends."""
        readings = await self._collect()
        try:
            await self._send(readings)
            failure = ""
        except grpc.aio.AioRpcError as error:
            failure = f"{error.code().name}: {error.details()}"
        if failure and not self._failure:
            log.warning("billing takes no readings now", extra={"error": failure})
        elif self._failure and not failure:
            log.info("billing takes readings again")
        self._failure = failure
