"""What happens between runs; canaries are scripts like any other job here."""

from __future__ import annotations

from typing import TYPE_CHECKING

import grpc
import pytest

from services.executor.devices.inventory import DeviceFacts
from services.executor.errors import ROOM_RETRY
from tests.services.executor.client import refusal, request, until
from tests.services.executor.scripted_machine import ScriptedMachine, gpus
from tests.small_disk import small_disk

if TYPE_CHECKING:
    from pathlib import Path

    from tests.services.executor.client import StartExecutor


def counting(file: Path, then: str) -> str:
    """A canary that leaves a trace."""
    return f"append {file}\n{then}"


def canaries(file: Path) -> int:
    return len(file.read_text().splitlines()) if file.exists() else 0


async def test_a_canary_follows_every_run_on_a_gpu_and_goes_before_the_first(
    start_executor: StartExecutor, tmp_path: Path
) -> None:
    trace = tmp_path / "trace"
    server, client = await start_executor(canary=counting(trace, "finish ACCEPTED"), is_gpu=True)
    await until(lambda: canaries(trace) == 1)
    await client.run(request("finish ACCEPTED"))
    await until(lambda: canaries(trace) == 2)
    assert server.runs.unfit_reason == ""


@pytest.mark.parametrize(("verdict", "count"), [("ACCEPTED", 0), ("WRONG_ANSWER", 0), ("RUNTIME_ERROR", 1)])
async def test_on_the_cpu_device_it_follows_what_may_have_hurt_the_machine(
    start_executor: StartExecutor, tmp_path: Path, verdict: str, count: int
) -> None:
    trace = tmp_path / "trace"
    _, client = await start_executor(canary=counting(trace, "finish ACCEPTED"))
    await client.run(request(f"finish {verdict}"))
    await client.run(request("finish ACCEPTED"))
    assert canaries(trace) == count


async def test_no_run_begins_while_a_canary_is_under_way(start_executor: StartExecutor, tmp_path: Path) -> None:
    gate, begun = tmp_path / "gate", tmp_path / "begun"
    _, client = await start_executor(canary=f"append {begun}\nwait {gate}\nfinish ACCEPTED")
    await client.run(request("finish RUNTIME_ERROR"))
    await until(begun.exists)
    stream = client.stream(request(f"append {tmp_path / 'ran'}\nfinish ACCEPTED"))
    assert not (tmp_path / "ran").exists()
    gate.touch()
    await stream.reach("finished")
    assert (tmp_path / "ran").exists()


@pytest.mark.parametrize("canary", ["finish RUNTIME_ERROR", "crash"])
async def test_two_bad_canaries_condemn_the_machine_and_say_why(start_executor: StartExecutor, canary: str) -> None:
    server, client = await start_executor(canary=canary)
    await client.run(request("finish TIME_LIMIT_EXCEEDED"))
    await until(lambda: server.runs.unfit_reason != "")

    refused = await refusal(client.run(request("finish ACCEPTED")))
    assert refused.code is grpc.StatusCode.UNAVAILABLE
    assert "canary failed 2 times" in refused.message
    assert "run elsewhere" in refused.message
    assert (await client.capabilities()).unfit_reason == server.runs.unfit_reason


async def test_a_full_disk_condemns_no_machine_and_what_waited_goes_on_when_there_is_room(
    start_executor: StartExecutor, tmp_path: Path
) -> None:
    gate = tmp_path / "gate"
    with small_disk(tmp_path / "disk", size_mib=32) as disk:
        trace = disk.folder / "trace"
        server, client = await start_executor(canary=counting(trace, "finish ACCEPTED"), work_dir=disk.folder)
        stream = client.stream(request(f"wait {gate}\nfinish RUNTIME_ERROR"))
        await until(lambda: bool(server.runs.in_flight))
        disk.fill()
        gate.touch()
        await stream.reach("finished")

        refused = await refusal(client.run(request("finish ACCEPTED")))
        assert (refused.code, refused.retry_after) == (grpc.StatusCode.UNAVAILABLE, ROOM_RETRY)
        assert "no room left on its disk" in refused.message
        assert (server.runs.unfit_reason, (await client.capabilities()).unfit_reason) == ("", "")

        disk.free()
        await client.run(request("finish ACCEPTED"))
        assert canaries(trace) == 1, "the canary that was owed goes before the next run"
        assert server.runs.unfit_reason == ""


async def test_one_bad_canary_is_forgiven(start_executor: StartExecutor, tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    canary = f"fail-once {trace}\nfinish ACCEPTED"
    server, client = await start_executor(canary=canary)
    await client.run(request("finish TIME_LIMIT_EXCEEDED"))
    await client.run(request("finish ACCEPTED"))
    assert trace.exists()
    assert server.runs.unfit_reason == ""


async def test_a_canary_that_hangs_is_ended_and_counts_as_bad(start_executor: StartExecutor, tmp_path: Path) -> None:
    server, client = await start_executor(canary=f"wait {tmp_path / 'never'}")
    server.runs._hygiene._seconds = 0.2
    await client.run(request("finish TIME_LIMIT_EXCEEDED"))
    await until(lambda: "may hang" in server.runs.unfit_reason)


async def test_every_gpu_has_a_canary_before_the_first_run_and_a_run_has_one_for_its_own(
    start_executor: StartExecutor, tmp_path: Path
) -> None:
    trace = tmp_path / "trace"
    machine = ScriptedMachine(DeviceFacts(gpus(4)))
    _, client = await start_executor(canary=counting(trace, "finish ACCEPTED"), is_gpu=True, machine=machine)
    await until(lambda: canaries(trace) == 4)
    await client.run(request("finish ACCEPTED", gpu=2))
    await client.run(request("finish ACCEPTED", gpu=2))
    assert canaries(trace) in {5, 6}
