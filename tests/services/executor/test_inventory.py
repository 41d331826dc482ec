"""The inventory is read at the start and after failures, and no driver can block the executor."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import grpc
import pytest

from servicekit.clock import SystemClock
from services.executor.config import CapacityError, ExecutorSettings
from services.executor.devices.cpu.cpu_device import CpuDevice
from services.executor.devices.inventory import DeviceFacts, UnreadFact
from services.executor.devices.sim.sim_device import SimulatedGpu
from services.executor.machine.host_facts import mib_of, usable_mib, value_of
from services.executor.machine.inventory import InventoryReader
from tests.services.executor.client import QUICK, StartExecutor, refusal, request, until
from tests.services.executor.scripted_machine import ScriptedMachine, gpus

TWO = DeviceFacts(gpus(2), rocm_version="7.0.2", driver_version="6.12.12")


async def test_it_is_given_to_anyone(start_executor: StartExecutor) -> None:
    _, client = await start_executor(machine=ScriptedMachine(TWO))

    reported = (await client.capabilities()).inventory

    assert [(gpu.index, gpu.uuid, gpu.architecture) for gpu in reported.gpus] == [
        (0, "GPU-0", "gfx942"),
        (1, "GPU-1", "gfx942"),
    ]
    assert (reported.rocm_version, reported.driver_version, reported.cuda_version) == ("7.0.2", "6.12.12", "")
    assert reported.toolchain == "scripted 1.0"
    assert reported.kernel.startswith("Linux ")
    assert reported.host_cpu_count > 0
    assert reported.host_memory_mib > 0


@pytest.mark.parametrize("device", [CpuDevice(), SimulatedGpu()])
async def test_devices_without_a_gpu_tell_of_none(device: object) -> None:
    reader = InventoryReader(device, SystemClock())  # type: ignore[arg-type]

    assert (await reader.read()).device == DeviceFacts()


async def test_it_is_read_again_after_a_canary_failed(start_executor: StartExecutor) -> None:
    machine = ScriptedMachine(TWO)
    server, client = await start_executor(canary="finish RUNTIME_ERROR", machine=machine)
    before = (await client.capabilities()).inventory_time.ToDatetime()
    machine.now = DeviceFacts(gpus(1), unread=[UnreadFact("devices[1].title", "it fell off the bus")])

    await client.run(request("finish TIME_LIMIT_EXCEEDED"))
    await until(lambda: len(server.inventory.current.device.gpus) == 1)

    assert server.runs.unfit_reason
    answer = await client.capabilities()
    unread = [(fact.field, fact.reason) for fact in answer.inventory.unread]
    assert unread == [("devices[1].title", "it fell off the bus")]
    assert answer.inventory_time.ToDatetime() > before


async def test_healthy_runs_do_not_have_it_read_again(start_executor: StartExecutor) -> None:
    machine = ScriptedMachine(TWO)
    _, client = await start_executor(machine=machine)

    await client.run(request(QUICK, gpu=0))

    assert machine.readings == 1


async def test_a_driver_that_hangs_is_left_to_itself_and_asked_once() -> None:
    gate = threading.Event()
    machine = ScriptedMachine(TWO, gate)
    reader = InventoryReader(machine, SystemClock(), seconds=0.05)  # type: ignore[arg-type]

    for _ in range(2):
        (fact,) = (await reader.read()).device.unread
        assert "did not answer within 0.05 s" in fact.reason
    assert machine.readings == 1
    gate.set()
    async with asyncio.timeout(60):
        while not (await reader.read()).device.gpus:
            await asyncio.sleep(0)


async def test_a_driver_that_breaks_is_reported_and_what_was_known_stays() -> None:
    machine = ScriptedMachine(TWO)
    reader = InventoryReader(machine, SystemClock())  # type: ignore[arg-type]
    await reader.read()
    machine.now = OSError("no such device")

    now = (await reader.read()).device

    assert now.gpus == TWO.gpus
    assert [(fact.field, fact.reason) for fact in now.unread] == [("gpus", "OSError: no such device")]


@pytest.mark.parametrize(
    ("found", "settings", "gpu_count", "max_runs"),
    [
        ((), {}, 1, 1),
        ((), {"gpu_count": 4}, 4, 4),
        (gpus(8), {}, 8, 8),
        (gpus(8), {"gpu_count": 2}, 2, 2),
        (gpus(2, device_count=8), {}, 2, 16),
        (gpus(2), {"max_runs": 1}, 2, 1),
    ],
)
def test_capacity_follows_the_machines_gpus(
    found: tuple[object, ...], settings: dict[str, int], gpu_count: int, max_runs: int
) -> None:
    capacity = ExecutorSettings.model_validate(settings).capacity(found)  # type: ignore[arg-type]

    assert (capacity.gpu_count, capacity.max_runs) == (gpu_count, max_runs)


def test_more_gpus_than_there_are_cannot_be_given_out() -> None:
    with pytest.raises(CapacityError, match=r"EXECUTOR_GPU_COUNT: is 4; this machine has 2 GPUs"):
        ExecutorSettings(gpu_count=4).capacity(gpus(2))


async def test_a_run_gets_the_devices_that_its_lease_is_on(start_executor: StartExecutor) -> None:
    _, client = await start_executor(machine=ScriptedMachine(DeviceFacts(gpus(2, device_count=4))))

    for fields, devices in (
        ({"gpu": 1}, "(4, 5, 6, 7)"),
        ({"gpu": 1, "eighths": 2, "first_eighth": 4}, "(6,)"),
    ):
        events = await client.run(request("tell devices\nfinish ACCEPTED", **fields))
        assert [event.program_output.line for event in events[:-1]] == [devices]


async def test_a_partition_that_a_run_is_on_is_not_shared(start_executor: StartExecutor, tmp_path: object) -> None:
    _, client = await start_executor(machine=ScriptedMachine(DeviceFacts(gpus(2))))
    gate = f"{tmp_path}/gate"
    stream = client.stream(request(f"tell compiling\nwait {gate}\nfinish ACCEPTED", gpu=0, eighths=4))
    await anext(stream)

    beside = request(QUICK, gpu=0, eighths=4, first_eighth=4)
    assert (await refusal(client.run(beside))).code is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert (await client.run(request(QUICK, gpu=1)))[-1].finished.message

    stream.drop()


@pytest.mark.parametrize(("text", "mib"), [("16384 kB", 16), ("1 kB", 0), ("16384 MB", 0), ("", 0), ("many kB", 0)])
def test_the_kernels_sizes_are_read(text: str, mib: int) -> None:
    assert mib_of(text) == mib


@pytest.mark.parametrize(
    ("name", "limit", "mib"),
    [
        ("memory.max", "3221225472\n", 3072),
        ("memory.max", "max\n", 24_000),
        ("memory/memory.limit_in_bytes", "3221225472\n", 3072),
        ("memory/memory.limit_in_bytes", "9223372036854771712\n", 24_000),
        ("memory/cgroup.procs", "1\n", 24_000),
    ],
)
def test_a_container_has_the_memory_that_it_may_use(tmp_path: Path, name: str, limit: str, mib: int) -> None:
    (tmp_path / "memory").mkdir()
    (tmp_path / name).write_text(limit)
    assert usable_mib(24_000, tmp_path) == mib


def test_the_kernels_lists_are_read() -> None:
    assert value_of("model name\t: A CPU: fast\nMemTotal:  5 kB\n", "model name") == "A CPU: fast"
    assert value_of("a: b", "c") == ""
