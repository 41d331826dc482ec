"""The end of an event stream."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from wavepool.vmpool.v1 import vmpool_pb2

from gateway.http.sse import EventStream
from gateway.machines import desk
from gateway.machines.open_calls import OpenCalls

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

HEARTBEAT, SEND_TIMEOUT = timedelta(seconds=10), timedelta(seconds=30)


async def test_whoever_makes_the_frames_is_told_at_once_that_a_client_is_gone_while_it_is_sent_one() -> None:
    is_sent, is_closed = asyncio.Event(), asyncio.Event()

    async def frames() -> AsyncGenerator[bytes]:
        try:
            yield b"data: 1\n\n"
        finally:
            is_closed.set()

    async def send(message: Any) -> None:
        if message.get("body") == b"data: 1\n\n":
            is_sent.set()
            await asyncio.Event().wait()

    async def receive() -> Any:
        await is_sent.wait()
        return {"type": "http.disconnect"}

    # As long as it is known here, nobody else closes it.
    made = frames()
    stream = EventStream(made, HEARTBEAT, SEND_TIMEOUT)
    await stream({"type": "http", "method": "GET"}, receive, send)
    assert is_closed.is_set()


async def test_the_call_behind_a_machines_stream_is_ended_with_it() -> None:
    class Call:
        is_cancelled = False

        async def __aiter__(self) -> AsyncGenerator[vmpool_pb2.WatchMachinesResponse]:
            yield vmpool_pb2.WatchMachinesResponse(event=vmpool_pb2.MachineEvent(seq=1))
            await asyncio.Event().wait()

        def cancel(self) -> bool:
            self.is_cancelled = True
            return True

    async def shown(text: str) -> str:
        return text

    async def hide_others(machine: object) -> None:
        del machine

    call = Call()
    vmpool: Any = SimpleNamespace(WatchMachines=lambda request: call)  # pyright: ignore[reportUnknownLambdaType]
    jobs: Any = SimpleNamespace(shown=shown, hide_others=hide_others)
    frames = desk.frames(vmpool, OpenCalls(), jobs, "mach_1", 0)
    await anext(frames)
    await frames.aclose()
    assert call.is_cancelled


@pytest.mark.parametrize("where", ["http.response.start", "http.response.body"])
async def test_the_call_behind_a_log_is_ended_when_its_client_leaves_while_it_is_sent_something(where: str) -> None:
    class Call:
        is_cancelled = False

        async def __aiter__(self) -> AsyncGenerator[vmpool_pb2.GetMachineLogsResponse]:
            yield vmpool_pb2.GetMachineLogsResponse(data=b"one")
            yield vmpool_pb2.GetMachineLogsResponse(data=b"two")

        def cancel(self) -> bool:
            self.is_cancelled = True
            return True

    async def still_allowed() -> bool:
        return True

    is_sending = asyncio.Event()

    async def send(message: Any) -> None:
        if message["type"] == where:
            is_sending.set()
            await asyncio.Event().wait()

    async def receive() -> Any:
        await is_sending.wait()
        return {"type": "http.disconnect"}

    call, calls = Call(), OpenCalls()
    vmpool: Any = SimpleNamespace(GetMachineLogs=lambda request: call)  # pyright: ignore[reportUnknownLambdaType]
    response = await desk.log_text(vmpool, calls, vmpool_pb2.GetMachineLogsRequest(), still_allowed)
    await response({"type": "http", "method": "GET"}, receive, send)
    assert call.is_cancelled
