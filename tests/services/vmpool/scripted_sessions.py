"""A SessionService in this process: what a machine's sshd would do with each connection is the test's."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from typing import Any

import grpc
from wavepool.executor.v1 import session_pb2, session_pb2_grpc

from servicekit.rpc.farewell import caller_leaves
from servicekit.rpc.server import OPTIONS

Requests = AsyncIterator[session_pb2.ConnectRequest]
Handle = Callable[[Requests, Any], AsyncGenerator[bytes]]


class ScriptedSessions(session_pb2_grpc.SessionServiceServicer):
    """`handle` gets the messages after the first, and the call's context; it yields what is sent back."""

    def __init__(self) -> None:
        self.handle: Handle = echo
        self.opened: list[session_pb2.SessionName] = []
        self.peers: set[str] = set()
        self.metadata: dict[str, str] = {}
        self.ended = asyncio.Event()
        self.endpoint = ""

    async def Connect(  # noqa: N802 - grpc's name
        self, request_iterator: Requests, context: Any
    ) -> AsyncIterator[session_pb2.ConnectResponse]:
        """Note the first message, then do as the test says."""
        self.opened.append((await anext(request_iterator)).open)
        self.peers.add(context.peer())
        self.metadata = dict(context.invocation_metadata())
        try:
            async with aclosing(self.handle(request_iterator, context)) as answers:
                async for data in answers:
                    yield session_pb2.ConnectResponse(data=data)
            yield session_pb2.ConnectResponse()
            await caller_leaves()
        finally:
            self.ended.set()


async def echo(requests: Requests, context: Any) -> AsyncGenerator[bytes]:
    """What comes, and a word when the caller's side is closed."""
    del context
    async for request in requests:
        yield request.data
    yield b"closed"


@asynccontextmanager
async def scripted_sessions() -> AsyncGenerator[ScriptedSessions]:
    server, sessions = grpc.aio.server(options=OPTIONS), ScriptedSessions()
    session_pb2_grpc.add_SessionServiceServicer_to_server(sessions, server)
    sessions.endpoint = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    await server.start()
    try:
        yield sessions
    finally:
        await server.stop(None)
