"""The scheduler as a process of its own."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import grpc
import orjson
import pytest
from wavepool.scheduler.v1 import scheduler_pb2, scheduler_pb2_grpc

from tests.job_specs import sound_spec
from tests.refused_calls import refused
from tests.service_token import AllowedCaller
from tests.services.scheduler.cluster import ACCOUNT, Cluster, scripted_cluster

START_SECONDS = 60


@pytest.fixture
async def neighbours(tmp_path: Path) -> AsyncIterator[Cluster]:
    """The other services; no machine is warm, so jobs wait."""
    async with scripted_cluster(tmp_path) as cluster:
        yield cluster


async def serving_port(process: asyncio.subprocess.Process) -> int:
    assert process.stdout
    async with asyncio.timeout(START_SECONDS):
        while line := await process.stdout.readline():
            entry = orjson.loads(line)
            if entry["message"] == "serving":
                return int(entry["port"])
    raise AssertionError("the scheduler ended before it served")


async def test_process_serves_the_real_catalogue_and_leaves_at_once_on_sigterm(neighbours: Cluster) -> None:
    settings = neighbours.settings
    environment = os.environ | {
        "SCHEDULER_PORT": "0",
        "SCHEDULER_DATA_DIR": str(settings.data_dir),
        "SCHEDULER_VMPOOL_TARGET": settings.vmpool_target,
        "SCHEDULER_BILLING_TARGET": settings.billing_target,
        "SCHEDULER_DRAIN": "PT10M",
    }
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "services.scheduler"), env=environment, stdout=asyncio.subprocess.PIPE
    )
    try:
        target = f"127.0.0.1:{await serving_port(process)}"
        async with AllowedCaller(target, settings.service_token()) as channel:
            api = scheduler_pb2_grpc.SchedulerServiceStub(channel)
            listed = await api.ListProblems(scheduler_pb2.ListProblemsRequest())
            assert "leaky-relu" in {problem.slug for problem in listed.problems}
            spec = sound_spec()
            submission = scheduler_pb2.SubmitJobRequest(account_id=ACCOUNT, spec=spec, idempotency_key="key")
            job = (await api.SubmitJob(submission)).job
            stream = api.WatchJob(scheduler_pb2.WatchJobRequest(account_id=ACCOUNT, job_id=job.job_id))
            await stream.read()
            process.send_signal(signal.SIGTERM)
            # The job waits, so the stream would last for ever, or for the drain.
            assert await asyncio.wait_for(process.wait(), 60) == 0
            await refused(stream.read(), grpc.StatusCode.UNAVAILABLE)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
