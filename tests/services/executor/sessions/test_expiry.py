"""Sessions are warned and end by their time, without anybody's call."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path
from typing import Any

import grpc
import pytest
from wavepool.executor.v1 import session_pb2

from servicekit.clock import ManualClock
from servicekit.rpc.proto_time import duration_to_proto, instant_to_proto
from services.executor.devices.cpu.cpu_device import CpuDevice
from services.executor.sessions.root.bubblewrap_session import BubblewrapSession, open_bubblewrap_session
from tests.services.executor.client import StartExecutor, refusal
from tests.services.executor.sessions.conftest import Machine
from tests.services.executor.sessions.session_client import Access, Person, SessionClient, session_request

pytestmark = [pytest.mark.sshd, pytest.mark.bubblewrap]


async def warned(access: Access) -> int:
    return (await access.events.reach("warning")).warning.minutes_left


async def test_users_read_each_warning_in_their_terminals_and_in_one_file(machine: Machine, alice: Person) -> None:
    async with machine.session(alice) as access, access.terminal(alice) as terminal:
        for minutes, left in ((31, 30), (15, 15), (10, 5)):
            machine.pass_time(minutes=minutes)

            assert await warned(access) == left
            await terminal.see(f"*** This session ends in {left} minutes")
            await terminal.type("echo $(ls ~)'.'")
            await terminal.see(f"WARN_EXPIRES_IN_{left}MIN.txt.")


async def test_a_later_end_removes_the_warnings_and_arms_them_again(machine: Machine, alice: Person) -> None:
    async with machine.session(alice) as access:
        machine.pass_time(minutes=56)
        assert await warned(access) == 5

        later = machine.clock.now() + timedelta(minutes=20)
        await machine.client.update(access.session_id, end_time=instant_to_proto(later))

        assert await access.run(alice, "ls") == (0, "")
        machine.pass_time(minutes=6)
        assert await warned(access) == 15
        machine.pass_time(minutes=10)
        assert await warned(access) == 5


async def test_at_its_end_a_session_hears_last_words_then_signals_and_is_gone_after_its_grace(
    machine: Machine, alice: Person
) -> None:
    async with machine.session(alice, minutes=10) as access, access.terminal(alice) as terminal:
        await terminal.type("""export H=hung; exec sh -c 'trap "echo \\$H-up; exit 3" HUP TERM; echo rea""dy; cat'""")
        await terminal.see("ready")
        machine.pass_time(minutes=10)
        await terminal.see("are asked to end in 90 s, and what is left ends in 120 s, with the connections.")
        machine.pass_time(seconds=89)
        assert await access.run(alice, "echo still here") == (0, "still here\n")

        machine.pass_time(seconds=1)
        await terminal.see("hung-up")
        assert await terminal.ended() == 3
        ended = (await access.events.reach("ended")).ended
        assert ended.reason == session_pb2.SESSION_END_REASON_EXPIRED
        assert not ended.unkillable
        assert machine.server.admission.in_flight == []


SAVES = "trap 'sleep 3; echo sav''ed; exit' TERM; echo rea''dy; sleep 4718 & wait"


@pytest.mark.parametrize("ends", ["by time", "by request"])
async def test_a_terminal_lives_as_long_as_what_it_waits_for(machine: Machine, alice: Person, ends: str) -> None:
    async with machine.session(alice, minutes=10) as access, access.kept(alice, "mine") as shell:
        await shell.see("Welcome")
        await shell.type(f'sh -c "{SAVES}"')
        await shell.see("ready")
        if ends == "by time":
            machine.pass_time(minutes=10)
            machine.pass_time(seconds=90)
        else:
            await machine.client.close(access.session_id, seconds=30)
            await shell.see("*** This session was ended by request. Its programs are asked to end now")
            await shell.see("What is left ends in 30 s.")
        await shell.see("saved")
        if ends == "by time":
            await shell.type("echo still 'he're")
            await shell.see("still here")
            machine.pass_time(seconds=30)
        await shell.ended()
        await access.events.reach("ended")


async def test_what_ignores_the_signals_is_killed_when_the_grace_is_over(machine: Machine, alice: Person) -> None:
    async with machine.session(alice, minutes=10) as access:
        await access.run(alice, "(trap '' HUP TERM; setsid sh -c 'while :; do sleep 4713; done' >/dev/null 2>&1 &)")
        machine.pass_time(minutes=10, seconds=119)
        assert machine.server.sessions.in_flight
        machine.pass_time(seconds=1)

        ended = (await access.events.reach("ended")).ended
        assert ended.reason == session_pb2.SESSION_END_REASON_EXPIRED


async def test_a_session_without_grace_ends_at_its_end_time(machine: Machine, alice: Person) -> None:
    grace = duration_to_proto(timedelta(0))
    async with machine.session(alice, minutes=10, grace=grace) as access:
        machine.pass_time(minutes=10)

        assert (await access.events.reach("ended")).ended.reason == session_pb2.SESSION_END_REASON_EXPIRED


async def test_closing_with_a_grace_lets_programs_finish_and_ends_once_all_have(
    machine: Machine, alice: Person
) -> None:
    async with machine.session(alice) as access:
        script = "trap 'echo saved > ~/work; exit' TERM; echo ready; sleep 4715 & wait"
        process = await access.start(alice, "dev@session", script)
        assert process.stdout is not None
        await process.stdout.readline()

        await machine.client.close(access.session_id, seconds=3600)

        # Nobody moves the clock.
        ended = (await access.events.reach("ended")).ended
        assert ended.reason == session_pb2.SESSION_END_REASON_CLOSED
        await process.communicate()


async def test_who_changes_a_session_hears_how_many_events_it_has(machine: Machine, alice: Person) -> None:
    async with machine.session(alice) as access:
        machine.pass_time(minutes=56)
        warning = await access.events.reach("warning")

        assert await machine.client.update(access.session_id) == warning.seq


async def test_closing_again_does_not_put_off_the_end_of_what_ignores_the_signals(
    machine: Machine, alice: Person
) -> None:
    async with machine.session(alice) as access:
        await access.run(alice, "(trap '' HUP TERM; setsid sh -c 'while :; do sleep 4717; done' >/dev/null 2>&1 &)")
        for _ in range(3):
            await machine.client.close(access.session_id, seconds=10)
            machine.pass_time(seconds=5)

        assert (await access.events.reach("ended")).ended.reason == session_pb2.SESSION_END_REASON_CLOSED


async def test_an_end_in_the_past_is_refused_and_changes_nothing(machine: Machine, alice: Person, bob: Person) -> None:
    async with machine.session(alice) as access:
        past = instant_to_proto(machine.clock.now() - timedelta(seconds=1))
        keys = session_pb2.SessionKeys(keys=[bob.key])
        failure = await refusal(machine.client.update(access.session_id, end_time=past, keys=keys))

        assert failure.code is grpc.StatusCode.INVALID_ARGUMENT
        assert [field for field, _ in failure.violations] == ["end_time"]
        assert "send a time in the future" in failure.violations[0][1]
        assert (await access.run(alice, "true"))[0] == 0
        assert (await access.run(bob, "true"))[0] == 255


async def test_a_session_that_is_ending_is_not_extended(machine: Machine, alice: Person) -> None:
    async with machine.session(alice, minutes=10) as access:
        await access.run(alice, "(trap '' HUP TERM; setsid sh -c 'while :; do sleep 4714; done' >/dev/null 2>&1 &)")
        machine.pass_time(minutes=10, seconds=100)

        later = instant_to_proto(machine.clock.now() + timedelta(hours=1))
        failure = await refusal(machine.client.update(access.session_id, end_time=later))

        assert failure.code is grpc.StatusCode.FAILED_PRECONDITION
        assert "is ending" in failure.message


class SlowMachine:
    """A machine whose sandboxes are made when `go` is set; `opening` is set once one is asked for."""

    def __init__(self, machine: Machine, sandbox: BubblewrapSession, monkeypatch: pytest.MonkeyPatch) -> None:
        self.machine = machine
        self.go, self.opening = asyncio.Event(), asyncio.Event()
        make = sandbox.open

        async def make_late(*order: Any) -> Any:
            self.opening.set()
            await self.go.wait()
            return await make(*order)

        monkeypatch.setattr(sandbox, "open", make_late)

    def asked(self, person: Person, **fields: Any) -> session_pb2.OpenSessionRequest:
        """For five minutes."""
        end = self.machine.clock.now() + timedelta(minutes=5)
        return session_request([person], end_time=instant_to_proto(end), **fields)


@pytest.fixture
async def slow_machine(
    start_executor: StartExecutor, tmp_path: Path, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> SlowMachine:
    sandbox = await open_bubblewrap_session(CpuDevice(), tmp_path)
    server, client = await start_executor(session_sandbox=sandbox, clock=clock)
    machine = Machine(server, SessionClient(server.port, client.channel), clock, tmp_path)
    return SlowMachine(machine, sandbox, monkeypatch)


async def test_a_time_that_counts_from_being_ready_is_whole_however_long_that_takes(
    slow_machine: SlowMachine, alice: Person
) -> None:
    machine, lasts = slow_machine.machine, duration_to_proto(timedelta(minutes=5))
    asked = slow_machine.asked(alice, lasts=lasts)
    events = machine.client.events(asked)
    ready = asyncio.create_task(events.reach("ready"))
    await slow_machine.opening.wait()
    machine.pass_time(minutes=20)
    slow_machine.go.set()
    await ready

    machine.pass_time(minutes=4)
    assert await machine.client.notify(asked.session_id, "There is a minute left.") == 0
    machine.pass_time(minutes=1)
    assert (await events.reach("warning")).warning.minutes_left == 0
    machine.pass_time(minutes=2)
    assert (await events.reach("ended")).ended.reason == session_pb2.SESSION_END_REASON_EXPIRED


@pytest.mark.parametrize(("lasts", "minutes"), [(None, 8), (timedelta(minutes=5), 70)])
async def test_what_is_not_ready_ends_by_its_time_or_an_hour_later_if_that_counts_from_being_ready(
    slow_machine: SlowMachine, alice: Person, lasts: timedelta | None, minutes: int
) -> None:
    machine = slow_machine.machine
    asked = slow_machine.asked(alice, lasts=None if lasts is None else duration_to_proto(lasts))
    events = machine.client.events(asked)
    ended = asyncio.create_task(events.reach("ended"))
    await slow_machine.opening.wait()
    machine.pass_time(minutes=minutes)
    slow_machine.go.set()

    assert (await ended).ended.reason == session_pb2.SESSION_END_REASON_EXPIRED
