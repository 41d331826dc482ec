"""Opening sessions, attaching to them, and refusing: slots, fences, fields, and machines that cannot hold any."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.protobuf.duration_pb2 import Duration
from wavepool.executor.v1 import inventory_pb2, run_event_pb2, session_pb2

from servicekit.clock import ManualClock
from services.executor.core.model.job import CoreJob
from services.executor.devices.cpu.cpu_device import CpuDevice
from services.executor.devices.inventory import DeviceFacts
from services.executor.sandboxes.limits.sandbox_user import SandboxUser
from services.executor.sessions.access import logins
from services.executor.sessions.root import bubblewrap_session
from services.executor.sessions.root.bubblewrap_session import open_bubblewrap_session
from submissions.modes import Mode
from tests.services.executor.client import QUICK, Client, StartExecutor, held, refusal, request
from tests.services.executor.scripted_machine import ScriptedMachine
from tests.services.executor.sessions.conftest import SLOTS, Machine
from tests.services.executor.sessions.session_client import (
    WHOLE,
    Person,
    SessionClient,
    name_of,
    session_request,
)

pytestmark = [pytest.mark.sshd, pytest.mark.bubblewrap]


async def opened(client: SessionClient, asked: session_pb2.OpenSessionRequest) -> None:
    """Opens a session that is expected to be refused."""
    await anext(client.events(asked))


def runs_of(machine: Machine) -> Client:
    return Client(machine.client._channel)


async def test_a_session_says_what_drives_its_gpus(
    start_executor: StartExecutor, tmp_path: Path, clock: ManualClock, alice: Person
) -> None:
    facts = ScriptedMachine(DeviceFacts(rocm_version="6.4.1", driver_version="6.12.12"))
    sandbox = await open_bubblewrap_session(CpuDevice(), tmp_path)
    server, client = await start_executor(session_sandbox=sandbox, clock=clock, machine=facts)
    machine = Machine(server, SessionClient(server.port, client.channel), clock, tmp_path)
    asked = session_request([alice])
    ready = (await machine.client.events(asked).reach("ready")).ready

    assert dict(ready.software) == {"driver": "6.12.12", "rocm": "6.4.1"}


async def test_a_session_reports_its_steps_and_what_ssh_needs(machine: Machine, alice: Person) -> None:
    asked = session_request([alice])
    events = machine.client.events(asked)
    seen = [await anext(events) for _ in range(3)]
    await machine.client.close(asked.session_id)
    seen += [event async for event in events]

    assert [name_of(event) for event in seen] == ["step", "step", "ready", "ended"]
    assert [event.seq for event in seen] == [1, 2, 3, 4]
    assert [event.step.name for event in seen[:2]] == ["sandbox", "sshd"]
    assert seen[2].ready.host_key.startswith("ssh-ed25519 ")
    assert seen[2].ready.user == "dev"
    assert any("more of the disk than its share" in gap for gap in seen[2].ready.gaps)
    assert seen[3].ended.reason == session_pb2.SESSION_END_REASON_CLOSED


async def test_attaching_replays_the_events_after_the_one_that_was_seen(machine: Machine, alice: Person) -> None:
    async with machine.session(alice) as access:
        access.events.drop()
        # Its end has been moved, and its keys replaced, since it was opened.
        access.request.end_time.FromDatetime(machine.clock.now() - timedelta(hours=1))
        access.request.after_seq = 2
        again = machine.client.events(access.request)
        assert name_of(await anext(again)) == "ready"

    assert [name_of(event) async for event in again] == ["ended"]
    access.request.after_seq = 0
    late = machine.client.events(access.request)
    assert [name_of(event) async for event in late] == ["step", "step", "ready", "ended"]


async def test_a_session_that_is_not_known_is_not_opened_in_its_middle(machine: Machine, alice: Person) -> None:
    failure = await refusal(opened(machine.client, session_request([alice], after_seq=3)))

    assert failure.code is grpc.StatusCode.NOT_FOUND


async def test_a_known_id_with_another_environment_is_a_conflict(machine: Machine, alice: Person) -> None:
    async with machine.session(alice) as access:
        access.request.environment["OTHER"] = "1"
        failure = await refusal(opened(machine.client, access.request))

    assert failure.code is grpc.StatusCode.ALREADY_EXISTS


async def test_a_session_takes_its_slot_from_runs_and_counts_as_in_flight(machine: Machine, alice: Person) -> None:
    runs = runs_of(machine)
    async with machine.session(alice) as access:
        assert (await runs.capabilities()).runs_in_flight == 1
        failure = await refusal(runs.run(request(QUICK)))
        assert failure.code is grpc.StatusCode.RESOURCE_EXHAUSTED

    await access.events.reach("ended")
    assert (await runs.capabilities()).runs_in_flight == 0
    assert (await runs.run(request(QUICK)))[-1].finished.verdict == run_event_pb2.VERDICT_ACCEPTED


async def test_a_run_keeps_a_session_out_of_its_slot(machine: Machine, alice: Person, tmp_path: Path) -> None:
    stream = runs_of(machine).stream(request(held(tmp_path / "gate")))
    await anext(stream)

    failure = await refusal(opened(machine.client, session_request([alice])))

    assert failure.code is grpc.StatusCode.RESOURCE_EXHAUSTED
    (tmp_path / "gate").touch()
    await stream.reach("finished")


async def test_an_older_lease_opens_nothing_and_cannot_touch_a_session(machine: Machine, alice: Person) -> None:
    async with machine.session(alice, fencing_token=9) as access:
        same = session_pb2.OpenSessionRequest()
        same.CopyFrom(access.request)
        same.fencing_token = 8
        for call in (
            opened(machine.client, same),
            opened(machine.client, session_request([alice], fencing_token=8)),
            machine.client.notify(access.session_id, "hello", fencing_token=8),
            machine.client.close(access.session_id, fencing_token=8),
            machine.client.update(access.session_id, fencing_token=8),
        ):
            assert (await refusal(call)).code is grpc.StatusCode.FAILED_PRECONDITION
        access.request.fencing_token = 8
        status, output = await access.run(alice, "id")
        assert (status, "FAILED_PRECONDITION" in output) == (255, True)
        access.request.fencing_token = 9
        assert (await access.run(alice, "true"))[0] == 0


async def test_a_newer_lease_ends_the_session_that_had_its_slot(machine: Machine, alice: Person) -> None:
    async with machine.session(alice, fencing_token=9) as access:
        finished = (await runs_of(machine).run(request(QUICK, gpu=0, fencing_token=10)))[-1].finished

        assert finished.verdict == run_event_pb2.VERDICT_ACCEPTED
        ended = (await access.events.reach("ended")).ended
        assert ended.reason == session_pb2.SESSION_END_REASON_LEASE_PASSED_ON


async def test_the_administrator_needs_no_lease(machine: Machine, alice: Person) -> None:
    asked = session_request([alice], fencing_token=0)
    assert (await refusal(opened(machine.client, asked))).violations[0][0] == "fencing_token"

    admin = machine.client.as_admin()
    await admin.events(asked).reach("ready")
    await admin.close(asked.session_id, fencing_token=0)


@pytest.mark.parametrize(
    ("fields", "field", "hint"),
    [
        ({"session_id": ""}, "session_id", "1 to 128"),
        ({"keys": []}, "keys", "at least one public key"),
        ({"keys": [session_pb2.SessionKey(user="alice", public_key="hello")]}, "keys[0].public_key", "begin with one"),
        ({"slots": []}, "slots", "the lease's slots"),
        ({"slots": [inventory_pb2.Slot(eighths=4)]}, "slots[0].eighths", "whole GPUs: 8"),
        ({"slots": [inventory_pb2.Slot(gpu=3, eighths=8)]}, "slots[0].gpu", "GPUs are 0 to 0"),
        ({"slots": [WHOLE, WHOLE]}, "slots", "names a GPU twice"),
        ({"end_time": None}, "end_time", "missing"),
        ({"grace": Duration(seconds=-1)}, "grace", "from 0 s to 3600 s"),
        ({"grace": Duration(seconds=3601)}, "grace", "from 0 s to 3600 s"),
        ({"after_seq": -1}, "after_seq", "must be 0"),
        ({"fencing_token": -1}, "fencing_token", "negative"),
        ({"environment": {"1A": ""}}, "environment['1A']", "no name of a variable"),
        ({"environment": {"HOME": "/"}}, "environment['HOME']", "leave it out"),
        ({"environment": {"A": "b\nPermitRootLogin yes"}}, "environment['A']", "without line breaks"),
        ({"environment": {f"A{n}": "" for n in range(65)}}, "environment", "at most 64"),
        ({"home": "../etc"}, "home", "lower case letters"),
        ({"home": "."}, "home", "lower case letters"),
    ],
)
async def test_a_bad_field_is_named_with_what_is_right(
    machine: Machine, alice: Person, fields: dict[str, Any], field: str, hint: str
) -> None:
    failure = await refusal(opened(machine.client, session_request([alice], **fields)))

    assert failure.code is grpc.StatusCode.INVALID_ARGUMENT
    assert [name for name, _ in failure.violations] == [field]
    assert hint in failure.violations[0][1]
    assert machine.server.admission.in_flight == []


async def test_a_session_that_would_be_over_is_not_opened(machine: Machine, alice: Person) -> None:
    asked = session_request([alice])
    asked.end_time.FromDatetime(machine.clock.now())
    failure = await refusal(opened(machine.client, asked))

    assert failure.code is grpc.StatusCode.INVALID_ARGUMENT
    assert "send a time in the future" in failure.violations[0][1]


@pytest.mark.parametrize(
    ("text", "hint"),
    [("", "1 to 2000"), ("x" * 2001, "1 to 2000"), ("\x1b[2J", "only line breaks and tabs are allowed")],
)
async def test_a_text_that_could_change_a_terminal_is_refused(
    machine: Machine, alice: Person, text: str, hint: str
) -> None:
    async with machine.session(alice) as access:
        failure = await refusal(machine.client.notify(access.session_id, text))

    assert failure.code is grpc.StatusCode.INVALID_ARGUMENT
    assert hint in failure.message


async def test_calls_for_a_session_that_is_not_there_say_so(machine: Machine) -> None:
    async def hello() -> Any:
        yield session_pb2.ConnectRequest(open=session_pb2.SessionName(session_id="ses_none", fencing_token=7))

    for call in (
        machine.client.notify("ses_none", "hello"),
        machine.client.close("ses_none"),
        machine.client.update("ses_none"),
        machine.client.connect(hello()).read(),
    ):
        failure = await refusal(call)
        assert failure.code is grpc.StatusCode.NOT_FOUND
        assert "There is no session 'ses_none' here" in failure.message


async def test_a_tunnel_that_names_no_session_first_is_refused(machine: Machine) -> None:
    async def bytes_at_once() -> Any:
        yield session_pb2.ConnectRequest(data=b"SSH-2.0-test")

    failure = await refusal(machine.client.connect(bytes_at_once()).read())

    assert failure.code is grpc.StatusCode.INVALID_ARGUMENT
    assert failure.violations[0][0] == "open"


async def test_a_machine_that_cannot_hold_sessions_says_what_is_missing(
    start_executor: StartExecutor, alice: Person, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, clock: ManualClock
) -> None:
    monkeypatch.setattr(bubblewrap_session, "sshd_program", lambda: None)
    sandbox = await open_bubblewrap_session(CpuDevice(), tmp_path)
    server, client = await start_executor(session_sandbox=sandbox, clock=clock)
    sessions = SessionClient(server.port, client.channel)

    failure = await refusal(opened(sessions, session_request([alice])))

    assert failure.code is grpc.StatusCode.UNIMPLEMENTED
    assert "apt-get install openssh-server" in failure.message
    assert "apt-get install openssh-server" in (await client.capabilities()).no_sessions_because
    # It runs submissions all the same.
    assert (await client.run(request(QUICK)))[-1].finished.verdict == run_event_pb2.VERDICT_ACCEPTED


async def test_a_draining_executor_opens_no_session(machine: Machine, alice: Person) -> None:
    machine.server.runs.drain()

    failure = await refusal(opened(machine.client, session_request([alice])))

    assert failure.code is grpc.StatusCode.UNAVAILABLE


async def test_a_named_home_is_kept_for_the_next_session_and_lent_to_one_at_a_time(
    large_machine: Machine, alice: Person
) -> None:
    async with large_machine.session(alice, home="alice", slots=SLOTS[0]) as access:
        await access.run(alice, "mkdir deep; echo kept > deep/file")
        other = session_request([alice], home="alice", slots=SLOTS[1])
        failure = await refusal(opened(large_machine.client, other))
        assert failure.code is grpc.StatusCode.ALREADY_EXISTS
        assert access.session_id in failure.message
    await access.events.reach("ended")

    # If we are root, the next session has another user id.
    taken = SandboxUser()
    async with large_machine.session(alice, home="alice", slots=SLOTS[0]) as access:
        taken.release()
        assert await access.run(alice, "cat deep/file && echo more >> deep/file && echo done") == (0, "kept\ndone\n")
    await access.events.reach("ended")
    async with large_machine.session(alice, slots=SLOTS[0]) as access:
        assert await access.run(alice, "ls -A") == (0, "")


async def test_the_gpus_of_a_session_are_checked_after_it(
    start_executor: StartExecutor, alice: Person, tmp_path: Path, clock: ManualClock
) -> None:
    sandbox = await open_bubblewrap_session(CpuDevice(), tmp_path)
    server, client = await start_executor(session_sandbox=sandbox, clock=clock, is_gpu=True)
    machine = Machine(server, SessionClient(server.port, client.channel), clock, tmp_path)
    async with machine.session(alice) as access:
        server.runs._health_check._canary = CoreJob("finish RUNTIME_ERROR", Mode.SANDBOX)
    await access.events.reach("ended")

    failure = await refusal(opened(machine.client, session_request([alice])))

    assert failure.code is grpc.StatusCode.ABORTED
    assert "its canary failed 2 times in a row after a session" in failure.message


async def test_a_tunnel_is_for_one_session(machine: Machine, alice: Person) -> None:
    async with machine.session(alice) as access:
        name = session_pb2.SessionName(session_id=access.session_id, fencing_token=7)

        async def twice() -> Any:
            yield session_pb2.ConnectRequest(open=name)
            yield session_pb2.ConnectRequest(open=name)

        async def everything() -> list[bytes]:
            return [response.data async for response in machine.client.connect(twice())]

        failure = await refusal(everything())

    assert failure.code is grpc.StatusCode.INVALID_ARGUMENT
    assert "only for the first message" in failure.message


async def test_a_session_has_so_many_connections_and_no_more(
    machine: Machine, alice: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logins, "MOST_CONNECTIONS", 1)
    async with machine.session(alice) as access, access.terminal(alice):
        status, output = await access.run(alice, "true")

    assert status == 255
    assert "RESOURCE_EXHAUSTED" in output
    assert "has 1 connections, which is the limit" in output


async def test_a_fault_with_one_session_does_not_stop_the_time_of_another(
    large_machine: Machine, alice: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with (
        large_machine.session(alice, slots=SLOTS[0], minutes=10),
        large_machine.session(alice, slots=SLOTS[1], minutes=10) as other,
    ):
        monkeypatch.setattr(large_machine.server.sessions.in_flight[0], "pass_time", lambda now: now / 0)
        large_machine.pass_time(minutes=12)

        assert (await other.events.reach("ended")).ended.reason == session_pb2.SESSION_END_REASON_EXPIRED
