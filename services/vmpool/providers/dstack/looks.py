"""Looks at machines no more often than is useful, and never waits long for one look.

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
"""How long the pool's heartbeat is held up by a look; a server that is well answers in hundredths of that."""


@dataclass(frozen=True)
class _Seen:
    time: float
    observation: Observation


class Looks:
    """Remembers and shares looks; `look` asks the server."""

    def __init__(self, look: Callable[[str, Resource], Awaitable[Observation]], interval_seconds: float) -> None:
        self._look = look
        self._interval_seconds = interval_seconds
        self._seen: dict[str, _Seen] = {}
        self._under_way: dict[str, asyncio.Task[Observation]] = {}

    async def at(self, machine_id: str, resource: Resource = UNNAMED) -> Observation:
        """How the machine is, or was a moment ago; UNKNOWN where the server does not tell."""
        seen = self._seen.get(machine_id)
        if seen is not None and time.monotonic() - seen.time < self._interval_seconds:
            return seen.observation
        look = self._under_way.get(machine_id)
        if look is None:
            look = self._under_way[machine_id] = asyncio.create_task(self._ask(machine_id, resource))
            look.add_done_callback(lambda done: self._finish(machine_id, done))
        await asyncio.wait({look}, timeout=WAIT_SECONDS)
        if not look.done() or look.cancelled():
            return Observation(ProviderState.UNKNOWN, reason="dstack is slow to answer")
        return look.result()

    def forget(self, machine_id: str) -> None:
        """What was seen holds no more, and a look under way comes to nothing; the next one asks anew."""
        self._seen.pop(machine_id, None)
        look = self._under_way.pop(machine_id, None)
        if look is not None:
            look.cancel()

    async def close(self) -> None:
        """End the looks under way."""
        looks = list(self._under_way.values())
        for look in looks:
            look.cancel()
        await asyncio.gather(*looks, return_exceptions=True)

    def _finish(self, machine_id: str, look: asyncio.Task[Observation]) -> None:
        # One that was forgotten meanwhile says what holds no more.
        if self._under_way.get(machine_id) is look:
            del self._under_way[machine_id]
            if not look.cancelled():
                self._seen[machine_id] = _Seen(time.monotonic(), look.result())

    async def _ask(self, machine_id: str, resource: Resource) -> Observation:
        try:
            return await self._look(machine_id, resource)
        except (ProviderError, OSError) as error:
            metrics.provider_errors.labels("dstack").inc()
            log.warning("dstack does not tell of a machine", extra={"machine_id": machine_id, "error": str(error)})
            return Observation(ProviderState.UNKNOWN, reason=str(error))
