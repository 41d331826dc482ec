"""Channels between services of which one does not answer any more."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest

from servicekit.rpc.channels import open_channel
from servicekit.rpc.credentials import ServiceCredentials
from tests.service_token import SERVICE_TOKEN
from vocabulary.ports import free_ports

ECHO = Path(__file__).with_name("echo_server.py")
DEADLINE_SECONDS = 30


@pytest.fixture
def replicas() -> Iterator[dict[bytes, subprocess.Popen[bytes]]]:
    """Two replicas of a service, by their answers."""
    ports = [str(port) for port in free_ports(2)]
    running = {port.encode(): subprocess.Popen([sys.executable, str(ECHO), port]) for port in ports}
    yield running
    for process in running.values():
        process.kill()
        process.wait()


@pytest.mark.parametrize("number", [signal.SIGSTOP, signal.SIGKILL])
@pytest.mark.parametrize("calls_before", [1, 50])
async def test_a_replica_that_is_frozen_or_killed_is_left_for_the_other(
    replicas: dict[bytes, subprocess.Popen[bytes]], number: signal.Signals, calls_before: int
) -> None:
    target = "ipv4:" + ",".join(f"127.0.0.1:{port.decode()}" for port in replicas)
    async with open_channel(target, ServiceCredentials("gateway", SERVICE_TOKEN)) as channel:
        call: Any = channel.unary_unary("/wavepool.Echo/Port")
        first = await call(b"", timeout=DEADLINE_SECONDS, wait_for_ready=True)
        for _ in range(calls_before):
            first = await call(b"", timeout=DEADLINE_SECONDS)
        replicas[first].send_signal(number)
        async with asyncio.timeout(DEADLINE_SECONDS):
            while await answered(call) in {first, b""}:
                await asyncio.sleep(0.05)


async def answered(call: Any) -> bytes:
    """The answer; empty if there is none in time."""
    try:
        return await call(b"", timeout=2)
    except grpc.aio.AioRpcError:
        return b""
