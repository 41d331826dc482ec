"""What sessions write to the disk: it is counted and told, and one ends before the machine's disk is full."""

from __future__ import annotations

import os
from pathlib import Path

import grpc
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from wavepool.executor.v1 import session_pb2

from servicekit.clock import ManualClock
from services.executor.config import ExecutorSettings
from services.executor.devices.cpu.cpu_device import CpuDevice
from services.executor.sandboxes.limits.file_tree import allocated_bytes, removed_bytes
from services.executor.sessions.disk import DiskRules, DiskUse, session_to_end
from services.executor.sessions.root.bubblewrap_session import open_bubblewrap_session
from tests.services.executor.client import StartExecutor, refusal
from tests.services.executor.sessions.conftest import SLOTS, Machine
from tests.services.executor.sessions.session_client import Person, SessionClient, session_request

MIB, GIB = 1 << 20, 1 << 30
USES = st.builds(DiskUse, st.integers(0, 1000), st.integers(0, 1000))


def test_the_share_goes_by_the_gpus_and_by_what_is_free_beyond_the_reserve() -> None:
    rules = DiskRules(bytes_per_gpu=100 * GIB, reserve_bytes=5 * GIB)

    assert rules.share(2, 1000 * GIB) == 200 * GIB
    assert rules.share(2, 65 * GIB) == 60 * GIB
    assert rules.share(2, 4 * GIB) == 0


def test_people_are_told_once_of_each_step_and_again_after_they_made_room() -> None:
    told = 0
    steps: list[int] = []
    for used in (50, 89, 90, 95, 99, 100, 130, 95, 79, 90):
        told = DiskUse(used, 100).step_after(told)
        steps.append(told)

    assert steps == [0, 0, 90, 90, 90, 100, 100, 100, 0, 90]


def test_the_session_furthest_above_its_share_makes_room() -> None:
    uses = {"within": DiskUse(99, 100), "above": DiskUse(15, 10), "far above": DiskUse(30, 20), "small": DiskUse(1, 5)}

    assert session_to_end(uses, 10) == "far above"
    assert session_to_end({"within": uses["within"], "small": uses["small"]}, 10) == "within"
    assert session_to_end({"small": uses["small"]}, 10) is None
    assert session_to_end({}, 10) is None


@given(st.dictionaries(st.text(max_size=3), USES, max_size=4), st.integers(1, 2000))
def test_nobody_within_his_share_ends_while_somebody_is_above_his(uses: dict[str, DiskUse], reserve: int) -> None:
    above = {name for name, use in uses.items() if use.used_bytes > use.share_bytes}
    ends = session_to_end(uses, reserve)

    assert ends in above if above else ends is None or uses[ends].used_bytes >= reserve


def test_links_to_one_file_count_once_and_sparse_files_by_what_they_take(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(os.urandom(MIB))
    os.link(tmp_path / "a", tmp_path / "b")
    (tmp_path / "deep/er").mkdir(parents=True)
    (tmp_path / "deep/er/c").write_bytes(os.urandom(MIB))
    with (tmp_path / "sparse").open("wb") as file:
        file.truncate(GIB)
    (tmp_path / "link").symlink_to("/usr")

    assert 2 * MIB <= allocated_bytes([tmp_path]) < 3 * MIB


def test_folders_too_deep_to_count_count_as_more_than_any_disk(tmp_path: Path) -> None:
    (tmp_path / "/".join("d" * 150)).mkdir(parents=True)

    assert allocated_bytes([tmp_path]) > 1 << 50


def test_what_was_removed_and_is_still_open_counts(tmp_path: Path) -> None:
    with (tmp_path / "file").open("wb") as file:
        file.write(os.urandom(MIB))
        file.flush()
        (tmp_path / "file").unlink()

        assert allocated_bytes([tmp_path]) < MIB
        assert removed_bytes([os.getpid()], [tmp_path.stat().st_dev]) >= MIB


@pytest.mark.parametrize("name", ["EXECUTOR_SESSION_DISK", "EXECUTOR_SESSION_DISK_RESERVE"])
def test_a_wrong_amount_is_refused_with_the_fix(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(name, "plenty")
    with pytest.raises(ValidationError, match="must be an amount of memory with its unit, such as 16g"):
        ExecutorSettings()

    monkeypatch.setenv(name, "300g")
    rules = ExecutorSettings().session_disk_rules
    assert 300 * GIB in {rules.bytes_per_gpu, rules.reserve_bytes}


async def machine_with(start_executor: StartExecutor, tmp_path: Path, clock: ManualClock, **settings: int) -> Machine:
    """A machine with two GPUs whose sessions have 8 MiB of the disk for each."""
    sandbox = await open_bubblewrap_session(CpuDevice(), tmp_path)
    disk = {"session_disk": 8, "session_disk_reserve": 256, **settings}
    server, client = await start_executor(session_sandbox=sandbox, clock=clock, gpu_count=2, max_runs=2, **disk)
    return Machine(server, SessionClient(server.port, client.channel), clock, tmp_path)


async def look_at_disk(machine: Machine) -> None:
    watch = machine.server.sessions._disk
    watch._next.clear()
    await watch.run_once(machine.server.sessions.in_flight)


def run_short(machine: Machine) -> None:
    watch = machine.server.sessions._disk
    watch.rules = DiskRules(watch.rules.bytes_per_gpu, 1 << 60)


@pytest.mark.sshd
@pytest.mark.bubblewrap
class TestSessions:
    async def test_people_are_told_at_nine_tenths_and_when_it_is_more_than_all(
        self, start_executor: StartExecutor, tmp_path: Path, clock: ManualClock, alice: Person
    ) -> None:
        machine = await machine_with(start_executor, tmp_path, clock)
        async with (
            machine.session(alice, slots=SLOTS[0], home="full") as access,
            access.terminal(alice) as terminal,
        ):
            await access.run(
                alice, "head -c 5000000 /dev/urandom > file; head -c 2600000 /dev/urandom > /workspace/file"
            )
            await look_at_disk(machine)
            await terminal.see("Remove files before that is full.")
            disk = (await access.events.reach("disk")).disk
            assert 0.9 <= disk.used_bytes / disk.share_bytes < 1
            assert disk.share_bytes == 8 * MIB

            await access.run(alice, "head -c 2000000 /dev/urandom > more")
            await look_at_disk(machine)
            await terminal.see("It will be ended if the machine's disk runs short: remove files now.")
            disk = (await access.events.reach("disk")).disk
            assert disk.used_bytes > disk.share_bytes
            assert await access.run(alice, "echo goes on") == (0, "goes on\n")

    async def test_the_session_that_took_the_room_ends_with_that_reason_and_the_other_lives(
        self, start_executor: StartExecutor, tmp_path: Path, clock: ManualClock, alice: Person, bob: Person
    ) -> None:
        machine = await machine_with(start_executor, tmp_path, clock)
        async with (
            machine.session(alice, slots=SLOTS[0]) as hers,
            machine.session(bob, slots=SLOTS[1]) as his,
            hers.terminal(alice) as terminal,
        ):
            await hers.run(alice, "head -c 9000000 /dev/urandom > file")
            await his.run(bob, "head -c 4000000 /dev/urandom > file")
            run_short(machine)
            await look_at_disk(machine)
            await look_at_disk(machine)
            await terminal.see("The machine's disk runs short, and this session has")
            machine.pass_time(seconds=3)

            ended = (await hers.events.reach("ended")).ended
            assert ended.reason == session_pb2.SESSION_END_REASON_DISK_FULL
            assert "the machine's disk ran short" in ended.details
            await look_at_disk(machine)
            assert await his.run(bob, "echo goes on") == (0, "goes on\n")

    async def test_a_file_that_was_removed_and_is_open_does_not_hide(
        self, start_executor: StartExecutor, tmp_path: Path, clock: ManualClock, alice: Person
    ) -> None:
        machine = await machine_with(start_executor, tmp_path, clock)
        async with machine.session(alice, slots=SLOTS[0]) as access:
            hide = "exec 7>file; head -c 9000000 /dev/urandom >&7; rm file; echo hidden; read line"
            process = await access.start(alice, "dev@session", hide, stdin=-1)
            assert process.stdout is not None
            assert await process.stdout.readline() == b"hidden\n"
            await look_at_disk(machine)

            disk = (await access.events.reach("disk")).disk
            assert disk.used_bytes > disk.share_bytes
            await process.communicate(b"\n")

    async def test_a_machine_without_room_opens_no_session(
        self, start_executor: StartExecutor, tmp_path: Path, clock: ManualClock, alice: Person
    ) -> None:
        machine = await machine_with(start_executor, tmp_path, clock)
        run_short(machine)

        failure = await refusal(anext(machine.client.events(session_request([alice], slots=SLOTS[0]))))

        assert failure.code is grpc.StatusCode.UNAVAILABLE
        assert "no room left on its disk" in failure.message
