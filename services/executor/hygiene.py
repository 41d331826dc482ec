"""Keeps the machine fit for the next stranger: a canary runs after what may have hurt it, and two bad ones condemn it.

A GPU's memory is scrubbed after every run, each of its devices by a canary of its own. On the cpu device a run leaves
nothing behind with its process, so there the canary follows only runs that ended as a hurt machine would make them end.
No run begins while a canary is under way. A full disk fails every canary and says nothing of the device: then no run
begins either, and the canary runs again when there is room.
"""

from __future__ import annotations

import asyncio
import errno
import os
from dataclasses import replace
from typing import TYPE_CHECKING

from servicekit import logging
from services.executor import metrics
from services.executor.core.events import Finished
from services.executor.core.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from services.executor.core.job import CoreJob
    from services.executor.judge_pool import JudgePool

log = logging.get_logger(__name__)

STRIKES = 2
"""One canary may fail for a reason of its own; a second one in a row does not."""
CANARY_SECONDS = 60.0
_NO_ROOM = os.strerror(errno.ENOSPC)
DOUBTFUL = frozenset(
    {
        Verdict.INFRA_ERROR,
        Verdict.LAUNCH_ERROR,
        Verdict.MEMORY_LIMIT_EXCEEDED,
        Verdict.OUT_OF_BOUNDS,
        Verdict.RUNTIME_ERROR,
        Verdict.TIME_LIMIT_EXCEEDED,
    }
)


class Hygiene:
    """`canary` is the job that proves a device; `always` has it follow every run, and go before the first.

    `on_failure` is called after canaries that failed, when it is known whether the machine is fit. `has_room` looks
    whether runs can write.
    """

    def __init__(
        self,
        judges: JudgePool,
        canary: CoreJob,
        on_failure: Callable[[], None],
        has_room: Callable[[], bool],
        *,
        always: bool,
    ) -> None:
        self._on_failure = on_failure
        self._has_room = has_room
        self._waits_for_room = False
        self._judges = judges
        self._canary = canary
        self._always = always
        self._seconds = CANARY_SECONDS
        self._proving: asyncio.Task[None] | None = None
        self._unproved = set[int]()
        self.unfit_reason = ""
        """Why the machine takes no run any more; empty while it does."""

    def start(self, devices: Iterable[int]) -> None:
        """Before the first run on these."""
        if self._always:
            for device in devices:
                self._begin(device)

    def after(self, verdict: Verdict, devices: Sequence[int]) -> None:
        """A run on these devices is over, and nothing of it is left."""
        if self._always or verdict in DOUBTFUL:
            for device in devices:
                self._begin(device)

    @property
    def lacks_room(self) -> bool:
        """Whether nothing can run now for want of room on the disk."""
        return self._waits_for_room or not self._has_room()

    async def settle(self) -> None:
        """Wait for the canary that is under way, if one is; one that waits for room is begun if there is some."""
        if self._waits_for_room and self._has_room():
            self._begin(self._unproved.pop())
        if self._proving is not None:
            await asyncio.wait({self._proving})

    async def close(self) -> None:
        """End the canary that is under way."""
        if self._proving is not None:
            self._proving.cancel()
            await asyncio.wait({self._proving})

    def _begin(self, device: int) -> None:
        self._unproved.add(device)
        if not self.unfit_reason and (self._proving is None or self._proving.done()):
            self._waits_for_room = False
            self._proving = asyncio.create_task(self._prove_all())

    async def _prove_all(self) -> None:
        while self._unproved and not self.unfit_reason and not self._waits_for_room:
            await self._prove(self._unproved.pop())

    async def _prove(self, device: int) -> None:
        faults: list[str] = []
        while len(faults) < STRIKES:
            fault = await self._fault(replace(self._canary, devices=(device,)))
            if not fault:
                break
            if _NO_ROOM in fault or not self._has_room():
                log.error("no room is left on the disk: no run begins until there is", extra={"fault": fault})
                self._unproved.add(device)
                self._waits_for_room = True
                return
            metrics.canaries_failed.inc()
            log.warning("the canary failed", extra={"strike": len(faults) + 1, "fault": fault})
            faults.append(fault)
        else:
            self.unfit_reason = f"its canary failed {STRIKES} times in a row: {faults[-1]}"
            log.error("this machine takes no more runs: %s", self.unfit_reason)
        if faults:
            self._on_failure()

    async def _fault(self, canary: CoreJob) -> str:
        """What is wrong with the machine, as far as one canary shows."""
        try:
            async with asyncio.timeout(self._seconds):
                finished = await self._last_event(canary)
        except TimeoutError:
            return f"it was not over after {self._seconds:g} s; the device may hang"
        except OSError as error:
            return f"no judge can be started: {error}"
        if finished.verdict is Verdict.ACCEPTED:
            return ""
        return f"{finished.verdict}: {finished.stderr.strip() or finished.message}"

    async def _last_event(self, canary: CoreJob) -> Finished:
        judge = await self._judges.take()
        try:
            return [event async for event in judge.run(canary) if isinstance(event, Finished)][-1]
        finally:
            await judge.end()
