"""Keeps the providers' offers, so that providers are not asked too often and callers do not wait long."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from servicekit.clock import Clock
from services.vmpool.capacity.offering import offers_of
from services.vmpool.machines.offer import Offer
from services.vmpool.policy.offer_choice import Market, OfferTimes
from services.vmpool.providers.provider import MachineProvider
from services.vmpool.providers.provider_set import HANG_SECONDS, ProviderSet


@dataclass(frozen=True)
class _Answer:
    offers: Sequence[Offer]
    time: datetime
    failure: str = ""


class OfferBoard:
    """Keeps the last answer of every provider."""

    def __init__(self, providers: ProviderSet, times: OfferTimes, clock: Clock) -> None:
        self._providers = providers
        self._times = times
        self._clock = clock
        self._answers: dict[str, _Answer] = {}
        self._asking: dict[str, asyncio.Task[None]] = {}

    async def market(self) -> Market:
        """The offers that can be had: fresh answers, or older ones if a provider does not answer in time.

        Only a question that is asked now is waited for, so a provider that hangs delays its callers once.
        """
        new = [self._ask(provider) for provider in self._providers if self._is_due(provider.name)]
        if new:
            await asyncio.wait(new, timeout=self._times.wait.total_seconds())
        offers: list[Offer] = []
        missing: list[str] = []
        for name in self._providers.names:
            answer = self._usable_answer(name)
            offers += answer.offers if answer else ()
            failure = answer.failure if answer else f"provider {name} has not answered for a while"
            missing += [failure] if failure else []
        return Market(tuple(offers), tuple(missing))

    async def close(self) -> None:
        """Cancel the questions under way."""
        asking = list(self._asking.values())
        for task in asking:
            task.cancel()
        await asyncio.gather(*asking, return_exceptions=True)

    def _is_due(self, name: str) -> bool:
        answer = self._answers.get(name)
        return name not in self._asking and (
            answer is None or abs(self._clock.now() - answer.time) >= self._times.fresh
        )

    def _usable_answer(self, name: str) -> _Answer | None:
        answer = self._answers.get(name)
        return answer if answer and abs(self._clock.now() - answer.time) < self._times.usable else None

    def _ask(self, provider: MachineProvider) -> asyncio.Task[None]:
        task = asyncio.create_task(self._keep_answer(provider))
        self._asking[provider.name] = task
        task.add_done_callback(lambda _: self._asking.pop(provider.name, None))
        return task

    async def _keep_answer(self, provider: MachineProvider) -> None:
        offers, words = await offers_of(provider, self._providers.refusals.get(provider.name, ""), HANG_SECONDS)
        failure = f"provider {provider.name} makes no offers now: {words}" if words else ""
        self._answers[provider.name] = _Answer(offers, self._clock.now(), failure)
