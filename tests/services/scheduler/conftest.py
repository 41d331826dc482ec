from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from services.scheduler.server import MIGRATIONS
from tests.services.scheduler.cluster import Cluster, scripted_cluster


@pytest.fixture
def schema() -> str:
    return MIGRATIONS


@pytest.fixture
async def stopped_cluster(tmp_path: Path) -> AsyncIterator[Cluster]:
    """One warm machine, and a scheduler that the test starts itself."""
    async with scripted_cluster(tmp_path) as cluster:
        await cluster.pool.tell("machine-1", "WARM")
        yield cluster


@pytest.fixture
async def cluster(stopped_cluster: Cluster) -> Cluster:
    """One warm machine, and a scheduler that runs."""
    await stopped_cluster.start()
    return stopped_cluster
