"""The health check between runs: a canary runs if a run may have damaged the machine; two failures make it unfit.

A GPU's memory is scrubbed after every run, with one canary for each of its devices. On the cpu device a run leaves
nothing behind when its process ends, so the canary follows only runs that ended as on a damaged machine. No run begins
while a canary is under way. A full disk fails every canary and says nothing about the device: no run begins then, and
the canary runs again when there is room.

Processes of a run or canary that survive SIGKILL make the machine unfit at once: they are stuck in a driver that does
not return. So at most three and a half minutes after a run it is known whether the machine is fit: each of two canaries
has CANARY_SECONDS, its judge TERM_GRACE_SECONDS to end it and DEATH_SECONDS to be gone. The whole machine becomes unfit
even if only one of several GPUs hangs, because a hung driver or bus serves the others too. Runs on those still finish.
"""

from __future__ import annotations

import asyncio
import errno
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from wavepool.executor.v1.run_event_pb2 import Finished

from servicekit import logging
from services.executor import metrics
from services.executor.core.model.job import CoreJob
from services.executor.core.model.run_events import verdict_of
from services.executor.core.model.verdict import Verdict
from services.executor.judges.pool import JudgePool

log = logging.get_logger(__name__)

STRIKES = 2
"""One canary may fail by accident; two in a row do not."""
CANARY_SECONDS = 60.0
_NO_ROOM = os.strerror(errno.ENOSPC)
_MOST_SAID = 400
_BEFORE_THE_FIRST = "before the first run"
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


@dataclass(frozen=True)
class _Fault:
    """Fault that one canary found; `is_hung` if the device did not answer, `is_final` if processes cannot be killed."""

    text: str
    is_hung: bool = False
    is_final: bool = False


class HealthCheck:
    """Checks the devices with canaries between runs, and knows whether the machine can take runs.

    `canary` is the job that tests a device. `always` is True for GPUs, which need it after every run. `on_failure` is
    called after failed canaries, when it is known whether the machine is fit. `has_room` returns True if the disk has
    room for a run.
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
        self._unproved = dict[int, str]()
        self.unfit_reason = ""
        """Reason why the machine takes no more runs, with advice for the operator; empty while it takes them."""

    def start(self, devices: Iterable[int]) -> None:
        """Check GPUs before their first run."""
        if self._always:
            for device in devices:
                self._begin(device, _BEFORE_THE_FIRST)

    def after(self, verdict: Verdict, devices: Sequence[int], *, leaves_processes: bool = False) -> None:
        """Check these devices after a run, if needed; the machine becomes unfit if the run left processes."""
        self._after(f"a run that ended in {verdict}", devices, leaves_processes, verdict in DOUBTFUL)

    def after_session(self, devices: Sequence[int], *, leaves_processes: bool) -> None:
        """Check these devices after a session, as after a run."""
        self._after("a session", devices, leaves_processes, is_doubtful=False)

    def _after(self, user: str, devices: Sequence[int], leaves_processes: bool, is_doubtful: bool) -> None:  # noqa: FBT001  two facts of one end
        if leaves_processes:
            names = ", ".join(map(self._name, devices))
            self._condemn(f"{names} does not answer: {user} left processes that cannot be killed")
            self._on_failure()
        elif self._always or is_doubtful:
            for device in devices:
                self._begin(device, f"after {user}")

    @property
    def lacks_room(self) -> bool:
        """True if nothing can run because the disk is full."""
        return self._waits_for_room or not self._has_room()

    async def settle(self) -> None:
        """Wait for the canary under way; first begins one that waited for room, if there is room now."""
        if self._waits_for_room and self._has_room():
            self._begin(*self._unproved.popitem())
        if self._proving is not None:
            await asyncio.wait({self._proving})

    async def close(self) -> None:
        """Cancel the canary under way."""
        if self._proving is not None:
            self._proving.cancel()
            await asyncio.wait({self._proving})

    def _begin(self, device: int, cause: str) -> None:
        self._unproved[device] = cause
        if not self.unfit_reason and (self._proving is None or self._proving.done()):
            self._waits_for_room = False
            self._proving = asyncio.create_task(self._prove_all())

    async def _prove_all(self) -> None:
        while self._unproved and not self.unfit_reason and not self._waits_for_room:
            await self._prove(*self._unproved.popitem())

    async def _prove(self, device: int, cause: str) -> None:
        faults: list[_Fault] = []
        while len(faults) < STRIKES and not any(fault.is_final for fault in faults):
            fault = await self._fault(replace(self._canary, devices=(device,)))
            if fault is None:
                break
            if _NO_ROOM in fault.text or not self._has_room():
                log.error("no room is left on the disk: no run begins until there is", extra={"fault": fault.text})
                self._unproved[device] = cause
                self._waits_for_room = True
                return
            metrics.canaries_failed.inc()
            log.warning("the canary failed", extra={"strike": len(faults) + 1, "fault": fault.text, "device": device})
            faults.append(fault)
        else:
            answers = "does not answer" if faults[-1].is_hung else "is not well"
            times = f"{len(faults)} times in a row " if len(faults) > 1 else ""
            self._condemn(f"{self._name(device)} {answers}: its canary failed {times}{cause}: {faults[-1].text}")
        if faults:
            self._on_failure()

    def _name(self, device: int) -> str:
        return f"GPU {device}" if self._always else "this machine"

    def _condemn(self, reason: str) -> None:
        remedy = "reset the GPU or reboot the machine" if self._always else "reboot the machine"
        self.unfit_reason = f"{reason}; {remedy}, then start its executor again"
        log.error("this machine takes no more runs: %s", self.unfit_reason)

    async def _fault(self, canary: CoreJob) -> _Fault | None:
        """Run a canary and return the fault that it finds, or None."""
        try:
            judge = await self._judges.take()
        except OSError as error:
            return _Fault(f"no judge can be started: {error}")
        finished: Finished | None = None
        try:
            async with asyncio.timeout(self._seconds):
                finished = [event.finished async for event in judge.run(canary)][-1]
        except TimeoutError:
            pass
        finally:
            await judge.end()
        is_final = judge.leaves_processes or (finished is not None and finished.unkillable)
        left = ", and its processes cannot be killed" if is_final else ""
        if finished is None:
            return _Fault(f"it did not end in {self._seconds:g} s{left}", is_hung=True, is_final=is_final)
        verdict = verdict_of(finished)
        if verdict is Verdict.ACCEPTED and not is_final:
            return None
        said = (finished.stderr.strip() or finished.details.strip() or finished.message)[-_MOST_SAID:]
        is_hung = is_final or verdict is Verdict.TIME_LIMIT_EXCEEDED
        return _Fault(f"{verdict}: {said}{left}", is_hung=is_hung, is_final=is_final)
