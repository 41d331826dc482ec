"""An executor's sessions, whose events a test sets by hand: real gRPC, real replay and attach, and faults on demand."""

# ruff: noqa: N802 - methods are named by the protos, and grpc's contexts have no useful type
from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import grpc
from wavepool.executor.v1 import session_pb2, session_pb2_grpc

from servicekit.clock import Clock, SystemClock

HOST_KEY = "ssh-ed25519 AAAAhost"
SOFTWARE = {"driver": "6.12.12", "rocm": "6.4.1"}


@dataclass
class ScriptedSession:
    request: session_pb2.OpenSessionRequest
    clock: Clock
    events: list[session_pb2.SessionEvent] = field(default_factory=list[session_pb2.SessionEvent])
    changed: asyncio.Condition = field(default_factory=asyncio.Condition)

    async def add(self, at: datetime | None = None, **event: Any) -> None:
        """Adds an event that happened `at` a time; now, if there is none."""
        numbered = session_pb2.SessionEvent(seq=len(self.events) + 1, **event)
        numbered.time.FromDatetime(at or self.clock.now())
        async with self.changed:
            self.events.append(numbered)
            self.changed.notify_all()

    async def end(self, reason: str, at: datetime | None = None) -> None:
        number = session_pb2.SessionEndReason.Value(f"SESSION_END_REASON_{reason}")
        await self.add(at, ended=session_pb2.SessionEnded(reason=number))


class ScriptedSessions(session_pb2_grpc.SessionServiceServicer):
    """Every new session is ready at once, unless `opens` is false; a session that is closed ends."""

    def __init__(self) -> None:
        self.sessions: dict[str, ScriptedSession] = {}
        self.updates: list[session_pb2.UpdateSessionRequest] = []
        self.texts: list[str] = []
        self.opens = True
        self.clock: Clock = SystemClock()
        self.refusal: grpc.StatusCode | None = None
        self.silent = asyncio.Event()
        """While it is set, every call fails as if the machine were gone."""
        self.opened = asyncio.Event()
        self.loses_answers = False
        self.answers = asyncio.Event()
        """While it is not set, changes are taken and not answered."""
        self.answers.set()
        self.store_id = ""
        self.snapshot = session_pb2.SessionSnapshot()
        """What SnapshotHome answers."""
        self.removals: list[session_pb2.RemoveSnapshotsRequest] = []
        self.removed = asyncio.Event()

    async def OpenSession(
        self, request: session_pb2.OpenSessionRequest, context: Any
    ) -> AsyncIterator[session_pb2.OpenSessionResponse]:
        await self._answer(context)
        session = self.sessions.get(request.session_id)
        if session is None:
            if request.after_seq:
                await context.abort(grpc.StatusCode.NOT_FOUND, "the session is not known here")
            session = self.sessions[request.session_id] = ScriptedSession(request, self.clock)
            if self.opens:
                await session.add(step=session_pb2.SessionStep(name="sandbox"))
                ready = session_pb2.SessionReady(
                    host_key=HOST_KEY, user="dev", gaps=["a gap"], store_id=self.store_id, software=SOFTWARE
                )
                await session.add(ready=ready)
            self.opened.set()
        elif _kind_of(request) != _kind_of(session.request):
            await context.abort(grpc.StatusCode.ALREADY_EXISTS, "the session was opened with something else")
        seq = request.after_seq
        while True:
            await self._more_events_than(session, seq)
            await self._answer(context)
            for event in session.events[seq:]:
                yield session_pb2.OpenSessionResponse(event=event)
                seq = event.seq
                if event.HasField("ended"):
                    return

    async def UpdateSession(
        self, request: session_pb2.UpdateSessionRequest, context: Any
    ) -> session_pb2.UpdateSessionResponse:
        await self._answer(context)
        self.updates.append(request)
        await self.answers.wait()
        if self.loses_answers:
            await context.abort(grpc.StatusCode.UNAVAILABLE, "the answer is lost")
        session = self.sessions.get(request.session_id)
        return session_pb2.UpdateSessionResponse(last_seq=len(session.events) if session else 0)

    async def Notify(self, request: session_pb2.NotifyRequest, context: Any) -> session_pb2.NotifyResponse:
        await self._answer(context)
        self.texts.append(request.text)
        return session_pb2.NotifyResponse(terminals=2)

    async def SnapshotHome(
        self, request: session_pb2.SnapshotHomeRequest, context: Any
    ) -> session_pb2.SnapshotHomeResponse:
        await self._answer(context)
        assert request.session_id in self.sessions
        return session_pb2.SnapshotHomeResponse(snapshot=self.snapshot)

    async def RemoveSnapshots(
        self, request: session_pb2.RemoveSnapshotsRequest, context: Any
    ) -> session_pb2.RemoveSnapshotsResponse:
        await self._answer(context)
        self.removals.append(request)
        self.removed.set()
        return session_pb2.RemoveSnapshotsResponse()

    async def CloseSession(
        self, request: session_pb2.CloseSessionRequest, context: Any
    ) -> session_pb2.CloseSessionResponse:
        await self._answer(context)
        session = self.sessions.get(request.session_id)
        if session is None:
            await context.abort(grpc.StatusCode.NOT_FOUND, "the session is not known here")
        elif not (session.events and session.events[-1].HasField("ended")):
            await session.end("CLOSED")
        return session_pb2.CloseSessionResponse()

    async def fall_silent(self) -> None:
        """Breaks all streams, and answers no more."""
        self.silent.set()
        for session in self.sessions.values():
            async with session.changed:
                session.changed.notify_all()

    async def _more_events_than(self, session: ScriptedSession, seq: int) -> None:
        async with session.changed:
            await session.changed.wait_for(lambda: len(session.events) > seq or self.silent.is_set())

    async def _answer(self, context: Any) -> None:
        if self.silent.is_set():
            await context.abort(grpc.StatusCode.UNAVAILABLE, "scripted silence")
        if self.refusal:
            await context.abort(self.refusal, "scripted refusal")


def _kind_of(request: session_pb2.OpenSessionRequest) -> Any:
    """What an executor compares when a session is asked for again."""
    return (
        *([(slot.gpu, slot.first_eighth, slot.eighths) for slot in request.slots], dict(request.environment)),
        *(request.home, request.disk.disk_id, request.gang.SerializeToString(deterministic=True)),
        *(request.image, request.build_digest, request.preserve_entrypoint),
    )
