"""Looks at machines at their providers, and never waits long for one look.

A machine's step, and with it the heartbeat of its executor, must not hang on a provider that is slow, cannot be reached
or breaks: what it does not tell in time is UNKNOWN, and what it tells later serves the next look.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from servicekit.logging import get_logger
from services.vmpool import metrics
from services.vmpool.errors import ProviderError
from services.vmpool.lifecycle.machine_order import resource_of
from services.vmpool.providers.provider import Observation, ProviderState

if TYPE_CHECKING:
    from services.vmpool.machines.machine import Machine
    from services.vmpool.providers.provider_set import ProviderSet

log = get_logger(__name__)

WAIT_SECONDS = 1.5
"""Shorter than a heartbeat's timeout, beside which a look goes on."""
HANG_SECONDS = 60.0
"""After which a look that nobody answers is given up, and asked anew."""


class Observer:
    """Has one look under way for each machine."""

    def __init__(self, providers: ProviderSet) -> None:
        self._providers = providers
        self._looks: dict[str, asyncio.Task[Observation]] = {}

    async def observe(self, machine: Machine) -> Observation:
        """How the machine is, or was a moment ago; UNKNOWN where its provider does not tell."""
        look = self._looks.get(machine.machine_id)
        if look is None:
            look = self._looks[machine.machine_id] = asyncio.create_task(self._look(machine))
        await asyncio.wait({look}, timeout=WAIT_SECONDS)
        if not look.done():
            return Observation(ProviderState.UNKNOWN, reason=f"provider {machine.provider} is slow to answer")
        self._looks.pop(machine.machine_id, None)
        return look.result()

    def forget(self, machine_id: str) -> None:
        """The machine is over."""
        look = self._looks.pop(machine_id, None)
        if look is not None:
            look.cancel()

    async def close(self) -> None:
        """End the looks under way."""
        looks = list(self._looks.values())
        for look in looks:
            look.cancel()
        await asyncio.gather(*looks, return_exceptions=True)

    async def _look(self, machine: Machine) -> Observation:
        try:
            async with asyncio.timeout(HANG_SECONDS):
                provider = self._providers.named(machine.provider)
                return await provider.observe(machine.machine_id, resource_of(machine))
        except (ProviderError, OSError) as error:
            metrics.provider_errors.labels(machine.provider).inc()
            reason = str(error) or type(error).__name__
            log.warning("a provider does not tell", extra={"machine_id": machine.machine_id, "error": reason})
        except Exception:
            # A plug-in's own fault, which must not keep the pool from the machine's executor.
            metrics.provider_errors.labels(machine.provider).inc()
            log.exception("a provider's look failed", extra={"machine_id": machine.machine_id})
            reason = "see vmpool's log"
        return Observation(ProviderState.UNKNOWN, reason=f"provider {machine.provider} does not tell: {reason}")
