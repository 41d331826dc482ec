"""One job's frames, read once from the scheduler and followed by any number of clients.

Theory of operation. A reader task watches the job from its first event, encodes each event once and appends it to a
list that all clients share. A client is only a position in that list, so a thousand clients cost a thousand integers.
The list is bounded: the reader never runs more than a window ahead of the fastest client, and frames that the fastest
client has read are dropped once they fill the window. A client that needs a dropped frame has fallen behind: its stream
ends, and it resumes with `Last-Event-ID`. The reader starts at the first event even if every client resumes later, so a
resumed stream has exactly the bytes of the first one.

If the scheduler goes away, the reader retries from the last event that it has, for as long as anybody follows.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing

import grpc
from wavepool.scheduler.v1.scheduler_pb2 import JobEvent

from gateway.metrics import streams_ended
from gateway.submissions.frames import encode, frame_of
from gateway.submissions.run_frames import Frame, Setting
from servicekit.feed import Feed
from servicekit.logging import get_logger
from vocabulary.backoff import Backoff, Retries

WatchEvents = Callable[[int], AsyncGenerator[JobEvent]]
"""Streams a job's events after a sequence number; may end at any time."""

log = get_logger(__name__)

FINAL_CODES = frozenset(
    {
        grpc.StatusCode.NOT_FOUND,
        grpc.StatusCode.INVALID_ARGUMENT,
        grpc.StatusCode.PERMISSION_DENIED,
        grpc.StatusCode.UNIMPLEMENTED,
    }
)
"""Codes after which another try is pointless."""


class FellBehindError(Exception):
    """A client needs a frame that was dropped."""

    def __init__(self, job_id: str) -> None:
        super().__init__(f"a client fell behind in the events of {job_id}")
        self.job_id = job_id


class JobStream:
    """The frames of one job. `run` reads them; `follow` gives them to one client."""

    def __init__(self, job_id: str, watch: WatchEvents, setting: Setting, window_bytes: int, retries: Backoff) -> None:
        self._job_id = job_id
        self._watch = watch
        self._setting = setting
        self._window_bytes = window_bytes
        self._retries = Retries(retries)
        self._frames: deque[tuple[int, bytes]] = deque()
        self._first = 0
        self._furthest = 0
        self._kept_bytes = 0
        self._unread_bytes = 0
        self._last_seq = 0
        self._is_over = False
        self._dropped_seq = 0
        self._changed = Feed()
        self._has_room = asyncio.Event()

    def can_serve(self, after_seq: int) -> bool:
        """True if every frame after `after_seq` is still here."""
        return self._dropped_seq <= after_seq

    async def run(self) -> None:
        """Reads until the job's last event."""
        try:
            while not self._is_over:
                seq_before = self._last_seq
                await self._read_once()
                if self._last_seq != seq_before:
                    self._retries.reset()
                if not self._is_over:
                    await self._retries.wait()
        except Exception:
            log.exception("a job's events could not be shown")
            streams_ended.labels("broken").inc()
            self._end_with_error("The stream broke because of an error in Wavepool; the submission continues.")

    def end(self) -> None:
        """Ends the stream cleanly: clients get the frames that were read, and resume elsewhere."""
        self._is_over = True
        self._changed.notify()

    async def follow(self, after_seq: int) -> AsyncGenerator[bytes]:
        """Yields the encoded frames after `after_seq`, until the last. Raises FellBehindError if one was dropped."""
        if not self.can_serve(after_seq):
            raise FellBehindError(self._job_id)
        place = self._first
        with self._changed.follow() as changed:
            while True:
                changed.clear()
                while place < self._first + len(self._frames):
                    if place < self._first:
                        raise FellBehindError(self._job_id)
                    seq, data = self._frames[place - self._first]
                    self._note_read(place, len(data))
                    place += 1
                    if seq > after_seq:
                        yield data
                if self._is_over:
                    return
                await changed.wait()

    async def _read_once(self) -> None:
        try:
            async with aclosing(self._watch(self._last_seq)) as events:
                async for event in events:
                    if event.seq > self._last_seq:
                        self._take(event)
                        await self._room()
        except grpc.aio.AioRpcError as error:
            if error.code() in FINAL_CODES:
                self._end_with_error(error.details() or "The events of this submission cannot be read.")
                return
            log.warning("the scheduler's event stream broke; trying again", extra={"code": error.code().name})

    def _take(self, event: JobEvent) -> None:
        self._last_seq = event.seq
        self._setting = self._setting.after(event)
        self._is_over = event.HasField("ended")
        frame = frame_of(event, self._setting)
        if frame is not None:
            self._append(event.seq, encode(event.seq, frame))

    def _append(self, seq: int, data: bytes) -> None:
        self._frames.append((seq, data))
        self._kept_bytes += len(data)
        self._unread_bytes += len(data)
        while self._kept_bytes > self._window_bytes and self._first < self._furthest:
            self._dropped_seq, dropped = self._frames.popleft()
            self._kept_bytes -= len(dropped)
            self._first += 1
        self._changed.notify()

    def _note_read(self, place: int, size_bytes: int) -> None:
        if place == self._furthest:
            self._furthest += 1
            self._unread_bytes -= size_bytes
            self._has_room.set()

    async def _room(self) -> None:
        while self._unread_bytes > self._window_bytes:
            self._has_room.clear()
            await self._has_room.wait()

    def _end_with_error(self, message: str) -> None:
        self._is_over = True
        fields = {"submission_id": self._job_id, "verdict": "INFRA_ERROR", "message": message, "details": ""}
        # No id: the job has no such event, and a client that resumes must not skip a real one.
        self._append(self._last_seq + 1, encode(None, Frame("ERROR", fields)))
