"""One real machine, for people with a dstack server and money: WAVEPOOL_LIVE_DSTACK=1 and the provider's own settings.

It rents the cheapest MI300X below $2.50 an hour, for 30 minutes at most, waits until its executor answers, and gives it
back. Create and remove the fleet `wavepool-live` by hand.
"""

from __future__ import annotations

import asyncio
import os
import secrets
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from services.vmpool.lifecycle.executor_client import ExecutorClient, ExecutorUnreachableError
from services.vmpool.providers.dstack.provider import DstackProvider
from services.vmpool.providers.dstack.settings import DstackSettings
from services.vmpool.providers.plugins import PoolContext
from services.vmpool.providers.provider import Order, ProviderState

MOST_MICROS_PER_HOUR = 2_500_000
LONGEST_LIFE = timedelta(minutes=30)

pytestmark = [
    pytest.mark.skipif(os.environ.get("WAVEPOOL_LIVE_DSTACK") != "1", reason="rents a machine: WAVEPOOL_LIVE_DSTACK=1"),
    pytest.mark.timeout(int(LONGEST_LIFE.total_seconds()) + 600),
]


async def executor_answers(provider: DstackProvider, machine_id: str, token: str) -> str:
    """Waits until the machine's executor answers; returns the device that it reports."""
    executors = ExecutorClient(timedelta(seconds=5))
    try:
        while True:
            seen = await provider.observe(machine_id)
            assert seen.state is not ProviderState.ENDED, seen.reason
            if seen.endpoint:
                try:
                    return (await executors.health(seen.endpoint, token)).inventory.device_title
                except ExecutorUnreachableError:
                    pass
            await asyncio.sleep(1)
    finally:
        await executors.close()


async def test_a_real_machine_is_rented_answers_and_is_given_back(tmp_path: Path) -> None:
    context = PoolContext("wavepool-live", tmp_path, ("MI300X",), timedelta(minutes=10))
    config = DstackSettings().config(context)
    limited = replace(config.market, max_price_micros_per_gpu_hour=MOST_MICROS_PER_HOUR)
    provider = DstackProvider(replace(config, market=limited, max_duration=LONGEST_LIFE))
    await provider.start()
    offer = next(offer for offer in await provider.offers() if offer.available)
    order = Order(
        machine_id=f"mach_{secrets.token_hex(8)}",
        gpu_type=offer.gpu_type,
        gpu_count=offer.gpu_count,
        token=secrets.token_urlsafe(32),
        backend=offer.backend,
        region=offer.region,
        max_price_micros_per_hour=MOST_MICROS_PER_HOUR,
        max_duration=LONGEST_LIFE,
    )
    try:
        await provider.provision(order)
        async with asyncio.timeout(LONGEST_LIFE.total_seconds()):
            assert await executor_answers(provider, order.machine_id, order.token)
    finally:
        for _ in range(3):
            try:
                await provider.release(order.machine_id)
                break
            except OSError:
                continue
    assert await provider.list_all() == []
    await provider.close()
