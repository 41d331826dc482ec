"""All sessions of this executor: opens them in their slots, finds them again, ends them, and forgets them later."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import datetime, timedelta

from wavepool.executor.v1 import session_pb2

from servicekit import logging
from servicekit.clock import Clock
from servicekit.request_id import set_request_id
from services.executor import metrics
from services.executor.devices.inventory import DeviceFacts
from services.executor.images.registries import NO_IMAGES
from services.executor.leases.errors import InvalidFieldError, NoRoomError
from services.executor.machine.host_facts import HostFacts
from services.executor.runs.admission import Admission
from services.executor.runs.health_check import HealthCheck
from services.executor.sessions.access.welcome import Welcome, software_of
from services.executor.sessions.disk_watch import DiskWatch
from services.executor.sessions.errors import (
    HomeInUseError,
    NoGangsError,
    NoSessionsError,
    SessionConflictError,
    UnknownSessionError,
)
from services.executor.sessions.homes.homes import Homes
from services.executor.sessions.root.session_image import Images
from services.executor.sessions.session import Session, SessionSpec
from services.executor.sessions.session_sandbox import SandboxOrder, SessionSandbox
from services.executor.sessions.share import Share
from vocabulary.slots import EIGHTHS_PER_GPU

log = logging.get_logger(__name__)

_TICK_SECONDS = 1.0


class Sessions:
    """All sessions. They live on one event loop.

    `sandbox` is the adapter, or why this machine has none. `host` and `device` tell what machine the sessions share;
    `disk` watches what they write. `images` are the machine's, or why it takes none.
    """

    def __init__(
        self,
        *,
        sandbox: SessionSandbox | str,
        homes: Homes,
        host: Callable[[], HostFacts],
        device: Callable[[], DeviceFacts],
        disk: DiskWatch,
        health_check: HealthCheck,
        clock: Clock,
        admission: Admission,
        images: Images = NO_IMAGES,
    ) -> None:
        self._sandbox = sandbox
        self.homes = homes
        self._host = host
        self._device = device
        self._disk = disk
        self._health_check = health_check
        self._clock = clock
        self._admission = admission
        self._images = images
        self._sessions: dict[str, Session] = {}

    @property
    def no_sessions_because(self) -> str:
        """Why this machine cannot hold sessions; empty if it can."""
        return self._sandbox if isinstance(self._sandbox, str) else ""

    @property
    def gaps(self) -> tuple[str, ...]:
        """What a session's sandbox does not hold back on this machine."""
        return () if isinstance(self._sandbox, str) else self._sandbox.gaps

    @property
    def in_flight(self) -> list[Session]:
        """The sessions that are not over."""
        return [session for session in self._sessions.values() if not session.is_over]

    async def open_or_attach(self, spec: SessionSpec, after_seq: int) -> Session:
        """Return the session with this id; opens it if it is new and `after_seq` is 0.

        Raises InvalidFieldError, NoSessionsError, NoGangsError, SessionConflictError, HomeInUseError,
        UnknownSessionError, and what Admission.place_for raises.
        """
        if spec.session_id not in self._sessions:
            await self._admission.settle()
        async with self._admission.turn:
            self._forget()
            known = self._sessions.get(spec.session_id)
            if known is not None:
                if not known.spec.is_same_as(spec):
                    raise SessionConflictError(spec.session_id)
                known.lease.check_token(spec.lease.fencing_token)
                return known
            if after_seq > 0:
                raise UnknownSessionError(spec.session_id)
            return await self._open(spec)

    def known(self, session_id: str, fencing_token: int) -> Session:
        """Return a session, over or not, for the holder of its lease; raises UnknownSessionError, StaleLeaseError."""
        session = self._sessions.get(session_id)
        if session is None:
            raise UnknownSessionError(session_id)
        session.lease.check_token(fencing_token)
        return session

    def living(self, session_id: str, fencing_token: int) -> Session:
        """Return a session that is not over; raises as `known` does."""
        session = self.known(session_id, fencing_token)
        if session.is_over:
            raise UnknownSessionError(session_id)
        return session

    def move_end(self, session: Session, end_time: datetime) -> None:
        """Move a session's end; raises InvalidFieldError, SessionNotReadyError."""
        self._check_ahead(end_time)
        session.move_end(end_time)

    def drain(self, grace: timedelta) -> None:
        """Ask all sessions to end because the executor stops; they are killed after `grace`."""
        for session in self.in_flight:
            words = "This machine is being stopped, and the session with it."
            # A disk's last snapshot takes a while, too.
            left = grace / 2 if session.spec.disk else grace
            session.close(left, session_pb2.SESSION_END_REASON_EXECUTOR_STOPPED, words)

    async def run(self) -> None:
        """Look at the time and at the disk for ever."""
        async with asyncio.TaskGroup() as loops:
            loops.create_task(self._disk.run(lambda: self.in_flight))
            while True:
                self.run_once()
                await asyncio.sleep(_TICK_SECONDS)

    def run_once(self) -> None:
        """Let each session do what its time asks for."""
        for session in self.in_flight:
            try:
                session.pass_time(self._clock.now())
            except Exception:
                # The others' time goes on, and so do the machine's runs.
                log.exception("a session cannot follow its time", extra={"session_id": session.spec.session_id})

    async def _open(self, spec: SessionSpec) -> Session:
        if isinstance(self._sandbox, str):
            raise NoSessionsError(self._sandbox)
        self._check_ahead(spec.end_time)
        if spec.gang and (reason := self._sandbox.no_gang_because(spec.gang)):
            raise NoGangsError(reason)
        place = await self._admission.place_for(spec.lease)
        user = next((s.spec.session_id for s in self.in_flight if spec.home and s.spec.home == spec.home), None)
        if user is not None:
            raise HomeInUseError(spec.home, user)
        free_bytes = self._disk.free_bytes()
        if free_bytes < self._disk.rules.reserve_bytes:
            raise NoRoomError
        home = self.homes.of_disk(spec.disk, self._clock) if spec.disk else None
        share = self._share(spec)
        gpus = sorted({eighth // EIGHTHS_PER_GPU for slot in spec.lease.slots for eighth in slot.range})
        welcome = Welcome(
            share=share,
            device=self._device(),
            gpus=gpus,
            disk_bytes=self._disk.rules.share(len(gpus), free_bytes),
            keeps_home=bool(spec.home),
            disk=spec.disk.name if spec.disk else "",
            has_network=self._sandbox.has_network,
            gaps=self._sandbox.gaps,
            nodes=[node.name for node in spec.gang.nodes] if spec.gang else (),
            image=f"built from {spec.build.digest[:19]}" if spec.build else spec.image_name,
        )
        order = SandboxOrder(
            session_id=spec.session_id,
            keys=spec.keys,
            environment=spec.environment,
            share=share,
            welcome=welcome.text,
            end_time=spec.end_time,
            disk_bytes=welcome.disk_bytes,
            devices=place.devices,
            gpus=len(gpus),
            gang=spec.gang,
            runs_command=spec.preserve_entrypoint,
            home=home.folder if home else self.homes.folder / spec.home if spec.home else None,
            software=software_of(welcome.device, welcome.image),
        )
        session = Session(
            spec=spec,
            place=place,
            sandbox=self._sandbox,
            order=order,
            clock=self._clock,
            home=home,
            images=self._images,
        )
        self._sessions[spec.session_id] = session
        self._admission.enter(session, self._carry_out(session))
        return session

    def _check_ahead(self, end_time: datetime) -> None:
        now = self._clock.now()
        if end_time <= now:
            fault = f"is {end_time.isoformat()}, and it is {now.isoformat()} here; send a time in the future"
            raise InvalidFieldError(("end_time", fault))

    def _share(self, spec: SessionSpec) -> Share:
        host, gpus = self._host(), spec.lease.eighths // EIGHTHS_PER_GPU
        return Share.of(gpus, self._admission.capacity.gpu_count, host.cpu_count, host.memory_mib)

    async def _carry_out(self, session: Session) -> None:
        spec = session.spec
        if spec.request_id:
            set_request_id(spec.request_id)
        extra = {"session_id": spec.session_id, "end_time": spec.end_time.isoformat()}
        gang = {"gang_id": spec.gang.gang_id, "node": spec.gang.own.name} if spec.gang else {}
        log.info("session begins", extra={**extra, **gang})
        with metrics.sessions_in_flight.track_inprogress():
            await session.carry_out()
        if not self._admission.is_draining:
            self._health_check.after_session(session.place.devices, leaves_processes=session.leaves_processes)
        ended = session.finish()
        reason = session_pb2.SessionEndReason.Name(ended.reason).removeprefix("SESSION_END_REASON_").lower()
        metrics.sessions.labels(reason).inc()
        log.info("session ends", extra={"session_id": spec.session_id, "reason": reason, "details": ended.details})

    def _forget(self) -> None:
        ends = {name: end for name, s in self._sessions.items() if (end := s.events.finish_time) is not None}
        for name in self._admission.capacity.outdated(ends, self._clock.now()):
            del self._sessions[name]
