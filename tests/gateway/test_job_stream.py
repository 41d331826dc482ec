"""One job's stream alone: a scripted log behind it, clients in front."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from datetime import timedelta

import grpc
import pytest
from wavepool.executor.v1 import run_event_pb2
from wavepool.scheduler.v1.scheduler_pb2 import JobEvent
from wavepool.submission.v1 import submission_pb2

from gateway.submissions.job_stream import FellBehindError, JobStream
from gateway.submissions.run_frames import Setting
from tests.gateway.job_events import ACCEPTED, ended, event, queued
from tests.gateway.running_gateway import DEADLINE_SECONDS
from vocabulary.backoff import Backoff

SANDBOX = Setting(submission_pb2.RUN_MODE_SANDBOX)


class Pauses(Backoff):
    """Does not wait, and records how many failures each pause followed."""

    def __init__(self) -> None:
        super().__init__(timedelta(0), timedelta(0))
        self.failures: list[int] = []

    def pause(self, failures: int) -> timedelta:
        self.failures.append(failures)
        return super().pause(failures)


def chatter(count: int) -> list[JobEvent]:
    """A program that prints `count` lines of a kilobyte."""
    output = run_event_pb2.ProgramOutput(stream="stdout", line="x" * 1000)
    lines = [event(seq, run=run_event_pb2.RunEvent(program_output=output)) for seq in range(1, count + 1)]
    return [*lines, ended(count + 1, ACCEPTED)]


class Log:
    """A complete log that breaks at the events the test chooses, and records the last one that was read."""

    def __init__(self, events: list[JobEvent], breaks_after: tuple[int, ...] = ()) -> None:
        self.events = events
        self.breaks_after = list(breaks_after)
        self.asked: list[int] = []
        self.read = 0

    async def watch(self, after_seq: int) -> AsyncGenerator[JobEvent]:
        self.asked.append(after_seq)
        if self.breaks_after and after_seq == self.breaks_after[0]:
            self.breaks_after.pop(0)
            raise error_of(grpc.StatusCode.UNAVAILABLE)
        for job_event in self.events[after_seq:]:
            self.read = job_event.seq
            yield job_event
            await asyncio.sleep(0)
            if self.breaks_after and job_event.seq == self.breaks_after[0]:
                self.breaks_after.pop(0)
                raise error_of(grpc.StatusCode.UNAVAILABLE)


def error_of(code: grpc.StatusCode, details: str = "") -> grpc.aio.AioRpcError:
    return grpc.aio.AioRpcError(code, grpc.aio.Metadata(), grpc.aio.Metadata(), details)


def stream_of(log: Log, window_bytes: int = 1 << 20, retries: Backoff | None = None) -> JobStream:
    return JobStream("job_1", log.watch, SANDBOX, window_bytes, retries or Pauses())


async def read_all(stream: JobStream, after: int = 0) -> list[int]:
    async with asyncio.timeout(DEADLINE_SECONDS):
        return [int(data.split(b"\n")[1].removeprefix(b"id: ")) async for data in stream.follow(after)]


async def test_breaks_upstream_lose_nothing_and_repeat_nothing() -> None:
    log = Log(chatter(20), breaks_after=(3, 4, 19))
    stream = stream_of(log)
    reader = asyncio.create_task(stream.run())
    assert await read_all(stream) == list(range(1, 22))
    assert log.asked == [0, 3, 4, 19]
    await reader


async def test_pauses_grow_until_events_come_again() -> None:
    log, pauses = Log(chatter(5), breaks_after=(2, 2, 2, 4)), Pauses()
    reader = asyncio.create_task(stream_of(log, retries=pauses).run())
    await reader
    assert pauses.failures == [1, 2, 3, 1]


async def test_upstream_that_repeats_events_is_not_believed() -> None:
    twice = [queued(1), queued(1), ended(2, ACCEPTED)]
    stream = stream_of(Log(twice))
    reader = asyncio.create_task(stream.run())
    assert await read_all(stream) == [1, 2]
    await reader


async def test_reader_keeps_within_a_window_of_the_fastest_client() -> None:
    log = Log(chatter(100))
    stream = stream_of(log, window_bytes=10_000)
    reader = asyncio.create_task(stream.run())
    client = stream.follow(0)
    for expected in range(1, 51):
        data = await anext(client)
        assert b"id: %d\n" % expected in data
        assert log.read <= expected + 11
    assert await read_all_of(client) == 51
    await reader


async def read_all_of(client: AsyncGenerator[bytes]) -> int:
    async with asyncio.timeout(DEADLINE_SECONDS):
        return sum([1 async for _ in client])


async def test_slow_client_is_dropped_and_resumes_without_a_gap() -> None:
    log = Log(chatter(100))
    stream = stream_of(log, window_bytes=10_000)
    reader = asyncio.create_task(stream.run())
    slow = stream.follow(0)
    seen = [await anext(slow) for _ in range(5)]
    fast = await read_all(stream)
    with pytest.raises(FellBehindError):
        await anext(slow)
    assert fast == list(range(1, 102))
    assert not stream.can_serve(len(seen))
    await reader
    again = stream_of(Log(chatter(100)), window_bytes=10_000)
    reader = asyncio.create_task(again.run())
    assert await read_all(again, after=len(seen)) == list(range(6, 102))
    await reader


async def test_slow_client_costs_the_others_nothing() -> None:
    stream = stream_of(Log(chatter(100)), window_bytes=10_000)
    reader = asyncio.create_task(stream.run())
    stalled = stream.follow(0)
    await anext(stalled)
    assert await read_all(stream) == list(range(1, 102))
    await reader


async def test_refusal_for_good_ends_the_stream_with_an_error_without_an_id() -> None:
    async def refused(_: int) -> AsyncGenerator[JobEvent]:
        raise error_of(grpc.StatusCode.NOT_FOUND, "there is no job job_1")
        yield queued()

    stream = JobStream("job_1", refused, SANDBOX, 1 << 20, Pauses())
    reader = asyncio.create_task(stream.run())
    async with asyncio.timeout(DEADLINE_SECONDS):
        frames = [data async for data in stream.follow(0)]
    assert len(frames) == 1
    assert frames[0].startswith(b'event: ERROR\ndata: {"status":"ERROR"')
    assert b"there is no job job_1" in frames[0]
    assert b'"submission_id":"job_1"' in frames[0]
    await reader


async def test_fault_of_ours_ends_the_stream_instead_of_hanging_it(caplog: pytest.LogCaptureFixture) -> None:
    async def broken(_: int) -> AsyncGenerator[JobEvent]:
        raise RuntimeError("a bug")
        yield queued()

    stream = JobStream("job_1", broken, SANDBOX, 1 << 20, Pauses())
    reader = asyncio.create_task(stream.run())
    async with asyncio.timeout(DEADLINE_SECONDS):
        frames = [data async for data in stream.follow(0)]
    assert len(frames) == 1
    assert b"a bug" not in frames[0]
    assert "a job's events could not be shown" in caplog.text
    await reader
