"""Measures what sessions have written, tells them, and ends one before the machine's disk is full.

The free room is looked at every second, which costs nothing. A session's files are counted one by one, so that is done
more seldom the longer it takes; and at once if the room runs short.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path

from wavepool.executor.v1 import session_pb2

from servicekit import logging
from services.executor.sessions.disk import DiskRules, session_to_end
from services.executor.sessions.session import Session

log = logging.get_logger(__name__)

_TICK_SECONDS = 1.0
_LEAST_SECONDS = 10.0
_REST = 20
"""Time between two counts, in times that one takes: counting costs a twentieth of a processor at most."""
_LAST_WORDS = timedelta(seconds=2)
"""Time for people to read why the session ends, in which its programs have been asked to end."""
_GIB = 1 << 30


class DiskWatch:
    """The watch over the file systems of `folders`, which need not exist yet."""

    def __init__(self, rules: DiskRules, folders: Sequence[Path]) -> None:
        self.rules = rules
        self._folders = folders
        self._next: dict[str, float] = {}
        self._ending: Session | None = None

    def free_bytes(self) -> int:
        """Return the free room on the fullest file system that sessions write to."""
        return min(_free(folder) for folder in self._folders)

    async def run(self, sessions: Callable[[], Sequence[Session]]) -> None:
        """Watch for ever."""
        while True:
            try:
                await self.run_once(sessions())
            except Exception:
                # The sessions' time goes on.
                log.exception("the disk of the sessions cannot be watched")
            await asyncio.sleep(_TICK_SECONDS)

    async def run_once(self, sessions: Sequence[Session]) -> None:
        """Look once."""
        is_short = self.free_bytes() < self.rules.reserve_bytes
        now = time.monotonic()
        self._next = {session.spec.session_id: self._next.get(session.spec.session_id, now) for session in sessions}
        for session in sessions:
            if is_short or self._next[session.spec.session_id] <= now:
                await self._count(session)
        # Counting takes a while, in which somebody may have made room.
        if is_short and (free := self.free_bytes()) < self.rules.reserve_bytes:
            self._make_room(sessions, free)

    async def _count(self, session: Session) -> None:
        begin = time.monotonic()
        await session.usage.count_disk()
        end = time.monotonic()
        self._next[session.spec.session_id] = end + max(_LEAST_SECONDS, _REST * (end - begin))

    def _make_room(self, sessions: Sequence[Session], free_bytes: int) -> None:
        if self._ending in sessions:
            # Its files go with it; only then is it seen whether that is enough.
            return
        able = {one.spec.session_id: one.usage.disk for one in sessions if not one.life.is_ending}
        uses = {name: use for name, use in able.items() if use is not None}
        name = session_to_end(uses, self.rules.reserve_bytes)
        for session in sessions:
            if session.spec.session_id == name:
                self._ending = session
                self._end(session, free_bytes)

    def _end(self, session: Session, free_bytes: int) -> None:
        used = session.usage.disk.words if session.usage.disk else "an unknown part of the disk"
        kept = f"{free_bytes / _GIB:.3g} GiB are free, and {self.rules.reserve_bytes / _GIB:.3g} GiB must be"
        details = f"the machine's disk ran short ({kept}); the session had {used}"
        words = f"The machine's disk runs short, and this session has {used}: it ends now."
        session.close(_LAST_WORDS, session_pb2.SESSION_END_REASON_DISK_FULL, words, details)


def _free(folder: Path) -> int:
    existing = next(place for place in (folder, *folder.absolute().parents) if place.exists())
    status = os.statvfs(existing)
    return (status.f_bfree if os.geteuid() == 0 else status.f_bavail) * status.f_frsize
