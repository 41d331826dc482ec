"""SessionService: decodes requests, calls the sessions and encodes the answers."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass

import grpc
from wavepool.executor.v1 import session_pb2, session_pb2_grpc

from servicekit.rpc.farewell import caller_leaves
from services.executor.disks.snapshot import DiskOwner
from services.executor.leases.authentication import Tokens
from services.executor.leases.errors import InvalidFieldError
from services.executor.sessions.all_sessions import Sessions
from services.executor.wire.requests import instant, token_violations
from services.executor.wire.sessions import SessionDecoder, grace_of, new_keys, text_of

Context = grpc.aio.ServicerContext[object, object]


@dataclass(frozen=True)
class SessionServicer(session_pb2_grpc.SessionServiceServicer):
    """Serves the RPCs. Refusals are raised, and the interceptor turns them into statuses."""

    sessions: Sessions
    decoder: SessionDecoder
    tokens: Tokens

    async def OpenSession(
        self, request: session_pb2.OpenSessionRequest, context: Context
    ) -> AsyncIterator[session_pb2.OpenSessionResponse]:
        """Open a session or attach to it, and stream its events."""
        caller = self.tokens.caller(context.invocation_metadata() or ())
        spec = self.decoder.decode(request, caller)
        session = await self.sessions.open_or_attach(spec, request.after_seq)
        async for event in session.events.follow(request.after_seq):
            yield session_pb2.OpenSessionResponse(event=event)

    async def Connect(
        self, request_iterator: AsyncIterator[session_pb2.ConnectRequest], context: Context
    ) -> AsyncIterator[session_pb2.ConnectResponse]:
        """Carry one SSH connection."""
        first = await anext(request_iterator, session_pb2.ConnectRequest())
        if not first.open.session_id or first.data:
            raise InvalidFieldError(("open", "must name the session in the first message, which carries no data"))
        self._check_token(first.open.fencing_token, context)
        session = self.sessions.living(first.open.session_id, first.open.fencing_token)
        async with aclosing(session.logins.connect(_data_of(request_iterator))) as outgoing:
            async for data in outgoing:
                yield session_pb2.ConnectResponse(data=data)
        yield session_pb2.ConnectResponse()
        await caller_leaves()

    async def UpdateSession(
        self, request: session_pb2.UpdateSessionRequest, context: Context
    ) -> session_pb2.UpdateSessionResponse:
        """Replace a session's keys, or move its end."""
        self._check_token(request.fencing_token, context)
        keys = new_keys(request)
        session = self.sessions.living(request.session_id, request.fencing_token)
        if request.HasField("end_time"):
            self.sessions.move_end(session, instant(request.end_time))
        if keys is not None:
            await session.logins.replace_keys(keys)
        return session_pb2.UpdateSessionResponse(last_seq=session.events.last_seq)

    async def Notify(self, request: session_pb2.NotifyRequest, context: Context) -> session_pb2.NotifyResponse:
        """Write a text to every terminal of a session."""
        self._check_token(request.fencing_token, context)
        text = text_of(request)
        session = self.sessions.living(request.session_id, request.fencing_token)
        return session_pb2.NotifyResponse(terminals=await session.notify(text))

    async def CloseSession(
        self, request: session_pb2.CloseSessionRequest, context: Context
    ) -> session_pb2.CloseSessionResponse:
        """End a session."""
        self._check_token(request.fencing_token, context)
        grace = grace_of(request)
        session = self.sessions.known(request.session_id, request.fencing_token)
        session.close(grace, session_pb2.SESSION_END_REASON_CLOSED)
        return session_pb2.CloseSessionResponse()

    async def RemoveSnapshots(
        self, request: session_pb2.RemoveSnapshotsRequest, context: Context
    ) -> session_pb2.RemoveSnapshotsResponse:
        """Remove snapshots that no disk has any more."""
        self._check_token(request.fencing_token, context)
        self.sessions.known(request.session_id, request.fencing_token)
        owner = DiskOwner(request.owner_id, request.password)
        await self.sessions.homes.remove_snapshots(request.store_id, owner, request.snapshot_ids)
        return session_pb2.RemoveSnapshotsResponse()

    async def SnapshotHome(
        self, request: session_pb2.SnapshotHomeRequest, context: Context
    ) -> session_pb2.SnapshotHomeResponse:
        """Take a snapshot of a session's disk."""
        self._check_token(request.fencing_token, context)
        session = self.sessions.living(request.session_id, request.fencing_token)
        return session_pb2.SnapshotHomeResponse(snapshot=await session.snapshot())

    def _check_token(self, fencing_token: int, context: Context) -> None:
        caller = self.tokens.caller(context.invocation_metadata() or ())
        if violations := token_violations(fencing_token, caller):
            raise InvalidFieldError(*violations)


async def _data_of(requests: AsyncIterator[session_pb2.ConnectRequest]) -> AsyncIterator[bytes]:
    async for request in requests:
        if request.HasField("open"):
            raise InvalidFieldError(("open", "is only for the first message; make another call for another connection"))
        yield request.data
