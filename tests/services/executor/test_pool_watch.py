"""The conditions under which an executor ends because its pool is gone."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import timedelta

import grpc
import pytest

from services.executor.machine.pool_watch import RECHECK_SECONDS, PoolGoneError, PoolWatch
from tests.services.executor.client import Client, StartExecutor


@dataclass
class Machine:
    """A machine whose time and use the test sets."""

    seconds: float = 100.0
    is_in_use: bool = False

    def watch(self) -> PoolWatch:
        return PoolWatch(timedelta(seconds=900), lambda: self.is_in_use, lambda: self.seconds)


def test_the_executor_ends_once_its_pool_was_silent_for_the_timeout() -> None:
    machine = Machine()
    watch = machine.watch()
    assert watch.check() == 900
    machine.seconds += 899
    assert watch.check() == pytest.approx(1)
    machine.seconds += 1
    with pytest.raises(PoolGoneError, match="no pool has asked for this machine for 900 s, and nothing runs on it"):
        watch.check()


def test_each_heartbeat_begins_the_time_again() -> None:
    machine = Machine()
    watch = machine.watch()
    machine.seconds += 899
    watch.heard()
    machine.seconds += 899
    assert watch.check() == pytest.approx(1)


def test_a_machine_in_use_stays_until_it_is_free() -> None:
    machine = Machine(is_in_use=True)
    watch = machine.watch()
    machine.seconds += 10_000
    assert watch.check() == RECHECK_SECONDS
    machine.is_in_use = False
    with pytest.raises(PoolGoneError):
        watch.check()


async def test_get_capabilities_is_the_heartbeat(
    start_executor: StartExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    server, client = await start_executor(pool_timeout=900)
    assert server.pool_watch is not None
    monkeypatch.setattr(server.pool_watch, "_monotonic_seconds", lambda: time.monotonic() + 800)
    assert server.pool_watch.check() <= 100
    with pytest.raises(grpc.aio.AioRpcError):
        await Client(client.channel, "guess").capabilities()
    # Whoever has no token of the machine cannot keep it rented.
    assert server.pool_watch.check() <= 100
    await client.capabilities()
    assert server.pool_watch.check() > 100


async def test_an_executor_without_a_pool_counts_nothing(start_executor: StartExecutor) -> None:
    server, _ = await start_executor()
    assert server.pool_watch is None
