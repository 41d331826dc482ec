from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta

from servicekit.clock import ManualClock
from services.vmpool.capacity.offer_board import OfferBoard
from services.vmpool.errors import ProviderError
from services.vmpool.machines.offer import Offer
from services.vmpool.policy.offer_choice import OfferTimes
from services.vmpool.providers.provider_set import ProviderSet
from tests.services.vmpool.scripted_provider import ScriptedProvider

SECOND = timedelta(seconds=1)
TIMES = OfferTimes(fresh=15 * SECOND, usable=60 * SECOND, wait=0.05 * SECOND)


@dataclass
class SlowProvider(ScriptedProvider):
    """Answers once `answering` is set."""

    answering: asyncio.Event = field(default_factory=asyncio.Event)
    asked: int = 0

    async def offers(self) -> Sequence[Offer]:
        self.asked += 1
        await self.answering.wait()
        return await super().offers()


@asynccontextmanager
async def board_of(clock: ManualClock, *providers: ScriptedProvider) -> AsyncGenerator[OfferBoard]:
    board = OfferBoard(ProviderSet(providers), TIMES, clock)
    yield board
    await board.close()


def quick(name: str = "quick") -> SlowProvider:
    provider = SlowProvider(name=name, gpu_types=("MI300X",))
    provider.answering.set()
    return provider


async def test_a_provider_is_asked_again_only_when_its_answer_is_old(free_clock: ManualClock) -> None:
    provider = quick()
    async with board_of(free_clock, provider) as board:
        for _ in range(3):
            assert (await board.market()).offers == (Offer("quick", "MI300X", 1, 3_600_000_000),)
        assert provider.asked == 1
        free_clock.advance(15 * SECOND)
        await board.market()
    assert provider.asked == 2


async def test_a_provider_that_hangs_hides_no_other_and_is_asked_once(free_clock: ManualClock) -> None:
    hanging = SlowProvider(name="hanging")
    async with board_of(free_clock, hanging, quick()) as board:
        for _ in range(3):
            market = await board.market()
            assert [offer.provider for offer in market.offers] == ["quick"]
            assert market.missing == ("provider hanging has not answered for a while",)
        assert hanging.asked == 1
        hanging.answering.set()
        await asyncio.gather(*asyncio.all_tasks() - {asyncio.current_task()})
        assert {offer.provider for offer in (await board.market()).offers} == {"hanging", "quick"}


async def test_an_old_answer_serves_while_a_new_one_is_late_but_not_for_ever(free_clock: ManualClock) -> None:
    provider = quick()
    async with board_of(free_clock, provider) as board:
        await board.market()
        provider.answering.clear()
        free_clock.advance(59 * SECOND)
        assert (await board.market()).offers
        free_clock.advance(SECOND)
        assert not (await board.market()).offers


async def test_a_provider_that_fails_is_reported_in_its_words(free_clock: ManualClock) -> None:
    failing = ScriptedProvider(failing={"offers": ProviderError("the token is wrong")})
    broken = ScriptedProvider(name="broken", failing={"offers": KeyError("price")})
    async with board_of(free_clock, failing, broken) as board:
        market = await board.market()
    assert market.offers == ()
    assert market.missing == (
        "provider scripted makes no offers now: the token is wrong",
        "provider broken makes no offers now: see vmpool's log",
    )
