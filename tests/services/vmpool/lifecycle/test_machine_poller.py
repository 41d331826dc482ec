from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from services.vmpool.errors import ProviderError
from services.vmpool.lifecycle.machine_poller import WAIT_SECONDS, MachinePoller
from services.vmpool.providers.provider import UNNAMED, Observation, ProviderState, Resource
from services.vmpool.providers.provider_set import ProviderSet
from tests.services.vmpool.conftest import a_machine
from tests.services.vmpool.scripted_provider import ScriptedProvider

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

RUNNING = Observation(ProviderState.RUNNING, endpoint="unix:/there")
GONE = Observation(ProviderState.GONE)
MACHINE = a_machine()
INTERVAL = timedelta(seconds=2)


@dataclass
class GatedProvider(ScriptedProvider):
    """Answers when the gate is open."""

    answer: Observation | Exception = RUNNING
    asked: int = 0
    answered: int = 0
    gate: asyncio.Event = field(default_factory=asyncio.Event)

    async def observe(self, machine_id: str, resource: Resource = UNNAMED) -> Observation:
        self.asked += 1
        answer = self.answer
        await self.gate.wait()
        self.answered += 1
        if isinstance(answer, Exception):
            raise answer
        return answer


@dataclass
class PacedProvider(GatedProvider):
    """Must not be asked more often than its limit."""

    poll_interval: timedelta = INTERVAL


@dataclass
class Bench:
    provider: GatedProvider
    seconds: float = 0.0

    @asynccontextmanager
    async def polling(self, wait_seconds: float = WAIT_SECONDS) -> AsyncGenerator[MachinePoller]:
        poller = MachinePoller(ProviderSet([self.provider]), wait_seconds, lambda: self.seconds)
        yield poller
        await poller.close()


async def test_polls_at_the_same_time_share_one_question() -> None:
    provider = GatedProvider()
    provider.gate.set()
    async with Bench(provider).polling() as poller:
        assert await asyncio.gather(*(poller.poll(MACHINE) for _ in range(3))) == [RUNNING] * 3
    assert provider.asked == 1


async def test_an_answer_serves_for_as_long_as_its_provider_says() -> None:
    bench = Bench(PacedProvider())
    bench.provider.gate.set()
    async with bench.polling() as poller:
        for _ in range(3):
            assert await poller.poll(MACHINE) == RUNNING
        bench.seconds = 1.9
        await poller.poll(MACHINE)
        assert bench.provider.asked == 1
        bench.seconds = 2.0
        await poller.poll(MACHINE)
    assert bench.provider.asked == 2


async def test_a_provider_that_says_nothing_of_it_is_asked_by_every_poll() -> None:
    bench = Bench(GatedProvider())
    bench.provider.gate.set()
    async with bench.polling() as poller:
        await poller.poll(MACHINE)
        await poller.poll(MACHINE)
    assert bench.provider.asked == 2


@pytest.mark.parametrize("provider", [GatedProvider, PacedProvider])
async def test_a_slow_provider_is_unknown_and_its_late_answer_serves_the_next_poll(
    provider: type[GatedProvider],
) -> None:
    bench = Bench(provider())
    async with bench.polling(wait_seconds=0.01) as poller:
        assert (await poller.poll(MACHINE)).state is ProviderState.UNKNOWN
        assert (await poller.poll(MACHINE)).state is ProviderState.UNKNOWN
        assert bench.provider.asked == 1
        bench.provider.gate.set()
        async with asyncio.timeout(30):
            while (seen := await poller.poll(MACHINE)).state is ProviderState.UNKNOWN:
                await asyncio.sleep(0)
    assert (seen, bench.provider.asked) == (RUNNING, 1)


@pytest.mark.parametrize("error", [ConnectionError("refused"), TimeoutError("silent"), ProviderError("forbidden")])
async def test_a_provider_that_does_not_answer_is_unknown_in_its_own_words(error: Exception) -> None:
    bench = Bench(GatedProvider(answer=error))
    bench.provider.gate.set()
    async with bench.polling() as poller:
        seen = await poller.poll(MACHINE)
    assert (seen.state, seen.reason) == (ProviderState.UNKNOWN, f"provider scripted does not report it: {error}")


async def test_what_was_asked_before_forgetting_says_nothing_after_it() -> None:
    bench = Bench(PacedProvider())
    async with bench.polling(wait_seconds=0.01) as poller:
        await poller.poll(MACHINE)
        poller.forget(MACHINE.machine_id)
        bench.provider.answer = GONE
        bench.provider.gate.set()
        assert await poller.poll(MACHINE) == GONE
        assert await poller.poll(MACHINE) == GONE
    assert (bench.provider.asked, bench.provider.answered) == (2, 1)
