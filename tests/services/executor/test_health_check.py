"""The health check between runs; its canaries are scripts like any other job here."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import grpc
import psutil
import pytest
from wavepool.executor.v1 import run_event_pb2

from servicekit.clock import ManualClock
from services.executor.devices.inventory import DeviceFacts
from services.executor.leases.errors import ROOM_RETRY
from tests.freezer import frozen
from tests.services.executor.client import StartExecutor, refusal, request, until
from tests.services.executor.conftest import start_soon_killed_judge
from tests.services.executor.scripted_machine import ScriptedMachine, gpus
from tests.small_disk import small_disk


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
    assert refused.code is grpc.StatusCode.ABORTED
    assert "canary failed 2 times in a row after a run that ended in TIME_LIMIT_EXCEEDED" in refused.message
    assert refused.message.endswith("reboot the machine, then start its executor again")
    assert refused.message == server.runs.unfit_reason, "the pool gives this as the machine's reason"
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
    server.runs._health_check._seconds = 0.2
    await client.run(request("finish TIME_LIMIT_EXCEEDED"))
    await until(lambda: server.runs.unfit_reason != "")
    assert server.runs.unfit_reason.startswith(
        "this machine does not answer: its canary failed 2 times in a row after a run that ended in "
        "TIME_LIMIT_EXCEEDED: it did not end in 0.2 s; reboot"
    )


async def test_a_run_that_leaves_what_cannot_be_killed_condemns_its_gpu_at_once_and_is_not_billed(
    start_executor: StartExecutor, tmp_path: Path
) -> None:
    trace, gate = tmp_path / "trace", tmp_path / "gate"
    machine = ScriptedMachine(DeviceFacts(gpus(2)))
    server, client = await start_executor(canary=counting(trace, "finish ACCEPTED"), is_gpu=True, machine=machine)
    beside = client.stream(request(f"tell compiling\nwait {gate}\nfinish ACCEPTED", gpu=0))
    await beside.reach("compiling")
    await until(lambda: canaries(trace) == 2)
    last = (await client.run(request("leave\nfinish TIME_LIMIT_EXCEEDED", gpu=1)))[-1].finished
    assert (last.verdict, last.billable.ToTimedelta()) == (run_event_pb2.VERDICT_TIME_LIMIT_EXCEEDED, timedelta(0))
    await until(lambda: server.runs.unfit_reason != "")
    assert server.runs.unfit_reason == (
        "GPU 1 does not answer: a run that ended in TIME_LIMIT_EXCEEDED left processes that cannot be killed; "
        "reset the GPU or reboot the machine, then start its executor again"
    )
    assert canaries(trace) == 2, "nothing more is learnt from a canary"
    assert (await refusal(client.run(request("finish ACCEPTED", gpu=0)))).code is grpc.StatusCode.ABORTED
    gate.touch()
    await beside.reach("finished")


async def test_a_canary_whose_processes_cannot_be_killed_needs_no_second(
    start_executor: StartExecutor, tmp_path: Path
) -> None:
    trace = tmp_path / "trace"
    server, client = await start_executor(canary=counting(trace, "leave\nfinish INFRA_ERROR"))
    await client.run(request("finish RUNTIME_ERROR"))
    await until(lambda: server.runs.unfit_reason != "")
    assert "does not answer: its canary failed after a run that ended in RUNTIME_ERROR" in server.runs.unfit_reason
    assert "its processes cannot be killed" in server.runs.unfit_reason
    assert canaries(trace) == 1


@pytest.mark.freezer
async def test_a_judge_that_cannot_be_killed_is_not_waited_for_and_condemns_the_machine(
    start_executor: StartExecutor, tmp_path: Path
) -> None:
    others = psutil.Process().children()
    server, client = await start_executor(judges=start_soon_killed_judge)
    asked = request(f"tell compiling\nwait {tmp_path / 'never'}")
    stream = client.stream(asked)
    await stream.reach("compiling")
    judges = [child for child in psutil.Process().children() if child not in others]
    with frozen(one.pid for one in judges):
        await client.cancel(asked.run_id)
        await stream.reach("finished")
        await until(lambda: "left processes that cannot be killed" in server.runs.unfit_reason)
        assert (await client.capabilities()).unfit_reason == server.runs.unfit_reason
    # Reaped, too: an object of a process that still runs would disturb a later test.
    await until(lambda: not any(one.is_running() for one in judges))


@pytest.mark.freezer
async def test_a_run_whose_judge_hangs_until_the_runs_limit_is_a_fault_of_ours_and_not_billed(
    start_executor: StartExecutor, tmp_path: Path
) -> None:
    others = psutil.Process().children()
    clock = ManualClock(datetime.now(UTC))
    _, client = await start_executor(judges=start_soon_killed_judge, clock=clock)
    source = f"tell compiling\nwait {tmp_path / 'never'}"
    stream = client.stream(request(source, longest_run=timedelta(seconds=0.4)))
    await stream.reach("compiling")
    judges = [child for child in psutil.Process().children() if child not in others]
    with frozen(one.pid for one in judges):
        clock.advance(timedelta(seconds=1))
        [last] = [event async for event in stream]
    assert last.finished.verdict == run_event_pb2.VERDICT_INFRA_ERROR
    assert last.finished.billable.ToTimedelta() == timedelta(0)
    # Reaped, too: an object of a process that still runs would disturb a later test.
    await until(lambda: not any(one.is_running() for one in judges))


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
