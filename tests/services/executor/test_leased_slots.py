"""vmpool's leases, carried by the scheduler's clients to a real executor: the fence in real use."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from wavepool.submission.v1.submission_pb2 import RUN_MODE_CHECK, Submission

from servicekit.clock import ManualClock
from services.scheduler.jobs.job import Job
from services.scheduler.jobs.resources import Isolation, Resources
from services.scheduler.peers.executors import Executors, RunRefusedError
from services.scheduler.peers.pool import Pool
from services.vmpool.config import VmPoolSettings
from services.vmpool.providers.provider import Observation, ProviderState
from tests.service_token import AllowedCaller
from tests.services.executor.client import QUICK, StartExecutor
from tests.services.scheduler.jobs import a_queued_job
from tests.services.vmpool.conftest import bench_on
from tests.services.vmpool.scripted_provider import ScriptedProvider
from vocabulary.limits import LONGEST_RUN

MINUTE = timedelta(minutes=1)
HALF = 4


@pytest.fixture
async def pool(start_executor: StartExecutor, tmp_path: Path) -> AsyncIterator[Pool]:
    """A pool with one warm machine, on which a real executor runs."""
    settings = VmPoolSettings(
        port=0,
        data_dir=tmp_path / "pool",
        database_url=f"sqlite+aiosqlite:///{tmp_path / 'pool.db'}",
        billing_target="127.0.0.1:1",
    )
    provider = ScriptedProvider()
    async with bench_on(settings, provider, ManualClock(datetime.now(UTC))) as bench:
        await bench.demand()
        await bench.passes()
        ((machine_id, order),) = provider.machines.items()
        server, _ = await start_executor(token=order.token, max_runs=2)
        provider.observations[machine_id] = Observation(ProviderState.RUNNING, endpoint=f"127.0.0.1:{server.port}")
        await bench.passes(2)
        await bench.vmpool.server.start()
        async with AllowedCaller(f"127.0.0.1:{bench.vmpool.server.port}", settings.service_token()) as channel:
            yield Pool(channel)
        await bench.vmpool.server.stop(timedelta(0))


async def test_a_holder_whose_slot_has_passed_to_another_is_refused_and_its_neighbour_is_not(pool: Pool) -> None:
    executors = Executors(LONGEST_RUN)

    async def verdict(job: Job) -> int:
        assert job.lease is not None
        events = executors.run(
            job, job.lease, Submission(problem="softmax", source=QUICK, mode=RUN_MODE_CHECK), job.lease.expire_time
        )
        return [event async for event in events][-1].finished.verdict

    async def leased(number: int) -> Job:
        job = a_queued_job(number, resources=Resources(HALF, Isolation.TIME_SLICE))
        return job.start((await pool.acquire(job, MINUTE)).lease, datetime.now(UTC))

    late, neighbour = await leased(1), await leased(2)
    assert {lease.slots[0].first for job in (late, neighbour) if (lease := job.lease)} == {0, HALF}
    assert late.lease is not None
    await pool.release(late.lease.lease_id)
    successor = await leased(3)

    accepted = await verdict(successor)
    with pytest.raises(RunRefusedError, match="the lease has passed on"):
        await verdict(late)

    assert await verdict(neighbour) == accepted
    await executors.close()
