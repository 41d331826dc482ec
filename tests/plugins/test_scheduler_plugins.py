"""A scheduler that runs with plug-ins which others wrote, built and installed."""

from __future__ import annotations

import asyncio
import logging
import os
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.protobuf.duration_pb2 import Duration
from wavepool.scheduler.v1 import queues_pb2, queues_pb2_grpc, scheduler_pb2
from wavepool.scheduler.v1.queues_pb2 import ApplyQueuesRequest, ExplainJobRequest, ListQueuesRequest, Queue

from tests.services.scheduler.cluster import Cluster, is_run, scripted_cluster
from tests.services.scheduler.scripted_executor import PASSING, compiling

SHORT_FIRST: dict[str, dict[str, Any]] = {"short-first": {"worth": 2}}
REFUSED = (
    "SCHEDULER_ORDERINGS: short-first: ordering: the plug-in 'short-first' of wavepool-short-first "
    "(wavepool_short_first:ShortFirst) does not take its options:"
)
FAVOURED: dict[str, dict[str, Any]] = {"favoured": {"patterns": ["*-3"]}}


@asynccontextmanager
async def busy(folder: Path, **settings: Any) -> AsyncGenerator[tuple[Cluster, asyncio.Event]]:
    """A scheduler with one machine, on which each run waits for the event."""
    async with scripted_cluster(folder, **settings) as cluster:
        gate = asyncio.Event()
        cluster.executor.script = (compiling(), gate, *PASSING[1:])
        await cluster.pool.tell("machine-1", "WARM")
        await cluster.start()
        yield cluster, gate


def stub(cluster: Cluster) -> queues_pb2_grpc.QueueServiceAsyncStub:
    assert cluster.channel
    return queues_pb2_grpc.QueueServiceStub(cluster.channel)


async def position(cluster: Cluster, job: scheduler_pb2.Job) -> int:
    return (await stub(cluster).ExplainJob(ExplainJobRequest(job_id=job.job_id))).position


async def plugin(cluster: Cluster, name: str) -> queues_pb2.SchedulerPlugin:
    return next(one for one in (await stub(cluster).ListQueues(ListQueuesRequest())).plugins if one.name == name)


async def started_in_order(cluster: Cluster, gate: asyncio.Event, jobs: list[scheduler_pb2.Job]) -> list[str]:
    gate.set()
    for job in jobs:
        await cluster.events_to_end(job.job_id)
    return [request.run_id.removesuffix("-1") for request in cluster.executor.requests]


async def test_an_installed_ordering_decides_which_submission_of_a_queue_is_next(
    installed: Path, tmp_path: Path
) -> None:
    async with busy(tmp_path, orderings=SHORT_FIRST) as (cluster, gate):
        await stub(cluster).ApplyQueues(ApplyQueuesRequest(queues=[Queue(name="red", ordering="short-first")]))
        first = await cluster.submit("first", queue="red")
        await cluster.event(first.job_id, is_run("compiling"))
        long = await cluster.submit("long", queue="red")
        short = await cluster.submit("short", queue="red", time_limit=Duration(seconds=60))

        positions = [await position(cluster, job) for job in (long, short)]
        shown = await plugin(cluster, "short-first")
        order = await started_in_order(cluster, gate, [first, long, short])

    assert positions == [2, 1]
    assert order == [job.job_id for job in (first, short, long)]
    assert (shown.distribution, list(shown.queues), shown.failures) == ("wavepool-short-first 1.0", ["red"], 0)


async def test_a_change_of_the_ordering_sorts_those_again_who_wait(installed: Path, tmp_path: Path) -> None:
    async with busy(tmp_path, orderings=SHORT_FIRST) as (cluster, gate):
        first = await cluster.submit("first")
        await cluster.event(first.job_id, is_run("compiling"))
        long = await cluster.submit("long")
        short = await cluster.submit("short", time_limit=Duration(seconds=60))
        before = [await position(cluster, job) for job in (long, short)]
        await stub(cluster).ApplyQueues(ApplyQueuesRequest(queues=[Queue(name="default", ordering="short-first")]))
        after = [await position(cluster, job) for job in (long, short)]
        order = await started_in_order(cluster, gate, [first, long, short])

    assert (before, after) == ([1, 2], [2, 1])
    assert order == [job.job_id for job in (first, short, long)]


async def test_an_installed_placement_chooses_the_machine(installed: Path, tmp_path: Path) -> None:
    async with scripted_cluster(tmp_path, placements=FAVOURED) as cluster:
        # Without it, the machine that was used last would be taken, which is the last one here.
        for number in (3, 1, 2):
            await cluster.pool.tell(f"machine-{number}", "WARM")
        await cluster.start()
        job = await cluster.submit("job", placement="favoured")
        await cluster.events_to_end(job.job_id)
        assert (await cluster.job(job.job_id)).machine_id == "machine-3"
        assert (await cluster.job(job.job_id)).spec.placement == "favoured"


async def test_an_ordering_that_raises_is_told_once_and_submissions_go_by_age(
    installed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async with busy(tmp_path, orderings=SHORT_FIRST) as (cluster, gate):
        import wavepool_short_first  # noqa: PLC0415 - it is installed only now

        def fail(self: object, job: object) -> None:
            raise ZeroDivisionError("no worth")

        monkeypatch.setattr(wavepool_short_first.ShortFirst, "head_start", fail)
        caplog.set_level(logging.ERROR)
        await stub(cluster).ApplyQueues(ApplyQueuesRequest(queues=[Queue(name="red", ordering="short-first")]))
        jobs = [await cluster.submit("first", queue="red")]
        await cluster.event(jobs[0].job_id, is_run("compiling"))
        jobs += [await cluster.submit(f"job {number}", queue="red") for number in range(2)]
        order = await started_in_order(cluster, gate, jobs)
        shown = await plugin(cluster, "short-first")

    assert order == [job.job_id for job in jobs]
    assert shown.failures >= 3
    assert shown.last_failure == "ZeroDivisionError: no worth"
    told = [record for record in caplog.records if "'short-first' fails" in record.getMessage()]
    assert len(told) == 1


async def test_a_queue_keeps_going_when_its_ordering_is_not_installed_any_more(installed: Path, tmp_path: Path) -> None:
    async with busy(tmp_path, orderings=SHORT_FIRST) as (cluster, gate):
        await stub(cluster).ApplyQueues(ApplyQueuesRequest(queues=[Queue(name="red", ordering="short-first")]))
        await cluster.stop()
        cluster.settings = cluster.settings.model_copy(update={"orderings": {}})
        await cluster.start()
        job = await cluster.submit("job", queue="red")
        gate.set()
        await cluster.events_to_end(job.job_id)
        shown = await plugin(cluster, "short-first")
        # It can be closed as it is, and no other queue can ask for what is not there.
        await stub(cluster).ApplyQueues(
            ApplyQueuesRequest(queues=[Queue(name="red", ordering="short-first", closed=True)])
        )
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await stub(cluster).ApplyQueues(ApplyQueuesRequest(queues=[Queue(name="blue", ordering="short-first")]))

    assert shown.distribution == ""
    assert "SCHEDULER_ORDERINGS" in shown.last_failure
    assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert "queues[blue].ordering" in (caught.value.details() or "")
    assert "SCHEDULER_ORDERINGS" in (caught.value.details() or "")


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        (
            "SCHEDULER_ORDERINGS",
            '{"short-first": {"worth": -1}}',
            f"{REFUSED} worth: Input should be greater than 0\n",
        ),
        (
            "SCHEDULER_ORDERINGS",
            '{"short-first": {"wroth": 1}}',
            f"{REFUSED} wroth: Extra inputs are not permitted\n",
        ),
        (
            "SCHEDULER_PLACEMENTS",
            '{"favored": {}}',
            "SCHEDULER_PLACEMENTS: favored: placement: 'favored' is not known here; known are favoured\n",
        ),
        (
            "SCHEDULER_PLACEMENTS",
            '{"spread": {}}',
            "SCHEDULER_PLACEMENTS: spread: this placement is built in; leave it out\n",
        ),
        ("SCHEDULER_ORDERINGS", "short-first", "SCHEDULER_ORDERINGS: must be JSON\n"),
        ("SCHEDULER_ORDERINGS", '{"short-first": {}}', ""),
    ],
)
def test_wrong_options_end_the_process_with_a_line_that_names_setting_plug_in_package_and_option(
    site: Path, tmp_path: Path, name: str, value: str, said: str
) -> None:
    environment = {**os.environ, "PYTHONPATH": str(site), "SCHEDULER_DATA_DIR": str(tmp_path), name: value}
    ended = subprocess.run(
        [sys.executable, "-m", "services.scheduler", "--check-settings"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (ended.returncode, ended.stderr) == (os.EX_CONFIG if said else 0, said)
