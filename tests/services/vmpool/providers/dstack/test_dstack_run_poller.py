from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

from services.vmpool.errors import ProviderError
from services.vmpool.providers.dstack.runs.poller import WAIT_SECONDS, RunPoller
from services.vmpool.providers.provider import Observation, ProviderState

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

RUNNING = Observation(ProviderState.RUNNING, endpoint="unix:/there")
GONE = Observation(ProviderState.GONE)
AN_HOUR = 3600.0


@dataclass
class Server:
    """Answers when the gate is open."""

    answer: Observation | Exception = RUNNING
    asked: int = 0
    answered: int = 0
    gate: asyncio.Event = field(default_factory=asyncio.Event)

    async def ask(self, *_: object) -> Observation:
        self.asked += 1
        answer = self.answer
        await self.gate.wait()
        self.answered += 1
        if isinstance(answer, Exception):
            raise answer
        return answer


@asynccontextmanager
async def polling(
    server: Server, interval_seconds: float = AN_HOUR, wait_seconds: float = WAIT_SECONDS
) -> AsyncGenerator[RunPoller]:
    poller = RunPoller(server.ask, interval_seconds, wait_seconds)
    yield poller
    await poller.close()


async def test_an_answer_holds_for_the_interval_and_is_shared() -> None:
    server = Server()
    server.gate.set()
    async with polling(server) as poller:
        assert await asyncio.gather(*(poller.poll("m1") for _ in range(3))) == [RUNNING] * 3
        assert await poller.poll("m1") == RUNNING
        assert server.asked == 1


async def test_after_the_interval_the_server_is_asked_again() -> None:
    server = Server()
    server.gate.set()
    async with polling(server, interval_seconds=0) as poller:
        await poller.poll("m1")
        await poller.poll("m1")
        assert server.asked == 2


async def test_a_server_that_is_slow_is_unknown_and_is_not_asked_twice() -> None:
    server = Server()
    async with polling(server, wait_seconds=0.01) as poller:
        assert (await poller.poll("m1")).state is ProviderState.UNKNOWN
        assert (await poller.poll("m1")).state is ProviderState.UNKNOWN
        assert server.asked == 1
        server.gate.set()
        async with asyncio.timeout(30):
            while (seen := await poller.poll("m1")).state is ProviderState.UNKNOWN:
                await asyncio.sleep(0)
        assert seen == RUNNING


@pytest.mark.parametrize("error", [ConnectionError("refused"), TimeoutError("silent"), ProviderError("forbidden")])
async def test_a_server_that_does_not_answer_is_unknown_in_its_own_words(error: Exception) -> None:
    server = Server(error)
    server.gate.set()
    async with polling(server) as poller:
        assert await poller.poll("m1") == Observation(ProviderState.UNKNOWN, reason=str(error))


async def test_what_was_asked_before_forgetting_says_nothing_after_it() -> None:
    server = Server()
    async with polling(server, wait_seconds=0.01) as poller:
        await poller.poll("m1")
        poller.forget("m1")
        server.answer = GONE
        server.gate.set()
        assert await poller.poll("m1") == GONE
        assert await poller.poll("m1") == GONE
        assert (server.asked, server.answered) == (2, 1)
