"""One session: its request, its events, and its life from the sandbox's making to its removal."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from wavepool.executor.v1 import session_pb2
from wavepool.executor.v1.session_pb2 import SessionEvent

from servicekit import logging
from servicekit.cancellation import unless
from servicekit.clock import Clock
from servicekit.rpc.proto_time import duration_to_proto
from services.executor import metrics
from services.executor.disks.snapshot import DiskError
from services.executor.images.builder import BuildContext
from services.executor.images.errors import ImageError, ImageUnavailableError
from services.executor.leases.lease import Lease
from services.executor.runs.admission import EndReason, Place
from services.executor.runs.event_log import EventLog
from services.executor.sandboxes.sandbox import SandboxError
from services.executor.sessions.access.logins import Logins
from services.executor.sessions.access.orders import Orders
from services.executor.sessions.access.reports import Reports
from services.executor.sessions.access.session_files import COMMAND, USER
from services.executor.sessions.errors import NoDiskError, SessionNotReadyError
from services.executor.sessions.gang.gang import Gang
from services.executor.sessions.homes.kept_home import DiskSpec, KeptHome
from services.executor.sessions.root.session_image import Images, check_command, hold_image, in_steps
from services.executor.sessions.root.usage import Usage
from services.executor.sessions.session_sandbox import OpenSandbox, SandboxOrder, SessionSandbox
from services.executor.sessions.states import Reason, SessionLife, SessionState
from services.executor.sessions.timetable import Timetable
from vocabulary.image_references import ImageReference
from vocabulary.ssh_keys import Key

log = logging.get_logger(__name__)

LONGEST_PREPARING = timedelta(hours=1)
"""A session whose time counts from its being ready is given up so long after the end that it was given."""
START_SECONDS = 60.0
"""Longest start of the first program; it takes a tenth of a second, and longer on a busy machine."""
_LAST = 2.0
"""Seconds before the kill at which terminals are asked to end if the time is up, so that their last lines get out."""
_ASKED = (
    "This session was ended by request. Its programs are asked to end now, and connections end with the last of them."
)
_MOST_DETAILS = 4_000
"""Characters of why a session ended."""
_REASONS = {
    EndReason.LEASE_PASSED_ON: session_pb2.SESSION_END_REASON_LEASE_PASSED_ON,
    EndReason.EXECUTOR_STOPPED: session_pb2.SESSION_END_REASON_EXECUTOR_STOPPED,
}


@dataclass(frozen=True, kw_only=True)
class SessionSpec:
    """A valid request for a session; keys, end and grace are those at the beginning."""

    session_id: str
    lease: Lease
    keys: tuple[Key, ...]
    end_time: datetime
    grace: timedelta
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    home: str = ""
    disk: DiskSpec | None = None
    gang: Gang | None = None
    image: ImageReference | None = None
    build: BuildContext | None = None
    """What its image is built from; not together with `image`."""
    preserve_entrypoint: bool = False
    """True if the image's own command is started."""
    lasts: timedelta = timedelta(0)
    """Its least time from the moment in which it is ready; 0 if its end time counts, whenever that is."""
    request_id: str = ""

    @property
    def image_name(self) -> str:
        """Its image, for people; empty without one."""
        return "of the Dockerfile" if self.build else self.image.address if self.image else ""

    def is_same_as(self, other: SessionSpec) -> bool:
        """True if both ask for the same session, whatever has been changed since it began."""
        mine, others = (
            (
                *(s.lease.slots, dict(s.environment), s.home, s.disk and s.disk.disk_id, s.gang),
                *(s.image, s.build and s.build.digest, s.preserve_entrypoint),
            )
            for s in (self, other)
        )
        return mine == others


class Session:
    """A session in progress at its place on the machine; `carry_out` is its whole life.

    It owns its sandbox, its image, its home and its connections, each from when it has it until `carry_out` gives it
    back. `pass_time` must be called about once a second.
    """

    def __init__(
        self,
        *,
        spec: SessionSpec,
        place: Place,
        sandbox: SessionSandbox,
        order: SandboxOrder,
        clock: Clock,
        home: KeptHome | None = None,
        images: Images = "",
    ) -> None:
        """`home` is that of a session with a disk, and the order's, too. An image comes from `images`."""
        self.spec = spec
        self.place = place
        self.lease = spec.lease
        self.events = EventLog[SessionEvent](clock, lambda event: event.HasField("ended"))
        self.life = SessionLife(spec.session_id)
        self.leaves_processes = False
        """True if something of the session cannot be killed; known once it has been carried out."""
        self._orders = Orders(self.life)
        record, runs_command = self.events.record, spec.preserve_entrypoint
        self.logins = Logins(spec.keys, self._orders, record)
        self.reports = Reports(self._orders, self.logins, record, runs_command=runs_command)
        self.usage = Usage(order, self._orders, record)
        self._adapter = sandbox
        self._order = order
        self._clock = clock
        self._home = home
        self._images = images
        self._passed_on = asyncio.Event()
        """Set once nobody is interested in what the session leaves."""
        self._timetable = Timetable.of(spec.end_time, spec.grace, clock.now())
        self._start = self._step_start = time.perf_counter()

    @property
    def is_over(self) -> bool:
        """True once the session's last event is recorded."""
        return self.events.is_finished

    async def wait(self) -> None:
        """Wait for the session's last event."""
        await self.events.wait()

    def end(self, reason: EndReason) -> None:
        """End the session at once."""
        if reason is EndReason.LEASE_PASSED_ON:
            self._passed_on.set()
        self.life.kill(_REASONS.get(reason, session_pb2.SESSION_END_REASON_CLOSED))

    def close(self, grace: timedelta, reason: Reason, words: str = "", details: str = "") -> None:
        """End the session: its programs are asked at once, after the `words`, and what is left is killed after `grace`.

        Connections last until all programs have ended; if its time is up, until the last moment, as people may be
        saving something by hand. `details` are for an operator.

        A repeated call may bring their end forward, and never puts it off: who cancels a session asks until it is over.
        """
        self.life.details = details or self.life.details
        if grace <= timedelta(0) or not self.life.is_open:
            self.life.kill(reason)
            return
        now = self._clock.now()
        is_first, kill_time = self.life.ask(reason, min(now + grace, self._timetable.kill_time))
        if is_first and reason == session_pb2.SESSION_END_REASON_CLOSED:
            words = f"{_ASKED} What is left ends in {(kill_time - now).total_seconds():.0f} s."
        if words:
            self._orders.notify(words)
        if is_first:
            by_time = reason == session_pb2.SESSION_END_REASON_EXPIRED
            seconds = max(0, grace.total_seconds() - _LAST) if by_time else 0
            self._orders.tell(order="hang_up", terminals_seconds=seconds)

    async def carry_out(self) -> None:
        """Open the session and wait for its end. Afterwards nothing of it is left, or `leaves_processes` is set."""
        async with AsyncExitStack() as held:
            # What is pushed first is given back last.
            if self._home is not None:
                held.push_async_callback(self._leave_home, self._home)
            held.callback(self.logins.log_all_out)
            try:
                await self._live(held)
            except SandboxError as error:
                self._fail(str(error))
            except Exception as error:
                log.exception("a session broke down", extra={"session_id": self.spec.session_id})
                self._fail(f"{type(error).__name__}: {error}")
            self.life.shut()
            self._orders.sandbox = None
            self.logins.close_connections()

    def finish(self) -> session_pb2.SessionEnded:
        """Record the last event, with which the session's slots are free, and return it."""
        reason = self.life.finish()
        # Its users may have written them, and messages take no half of a surrogate pair.
        details = self.life.details[:_MOST_DETAILS].encode(errors="replace").decode()
        ended = session_pb2.SessionEnded(reason=reason, details=details, unkillable=self.leaves_processes)
        self.events.record(SessionEvent(ended=ended))
        return ended

    def pass_time(self, now: datetime) -> None:
        """Warn the session's users, or end it, if it is time; and count what the kernel has killed."""
        preparing = LONGEST_PREPARING if self.spec.lasts and not self.life.is_open else timedelta(0)
        time_up = self._timetable.kill_time + preparing
        if now >= min(self.life.kill_time or time_up, time_up):
            self.life.kill(session_pb2.SESSION_END_REASON_EXPIRED)
        if not self.life.is_open:
            return
        if (warning := self._timetable.due(now)) is not None:
            self._warn(warning)
            # The snapshot of the last words follows once all processes have ended.
            if self._home is not None and warning:
                self._home.begin_save(session_pb2.SNAPSHOT_REASON_WARNING, self._tell_snapshot)
        if self._home is not None and self._home.is_due(now) and not self.life.is_ending:
            self._home.begin_save(session_pb2.SNAPSHOT_REASON_INTERVAL, self._tell_snapshot)
        if now >= self._timetable.hang_up_time and self.life.kill_time is None:
            self.close(self._timetable.kill_time - now, session_pb2.SESSION_END_REASON_EXPIRED)
        self.usage.count_killed()

    def move_end(self, end_time: datetime) -> None:
        """Move the end; warnings are armed again, and what earlier ones left is removed.

        Raises SessionNotReadyError once the session's end has begun.
        """
        if self.life.is_ending:
            raise SessionNotReadyError(self.spec.session_id)
        if end_time == self._timetable.end_time:
            return
        self._timetable = Timetable.of(end_time, self._timetable.grace, self._clock.now())
        if self._orders.sandbox is not None:
            self._orders.sandbox.write_end(end_time)
        self._orders.tell(order="unwarn")

    async def snapshot(self) -> session_pb2.SessionSnapshot:
        """Take a snapshot of the disk now; raises UnknownSessionError, SessionNotReadyError, NoDiskError."""
        self.life.check_open()
        if self._home is None:
            raise NoDiskError(self.spec.session_id)
        saving = self._home.begin_save(session_pb2.SNAPSHOT_REASON_REQUEST, self._tell_snapshot)
        await asyncio.wait({saving})
        if saving.cancelled():
            raise SessionNotReadyError(self.spec.session_id)
        return saving.result()

    async def notify(self, text: str) -> int:
        """Write a text to every terminal; returns their number.

        Raises UnknownSessionError, SessionNotReadyError, SilentSessionError.
        """
        self.life.check_open()
        return await self._orders.ask(order="notify", text=text)

    async def _live(self, held: AsyncExitStack) -> None:
        """Carry the session from state to state until its end begins; raises SandboxError."""
        if self._home is not None:
            await self._restore(self._home)
        if (wanted := self.spec.build or self.spec.image) and not self.life.is_ending:
            self.life.fetch()
            await self._fetch(wanted, held)
        if not self.life.is_ending:
            self.life.open()
            await self._run(await self._open(held))

    async def _open(self, held: AsyncExitStack) -> OpenSandbox:
        """Make the sandbox; raises SandboxError."""
        sandbox = await self._adapter.open(self._order, self.reports.take)
        held.push_async_callback(self._destroy, sandbox)
        self._orders.sandbox = sandbox
        if self._home is not None:
            self._home.begin(sandbox.start_time_ns)
        self._step("sandbox")
        self.logins.write_keys()
        sandbox.write_end(self._timetable.end_time)
        return sandbox

    async def _run(self, sandbox: OpenSandbox) -> None:
        """Let people in once sshd has started, and wait until nobody waits for anything in the session any more."""
        ended, killed, started = (
            asyncio.create_task(sandbox.wait()),
            asyncio.create_task(self.life.killed.wait()),
            asyncio.create_task(self.reports.started.wait()),
        )
        try:
            await asyncio.wait({ended, killed, started}, timeout=START_SECONDS, return_when=asyncio.FIRST_COMPLETED)
            if self.reports.started.is_set() and not self.life.is_ending:
                self._be_ready(sandbox)
                await asyncio.wait({ended, killed}, return_when=asyncio.FIRST_COMPLETED)
            elif not self.life.is_ending:
                self._fail(ended.result() if ended.done() else f"sshd did not start in {START_SECONDS:g} s")
            self.usage.count_killed()
            if ended.done():
                self.life.details = self.life.details or ended.result()
        finally:
            for task in (ended, killed, started):
                task.cancel()

    async def _restore(self, home: KeptHome) -> None:
        """Fill the home, unless the session is ended meanwhile; raises SandboxError."""

        def tell(percent: int) -> None:
            self.events.record(SessionEvent(restoring=session_pb2.SessionRestoring(percent=percent)))

        try:
            await unless(self.life.killed, home.restore(in_steps(tell)))
        except DiskError as error:
            raise SandboxError(f"the disk {home.spec.name!r} cannot be restored: {error}") from error
        if not self.life.is_ending:
            self._step("disk")

    async def _fetch(self, wanted: ImageReference | BuildContext, held: AsyncExitStack) -> None:
        """Get the image, unless the session is ended meanwhile; it ends if there is none for it."""
        try:
            image = await hold_image(self._images, wanted, self.events.record, self.life.killed)
            if image is None:
                return
            held.callback(image.release)
            check_command(image.image, is_started=self.spec.preserve_entrypoint)
            self._order = replace(self._order, image=image.image)
            self._step("image")
        except ImageError as error:
            reason = session_pb2.SESSION_END_REASON_IMAGE
            self.life.kill(reason, f"The image {self.spec.image_name} cannot be used: {error}.")
        except ImageUnavailableError as error:
            reason = session_pb2.SESSION_END_REASON_IMAGE_UNAVAILABLE
            self.life.kill(reason, f"The image {self.spec.image_name} cannot be had now: {error}.")

    def _be_ready(self, sandbox: OpenSandbox) -> None:
        self._step("sshd")
        now = self._clock.now()
        if now + self.spec.lasts > self._timetable.end_time:
            self._timetable = Timetable.of(now + self.spec.lasts, self._timetable.grace, now)
            sandbox.write_end(self._timetable.end_time)
        metrics.session_start_seconds.observe(time.perf_counter() - self._start)
        self.life.be_ready()
        ready = session_pb2.SessionReady(
            host_key=sandbox.host_key, user=USER, gaps=self._adapter.gaps, software=self._order.software
        )
        ready.store_id = self._home.store_id if self._home else ""
        ready.image_digest = self._order.image.digest if self._order.image else ""
        ready.runs_command = self.spec.preserve_entrypoint
        self.events.record(SessionEvent(ready=ready))
        if self.spec.preserve_entrypoint:
            self._orders.tell(order="run", file=str(COMMAND))

    async def _destroy(self, sandbox: OpenSandbox) -> None:
        try:
            self.leaves_processes = not await sandbox.destroy()
        except Exception:
            self.leaves_processes = True
            log.exception("it is not known whether a sandbox is gone", extra={"session_id": self.spec.session_id})

    async def _leave_home(self, home: KeptHome) -> None:
        is_kept = self.life.was_ready and self.life.state is SessionState.SAVING
        try:
            await home.leave(self._tell_snapshot, self._passed_on, is_kept=is_kept)
        except Exception:
            # The next start of the executor removes it.
            log.exception("a home is left", extra={"session_id": self.spec.session_id})

    def _tell_snapshot(self, taken: session_pb2.SessionSnapshot) -> None:
        if taken.fault and self._home is not None and self.life.is_open:
            self._orders.notify(f"The disk {self._home.spec.name} could not be saved: {taken.fault}.")
        self.events.record(SessionEvent(snapshot=taken))

    def _step(self, name: str) -> None:
        now = time.perf_counter()
        duration, self._step_start = timedelta(seconds=now - self._step_start), now
        self.events.record(SessionEvent(step=session_pb2.SessionStep(name=name, duration=duration_to_proto(duration))))

    def _fail(self, details: str) -> None:
        self.life.kill(session_pb2.SESSION_END_REASON_FAILED, details)

    def _warn(self, minutes: int) -> None:
        self._timetable = self._timetable.without(minutes)
        text = self._timetable.words(minutes)
        self._orders.tell(order="warn", name=f"WARN_EXPIRES_IN_{minutes}MIN.txt", text=text)
        self.events.record(SessionEvent(warning=session_pb2.SessionWarning(minutes_left=minutes)))
