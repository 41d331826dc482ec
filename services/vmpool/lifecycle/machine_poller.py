"""Polls machines at their providers, and never waits long for an answer.

A machine's step, and with it the heartbeat of its executor, must not hang on a provider that is slow, unreachable or
broken. A machine is UNKNOWN if its provider does not answer in time; the next poll uses the late answer. If a provider
is Paced, all polls within its interval share one answer.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from servicekit.logging import get_logger
from services.vmpool import metrics
from services.vmpool.errors import ProviderError
from services.vmpool.lifecycle.machine_order import resource_of
from services.vmpool.providers.provider import Observation, Paced, ProviderState
from services.vmpool.providers.provider_set import HANG_SECONDS

if TYPE_CHECKING:
    from collections.abc import Callable

    from services.vmpool.machines.machine import Machine
    from services.vmpool.providers.provider_set import ProviderSet

log = get_logger(__name__)

WAIT_SECONDS = 1.5
"""Time that a step waits for an answer. It is less than the timeout of a heartbeat, which runs at the same time."""


@dataclass
class _Poll:
    answer: asyncio.Task[Observation]
    old_seconds: float | None = None
    """Time on the monotonic clock at which the answer is too old; None if no caller has had it yet."""


class MachinePoller:
    """Keeps at most one poll under way for each machine."""

    def __init__(
        self,
        providers: ProviderSet,
        wait_seconds: float = WAIT_SECONDS,
        monotonic_seconds: Callable[[], float] = time.monotonic,
    ) -> None:
        self._providers = providers
        self._wait_seconds = wait_seconds
        self._monotonic_seconds = monotonic_seconds
        self._polls: dict[str, _Poll] = {}

    async def poll(self, machine: Machine) -> Observation:
        """The machine's state, now or a moment ago; UNKNOWN if its provider does not answer."""
        poll = self._polls.get(machine.machine_id)
        if poll is None or (poll.old_seconds is not None and self._monotonic_seconds() >= poll.old_seconds):
            poll = self._polls[machine.machine_id] = _Poll(asyncio.create_task(self._ask(machine)))
        await asyncio.wait({poll.answer}, timeout=self._wait_seconds)
        if not poll.answer.done() or poll.answer.cancelled():
            return Observation(ProviderState.UNKNOWN, reason=f"provider {machine.provider} is slow to answer")
        if poll.old_seconds is None:
            poll.old_seconds = self._monotonic_seconds() + self._interval(machine.provider).total_seconds()
        return poll.answer.result()

    def forget(self, machine_id: str) -> None:
        """Drop the machine's poll, because it is over or was just changed."""
        poll = self._polls.pop(machine_id, None)
        if poll is not None:
            poll.answer.cancel()

    async def close(self) -> None:
        """Cancel the polls under way."""
        answers = [poll.answer for poll in self._polls.values()]
        for answer in answers:
            answer.cancel()
        await asyncio.gather(*answers, return_exceptions=True)

    def _interval(self, name: str) -> timedelta:
        provider = next((each for each in self._providers if each.name == name), None)
        return provider.poll_interval if isinstance(provider, Paced) else timedelta(0)

    async def _ask(self, machine: Machine) -> Observation:
        try:
            async with asyncio.timeout(HANG_SECONDS):
                provider = self._providers.named(machine.provider)
                return await provider.observe(machine.machine_id, resource_of(machine))
        except (ProviderError, OSError) as error:
            metrics.provider_errors.labels(machine.provider).inc()
            reason = str(error) or type(error).__name__
            log.warning("a provider does not answer", extra={"machine_id": machine.machine_id, "error": reason})
        except Exception:
            # A fault of a plug-in must not keep the pool from the machine's executor.
            metrics.provider_errors.labels(machine.provider).inc()
            log.exception("a provider could not be polled", extra={"machine_id": machine.machine_id})
            reason = "see vmpool's log"
        return Observation(ProviderState.UNKNOWN, reason=f"provider {machine.provider} does not report it: {reason}")
