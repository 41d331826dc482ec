"""One session: its request, its events, and its life from the sandbox's making to its removal."""

from __future__ import annotations

import asyncio
import contextlib
import re
import socket
import time
from collections.abc import AsyncGenerator, AsyncIterator, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from wavepool.executor.v1 import session_pb2
from wavepool.executor.v1.session_pb2 import SessionEvent

from servicekit import logging
from servicekit.clock import Clock
from servicekit.rpc.proto_time import duration_to_proto
from services.executor import metrics
from services.executor.disks.snapshot import DiskError
from services.executor.images.builder import BuildContext
from services.executor.images.errors import ImageError, ImageUnavailableError
from services.executor.images.image_store import HeldImage, ImageStore
from services.executor.leases.lease import Lease
from services.executor.runs.admission import EndReason, Place
from services.executor.runs.event_log import EventLog
from services.executor.sandboxes.sandbox import SandboxError
from services.executor.sessions.access.session_files import COMMAND, COMMAND_OUTPUT, USER
from services.executor.sessions.access.tunnel import Tunnel
from services.executor.sessions.disk import DiskUse
from services.executor.sessions.errors import (
    NoDiskError,
    SessionNotReadyError,
    SilentSessionError,
    TooManyConnectionsError,
    UnknownSessionError,
)
from services.executor.sessions.gang.gang import Gang
from services.executor.sessions.homes.kept_home import DiskSpec, KeptHome
from services.executor.sessions.root.build_log import BuildLog
from services.executor.sessions.session_sandbox import OpenSandbox, Report, SandboxOrder, SessionSandbox
from services.executor.sessions.timetable import Timetable
from vocabulary.image_references import ImageReference
from vocabulary.ssh_keys import Key

Images = ImageStore | str
"""The machine's images, or why it takes none."""

log = logging.get_logger(__name__)

LONGEST_PREPARING = timedelta(hours=1)
"""A session whose time counts from its being ready is given up so long after the end that it was given."""
MOST_CONNECTIONS = 256
MOST_LOGINS = 10_000
"""Logins that are recorded: a session's users can make its first program report any number."""
MOST_FAULTS = 20
"""Faults that are logged, for the same reason."""
START_SECONDS = 60.0
"""Longest start of the first program; it takes a tenth of a second, and longer on a busy machine."""
ANSWER_SECONDS = 10.0
_LAST_WORDS = timedelta(seconds=2)
"""Time for people to read why the session ends, in which its programs have been asked to end."""
_LAST = 2.0
"""Seconds before the kill at which terminals are asked to end if the time is up, so that their last lines get out."""
_ASKED = (
    "This session was ended by request. Its programs are asked to end now, and connections end with the last of them."
)
_MOST_STATUS = 255
_MOST_DETAILS = 4_000
"""Characters of why a session ended."""
_WHOLE = 100
_PERCENT_STEP = 10
"""Progress of a restore is told in steps of so many percent."""
_KILLED_FOR_MEMORY = "The kernel has killed a program of this session, which used more than its memory:"
_MIB_PER_GIB = 1024
_GIB = 1 << 30
_ACCEPTED = re.compile(rf"Accepted publickey for {USER} from \S+ port \d+ ssh2: \S+ (SHA256:\S+)")
_REASONS = {
    EndReason.LEASE_PASSED_ON: session_pb2.SESSION_END_REASON_LEASE_PASSED_ON,
    EndReason.EXECUTOR_STOPPED: session_pb2.SESSION_END_REASON_EXECUTOR_STOPPED,
}


@dataclass(frozen=True)
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

    `pass_time` must be called about once a second.
    """

    def __init__(  # noqa: PLR0915 - an attribute a line
        self,
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
        self.leaves_processes = False
        """True if something of the session cannot be killed; known once it has been carried out."""
        self.disk_use: DiskUse | None = None
        """What the session has written, as far as it was counted."""
        self._adapter = sandbox
        self._order = order
        self._clock = clock
        self._home = home
        self._images = images
        self._image: HeldImage | None = None
        self._saves: set[asyncio.Task[session_pb2.SessionSnapshot]] = set()
        self._next_save = clock.now()
        self._passed_on = asyncio.Event()
        """Set once nobody is interested in what the session leaves."""
        self._keys: Sequence[Key] = spec.keys
        self._timetable = Timetable.of(spec.end_time, spec.grace, clock.now())
        self._sandbox: OpenSandbox | None = None
        self._is_ready = False
        self._start = self._step_start = time.perf_counter()
        self._started = asyncio.Event()
        self._killed = asyncio.Event()
        self._kill_time: datetime | None = None
        self._reason: session_pb2.SessionEndReason.ValueType | None = None
        self._details = ""
        self._tunnels: dict[int, Tunnel] = {}
        self._unclosed: set[int] = set()
        """Connections of which the first program has not told the end: it tells of a login later than it happens."""
        self._logins: dict[int, Key] = {}
        self._changing = asyncio.Lock()
        """Held while keys change: the last to ask is right."""
        self._keys_used: dict[int, Key] = {}
        """By connections of which something may be left."""
        self._login_count = 0
        self._fault_count = 0
        self._connection_count = 0
        self._questions: dict[int, asyncio.Future[int]] = {}
        self._question_count = 0
        self._leaving: tuple[set[int], set[str]] = (set(), set())
        """Connections and users that are out, and whose processes may be left: the session has not said otherwise.
        The users are for processes on other nodes, which no connection of ours has started."""
        self._killed_for_memory = 0
        self._command_has_ended = False
        self._said = BuildLog(self._tell_build)
        self._told_of_disk = 0
        self._told_percent = self._told_image_percent = -_PERCENT_STEP

    @property
    def is_over(self) -> bool:
        """True once the session's last event is recorded."""
        return self.events.is_finished

    @property
    def is_ending(self) -> bool:
        """True once the session's processes were asked to end, or killed."""
        return self._kill_time is not None or self._killed.is_set()

    async def wait(self) -> None:
        """Wait for the session's last event."""
        await self.events.wait()

    def end(self, reason: EndReason) -> None:
        """End the session at once."""
        if reason is EndReason.LEASE_PASSED_ON:
            self._passed_on.set()
        self._end(_REASONS.get(reason, session_pb2.SESSION_END_REASON_CLOSED))

    def close(self, grace: timedelta, reason: session_pb2.SessionEndReason.ValueType, words: str = "") -> None:
        """End the session: its programs are asked at once, after the `words`, and what is left is killed after `grace`.

        Connections last until all programs have ended; if its time is up, until the last moment, as people may be
        saving something by hand.

        A repeated call may bring their end forward, and never puts it off: who cancels a session asks until it is over.
        """
        if grace <= timedelta(0) or not self._is_ready:
            self._end(reason)
            return
        self._reason = self._reason or reason
        asked = self._kill_time is not None
        self._kill_time = min(self._clock.now() + grace, self._kill_time or self._timetable.kill_time)
        if not asked and reason == session_pb2.SESSION_END_REASON_CLOSED:
            left = (self._kill_time - self._clock.now()).total_seconds()
            words = f"{_ASKED} What is left ends in {left:.0f} s."
        if words:
            self._tell(order="notify", number=0, text=words)
        if not asked:
            by_time = reason == session_pb2.SESSION_END_REASON_EXPIRED
            self._tell(order="hang_up", terminals_seconds=max(0, grace.total_seconds() - _LAST) if by_time else 0)

    async def carry_out(self) -> None:
        """Open the session and wait for its end. Afterwards nothing of it is left, or `leaves_processes` is set."""
        try:
            await self._live()
        except SandboxError as error:
            self._fail(str(error))
        except Exception as error:
            log.exception("a session broke down", extra={"session_id": self.spec.session_id})
            self._fail(f"{type(error).__name__}: {error}")
        was_ready, self._is_ready = self._is_ready, False
        for tunnel in self._tunnels.values():
            tunnel.close()
        if self._sandbox is not None:
            self.leaves_processes = not await self._sandbox.destroy()
        self._release_image()
        self._unclosed.clear()
        for connection in list(self._logins):
            self._log_out(connection)
        if self._home is not None:
            await self._leave_home(self._home, is_kept=was_ready)

    def finish(self) -> session_pb2.SessionEnded:
        """Record the last event, with which the session's slots are free, and return it."""
        reason = self._reason or session_pb2.SESSION_END_REASON_SANDBOX_ENDED
        # Its users may have written them, and messages take no half of a surrogate pair.
        details = self._details[:_MOST_DETAILS].encode(errors="replace").decode()
        ended = session_pb2.SessionEnded(reason=reason, details=details, unkillable=self.leaves_processes)
        self.events.record(SessionEvent(ended=ended))
        return ended

    def pass_time(self, now: datetime) -> None:
        """Warn the session's users, or end it, if it is time; and count what the kernel has killed."""
        time_up = self._timetable.kill_time
        if self.spec.lasts and not self._is_ready:
            time_up += LONGEST_PREPARING
        if now >= min(self._kill_time or time_up, time_up):
            self._end(session_pb2.SESSION_END_REASON_EXPIRED)
        if not self._is_ready:
            return
        if (warning := self._timetable.due(now)) is not None:
            self._warn(warning)
            self._save_after_warning(warning)
        if self._home is not None and now >= self._next_save and not self.is_ending:
            self._begin_save(self._home, session_pb2.SNAPSHOT_REASON_INTERVAL)
        if now >= self._timetable.hang_up_time and self._kill_time is None:
            left = self._timetable.kill_time - now
            self.close(left, session_pb2.SESSION_END_REASON_EXPIRED)
        self._count_killed()

    def move_end(self, end_time: datetime) -> None:
        """Move the end; warnings are armed again, and what earlier ones left is removed.

        Raises SessionNotReadyError once the session's processes were asked to end.
        """
        if self._kill_time is not None:
            raise SessionNotReadyError(self.spec.session_id)
        if end_time == self._timetable.end_time:
            return
        self._timetable = Timetable.of(end_time, self._timetable.grace, self._clock.now())
        if self._sandbox is not None:
            self._sandbox.write_end(end_time)
        self._tell(order="unwarn")

    async def count_disk(self) -> None:
        """Count what the session has written, and tell its users when that nears its share and when it exceeds it."""
        if self._sandbox is None or not self._is_ready:
            return
        used_bytes = await asyncio.to_thread(self._sandbox.used_bytes)
        self.disk_use = use = DiskUse(used_bytes, self._order.disk_bytes)
        step, told = use.step_after(self._told_of_disk), self._told_of_disk
        self._told_of_disk = step
        if step > told and self._is_ready:
            consequence = (
                "It will be ended if the machine's disk runs short: remove files now."
                if step >= _WHOLE
                else "Remove files before that is full."
            )
            self._tell(order="notify", number=0, text=f"This session has {use.words}. {consequence}")
            disk = session_pb2.SessionDisk(used_bytes=use.used_bytes, share_bytes=use.share_bytes)
            self.events.record(SessionEvent(disk=disk))

    def end_for_room(self, free_bytes: int, reserve_bytes: int) -> None:
        """End the session because the machine's disk runs short."""
        used = self.disk_use.words if self.disk_use else "an unknown part of the disk"
        kept = f"{free_bytes / _GIB:.3g} GiB are free, and {reserve_bytes / _GIB:.3g} GiB must be"
        self._details = f"the machine's disk ran short ({kept}); the session had {used}"
        words = f"The machine's disk runs short, and this session has {used}: it ends now."
        self.close(_LAST_WORDS, session_pb2.SESSION_END_REASON_DISK_FULL, words)

    async def replace_keys(self, keys: Sequence[Key]) -> None:
        """Let in these keys and no others, and end all that came in with keys that are gone.

        Before a new key opens it, agents that were forwarded are cut off: whoever is in could use them. Raises
        SilentSessionError if the session does not say that this has been done.
        """
        async with self._changing:
            await self._change_keys(keys)

    async def _change_keys(self, keys: Sequence[Key]) -> None:
        users = {key.user for key in self._keys} - {key.user for key in keys}
        if self._sandbox is None or not self._is_ready:
            self._replace_keys(keys)
            return
        new = [key for key in keys if key not in self._keys]
        self._replace_keys([key for key in keys if key in self._keys])
        await self._end_left(keys, users)
        if new:
            cut = await self._ask(order="cut_agents")
            self._replace_keys(keys)
            names = ", ".join(dict.fromkeys(key.user for key in new))
            agents = " Forwarded ssh agents are cut off, as others could use them now." if cut else ""
            self._tell(order="notify", number=0, text=f"New keys open this session, of {names}.{agents}")

    def _replace_keys(self, keys: Sequence[Key]) -> None:
        self._keys = tuple(keys)
        if self._sandbox is not None:
            self._sandbox.write_keys(self._keys)

    async def _end_left(self, keys: Sequence[Key], users: Collection[str]) -> None:
        """End what came in with other keys than these, and processes of these users on other nodes."""
        connections = [number for number, key in self._keys_used.items() if key not in keys]
        for number in connections:
            if tunnel := self._tunnels.get(number):
                tunnel.close()
        leaving, left = self._leaving
        leaving.update(connections)
        left.update(users)
        left.difference_update(key.user for key in keys)
        if leaving or left:
            asked = tuple(leaving), tuple(left)
            await self._ask(order="end", connections=sorted(leaving), users=sorted(left))
            leaving.difference_update(asked[0])
            left.difference_update(asked[1])

    async def snapshot(self) -> session_pb2.SessionSnapshot:
        """Take a snapshot of the disk now; raises SessionNotReadyError, NoDiskError."""
        self._check_ready()
        if self._home is None:
            raise NoDiskError(self.spec.session_id)
        saving = self._begin_save(self._home, session_pb2.SNAPSHOT_REASON_REQUEST)
        await asyncio.wait({saving})
        if saving.cancelled():
            raise SessionNotReadyError(self.spec.session_id)
        return saving.result()

    async def notify(self, text: str) -> int:
        """Write a text to every terminal; returns their number. Raises SilentSessionError, SessionNotReadyError."""
        self._check_ready()
        return await self._ask(order="notify", text=text)

    async def connect(self, incoming: AsyncIterator[bytes]) -> AsyncGenerator[bytes]:
        """Carry one connection; raises SessionNotReadyError, TooManyConnectionsError, SilentSessionError."""
        self._check_ready()
        if len(self._tunnels) >= MOST_CONNECTIONS:
            raise TooManyConnectionsError(self.spec.session_id, MOST_CONNECTIONS)
        self._connection_count += 1
        number = self._connection_count
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                self._give(theirs.fileno(), order="connect", connection=number)
            except SilentSessionError:
                ours.close()
                raise
        self._unclosed.add(number)
        self._tunnels[number] = tunnel = Tunnel(ours)
        try:
            async with contextlib.aclosing(tunnel.carry(incoming)) as outgoing:
                async for chunk in outgoing:
                    yield chunk
        finally:
            tunnel.close()
            del self._tunnels[number]

    async def _live(self) -> None:
        if not await self._has_its_files():
            return
        self._sandbox = await self._adapter.open(self._order, self._take_report)
        if self._home is not None:
            self._home.begin(self._sandbox.start_time_ns)
        self._step("sandbox")
        if self._keys is not self.spec.keys:
            self._sandbox.write_keys(self._keys)
        self._sandbox.write_end(self._timetable.end_time)
        ended = asyncio.create_task(self._sandbox.wait())
        killed = asyncio.create_task(self._killed.wait())
        started = asyncio.create_task(self._started.wait())
        try:
            await asyncio.wait({ended, killed, started}, timeout=START_SECONDS, return_when=asyncio.FIRST_COMPLETED)
            if self._started.is_set():
                self._begin(self._sandbox)
                await asyncio.wait({ended, killed}, return_when=asyncio.FIRST_COMPLETED)
            elif not self._killed.is_set():
                self._fail(ended.result() if ended.done() else f"sshd did not start in {START_SECONDS:g} s")
            self._count_killed()
            if ended.done() and not self._details:
                self._details = ended.result()
        finally:
            for task in (ended, killed, started):
                task.cancel()

    async def _has_its_files(self) -> bool:
        """Get what the session begins with; returns False if it is not to begin. Raises SandboxError."""
        if self._home is not None and not await self._restored(self._home):
            return False
        return not self.spec.image_name or await self._fetched()

    async def _restored(self, home: KeptHome) -> bool:
        """Fill the home; returns False if the session was ended meanwhile. Raises SandboxError."""
        restoring = asyncio.create_task(home.restore(self._tell_percent))
        killed = asyncio.create_task(self._killed.wait())
        try:
            await asyncio.wait({restoring, killed}, return_when=asyncio.FIRST_COMPLETED)
            if self._killed.is_set():
                return False
            await restoring
        except DiskError as error:
            raise SandboxError(f"the disk {home.spec.name!r} cannot be restored: {error}") from error
        finally:
            for task in (restoring, killed):
                task.cancel()
            await asyncio.gather(restoring, killed, return_exceptions=True)
        self._step("disk")
        return True

    async def _fetched(self) -> bool:
        """Get the image; returns False if the session was ended meanwhile, or must end without it."""
        try:
            return await self._held()
        except ImageError as error:
            reason = session_pb2.SESSION_END_REASON_IMAGE
            self._fail(f"The image {self.spec.image_name} cannot be used: {error}.", reason)
        except ImageUnavailableError as error:
            reason = session_pb2.SESSION_END_REASON_IMAGE_UNAVAILABLE
            self._fail(f"The image {self.spec.image_name} cannot be had now: {error}.", reason)
        finally:
            self._said.flush()
        return False

    async def _held(self) -> bool:
        """Get the image; returns False if the session was ended meanwhile. Raises ImageError, ImageUnavailableError."""
        if isinstance(self._images, str):
            raise ImageError(self._images)
        holding = asyncio.create_task(self._hold_image(self._images))
        killed = asyncio.create_task(self._killed.wait())
        try:
            await asyncio.wait({holding, killed}, return_when=asyncio.FIRST_COMPLETED)
            if self._killed.is_set() and not holding.done():
                return False
            self._image = await holding
        finally:
            for task in (holding, killed):
                task.cancel()
            await asyncio.gather(holding, killed, return_exceptions=True)
        if self.spec.preserve_entrypoint and not self._image.image.command:
            raise ImageError("it has neither ENTRYPOINT nor CMD to start; leave --preserve-entrypoint out")
        self._order = replace(self._order, image=self._image.image)
        self._step("image")
        return True

    async def _hold_image(self, images: ImageStore) -> HeldImage:
        if self.spec.build is not None:
            return await images.hold_built(self.spec.build, self._said.take)
        assert self.spec.image is not None  # noqa: S101  the caller has checked
        return await images.hold(self.spec.image, self._tell_image_percent)

    def _tell_build(self, text: str) -> None:
        self.events.record(SessionEvent(building=session_pb2.SessionBuilding(text=text)))

    def _release_image(self) -> None:
        if self._image is not None:
            self._image.release()

    def _tell_image_percent(self, percent: int) -> None:
        if percent >= self._told_image_percent + _PERCENT_STEP:
            self._told_image_percent = percent
            self.events.record(SessionEvent(fetching=session_pb2.SessionFetching(percent=percent)))

    def _tell_percent(self, percent: int) -> None:
        if percent >= self._told_percent + _PERCENT_STEP:
            self._told_percent = percent
            self.events.record(SessionEvent(restoring=session_pb2.SessionRestoring(percent=percent)))

    def _save_after_warning(self, minutes: int) -> None:
        # That of the last words follows once all processes have ended.
        if self._home is not None and minutes:
            self._begin_save(self._home, session_pb2.SNAPSHOT_REASON_WARNING)

    def _begin_save(
        self, home: KeptHome, reason: session_pb2.SnapshotReason.ValueType
    ) -> asyncio.Task[session_pb2.SessionSnapshot]:
        """Begin a snapshot; the next one that time asks for comes an interval later."""
        self._next_save = self._clock.now() + home.rules.interval
        saving = asyncio.create_task(self._save(home, reason))
        self._saves.add(saving)
        saving.add_done_callback(self._saves.discard)
        return saving

    async def _save(self, home: KeptHome, reason: session_pb2.SnapshotReason.ValueType) -> session_pb2.SessionSnapshot:
        taken = await home.save(reason)
        if taken.fault and self._is_ready:
            text = f"The disk {home.spec.name} could not be saved: {taken.fault}."
            self._tell(order="notify", number=0, text=text)
        self.events.record(SessionEvent(snapshot=taken))
        return taken

    async def _leave_home(self, home: KeptHome, *, is_kept: bool) -> None:
        """Take the last snapshot, now that nothing changes any more, and remove the home."""
        for saving in list(self._saves):
            saving.cancel()
        await asyncio.gather(*self._saves, return_exceptions=True)
        if is_kept:
            saving = asyncio.create_task(self._save(home, session_pb2.SNAPSHOT_REASON_END))
            passed_on = asyncio.create_task(self._passed_on.wait())
            await asyncio.wait({saving, passed_on}, return_when=asyncio.FIRST_COMPLETED)
            for task in (saving, passed_on):
                task.cancel()
            await asyncio.gather(saving, passed_on, return_exceptions=True)
        try:
            await home.remove()
        except Exception:
            # The next start of the executor removes it.
            log.exception("a home is left", extra={"session_id": self.spec.session_id})

    def _begin(self, sandbox: OpenSandbox) -> None:
        self._step("sshd")
        now = self._clock.now()
        if now + self.spec.lasts > self._timetable.end_time and not self.is_ending:
            self._timetable = Timetable.of(now + self.spec.lasts, self._timetable.grace, now)
            sandbox.write_end(self._timetable.end_time)
        metrics.session_start_seconds.observe(time.perf_counter() - self._start)
        self._is_ready = True
        if self._home is not None:
            self._next_save = self._clock.now() + self._home.rules.interval
        ready = session_pb2.SessionReady(
            host_key=sandbox.host_key, user=USER, gaps=self._adapter.gaps, software=self._order.software
        )
        ready.store_id = self._home.store_id if self._home else ""
        ready.image_digest = self._image.image.digest if self._image else ""
        ready.runs_command = self.spec.preserve_entrypoint
        self.events.record(SessionEvent(ready=ready))
        if self.spec.preserve_entrypoint:
            self._tell(order="run", file=str(COMMAND))

    def _step(self, name: str) -> None:
        now = time.perf_counter()
        duration, self._step_start = timedelta(seconds=now - self._step_start), now
        self.events.record(SessionEvent(step=session_pb2.SessionStep(name=name, duration=duration_to_proto(duration))))

    def _end(self, reason: session_pb2.SessionEndReason.ValueType) -> None:
        self._reason = self._reason or reason
        self._killed.set()

    def _fail(
        self,
        details: str,
        reason: session_pb2.SessionEndReason.ValueType = session_pb2.SESSION_END_REASON_FAILED,
    ) -> None:
        self._reason = self._reason or reason
        self._details = details

    def _check_ready(self) -> None:
        if self.is_over:
            raise UnknownSessionError(self.spec.session_id)
        if not self._is_ready:
            raise SessionNotReadyError(self.spec.session_id)

    def _warn(self, minutes: int) -> None:
        self._timetable = self._timetable.without(minutes)
        end = f"{self._timetable.end_time:%H:%M} UTC"
        if minutes:
            text = f"This session ends in {minutes} minutes, at {end}. Save your work, or extend it."
        else:
            seconds = self._timetable.grace.total_seconds()
            asked = (self._timetable.hang_up_time - self._timetable.end_time).total_seconds()
            text = (
                f"The time of this session is up. Save your work: its programs are asked to end in {asked:.0f} s, and "
                f"what is left ends in {seconds:.0f} s, with the connections."
            )
        self._tell(order="warn", name=f"WARN_EXPIRES_IN_{minutes}MIN.txt", text=text)
        self.events.record(SessionEvent(warning=session_pb2.SessionWarning(minutes_left=minutes)))

    def _count_killed(self) -> None:
        killed = self._sandbox.killed_for_memory if self._sandbox else 0
        if killed > self._killed_for_memory:
            self._killed_for_memory = killed
            most = f"{self._order.share.memory_mib / _MIB_PER_GIB:.3g} GiB"
            self._tell(order="notify", number=0, text=f"{_KILLED_FOR_MEMORY} {most}, /dev/shm and /tmp with it.")
            self.events.record(SessionEvent(out_of_memory=session_pb2.SessionOutOfMemory(killed=killed)))

    def _give(self, descriptor: int | None, **order: object) -> None:
        if self._sandbox is None:
            raise SessionNotReadyError(self.spec.session_id)
        self._sandbox.send(order, descriptor)

    def _tell(self, **order: object) -> None:
        """Give an order that the session may miss if one of its users has stopped its first program."""
        with contextlib.suppress(SilentSessionError, SessionNotReadyError):
            self._give(None, **order)

    async def _ask(self, **order: object) -> int:
        """Give an order and return the number in its answer; raises SilentSessionError."""
        self._question_count += 1
        number = self._question_count
        answer: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._questions[number] = answer
        try:
            self._give(None, number=number, **order)
            async with asyncio.timeout(ANSWER_SECONDS):
                return await answer
        except TimeoutError as error:
            raise SilentSessionError(self.spec.session_id) from error
        finally:
            del self._questions[number]

    def _take_report(self, report: Report) -> None:
        """Act on a report of the first program, which its users can forge: none may do more than harm themselves."""
        match report:
            case {"report": "ready"}:
                self._started.set()
            case {"report": "failed", "text": str(text)}:
                self._take_failure(text)
            case {"report": "log" | "closed" | "gone" as kind, "connection": int(connection)}:
                self._take_step(connection, str(kind), str(report.get("line")))
            case {"report": "done", "number": int(number), "count": int(count)}:
                self._take_answer(number, count)
            case {"report": "command_ended", "status": int(status)} if self._is_ready:
                self._take_command_end(status)
            case {"report": "fault", "text": str(text)} if self._fault_count < MOST_FAULTS:
                self._fault_count += 1
                log.warning(
                    "a session's first program failed", extra={"session_id": self._order.session_id, "text": text}
                )
            case {"report": "empty"} if self._kill_time is not None:
                self._killed.set()
            case _:
                pass

    def _take_step(self, connection: int, kind: str, line: str) -> None:
        """Notice what a connection's sshd logs, that it has ended, or that nothing is left of what it started."""
        if kind == "log":
            self._take_line(connection, line)
            return
        self._unclosed.discard(connection)
        self._log_out(connection)
        if kind == "gone":
            self._keys_used.pop(connection, None)

    def _take_failure(self, text: str) -> None:
        """End the session; once people can be in, this is an end from inside, and they pay for the time until then."""
        self._details = text
        if not self._started.is_set():
            self._fail(text)
        self._killed.set()

    def _take_answer(self, number: int, count: int) -> None:
        if (answer := self._questions.get(number)) and not answer.done():
            answer.set_result(min(max(count, 0), MOST_LOGINS))

    def _take_command_end(self, status: int) -> None:
        """Tell the end of the image's command, once."""
        if self._command_has_ended or not self.spec.preserve_entrypoint:
            return
        self._command_has_ended = True
        status = min(max(status, 0), _MOST_STATUS)
        self.events.record(SessionEvent(command_ended=session_pb2.SessionCommandEnded(exit_status=status)))
        if not self.is_ending:
            text = f"The image's own command has ended with status {status}. Its output is in {COMMAND_OUTPUT}."
            self._tell(order="notify", number=0, text=text)

    def _take_line(self, connection: int, line: str) -> None:
        """Notice a login in a line of sshd's log."""
        if not (accepted := _ACCEPTED.fullmatch(line)):
            return
        key = next((key for key in self._keys if key.fingerprint == accepted[1]), None)
        if key is None:
            # The key was removed while its owner logged in.
            if tunnel := self._tunnels.get(connection):
                tunnel.close()
            self._leaving[0].add(connection)
            self._tell(order="end", number=0, connections=[connection], users=[])
            return
        if connection in self._keys_used or not 0 < connection <= self._connection_count:
            return
        self._keys_used[connection] = key
        if connection not in self._unclosed or self._login_count >= MOST_LOGINS:
            return
        self._login_count += 1
        self._logins[connection] = key
        metrics.session_logins.inc()
        who = {"user": key.user, "fingerprint": key.fingerprint}
        log.info("login to a session", extra={"session_id": self.spec.session_id, "connection": connection, **who})
        self.events.record(SessionEvent(login=session_pb2.SessionLogin(connection=connection, **who)))

    def _log_out(self, connection: int) -> None:
        if key := self._logins.pop(connection, None):
            logout = session_pb2.SessionLogout(connection=connection, user=key.user, fingerprint=key.fingerprint)
            log.info("logout from a session", extra={"session_id": self.spec.session_id, "connection": connection})
            self.events.record(SessionEvent(logout=logout))
