from __future__ import annotations

import asyncio
import os
import socket
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest

from services.executor.core.model.messages import Order, ProtocolError, Reply, order_bytes, reply_from_bytes
from services.executor.core.sandbox.channel import Channel, ChannelClosedError
from tests.services.executor.core.owning_process import OWNING

_PONG = struct.pack("<IIQIiQQQQ72s", 0x31525057, Reply.PONG, 4, 0, 0, 0, 0, 0, 0, b"")


@pytest.fixture
def channel(tmp_path: Path) -> Iterator[Channel]:
    channel = Channel(tmp_path)
    yield channel
    channel.close()


async def _connected(channel: Channel, folder: Path) -> socket.socket:
    runner = socket.socket(socket.AF_UNIX)
    runner.connect(str(folder / "socket"))
    runner.send((folder / "key").read_bytes())
    await channel.accept(OWNING)
    return runner


def test_what_is_written_in_pieces_is_read_in_others(channel: Channel) -> None:
    channel.resize(1 << 20)
    block = bytes(range(256)) * 4
    channel.write(100, [b"ab", b"", *[block] * 700, b"yz"])
    first, rest = bytearray(3), bytearray(700 * 1024 + 1)
    assert channel.read(100, [memoryview(first), memoryview(b""), memoryview(rest)])
    assert bytes(first + rest) == b"ab" + block * 700 + b"yz"


def test_reading_past_a_memory_that_was_cut_says_so_and_crashes_nobody(channel: Channel, tmp_path: Path) -> None:
    channel.resize(8192)
    os.truncate(tmp_path / "memory", 10)
    assert not channel.read(0, [memoryview(bytearray(100))])


async def test_a_runner_gets_orders_and_its_end_is_noticed(channel: Channel, tmp_path: Path) -> None:
    with await _connected(channel, tmp_path) as runner:
        await channel.send(Order.PING, 4)
        assert runner.recv(64) == order_bytes(Order.PING, 4)
    with pytest.raises(ChannelClosedError):
        await channel.receive()
    with pytest.raises(ChannelClosedError):
        await channel.send(Order.PING, 5)


async def test_only_one_can_connect(channel: Channel, tmp_path: Path) -> None:
    with (
        await _connected(channel, tmp_path),
        socket.socket(socket.AF_UNIX) as second,
        pytest.raises(ConnectionRefusedError),
    ):
        second.connect(str(tmp_path / "socket"))


async def test_a_message_in_pieces_is_put_together_and_garbage_is_refused(channel: Channel, tmp_path: Path) -> None:
    with await _connected(channel, tmp_path) as runner:
        receiving = asyncio.create_task(channel.receive())
        for _ in range(128):
            runner.send(b"\1")
            await asyncio.sleep(0)
        with pytest.raises(ProtocolError):
            await receiving


async def test_a_judge_that_keeps_busy_has_its_answer_without_the_event_loop(channel: Channel, tmp_path: Path) -> None:
    with await _connected(channel, tmp_path) as runner:
        others = asyncio.create_task(asyncio.sleep(0))
        runner.send(_PONG)
        receiving = channel.receive(busy_seconds=60)
        with pytest.raises(StopIteration) as caught:
            receiving.send(None)
        assert caught.value.value == reply_from_bytes(_PONG)
        assert not others.done()
        await others


async def test_a_judge_that_was_busy_for_long_enough_waits_as_usual(channel: Channel, tmp_path: Path) -> None:
    with await _connected(channel, tmp_path) as runner:
        receiving = asyncio.create_task(channel.receive(busy_seconds=0.001))
        await asyncio.sleep(0)
        runner.send(_PONG[:50])
        await asyncio.sleep(0)
        runner.send(_PONG[50:])
        assert await receiving == reply_from_bytes(_PONG)


async def test_a_judge_that_keeps_busy_notices_the_end(channel: Channel, tmp_path: Path) -> None:
    with await _connected(channel, tmp_path):
        pass
    with pytest.raises(ChannelClosedError):
        await channel.receive(busy_seconds=60)


async def test_half_a_message_and_then_the_end_is_the_end(channel: Channel, tmp_path: Path) -> None:
    with await _connected(channel, tmp_path) as runner:
        runner.send(b"\1" * 50)
    with pytest.raises(ChannelClosedError):
        await channel.receive()
