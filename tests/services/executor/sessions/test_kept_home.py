"""The home of a session with a disk comes from the disk's last snapshot, and new ones are taken of it."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path
from typing import Any

import grpc
import pytest
from wavepool.executor.v1 import session_pb2

from servicekit.clock import ManualClock
from services.executor.devices.cpu.cpu_device import CpuDevice
from services.executor.disks.restic_store import ResticStore
from services.executor.sessions.root.bubblewrap_session import open_bubblewrap_session
from tests.services.executor.client import StartExecutor, refusal
from tests.services.executor.sessions.conftest import Machine
from tests.services.executor.sessions.session_client import Access, Person, SessionClient, session_request

pytestmark = [pytest.mark.sshd, pytest.mark.bubblewrap, pytest.mark.restic]


@pytest.fixture
async def keeping_machine(start_executor: StartExecutor, tmp_path: Path, clock: ManualClock) -> Machine:
    """A machine that keeps disks in a folder."""
    sandbox = await open_bubblewrap_session(CpuDevice(), tmp_path)
    disks = f"folder:{tmp_path / 'disks'}"
    server, client = await start_executor(session_sandbox=sandbox, clock=clock, disks=disks)
    return Machine(server, SessionClient(server.port, client.channel), clock, tmp_path)


def disk(last: session_pb2.SessionSnapshot | None = None, **fields: Any) -> session_pb2.KeptDisk:
    sound: dict[str, Any] = {"disk_id": "dsk_1", "name": "work", "owner_id": "usr_1", "password": "secret"}
    sound["size_limit_bytes"] = 1 << 30
    if last is not None:
        sound |= {"snapshot_id": last.snapshot_id, "store_id": last.store_id}
    return session_pb2.KeptDisk(**{**sound, **fields})


async def last_snapshot(machine: Machine, access: Access) -> session_pb2.SessionSnapshot:
    """Closes the session; gives the snapshot of its end."""
    await machine.client.close(access.session_id)
    taken = (await access.events.reach("snapshot")).snapshot
    ended = (await access.events.reach("ended")).ended
    assert not ended.details
    return taken


async def test_what_is_written_in_one_session_is_there_in_the_next(keeping_machine: Machine, alice: Person) -> None:
    async with keeping_machine.session(alice, disk=disk()) as access:
        command = "ls -A; mkdir src; echo hello >src/file; chmod 640 src/file; mkfifo pipe"
        assert await access.run(alice, command) == (0, "")
        first = await last_snapshot(keeping_machine, access)
    assert (first.fault, first.reason, first.skipped) == ("", session_pb2.SNAPSHOT_REASON_END, 1)
    assert first.size_bytes == 6
    async with keeping_machine.session(alice, disk=disk(first)) as access:
        assert await access.run(alice, "cat src/file; stat -c '%a %U' src/file; ls -A") == (
            0,
            "hello\n640 dev\nsrc\n",
        )
        assert (await access.run(alice, "echo more >src/file"))[0] == 0
        second = await last_snapshot(keeping_machine, access)
    async with keeping_machine.session(alice, disk=disk(second)) as access:
        assert await access.run(alice, "cat src/file") == (0, "more\n")
        unchanged = await last_snapshot(keeping_machine, access)
    assert (unchanged.snapshot_id, unchanged.is_unchanged) == (second.snapshot_id, True)
    async with keeping_machine.session(alice, disk=disk(first)) as access:
        assert await access.run(alice, "cat src/file") == (0, "hello\n")


async def test_nothing_of_the_home_is_left_on_the_machine(keeping_machine: Machine, alice: Person) -> None:
    async with keeping_machine.session(alice, disk=disk()) as access:
        await access.run(alice, "echo hello >file")
        await last_snapshot(keeping_machine, access)
    assert not list(keeping_machine.folder.glob("wavepool-run-*"))


async def test_restoring_is_a_step_with_its_time(keeping_machine: Machine, alice: Person) -> None:
    async with keeping_machine.session(alice, disk=disk()) as access:
        events = access.client.events(access.request)
        assert [(await events.reach("step")).step.name for _ in range(3)] == ["disk", "sandbox", "sshd"]


async def test_a_snapshot_can_be_asked_for(keeping_machine: Machine, alice: Person) -> None:
    async with keeping_machine.session(alice, disk=disk()) as access:
        await access.run(alice, "echo hello >file")
        asked = await access.client.snapshot(access.session_id)
        told = (await access.events.reach("snapshot")).snapshot
        assert told == asked
        assert (asked.reason, asked.size_bytes) == (session_pb2.SNAPSHOT_REASON_REQUEST, 6)


async def test_snapshots_are_taken_at_their_interval_and_with_each_warning(
    keeping_machine: Machine, alice: Person
) -> None:
    async with keeping_machine.session(alice, disk=disk(), minutes=61) as access:
        reasons: list[int] = []
        for number, minutes in enumerate((15, 16, 15)):
            await access.run(alice, f"echo {number} >file")
            keeping_machine.pass_time(minutes=minutes)
            reasons.append((await access.events.reach("snapshot")).snapshot.reason)
        warning, interval = session_pb2.SNAPSHOT_REASON_WARNING, session_pb2.SNAPSHOT_REASON_INTERVAL
        assert reasons == [interval, warning, warning]


async def test_a_disk_that_cannot_be_saved_is_told_to_its_users_and_the_session_goes_on(
    keeping_machine: Machine, alice: Person
) -> None:
    async with (
        keeping_machine.session(alice, disk=disk(size_limit_bytes=1 << 20)) as access,
        access.terminal(alice) as terminal,
    ):
        await terminal.type("head -c 2M /dev/zero >large")
        await access.run(alice, "while [ $(stat -c %s large) -lt 2097152 ]; do sleep 0.1; done")
        taken = await access.client.snapshot(access.session_id)
        assert "size limit" in taken.fault
        assert not taken.snapshot_id
        await terminal.see("*** The disk work could not be saved: the home has more than 0.000977 GiB")


async def test_a_session_whose_disk_cannot_be_restored_does_not_begin_with_an_empty_home(
    keeping_machine: Machine, alice: Person
) -> None:
    async with keeping_machine.session(alice, disk=disk()) as access:
        taken = await last_snapshot(keeping_machine, access)
    lost = disk(taken, snapshot_id="20260101t000000-000000000000")
    ended = (await keeping_machine.client.events(session_request([alice], disk=lost)).reach("ended")).ended
    assert ended.reason == session_pb2.SESSION_END_REASON_FAILED
    assert "the disk 'work' cannot be restored" in ended.details


async def test_a_disk_for_which_there_is_no_room_is_not_restored(keeping_machine: Machine, alice: Person) -> None:
    async with keeping_machine.session(alice, disk=disk()) as access:
        taken = await last_snapshot(keeping_machine, access)
    large = disk(taken, snapshot_bytes=1 << 60)
    ended = (await keeping_machine.client.events(session_request([alice], disk=large)).reach("ended")).ended
    assert "GiB, and this machine has room for" in ended.details


async def test_a_disk_of_another_place_is_refused(keeping_machine: Machine, alice: Person) -> None:
    elsewhere = disk(snapshot_id="x", store_id="folder-of-another-machine")
    refused = await refusal(anext(keeping_machine.client.events(session_request([alice], disk=elsewhere))))
    assert refused.code is grpc.StatusCode.UNIMPLEMENTED
    assert "folder-of-another-machine" in refused.message


async def test_a_machine_that_keeps_no_disks_says_so(machine: Machine, alice: Person) -> None:
    refused = await refusal(anext(machine.client.events(session_request([alice], disk=disk()))))
    assert refused.code is grpc.StatusCode.UNIMPLEMENTED
    assert "keeps no disks (EXECUTOR_DISKS is empty)" in refused.message


async def test_a_machine_without_restic_takes_no_disk_and_says_what_to_install(
    start_executor: StartExecutor, tmp_path: Path, clock: ManualClock, alice: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    sandbox = await open_bubblewrap_session(CpuDevice(), tmp_path)
    which = shutil.which
    monkeypatch.setattr(shutil, "which", lambda name, **where: None if name == "restic" else which(name, **where))
    server, client = await start_executor(session_sandbox=sandbox, clock=clock, disks=f"folder:{tmp_path / 'disks'}")
    machine = Machine(server, SessionClient(server.port, client.channel), clock, tmp_path)
    refused = await refusal(anext(machine.client.events(session_request([alice], disk=disk()))))
    assert refused.code is grpc.StatusCode.UNIMPLEMENTED
    assert "restic is not installed: run `apt-get install restic`" in refused.message
    async with machine.session(alice) as access:
        assert await access.run(alice, "echo hello") == (0, "hello\n")


async def test_a_snapshot_of_a_session_without_a_disk_is_refused(machine: Machine, alice: Person) -> None:
    async with machine.session(alice) as access:
        refused = await refusal(access.client.snapshot(access.session_id))
        assert refused.code is grpc.StatusCode.FAILED_PRECONDITION


@pytest.mark.parametrize(
    "wrong", [{"disk_id": ""}, {"password": ""}, {"size_limit_bytes": 0}, {"snapshot_id": "x"}, {"name": "\n"}]
)
async def test_a_disk_that_is_not_well_formed_is_refused_by_its_field(
    keeping_machine: Machine, alice: Person, wrong: dict[str, Any]
) -> None:
    refused = await refusal(anext(keeping_machine.client.events(session_request([alice], disk=disk(**wrong)))))
    assert refused.code is grpc.StatusCode.INVALID_ARGUMENT


async def test_snapshots_that_no_disk_has_are_removed(keeping_machine: Machine, alice: Person) -> None:
    async with keeping_machine.session(alice, disk=disk()) as access:
        await access.run(alice, "echo one >file")
        first = await access.client.snapshot(access.session_id)
        await access.run(alice, "echo two >file")
        second = await access.client.snapshot(access.session_id)
        fields = {"session_id": access.session_id, "fencing_token": 7, "owner_id": "usr_1", "password": "secret"}
        removed = {"store_id": first.store_id, "snapshot_ids": [first.snapshot_id]}
        request = session_pb2.RemoveSnapshotsRequest(**fields, **removed)
        await access.client.remove_snapshots(request)
        kept = [one.name for one in (keeping_machine.folder / "disks").glob("*/snapshots/*")]
        assert kept == [second.snapshot_id]
        request.store_id = "folder-elsewhere"
        assert (await refusal(access.client.remove_snapshots(request))).code is grpc.StatusCode.UNIMPLEMENTED


async def test_a_snapshot_that_breaks_down_is_a_fault_and_the_session_ends_all_the_same(
    keeping_machine: Machine, alice: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*_: object) -> None:
        raise KeyError("files")

    monkeypatch.setattr(ResticStore, "save", broken)
    async with keeping_machine.session(alice, disk=disk()) as access:
        taken = await last_snapshot(keeping_machine, access)
        assert (taken.fault, taken.snapshot_id) == ("KeyError: 'files'", "")


async def test_a_newer_lease_of_its_slot_does_not_wait_for_the_last_snapshot(
    keeping_machine: Machine, alice: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    saving = asyncio.Event()

    async def never(*_: object) -> None:
        saving.set()
        await asyncio.Future()

    async with keeping_machine.session(alice, disk=disk()) as access:
        monkeypatch.setattr(ResticStore, "save", never)
        await keeping_machine.client.close(access.session_id)
        await saving.wait()
        async with keeping_machine.session(alice, fencing_token=8):
            assert (await access.events.reach("ended")).ended.reason == session_pb2.SESSION_END_REASON_CLOSED
