"""Fans out the events of jobs: one upstream watch for each job that has followers."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from wavepool.scheduler.v1.scheduler_pb2 import WatchJobRequest

from gateway.metrics import clients_dropped, streams_open
from gateway.submissions.job_stream import FellBehindError, JobStream
from gateway.submissions.run_frames import Setting
from servicekit.logging import get_logger
from vocabulary.backoff import Backoff

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from wavepool.scheduler.v1.scheduler_pb2 import Job, JobEvent
    from wavepool.scheduler.v1.scheduler_pb2_grpc import SchedulerServiceAsyncStub

log = get_logger(__name__)

RETRIES = Backoff(first=timedelta(milliseconds=500), longest=timedelta(seconds=4))
"""Pauses between attempts to reach the scheduler again; the channel itself retries faster."""


@dataclass
class _Channel:
    stream: JobStream
    reader: asyncio.Task[None]
    clients: int = 0


class Hub:
    """Gives each client the frames of its job."""

    def __init__(self, scheduler: SchedulerServiceAsyncStub, window_bytes: int) -> None:
        self._scheduler = scheduler
        self._window_bytes = window_bytes
        self._channels: dict[tuple[str, str], _Channel] = {}
        self._is_closed = False

    @property
    def jobs_followed(self) -> int:
        """Number of jobs that clients follow now."""
        return len(self._channels)

    async def frames(self, job: Job, after_seq: int) -> AsyncGenerator[bytes]:
        """The job's encoded frames after `after_seq`, until the last one or until this client falls behind."""
        if self._is_closed:
            return
        key = (job.account_id, job.job_id)
        channel = self._join(key, job, after_seq)
        streams_open.inc()
        try:
            async with aclosing(channel.stream.follow(after_seq)) as frames:
                async for data in frames:
                    yield data
        except FellBehindError:
            clients_dropped.inc()
            log.info("a slow client was dropped; it can resume", extra={"job_id": job.job_id})
        finally:
            streams_open.dec()
            self._leave(key, channel)

    def close(self) -> None:
        """Ends every stream cleanly; the clients resume at another gateway or after a restart."""
        self._is_closed = True
        for channel in self._channels.values():
            channel.reader.cancel()
            channel.stream.end()

    def _join(self, key: tuple[str, str], job: Job, after_seq: int) -> _Channel:
        channel = self._channels.get(key)
        if channel is None or not channel.stream.can_serve(after_seq):
            setting = Setting(job.spec.submission.mode)
            stream = JobStream(job.job_id, lambda seq: self._watch(key, seq), setting, self._window_bytes, RETRIES)
            channel = _Channel(stream, asyncio.create_task(stream.run(), name=f"watch {job.job_id}"))
            self._channels[key] = channel
        channel.clients += 1
        return channel

    def _leave(self, key: tuple[str, str], channel: _Channel) -> None:
        channel.clients -= 1
        if channel.clients:
            return
        channel.reader.cancel()
        if self._channels.get(key) is channel:
            del self._channels[key]

    async def _watch(self, key: tuple[str, str], after_seq: int) -> AsyncGenerator[JobEvent]:
        account_id, job_id = key
        request = WatchJobRequest(account_id=account_id, job_id=job_id, after_seq=after_seq)
        call = self._scheduler.WatchJob(request)
        try:
            async for response in call:
                yield response.event
        finally:
            call.cancel()
