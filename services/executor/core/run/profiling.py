"""The profile of a submission: calls under the device's profiler, once verdict and timing are known.

Nothing that happens here changes either of them. The profiler and its output belong to the sandbox, so all that it
reports is a claim.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from hipcpu.build_folder import BuildKind, ToolchainError
from problems.kit.definition import Case
from services.executor.core.call.runner_session import RunnerSession
from services.executor.core.check.checking import Checker
from services.executor.core.check.run_verdict import Progress
from services.executor.core.model.events import Profile, ProfileOutcome, Profiling
from services.executor.core.model.failure import Failure
from services.executor.core.run.context import RunContext
from services.executor.core.sandbox.run_place import RunPlace
from services.executor.core.sandbox.scratch import ScratchFolder
from services.executor.devices.device import Device, DeviceDescription, Toolchain
from services.executor.devices.profiling import (
    MOST_KERNELS,
    Profiled,
    Profiler,
    kernels_of,
    profiler_or_reason,
    shown_name,
)
from services.executor.sandboxes.sandbox import Command, Exit

RESERVED_SECONDS = 20.0
"""The part of a run's time that a profile leaves alone, so that its end never comes too late."""
GOODBYE_SECONDS = 20.0
"""A profiler may write its output when the runner exits."""
_MOST_CALLS = 10
_ENOUGH_SECONDS = 10.0
_MOST_LAST_WORDS = 300


@dataclass(frozen=True)
class Subject:
    """The build in `folder`, and its case to profile, with `flush_bytes` swept through the caches before each call."""

    folder: Path
    case: Case
    index: int
    flush_bytes: int


class ProfiledDevice:
    """A device whose runners run under its profiler; implements Device."""

    def __init__(self, device: Device, profiler: Profiled, folder: Path) -> None:
        self._device = device
        self._profiler = profiler
        self._folder = folder

    def describe(self) -> DeviceDescription:
        """Returns the device's own description."""
        return self._device.describe()

    def toolchain(self) -> Toolchain:
        """Returns the device's own toolchain."""
        return self._device.toolchain()

    def build_command(self, folder: Path, kind: BuildKind) -> Command:
        """Returns the device's own build command."""
        return self._device.build_command(folder, kind)

    def run_command(self, folder: Path, kind: BuildKind) -> Command:
        """Returns the device's own run command under the profiler; raises ToolchainError."""
        return self._profiler.profile_command(self._device.run_command(folder, kind), self._folder)


class ProfileStage:
    """Makes the profile of one run; `checker_of` makes calls in a session."""

    def __init__(
        self,
        context: RunContext,
        place: RunPlace,
        subject_of: Callable[[], Subject],
        checker_of: Callable[[RunnerSession], Checker],
        progress: Progress,
    ) -> None:
        self._context = context
        self._place = place
        self._subject_of = subject_of
        self._checker_of = checker_of
        self._progress = progress
        self._session: RunnerSession | None = None
        self._calls = 0

    async def run(self) -> Profile:
        """Make the profile, or say why there is none; raises nothing but CancelledError."""
        try:
            return await self._profile()
        except Exception as error:  # noqa: BLE001  whatever breaks in here, the verdict stands
            return self._failed(f"the judge: {type(error).__name__}: {error}")

    async def _profile(self) -> Profile:
        device, profiler = self._context.device, profiler_or_reason(self._context.device)
        if isinstance(profiler, str) or not isinstance(device, Profiled):
            return Profile(ProfileOutcome.UNAVAILABLE, f"not available on this device: {profiler}")
        seconds = min(self._context.limits.profile_seconds, self._progress.left_seconds - RESERVED_SECONDS)
        if seconds <= 0:
            left = max(0, round(self._progress.left_seconds))
            return Profile(ProfileOutcome.SKIPPED, f"not made: only {left} s of the run's time limit were left")
        subject = self._subject_of()
        self._progress.tell(Profiling(profiler.tool, subject.case.name))
        with self._progress.stage("profile"):
            made = await self._made(device, profiler, subject, seconds)
        return replace(
            made, tool=profiler.tool, tool_version=profiler.version, clock=profiler.clock, name=subject.case.name
        )

    async def _made(self, device: Profiled, profiler: Profiler, subject: Subject, seconds: float) -> Profile:
        try:
            with ScratchFolder(self._context.scratch_parent) as folder:
                async with asyncio.timeout(seconds):
                    await self._trace(ProfiledDevice(self._context.device, device, folder), subject)
                kernels = kernels_of(device.dispatches(folder))
        except TimeoutError:
            return self._failed(f"{profiler.tool} was not done after {seconds:.3g} s")
        except Failure as failure:
            self._progress.is_unkillable |= failure.unkillable
            return self._failed(self._cause(failure, profiler))
        except (ToolchainError, ValueError) as error:
            return self._failed(str(error))
        return Profile(
            ProfileOutcome.MADE,
            "" if kernels else "no kernel was launched",
            solution_calls=self._calls,
            kernels=tuple(kernels[:MOST_KERNELS]),
            kernels_left_out=max(0, len(kernels) - MOST_KERNELS),
        )

    async def _trace(self, device: Device, subject: Subject) -> None:
        """Call the case up to ten times with the same inputs. Nobody compares the answers, as they do not count."""
        place, limits = self._place, self._context.limits
        self._session = session = RunnerSession(device, place.sandbox, limits, place.channel(), GOODBYE_SECONDS)
        async with session.open(subject.folder):
            checker = self._checker_of(session)
            judge, begin = checker.judge(subject.case, subject.index), time.monotonic()
            loaded = await checker.load_undrawn(judge)
            trial = loaded or judge.draw(checker.next_call())
            while self._calls < _MOST_CALLS and time.monotonic() - begin < _ENOUGH_SECONDS:
                if loaded:
                    call = checker.next_call()
                    question = checker.question(judge, loaded, call)
                    await checker.make_redrawn(judge, question, call, subject.flush_bytes)
                else:
                    await checker.make(judge, trial, subject.flush_bytes)
                self._calls += 1

    def _cause(self, failure: Failure, profiler: Profiler) -> str:
        session = self._session
        if session is None or session.first_call_time is not None or session.end is None:
            return failure.message
        end = session.end
        how = f"signal {end.signal}" if end.signal else f"exit status {end.code}"
        return f"{profiler.tool} did not get as far as the first call ({how})"

    def _failed(self, why: str) -> Profile:
        """A failed profile; what was printed last may be the profiler's own reason."""
        end = self._session.end if self._session else None
        words = _last_words(end) if end else ""
        return Profile(ProfileOutcome.FAILED, f"failed: {why}" + (f"; printed last: {words}" if words else ""))


def _last_words(end: Exit) -> str:
    """The last line that the sandbox printed."""
    text = (end.stderr.strip() or end.stdout.strip()).decode(errors="replace")
    return shown_name(text.rpartition("\n")[2].strip()[:_MOST_LAST_WORDS])
