"""The reader of topics alone: a scripted scheduler behind its hub, one client in front."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from datetime import timedelta
from typing import Any, cast

import grpc
import pytest
from hypothesis import given
from hypothesis import strategies as st
from wavepool.executor.v1.run_event_pb2 import ProgramOutput, RunEvent
from wavepool.scheduler.v1.scheduler_pb2 import (
    JOB_STATE_RUNNING,
    Job,
    JobEvent,
    WatchJobRequest,
    WatchJobResponse,
    WatchJobsRequest,
    WatchJobsResponse,
)
from wavepool.submission.v1.submission_pb2 import RUN_MODE_SANDBOX

from gateway.auth import Caller
from gateway.http.errors import Problem
from gateway.submissions.hub import Hub
from gateway.submissions.job_stream import FellBehindError
from gateway.submissions.topics import TopicReader, event_id, resume_places
from tests.gateway.job_events import ACCEPTED, ended, event, queued
from tests.gateway.running_gateway import DEADLINE_SECONDS
from tests.job_specs import job_spec
from vocabulary.backoff import Backoff

AT_ONCE = Backoff(timedelta(0), timedelta(0))
CALLER = Caller(
    user_id="user",
    user_name="ada",
    role="user",
    account_id="acc",
    account_name="ada",
    token_id="tok",  # noqa: S106 - an id
    admin=False,
    scopes=("read",),
    expire_time=None,
    visible_account_ids=frozenset({"acc"}),
)


class Call:
    """A streaming call over what a script gives."""

    def __init__(self, answers: AsyncGenerator[Any]) -> None:
        self._answers = answers

    def __aiter__(self) -> AsyncGenerator[Any]:
        return self._answers

    def cancel(self) -> None:
        """A script holds nothing."""


class Scheduler:
    """Whole logs of jobs, and revisions up to the last; each call breaks after as many answers as the test says."""

    def __init__(self, logs: dict[str, list[JobEvent]], revisions: int, breaks_after: Callable[[], int]) -> None:
        self._logs = logs
        self._revisions = revisions
        self._breaks_after = breaks_after

    def WatchJob(self, request: WatchJobRequest) -> Call:  # noqa: N802 - an RPC
        log = self._logs[request.job_id][request.after_seq :]
        return Call(self._answers([WatchJobResponse(event=one) for one in log]))

    def WatchJobs(self, request: WatchJobsRequest) -> Call:  # noqa: N802 - an RPC
        job = Job(job_id="job_0", state=JOB_STATE_RUNNING)
        numbers = range(request.after_revision + 1, self._revisions + 1)
        changes = [WatchJobsResponse(revision=number, job=job) for number in numbers]
        begin = [] if request.HasField("after_revision") else [WatchJobsResponse()]
        return Call(self._answers([*begin, *changes], stays=True))

    async def _answers(self, answers: Sequence[Any], *, stays: bool = False) -> AsyncGenerator[Any]:
        left = self._breaks_after()
        for answer in answers:
            if not left:
                raise grpc.aio.AioRpcError(grpc.StatusCode.UNAVAILABLE, grpc.aio.Metadata(), grpc.aio.Metadata())
            left -= 1
            yield answer
            await asyncio.sleep(0)
        if stays:
            await asyncio.Event().wait()


def id_and_data(encoded: bytes) -> tuple[str, dict[str, Any]]:
    identity, data = encoded.decode().removesuffix("\n\n").split("\n")
    return identity.removeprefix("id: "), json.loads(data.removeprefix("data: "))


async def read_all(frames: AsyncGenerator[bytes], seen: list[bytes]) -> None:
    async with asyncio.timeout(DEADLINE_SECONDS):
        async for frame in frames:
            seen.append(frame)  # noqa: PERF401 - kept when the stream is cut off


def reader_of(scheduler: Scheduler, jobs: dict[str, Job | Problem], window_bytes: int = 1 << 20) -> TopicReader:
    return TopicReader(Hub(cast("Any", scheduler), window_bytes, AT_ONCE), CALLER, jobs, lambda job: None)


@given(st.data())
async def test_every_frame_comes_once_and_in_order_in_its_topic_wherever_streams_are_cut(data: st.DataObject) -> None:
    lengths = data.draw(st.lists(st.integers(1, 6), min_size=1, max_size=3))
    logs = {
        f"job_{number}": [*map(queued, range(1, length)), ended(length, ACCEPTED)]
        for number, length in enumerate(lengths)
    }
    revisions = data.draw(st.integers(0, 5))
    breaks = data.draw(st.lists(st.integers(1, 4), max_size=6))
    scheduler = Scheduler(logs, revisions, lambda: breaks.pop() if breaks else 100)
    jobs: dict[str, Job | Problem] = {f"submission:{job_id}": Job(job_id=job_id, account_id="acc") for job_id in logs}
    names = ["submissions", *jobs]
    wanted = {topic: list(range(1, length + 1)) for topic, length in zip(jobs, lengths, strict=True)}
    wanted["submissions"] = list(range(revisions + 1))
    seen: dict[str, list[int | None]] = {topic: [] for topic in names}
    last = ""
    async with asyncio.timeout(DEADLINE_SECONDS):
        while left := sum(map(len, wanted.values())) - sum(map(len, seen.values())):
            # Another gateway each time.
            reader = reader_of(scheduler, jobs)
            async with aclosing(reader.frames(resume_places(names, None, last))) as frames:
                for _ in range(data.draw(st.integers(1, left))):
                    last, frame = id_and_data(await anext(frames))
                    seen[frame["topic"]].append(resume_places(names, last, None)[frame["topic"]])
    assert seen == wanted
    assert event_id(resume_places(names, None, last)) == last


async def test_client_that_falls_behind_in_a_topic_is_cut_off_and_resumes() -> None:
    output = RunEvent(program_output=ProgramOutput(stream="stdout", line="x" * 1000))
    log = [*(event(seq, run=output) for seq in range(1, 101)), ended(101, ACCEPTED)]
    job = Job(job_id="job_1", account_id="acc", spec=job_spec(mode=RUN_MODE_SANDBOX))
    jobs: dict[str, Job | Problem] = {"submission:job_1": job}
    hub = Hub(cast("Any", Scheduler({"job_1": log}, 0, lambda: 1000)), 10_000, AT_ONCE)
    reader = TopicReader(hub, CALLER, jobs, lambda job: None)
    slow = reader.frames({"submission:job_1": None})
    seen = [await anext(slow)]
    assert len([frame async for frame in hub.frames(job, 0)]) == 101
    with pytest.raises(FellBehindError):
        await read_all(slow, seen)
    last, _ = id_and_data(seen[-1])
    async with aclosing(reader.frames(resume_places(list(jobs), last, None))) as rest:
        _, frame = id_and_data(await anext(rest))
    assert last == f":job_1={frame['event_id'] - 1}"


async def test_error_of_ours_in_a_topic_ends_the_stream_instead_of_hanging_it() -> None:
    def broken() -> int:
        raise RuntimeError("a bug")

    frames = reader_of(Scheduler({}, 0, broken), {}).frames({"submissions": None})
    with pytest.raises(RuntimeError, match="a bug"):
        await anext(frames)
