"""What becomes of machines when the pool is stopped."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from tests.services.vmpool.conftest import a_request

if TYPE_CHECKING:
    from pathlib import Path

    from tests.services.vmpool.conftest import Bench


@pytest.fixture
def database_url(tmp_path: Path) -> str:
    """One kind is enough here: what differs between databases is tested at the stores."""
    return f"sqlite+aiosqlite:///{tmp_path / 'vmpool.db'}"


async def test_stopping_the_pool_ends_its_machines_whatever_they_do(bench: Bench) -> None:
    await bench.warm_machine()
    assert await bench.leases.acquire(a_request()) is not None
    await bench.demand()
    await bench.vmpool.reconciler.close()
    assert bench.provider.machines == {}
    assert await bench.machines.unreleased() == []


async def test_a_machine_whose_order_is_under_way_when_the_pool_stops_is_released_too(bench: Bench) -> None:
    bench.provider.slow_order = asyncio.Event()
    await bench.demand()
    await bench.passes()
    asyncio.get_running_loop().call_later(0.1, bench.provider.slow_order.set)
    await bench.vmpool.reconciler.close()
    assert bench.provider.provisioned != []
    assert bench.provider.machines == {}


async def test_stopping_the_pool_leaves_machines_that_outlive_it(bench: Bench) -> None:
    await bench.warm_machine()
    bench.provider.ends_with_pool = False
    await bench.vmpool.reconciler.close()
    assert len(bench.provider.machines) == 1
