"""A tunnel between a caller's stream and a socket, without sshd."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncGenerator, AsyncIterator, Iterable

import pytest

from services.executor.sessions.access.tunnel import Tunnel
from tests.services.executor.client import until

CHUNK = b"x" * 65536


async def stream(chunks: Iterable[bytes]) -> AsyncIterator[bytes]:
    for chunk in chunks:
        yield chunk


async def silence() -> AsyncIterator[bytes]:
    await asyncio.Event().wait()
    yield b""


def tunnel(incoming: AsyncIterator[bytes]) -> tuple[AsyncGenerator[bytes], socket.socket]:
    """What comes out of a tunnel, and the end that sshd would have, which does not block."""
    ours, theirs = socket.socketpair()
    theirs.setblocking(False)
    return Tunnel(ours).carry(incoming), theirs


async def received(theirs: socket.socket) -> bytes:
    """All that comes until the way to sshd is closed."""
    found = b""
    while chunk := await asyncio.get_running_loop().sock_recv(theirs, 1 << 20):
        found += chunk
    return found


async def test_the_end_of_the_callers_bytes_closes_only_the_way_to_sshd() -> None:
    outgoing, theirs = tunnel(stream([b"question", b"?"]))
    answer = asyncio.create_task(anext(outgoing))
    with theirs:
        assert await received(theirs) == b"question?"
        await asyncio.get_running_loop().sock_sendall(theirs, b"answer")
        assert await answer == b"answer"
    assert [chunk async for chunk in outgoing] == []


async def test_the_packets_of_a_file_go_on_together_and_what_people_type_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    outgoing, theirs = tunnel(silence())
    loop = asyncio.get_running_loop()

    async def three_more_come() -> None:
        for _ in range(3):
            await loop.sock_sendall(theirs, CHUNK)
            for _ in range(3):
                await asyncio.sleep(0)

    monkeypatch.setattr("services.executor.sessions.access.tunnel._more_comes", three_more_come)
    with theirs:
        first = asyncio.create_task(anext(outgoing))
        await loop.sock_sendall(theirs, b"$ ")
        assert await first == b"$ "
        second = asyncio.create_task(anext(outgoing))
        await loop.sock_sendall(theirs, CHUNK)
        assert await second == CHUNK
        async with asyncio.timeout(10):
            assert await anext(outgoing) == 3 * CHUNK
        await outgoing.aclose()


async def test_the_caller_is_read_no_faster_than_sshd_reads() -> None:
    taken = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal taken
        while True:
            taken += len(CHUNK)
            yield CHUNK
            await asyncio.sleep(0)

    outgoing, theirs = tunnel(endless())
    answer = asyncio.create_task(anext(outgoing))
    with theirs:
        before = -1
        async with asyncio.timeout(60):
            while before != taken:
                before = taken
                for _ in range(100):
                    await asyncio.sleep(0)
        assert 0 < taken < 8 << 20
        await asyncio.get_running_loop().sock_recv(theirs, 1 << 20)
        await until(lambda: taken > before)
        answer.cancel()
        await asyncio.wait({answer})
        await outgoing.aclose()


async def test_sshd_is_read_no_faster_than_the_caller_reads() -> None:
    outgoing, theirs = tunnel(silence())
    with theirs:
        theirs.send(b"first")
        assert await anext(outgoing) == b"first"
        sent = 0
        async with asyncio.timeout(60):
            for _ in range(1000):
                try:
                    sent += theirs.send(CHUNK)
                except BlockingIOError:
                    await asyncio.sleep(0)
        assert 0 < sent < 8 << 20
        theirs.shutdown(socket.SHUT_WR)
        assert sum([len(chunk) async for chunk in outgoing]) == sent


async def test_a_caller_that_goes_away_breaks_the_connection() -> None:
    outgoing, theirs = tunnel(silence())
    with theirs:
        theirs.send(b"first")
        assert await anext(outgoing) == b"first"
        await outgoing.aclose()
        assert await received(theirs) == b""


async def test_a_fault_of_the_callers_bytes_breaks_the_connection_and_is_raised() -> None:
    async def faulty() -> AsyncIterator[bytes]:
        yield b"begun"
        raise ValueError("no bytes")

    outgoing, theirs = tunnel(faulty())
    with theirs, pytest.raises(ValueError, match="no bytes"):
        await anext(outgoing)
