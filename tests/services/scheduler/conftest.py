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
async def cluster(request: pytest.FixtureRequest, stopped_cluster: Cluster) -> Cluster:
    """One warm machine, of one GPU or as `with_gpus` says, and a scheduler that runs."""
    gpus = getattr(request, "param", 1)
    if gpus == 0:
        await stopped_cluster.pool.tell("machine-1", "STOPPED")
    elif gpus > 1:
        await stopped_cluster.pool.swap("machine-2", gpus=gpus)
    await stopped_cluster.start()
    await stopped_cluster.knows_machines()
    return stopped_cluster
