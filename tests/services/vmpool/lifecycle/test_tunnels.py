"""Tunnels between a caller and a machine's sessions, over gRPC on both sides."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterable
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import grpc
import pytest
from wavepool.executor.v1 import session_pb2
from wavepool.vmpool.v1 import vmpool_pb2 as pb

from services.vmpool import metrics
from services.vmpool.lifecycle.tunnels import IDLE_CHANNEL
from services.vmpool.machines.lease import Holder, Lease
from services.vmpool.machines.machine import Halt
from tests.services.vmpool.conftest import ON_SQLITE, Bench
from tests.services.vmpool.scripted_sessions import Requests, ScriptedSessions, scripted_sessions

if TYPE_CHECKING:
    from wavepool.vmpool.v1.vmpool_pb2_grpc import VmPoolServiceAsyncStub

CHUNK = b"x" * 65536
MOST_BUFFERED = 64 << 20
"""The kernel's buffers of each connection on the way grow to several MiB."""
SEE_SECONDS = 60


pytestmark = ON_SQLITE


@pytest.fixture
async def sessions() -> AsyncGenerator[ScriptedSessions]:
    async with scripted_sessions() as sessions:
        yield sessions


@pytest.fixture
async def lease(bench: Bench, sessions: ScriptedSessions) -> Lease:
    """A reservation's lease of a machine with these sessions."""
    await bench.add_warm(endpoint=sessions.endpoint)
    return await bench.lease("res_1", holder=Holder.RESERVATION)


def opening(lease: Lease, session_id: str = "ses_1") -> pb.OpenTunnelRequest:
    return pb.OpenTunnelRequest(open=pb.TunnelTarget(lease_id=lease.lease_id, session_id=session_id))


async def opened(stub: VmPoolServiceAsyncStub, lease: Lease, *pieces: bytes) -> Any:
    """A tunnel that has sent these pieces."""
    call: Any = stub.OpenTunnel()
    await call.write(opening(lease))
    for piece in pieces:
        await call.write(pb.OpenTunnelRequest(data=piece))
    return call


async def endless(requests: Requests, context: Any) -> AsyncGenerator[bytes]:
    """A session that sends as long as it is read."""
    del requests, context
    while True:
        yield CHUNK


async def refused(call: Any) -> grpc.aio.AioRpcError:
    """The error that a tunnel ends with, whatever it carried before."""
    async with asyncio.timeout(SEE_SECONDS):
        try:
            while await call.read() is not grpc.aio.EOF:
                pass
        except grpc.aio.AioRpcError as error:
            return error
    pytest.fail("the tunnel ended without an error")


async def test_bytes_go_both_ways_and_the_callers_end_closes_only_its_own_way(
    stub: VmPoolServiceAsyncStub, sessions: ScriptedSessions, lease: Lease
) -> None:
    call = await opened(stub, lease, b"hello")
    assert (await call.read()).data == b"hello"
    await call.write(pb.OpenTunnelRequest(data=b"again"))
    assert (await call.read()).data == b"again"
    await call.done_writing()
    assert (await call.read()).data == b"closed"
    assert not (await call.read()).data
    assert sessions.opened == [session_pb2.SessionName(session_id="ses_1", fencing_token=lease.fencing_token)]
    assert sessions.metadata["authorization"] == "Bearer secret"


async def test_tunnels_of_a_machine_share_a_channel_which_is_closed_when_nobody_has_used_it_for_a_while(
    bench: Bench, stub: VmPoolServiceAsyncStub, sessions: ScriptedSessions, lease: Lease
) -> None:
    async def used() -> None:
        call = await opened(stub, lease, b"hello")
        assert (await call.read()).data == b"hello"
        await call.done_writing()
        await call.read()
        assert not (await call.read()).data

    await asyncio.gather(used(), used())
    bench.clock.advance(timedelta(seconds=20))
    await bench.vmpool.pool.tunnels.run_once()
    await used()
    assert len(sessions.peers) == 1
    bench.clock.advance(IDLE_CHANNEL)
    await bench.vmpool.pool.tunnels.run_once()
    with pytest.raises(grpc.aio.AioRpcError, match="is over"):
        await used()
    assert len(sessions.peers) == 1


@pytest.mark.parametrize("way", ["released", "expired", "its machine is stopped"])
async def test_the_end_of_the_lease_breaks_its_tunnels_and_no_others(
    bench: Bench, stub: VmPoolServiceAsyncStub, sessions: ScriptedSessions, lease: Lease, way: str
) -> None:
    await bench.add_warm("m2", endpoint=sessions.endpoint)
    other = await bench.lease("res_2", duration=timedelta(hours=1))
    calls = [await opened(stub, each, b"hello") for each in (lease, other)]
    for call in calls:
        await call.read()
    await bench.vmpool.pool.tunnels.run_once()
    if way == "released":
        await bench.leases.release(lease.lease_id, "done")
    elif way == "expired":
        bench.clock.advance(timedelta(seconds=61))
    else:
        await bench.machines.halt("m1", Halt("asked to stop"))
    await bench.vmpool.pool.tunnels.run_once()
    error = await refused(calls[0])
    assert error.code() is grpc.StatusCode.FAILED_PRECONDITION
    assert f"Lease {lease.lease_id!r} is over" in (error.details() or "")
    await asyncio.wait_for(sessions.ended.wait(), SEE_SECONDS)
    await calls[1].write(pb.OpenTunnelRequest(data=b"still here"))
    assert (await calls[1].read()).data == b"still here"
    calls[1].cancel()


async def test_a_tunnel_whose_caller_does_not_read_ends_with_its_lease_too(
    bench: Bench, stub: VmPoolServiceAsyncStub, sessions: ScriptedSessions, lease: Lease
) -> None:
    sessions.handle = endless
    call = await opened(stub, lease)
    await call.read()
    await bench.leases.release(lease.lease_id, "done")
    await bench.vmpool.pool.tunnels.run_once()
    await asyncio.wait_for(sessions.ended.wait(), SEE_SECONDS)
    assert (await refused(call)).code() is grpc.StatusCode.FAILED_PRECONDITION


@pytest.mark.parametrize("reads", [True, False])
async def test_a_caller_that_goes_away_breaks_the_connection(
    stub: VmPoolServiceAsyncStub, sessions: ScriptedSessions, lease: Lease, reads: bool
) -> None:
    if not reads:
        sessions.handle = endless
    call = await opened(stub, lease, b"hello")
    await call.read()
    assert metrics.tunnels_open._value.get() == 1
    call.cancel()
    await asyncio.wait_for(sessions.ended.wait(), SEE_SECONDS)


async def test_sshd_that_closes_ends_the_call_though_the_caller_still_sends(
    stub: VmPoolServiceAsyncStub, sessions: ScriptedSessions, lease: Lease
) -> None:
    async def short(requests: Requests, context: Any) -> AsyncGenerator[bytes]:
        del requests, context
        yield b"bye"

    sessions.handle = short
    call = await opened(stub, lease, b"hello")
    assert (await call.read()).data == b"bye"
    assert not (await call.read()).data


async def test_sshd_is_read_no_faster_than_the_caller_reads(
    stub: VmPoolServiceAsyncStub, sessions: ScriptedSessions, lease: Lease
) -> None:
    sent = 0

    async def endless(requests: Requests, context: Any) -> AsyncGenerator[bytes]:
        nonlocal sent
        del requests, context
        while True:
            sent += len(CHUNK)
            yield CHUNK

    sessions.handle = endless
    call = await opened(stub, lease)
    await call.read()
    assert await settled(lambda: sent) < MOST_BUFFERED
    before = sent
    for _ in range(300):
        await call.read()
    assert sent > before
    call.cancel()


async def test_the_caller_is_read_no_faster_than_sshd_reads(
    stub: VmPoolServiceAsyncStub, sessions: ScriptedSessions, lease: Lease
) -> None:
    async def deaf(requests: Requests, context: Any) -> AsyncGenerator[bytes]:
        del requests, context
        yield b"begun"
        await asyncio.Event().wait()

    sessions.handle = deaf
    call = await opened(stub, lease)
    await call.read()
    sent = 0

    async def send() -> None:
        nonlocal sent
        while True:
            await call.write(pb.OpenTunnelRequest(data=CHUNK))
            sent += len(CHUNK)

    sending = asyncio.create_task(send())
    assert await settled(lambda: sent) < MOST_BUFFERED
    sending.cancel()
    await asyncio.wait({sending})
    call.cancel()


async def settled(count: Any) -> int:
    """The count once it has stopped growing while everything else had its turn many times."""
    before = -1
    async with asyncio.timeout(SEE_SECONDS):
        while before != (before := count()) or not before:
            for _ in range(2000):
                await asyncio.sleep(0)
    return before


@pytest.mark.parametrize(
    ("said", "code"),
    [
        (grpc.StatusCode.NOT_FOUND, grpc.StatusCode.NOT_FOUND),
        (grpc.StatusCode.UNIMPLEMENTED, grpc.StatusCode.NOT_FOUND),
        (grpc.StatusCode.FAILED_PRECONDITION, grpc.StatusCode.FAILED_PRECONDITION),
        (grpc.StatusCode.RESOURCE_EXHAUSTED, grpc.StatusCode.RESOURCE_EXHAUSTED),
        (grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.INVALID_ARGUMENT),
        (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.UNAVAILABLE),
        (grpc.StatusCode.UNAUTHENTICATED, grpc.StatusCode.UNAVAILABLE),
        (grpc.StatusCode.INTERNAL, grpc.StatusCode.UNAVAILABLE),
    ],
)
async def test_the_machines_refusal_reaches_the_caller(
    stub: VmPoolServiceAsyncStub,
    sessions: ScriptedSessions,
    lease: Lease,
    said: grpc.StatusCode,
    code: grpc.StatusCode,
) -> None:
    async def refusing(requests: Requests, context: Any) -> AsyncGenerator[bytes]:
        del requests
        await context.abort(said, "the executor's words")
        yield b""

    sessions.handle = refusing
    error = await refused(await opened(stub, lease))
    assert error.code() is code
    assert "'ses_1'" in (error.details() or "") or code is grpc.StatusCode.INVALID_ARGUMENT


async def test_a_machine_out_of_reach_is_unavailable(bench: Bench, stub: VmPoolServiceAsyncStub) -> None:
    await bench.add_warm()
    error = await refused(await opened(stub, await bench.lease()))
    assert error.code() is grpc.StatusCode.UNAVAILABLE
    assert "does not answer. Try again." in (error.details() or "")


async def test_no_tunnel_is_opened_under_a_lease_that_is_over_or_unknown(
    bench: Bench, stub: VmPoolServiceAsyncStub, sessions: ScriptedSessions, lease: Lease
) -> None:
    await bench.leases.release(lease.lease_id, "done")
    assert (await refused(await opened(stub, lease))).code() is grpc.StatusCode.FAILED_PRECONDITION
    call: Any = stub.OpenTunnel()
    await call.write(pb.OpenTunnelRequest(open=pb.TunnelTarget(lease_id="none", session_id="ses_1")))
    assert (await refused(call)).code() is grpc.StatusCode.NOT_FOUND
    assert sessions.opened == []


@pytest.mark.parametrize(
    ("messages", "words"),
    [
        ([], "open.lease_id"),
        ([pb.OpenTunnelRequest(data=b"hello")], "open.lease_id"),
        ([pb.OpenTunnelRequest(open=pb.TunnelTarget(lease_id="l"))], "open.session_id"),
        ([pb.OpenTunnelRequest(open=pb.TunnelTarget(lease_id="l", session_id="s"), data=b"hello")], "data"),
    ],
)
async def test_a_first_message_that_names_nothing_or_has_bytes_is_refused(
    stub: VmPoolServiceAsyncStub, messages: Iterable[pb.OpenTunnelRequest], words: str
) -> None:
    call: Any = stub.OpenTunnel(iter(messages))
    with pytest.raises(grpc.aio.AioRpcError, match=words) as caught:
        await anext(aiter(call))
    assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT


async def test_a_second_opening_breaks_the_tunnel(
    stub: VmPoolServiceAsyncStub, sessions: ScriptedSessions, lease: Lease
) -> None:
    call = await opened(stub, lease, b"hello")
    await call.read()
    await call.write(opening(lease, "ses_2"))
    error = await refused(call)
    assert error.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert "make another call" in (error.details() or "")
    await asyncio.wait_for(sessions.ended.wait(), SEE_SECONDS)
