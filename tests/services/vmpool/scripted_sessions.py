"""A SessionService in this process: what a machine's sshd would do with each connection is the test's."""

from __future__ import annotations

import asyncio
from contextlib import aclosing, asynccontextmanager
from typing import TYPE_CHECKING, Any

import grpc
from wavepool.executor.v1 import session_pb2, session_pb2_grpc

from servicekit.rpc.server import OPTIONS

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence

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
        finally:
            self.ended.set()


async def echo(requests: Requests, context: Any) -> AsyncGenerator[bytes]:
    """What comes, and a word when the caller's side is closed."""
    del context
    async for request in requests:
        yield request.data
    yield b"closed"


class ScriptedNode(session_pb2_grpc.SessionServiceServicer):
    """A machine with a node of a gang: the test sends packets from it, and sees those that reach it."""

    def __init__(self, address: str, fencing_token: int = 1) -> None:
        self.address = address
        self.fencing_token = fencing_token
        self.endpoint = ""
        self.is_open = True
        self.is_reading = True
        self.calls = 0
        self.joined = asyncio.Event()
        self.parted = asyncio.Event()
        self.received: asyncio.Queue[bytes] = asyncio.Queue()
        self._sent: asyncio.Queue[Sequence[bytes] | None] = asyncio.Queue()

    def send(self, *packets: bytes) -> None:
        """Let the node's session send packets in one message."""
        self._sent.put_nowait(packets)

    def break_off(self) -> None:
        """End the call; `joined` is set by the next one."""
        self.joined.clear()
        self._sent.put_nowait(None)

    async def Exchange(  # noqa: N802 - grpc's name
        self, request_iterator: AsyncIterator[session_pb2.ExchangeRequest], context: Any
    ) -> AsyncIterator[session_pb2.ExchangeResponse]:
        """As the executor does, without a session."""
        self.calls += 1
        first = await anext(request_iterator)
        if not self.is_open or first.fencing_token != self.fencing_token:
            await context.abort(grpc.StatusCode.NOT_FOUND, "There is no session of the lease here (any more).")
        assert dict(context.invocation_metadata())["authorization"] == "Bearer secret"
        yield session_pb2.ExchangeResponse(address=self.address)
        self.joined.set()
        receiving = asyncio.create_task(self._receive(request_iterator))
        try:
            while (packets := await self._sent.get()) is not None:
                yield session_pb2.ExchangeResponse(packets=packets)
            await context.abort(grpc.StatusCode.UNAVAILABLE, "The machine has gone away.")
        finally:
            receiving.cancel()
            self.parted.set()

    async def _receive(self, requests: AsyncIterator[session_pb2.ExchangeRequest]) -> None:
        if self.is_reading:
            async for request in requests:
                for packet in request.packets:
                    self.received.put_nowait(packet)


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


@asynccontextmanager
async def serving(node: ScriptedNode) -> AsyncGenerator[ScriptedNode]:
    """The node's machine answers."""
    server = grpc.aio.server(options=OPTIONS)
    session_pb2_grpc.add_SessionServiceServicer_to_server(node, server)
    node.endpoint = f"127.0.0.1:{server.add_insecure_port(node.endpoint or '127.0.0.1:0')}"
    await server.start()
    try:
        yield node
    finally:
        await server.stop(None)
