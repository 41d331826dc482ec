"""The home of a session with a disk: restored before the sandbox is made, and saved as snapshots until its end.

It is a folder of this machine, which the sandbox shows as the home. All copying is done outside of the sandbox. Nobody
but the scheduler says which snapshot is the disk's last, so what a session saves after its lease has passed on counts
for nothing.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from wavepool.executor.v1 import session_pb2

from servicekit import logging
from servicekit.cancellation import unless
from servicekit.clock import Clock
from servicekit.rpc.proto_time import duration_to_proto, instant_to_proto
from services.executor import metrics
from services.executor.core.sandbox.scratch import ScratchFolder
from services.executor.disks.restic_store import ResticStore
from services.executor.disks.snapshot import Base, DiskError, DiskLimits, DiskOwner, Snapshot
from services.executor.sandboxes.limits.file_tree import tree_size
from services.executor.sessions.root.guardian import Guardian

Reason = session_pb2.SnapshotReason.ValueType
Told = Callable[[session_pb2.SessionSnapshot], None]

log = logging.get_logger(__name__)

_POLL_SECONDS = 0.5
_POLL_SHARE = 9
"""How much longer than a look at the folder the pause after it is."""


@dataclass(frozen=True, kw_only=True)
class DiskSpec:
    """A disk of a request; `snapshot_id` is empty for an empty home, else the snapshot has `snapshot_bytes`."""

    disk_id: str
    name: str
    owner: DiskOwner
    snapshot_id: str
    store_id: str
    size_limit_bytes: int
    snapshot_bytes: int = 0


@dataclass(frozen=True)
class SnapshotRules:
    """How often snapshots are taken, how long one may take, the most files that it may have, and what stays free."""

    interval: timedelta
    longest: timedelta
    most_files: int
    reserve_bytes: int


class KeptHome:
    """The home of one session. One snapshot is taken at a time."""

    def __init__(
        self, *, spec: DiskSpec, store: ResticStore, rules: SnapshotRules, work_dir: Path, clock: Clock
    ) -> None:
        """Make its folder; raises OSError."""
        self.spec = spec
        self._rules = rules
        self._store = store
        self._clock = clock
        self._scratch = ScratchFolder(work_dir)
        self._guardian = Guardian(self._scratch.path, ())
        self.folder = self._scratch.path / "home"
        self.folder.mkdir(mode=0o700)
        self._base: Base | None = None
        self._top = ""
        self._turn = asyncio.Lock()
        self._saves: set[asyncio.Task[session_pb2.SessionSnapshot]] = set()
        self._next_save = clock.now()

    @property
    def store_id(self) -> str:
        """Names the place where its snapshots are."""
        return self._store.store_id

    async def restore(self, on_percent: Callable[[int], None]) -> None:
        """Fill the folder with the snapshot to begin with; raises DiskError."""
        status = os.statvfs(self.folder)
        free_bytes = status.f_bavail * status.f_frsize - self._rules.reserve_bytes
        if self.spec.snapshot_bytes > free_bytes:
            needed, free = (number / (1 << 30) for number in (self.spec.snapshot_bytes, max(0, free_bytes)))
            raise DiskError(f"it has {needed:.3g} GiB, and this machine has room for {free:.3g} GiB")
        if self.spec.snapshot_id:
            watching = asyncio.create_task(self._watch(on_percent))
            try:
                self._top = await self._store.restore(self.spec.owner, self.spec.snapshot_id, self.folder)
            finally:
                watching.cancel()
                await asyncio.wait({watching})
            on_percent(100)

    async def _watch(self, on_percent: Callable[[int], None]) -> None:
        """Report again and again how much of the snapshot is in the folder; looking at it takes little of the time."""
        while True:
            begin = time.monotonic()
            size_bytes, _ = await asyncio.to_thread(tree_size, self.folder)
            on_percent(min(99, 100 * size_bytes // max(1, self.spec.snapshot_bytes)))
            await asyncio.sleep(max(_POLL_SECONDS, _POLL_SHARE * (time.monotonic() - begin)))

    def begin(self, time_ns: int) -> None:
        """Note when the session's users got it, in nanoseconds since 1970."""
        self._next_save = self._clock.now() + self._rules.interval
        if self.spec.snapshot_id:
            self._base = Base(self.spec.snapshot_id, time_ns, self._top)

    def is_due(self, now: datetime) -> bool:
        """True if it is time for the next snapshot."""
        return now >= self._next_save

    def begin_save(self, reason: Reason, told: Told) -> asyncio.Task[session_pb2.SessionSnapshot]:
        """Begin a snapshot; the next one that time asks for comes an interval later."""
        self._next_save = self._clock.now() + self._rules.interval
        saving = asyncio.create_task(self._save(reason, told))
        self._saves.add(saving)
        saving.add_done_callback(self._saves.discard)
        return saving

    async def leave(self, told: Told, passed_on: asyncio.Event, *, is_kept: bool) -> None:
        """Remove it, now that nothing changes any more; with `is_kept` a last snapshot comes first.

        That is given up if the session's lease is `passed_on`.
        """
        for saving in list(self._saves):
            saving.cancel()
        await asyncio.gather(*self._saves, return_exceptions=True)
        if is_kept:
            await unless(passed_on, self._save(session_pb2.SNAPSHOT_REASON_END, told))
        await asyncio.to_thread(self._scratch.remove)
        await self._guardian.dismiss()

    async def _save(self, reason: Reason, told: Told) -> session_pb2.SessionSnapshot:
        """Take a snapshot, after the one that is being taken; a fault is in the answer."""
        async with self._turn:
            begin_time, begin, time_ns = self._clock.now(), time.perf_counter(), time.time_ns()
            answer = session_pb2.SessionSnapshot(reason=reason, begin_time=instant_to_proto(begin_time))
            try:
                async with asyncio.timeout(self._rules.longest.total_seconds()):
                    taken = await self._store.save(self.spec.owner, self.folder, self._limits, self._base)
            except TimeoutError:
                answer.fault = f"it took longer than {self._rules.longest.total_seconds():g} s"
            except (DiskError, OSError) as error:
                answer.fault = str(error)
            except Exception as error:
                # The session goes on, and so does its end.
                log.exception("a snapshot broke down", extra={"disk_id": self.spec.disk_id})
                answer.fault = f"{type(error).__name__}: {error}"
            else:
                self._base = Base(taken.snapshot_id, time_ns, taken.top)
                _describe(answer, taken, self._store.store_id)
            seconds = time.perf_counter() - begin
        answer.duration.CopyFrom(duration_to_proto(timedelta(seconds=seconds)))
        metrics.snapshots.labels("failed" if answer.fault else "unchanged" if answer.is_unchanged else "taken").inc()
        metrics.snapshot_seconds.observe(seconds)
        if answer.fault:
            log.warning("a snapshot failed", extra={"disk_id": self.spec.disk_id, "fault": answer.fault})
        told(answer)
        return answer

    @property
    def _limits(self) -> DiskLimits:
        return DiskLimits(self.spec.size_limit_bytes, self._rules.most_files)


def _describe(answer: session_pb2.SessionSnapshot, taken: Snapshot, store_id: str) -> None:
    answer.snapshot_id = taken.snapshot_id
    answer.store_id = store_id
    answer.size_bytes = taken.size_bytes
    answer.files = taken.files
    answer.skipped = taken.skipped
    answer.is_unchanged = taken.is_unchanged
    answer.content = taken.content
