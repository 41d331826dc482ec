"""The load of a machine is known between runs too, and no driver can block the executor."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.executor.machine.load import SHORTEST_SECONDS, Load, LoadMeter
from tests.services.executor.client import StartExecutor

MEMINFO = "MemTotal:       8192000 kB\nMemFree:         100000 kB\nMemAvailable:   {} kB\n"


@dataclass
class BusyGpus:
    """GPUs whose driver answers with `shares`, an error to raise, or nothing until `gate` is open."""

    shares: Sequence[float] | Exception
    gate: threading.Event = field(default_factory=threading.Event)
    asked_for: int = 0

    def busy_shares(self, devices: int) -> Sequence[float]:
        self.gate.wait(60)
        self.asked_for = devices
        if isinstance(self.shares, Exception):
            raise self.shares
        return self.shares


class Machine:
    """A /proc that a test writes, and a clock."""

    def __init__(self, folder: Path, device: object = None) -> None:
        self.folder, self.now = folder, 0.0
        self.write("cpu  0 0 0 0 0 0 0 0 0 0\n", 4_096_000)
        unmeasured: Any = device
        self.meter = LoadMeter(unmeasured, 2, folder, lambda: self.now)

    def write(self, stat: str, available_kib: int) -> None:
        (self.folder / "stat").write_text(f"{stat}cpu0 9 9 9 9\n")
        (self.folder / "meminfo").write_text(MEMINFO.format(available_kib))

    def read_after(self, seconds: float, stat: str, available_kib: int = 4_096_000) -> Load:
        self.now += seconds
        self.write(stat, available_kib)
        return self.meter.read()


def test_the_processors_share_is_of_the_time_since_the_last_reading(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    # user 20, nice 10, system 20, idle 100, waiting for disks 50, interrupts and stolen 0.
    first = machine.read_after(2, "cpu  20 10 20 100 50 0 0 0 7 7\n")
    assert (first.cpu_share, first.memory_share, first.gpu_share) == (0.25, 0.5, None)
    assert machine.read_after(2, "cpu  120 10 20 100 50 0 0 0 7 7\n", 2_048_000) == Load(1.0, 0.75, None)
    assert machine.read_after(2, "cpu  120 10 20 200 50 0 0 0 7 7\n").cpu_share == 0.0


def test_readings_in_quick_succession_give_the_last_share_again(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    assert machine.read_after(SHORTEST_SECONDS / 2, "cpu  5 0 0 5 0 0 0 0\n").cpu_share is None
    assert machine.read_after(SHORTEST_SECONDS, "cpu  10 0 0 30 0 0 0 0\n").cpu_share == 0.25
    assert machine.read_after(SHORTEST_SECONDS / 2, "cpu  90 0 0 30 0 0 0 0\n").cpu_share == 0.25


@pytest.mark.parametrize("stat", ["", "cpu\n", "cpu  a b c d e f g h\n", "cpu  -9 0 0 5 0 0 0 0\n"])
def test_what_the_kernel_does_not_tell_is_not_known(tmp_path: Path, stat: str) -> None:
    machine = Machine(tmp_path)
    (tmp_path / "meminfo").unlink()
    machine.now += 2
    (tmp_path / "stat").write_text(stat)
    assert machine.meter.read() == Load()


@given(st.lists(st.tuples(*[st.integers(0, 10**6)] * 8), min_size=1, max_size=5))
def test_no_counters_give_a_share_beyond_0_to_1(tmp_path_factory: pytest.TempPathFactory, rows: list[Any]) -> None:
    machine = Machine(tmp_path_factory.mktemp("proc"))
    for row in rows:
        share = machine.read_after(2, f"cpu  {' '.join(map(str, row))}\n").cpu_share
        assert share is None or 0 <= share <= 1


async def answered(meter: LoadMeter) -> None:
    """Waits until the driver has answered."""
    asked = meter._asked
    assert asked
    await asyncio.wait({asked})


async def test_the_gpus_share_is_the_mean_of_what_their_driver_says(tmp_path: Path) -> None:
    gpus = BusyGpus([1.0, 0.5])
    gpus.gate.set()
    meter = Machine(tmp_path, gpus).meter
    assert meter.read().gpu_share is None
    await answered(meter)
    assert (meter.read().gpu_share, gpus.asked_for) == (0.75, 2)
    await answered(meter)
    gpus.shares = RuntimeError("the driver is gone")
    meter.read()
    await answered(meter)
    assert meter.read().gpu_share is None


async def test_a_driver_that_hangs_is_asked_once_and_its_share_is_not_known(tmp_path: Path) -> None:
    gpus = BusyGpus([1.0])
    meter = Machine(tmp_path, gpus).meter
    try:
        before = threading.active_count()
        assert [meter.read().gpu_share for _ in range(5)] == [None] * 5
        assert threading.active_count() == before + 1
    finally:
        gpus.gate.set()
    await answered(meter)
    assert meter.read().gpu_share == 1.0


async def test_the_heartbeat_has_the_load(start_executor: StartExecutor) -> None:
    _, client = await start_executor()
    load = (await client.capabilities()).load
    assert 0 < load.memory_share < 1
    assert not load.HasField("gpu_share")
