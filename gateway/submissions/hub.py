"""Fans out the events of jobs, with one upstream watch for each job that has followers, and passes on their changes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

import grpc
from wavepool.scheduler.v1.scheduler_pb2 import (
    Job,
    JobEvent,
    WatchJobRequest,
    WatchJobsRequest,
    WatchJobsResponse,
)

from gateway.http.errors import ProblemError
from gateway.metrics import streams_ended
from gateway.submissions.job_stream import FINAL_CODES, FellBehindError, JobStream
from gateway.submissions.run_frames import Setting
from servicekit.logging import get_logger
from vocabulary.backoff import Backoff, Retries

if TYPE_CHECKING:
    from wavepool.scheduler.v1.scheduler_pb2_grpc import SchedulerServiceAsyncStub

log = get_logger(__name__)

RETRIES = Backoff(first=timedelta(milliseconds=500), longest=timedelta(seconds=4))
"""Pauses between attempts to reach the scheduler again; the channel itself retries faster."""


StillShared = Callable[[], Awaitable[None]]
"""Raises ProblemError once another account's submission is not shared any more."""
_Key = tuple[str, str, bool]
"""An account, a job, and whether the frames are as other users see them."""


@dataclass
class _Channel:
    stream: JobStream
    reader: asyncio.Task[None]
    clients: int = 0


class Hub:
    """Gives each client the frames of its job."""

    def __init__(self, scheduler: SchedulerServiceAsyncStub, window_bytes: int, retries: Backoff = RETRIES) -> None:
        self._scheduler = scheduler
        self._window_bytes = window_bytes
        self._retries = retries
        self._channels: dict[_Key, _Channel] = {}
        self.closing = asyncio.Event()
        """Set once every stream is to end."""

    @property
    def jobs_followed(self) -> int:
        """Number of jobs that clients follow now."""
        return len(self._channels)

    def frames(self, job: Job, after_seq: int, still_shared: StillShared | None = None) -> AsyncGenerator[bytes]:
        """The job's encoded frames after `after_seq`, until the last one or until this client falls behind.

        With `still_shared`, which is asked before each, they are as other users see them.
        """
        return self.counted(self.follow(job, after_seq, still_shared))

    async def counted(self, frames: AsyncGenerator[bytes]) -> AsyncGenerator[bytes]:
        """The frames of one client's stream, which ends if the client falls behind."""
        how = "left"
        try:
            async with aclosing(frames):
                async for data in frames:
                    yield data
            how = "moved" if self.closing.is_set() else "complete"
        except FellBehindError as error:
            how = "dropped"
            log.info("a slow client was dropped; it can resume", extra={"job_id": error.job_id})
        except ProblemError:
            how = "complete"
            log.info("a submission is not shared any more; a stream of it ends")
        finally:
            streams_ended.labels(how).inc()

    async def follow(self, job: Job, after_seq: int, still_shared: StillShared | None = None) -> AsyncGenerator[bytes]:
        """The same, as a part of a client's stream; raises FellBehindError, or ProblemError once it is not shared."""
        if self.closing.is_set():
            return
        key = (job.account_id, job.job_id, still_shared is not None)
        channel = self._join(key, job, after_seq)
        try:
            async with aclosing(channel.stream.follow(after_seq)) as frames:
                async for data in frames:
                    if still_shared is not None:
                        await still_shared()
                    yield data
        finally:
            self._leave(key, channel)

    async def changes(self, account_id: str, after_revision: int | None) -> AsyncGenerator[WatchJobsResponse]:
        """The account's jobs that change after a revision, as the scheduler streams them; it never ends.

        If the scheduler goes away, this goes on from the last change. Raises AioRpcError if another try is pointless.
        """
        retries = Retries(self._retries)
        while True:
            call = self._scheduler.WatchJobs(WatchJobsRequest(account_id=account_id, after_revision=after_revision))
            try:
                async for change in call:
                    retries.reset()
                    after_revision = change.revision
                    yield change
            except grpc.aio.AioRpcError as error:
                if error.code() in FINAL_CODES:
                    raise
                log.warning("the scheduler's stream of changes broke; trying again", extra={"code": error.code().name})
            finally:
                call.cancel()
            await retries.wait()

    def close(self) -> None:
        """Ends every stream cleanly; the clients resume at another gateway or after a restart."""
        self.closing.set()
        for channel in self._channels.values():
            channel.reader.cancel()
            channel.stream.end()

    def _join(self, key: _Key, job: Job, after_seq: int) -> _Channel:
        channel = self._channels.get(key)
        if channel is None or not channel.stream.can_serve(after_seq):
            setting = Setting(job.spec.submission.mode, is_shared=key[2])
            watch = partial(self._watch, key)
            stream = JobStream(job.job_id, watch, setting, self._window_bytes, self._retries)
            channel = _Channel(stream, asyncio.create_task(stream.run(), name=f"watch {job.job_id}"))
            self._channels[key] = channel
        channel.clients += 1
        return channel

    def _leave(self, key: _Key, channel: _Channel) -> None:
        channel.clients -= 1
        if channel.clients:
            return
        channel.reader.cancel()
        if self._channels.get(key) is channel:
            del self._channels[key]

    async def _watch(self, key: _Key, after_seq: int) -> AsyncGenerator[JobEvent]:
        account_id, job_id, _ = key
        request = WatchJobRequest(account_id=account_id, job_id=job_id, after_seq=after_seq)
        call = self._scheduler.WatchJob(request)
        try:
            async for response in call:
                yield response.event
        finally:
            call.cancel()
