"""Polls dstack's runs no more often than is useful, and never waits long for an answer.

The pool asks many times a second while a machine is on its way, and its own heartbeat waits for the answer. So each
answer holds for a while, there is one question at a time about each machine, and a server that is slow to answer is
UNKNOWN until it does.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from servicekit.logging import get_logger
from services.vmpool import metrics
from services.vmpool.errors import ProviderError
from services.vmpool.providers.provider import UNNAMED, Observation, ProviderState

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from services.vmpool.providers.provider import Resource

log = get_logger(__name__)

WAIT_SECONDS = 1.0
"""How long the pool's heartbeat is held up by a poll; a server that is well answers in hundredths of that."""


@dataclass(frozen=True)
class _Seen:
    time: float
    observation: Observation


class RunPoller:
    """Remembers and shares answers; `ask_server` asks the server."""

    def __init__(
        self,
        ask_server: Callable[[str, Resource], Awaitable[Observation]],
        interval_seconds: float,
        wait_seconds: float = WAIT_SECONDS,
    ) -> None:
        self._ask_server = ask_server
        self._interval_seconds = interval_seconds
        self._wait_seconds = wait_seconds
        self._seen: dict[str, _Seen] = {}
        self._under_way: dict[str, asyncio.Task[Observation]] = {}

    async def poll(self, machine_id: str, resource: Resource = UNNAMED) -> Observation:
        """How the machine is, or was a moment ago; UNKNOWN if the server does not answer."""
        seen = self._seen.get(machine_id)
        if seen is not None and time.monotonic() - seen.time < self._interval_seconds:
            return seen.observation
        poll = self._under_way.get(machine_id)
        if poll is None:
            poll = self._under_way[machine_id] = asyncio.create_task(self._ask(machine_id, resource))
            poll.add_done_callback(lambda done: self._finish(machine_id, done))
        await asyncio.wait({poll}, timeout=self._wait_seconds)
        if not poll.done() or poll.cancelled():
            return Observation(ProviderState.UNKNOWN, reason="dstack is slow to answer")
        return poll.result()

    def forget(self, machine_id: str) -> None:
        """Drop the last answer and the poll that is under way; the next one asks again."""
        self._seen.pop(machine_id, None)
        poll = self._under_way.pop(machine_id, None)
        if poll is not None:
            poll.cancel()

    async def close(self) -> None:
        """End the polls under way."""
        polls = list(self._under_way.values())
        for poll in polls:
            poll.cancel()
        await asyncio.gather(*polls, return_exceptions=True)

    def _finish(self, machine_id: str, poll: asyncio.Task[Observation]) -> None:
        # A poll that was forgotten in the meantime has an old answer.
        if self._under_way.get(machine_id) is poll:
            del self._under_way[machine_id]
            if not poll.cancelled():
                self._seen[machine_id] = _Seen(time.monotonic(), poll.result())

    async def _ask(self, machine_id: str, resource: Resource) -> Observation:
        try:
            return await self._ask_server(machine_id, resource)
        except (ProviderError, OSError) as error:
            metrics.provider_errors.labels("dstack").inc()
            log.warning("dstack does not answer for a machine", extra={"machine_id": machine_id, "error": str(error)})
            return Observation(ProviderState.UNKNOWN, reason=str(error))
