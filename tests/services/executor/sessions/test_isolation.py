"""What a session cannot reach, cannot change, and does not leave behind."""

from __future__ import annotations

import os
import signal
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from wavepool.executor.v1 import session_pb2

from servicekit.clock import ManualClock, SystemClock
from servicekit.rpc.proto_time import instant_to_proto
from services.executor.devices.cpu.cpu_device import CpuDevice
from services.executor.machine.host_facts import HostFacts
from services.executor.machine.pool_watch import RECHECK_SECONDS, PoolGoneError
from services.executor.sandboxes.bubblewrap.tree import BubblewrapTree
from services.executor.sandboxes.limits.cgroup_place import cgroup_of, cgroup_parents
from services.executor.sandboxes.process_tree import descendants
from services.executor.sessions.errors import SilentSessionError
from services.executor.sessions.root.bubblewrap_session import open_bubblewrap_session
from tests.services.executor.client import StartExecutor, until
from tests.services.executor.sessions.conftest import NODES, SLOTS, Machine
from tests.services.executor.sessions.session_client import Access, Person, SessionClient, session_request
from tests.services.executor.test_process import Executor, all_ended, living

pytestmark = [pytest.mark.sshd, pytest.mark.bubblewrap]

LIMITS_MEMORY = bool(cgroup_parents())


async def output_of(machine: Machine, person: Person, command: str) -> str:
    async with machine.session(person) as access:
        return (await access.run(person, f"{{ {command}; }} 2>&1"))[1]


async def test_the_machines_own_ports_are_out_of_reach(machine: Machine, alice: Person) -> None:
    ports = (machine.server.port, machine.server.metrics_port)
    tries = "; ".join(f"(: </dev/tcp/127.0.0.1/{port}) && echo connected to {port}" for port in ports)
    said = await output_of(machine, alice, tries)

    assert said.count("bash: connect: Connection refused") == len(ports)
    assert "connected" not in said


@pytest.mark.parametrize("address", ["169.254.169.254", "1.1.1.1", "10.0.0.1"])
async def test_no_other_network_is_reached(machine: Machine, alice: Person, address: str) -> None:
    said = await output_of(machine, alice, f"timeout 20 bash -c ': </dev/tcp/{address}/80' && echo connected")

    assert "Network is unreachable" in said
    assert "connected" not in said


async def test_programs_of_a_session_reach_each_other_over_its_loopback(machine: Machine, alice: Person) -> None:
    server = "import socket; s = socket.create_server(('127.0.0.1', 8888)); print('up', flush=True); s.accept()"
    async with machine.session(alice) as access:
        process = await access.start(alice, "dev@session", f'python3 -c "{server}"')
        assert process.stdout is not None
        assert await process.stdout.readline() == b"up\n"
        assert await access.run(alice, "(: </dev/tcp/127.0.0.1/8888) && echo connected") == (0, "connected\n")
        await process.communicate()


async def test_other_processes_are_invisible(machine: Machine, alice: Person) -> None:
    said = await output_of(machine, alice, "cat /proc/[0-9]*/cmdline | tr '\\0' '\\n'; echo /proc/[0-9]*")

    assert "pytest" not in said
    # bwrap, our first program, two of sshd, and the shell with its commands.
    assert len(said.splitlines()[-1].split()) <= 7


async def test_paths_of_the_machine_do_not_show(machine: Machine, alice: Person, tmp_path: Path) -> None:
    said = await output_of(machine, alice, "cat /proc/1/cmdline; cat /proc/1/environ; env; ls -A / /home /root /etc")

    assert str(tmp_path) not in said
    assert str(Path(__file__).parents[4]) not in said
    assert "shadow" not in said


@pytest.mark.parametrize("name", ["authorized_keys", "host_key", "sshd_config", "passwd", "shell", "supervisor.py"])
async def test_what_sshd_reads_cannot_be_changed_from_inside(machine: Machine, alice: Person, name: str) -> None:
    said = await output_of(
        machine, alice, f"echo mine >> /session/{name}; chmod 777 /session/{name}; rm -f /session/{name}"
    )

    assert said.count("Read-only file system") >= 2


async def test_a_key_in_the_home_opens_nothing(machine: Machine, alice: Person, bob: Person) -> None:
    async with machine.session(alice) as access:
        await access.run(alice, f"mkdir -m 700 .ssh; echo '{bob.public_key.strip()}' > .ssh/authorized_keys")
        assert (await access.run(bob, "true"))[0] == 255


@pytest.mark.parametrize(
    "command",
    [
        "mount -t tmpfs none /mnt",
        "unshare --user --map-root-user true",
        "chroot /tmp true",
        "mknod /tmp/node b 254 0 && head -c1 /tmp/node",
        "hostname other",
        "touch /usr/planted",
        "touch /planted",
    ],
)
async def test_what_would_change_the_machine_is_refused(machine: Machine, alice: Person, command: str) -> None:
    assert "succeeded" not in await output_of(machine, alice, f"{command} && echo succeeded")


async def test_a_debugger_sees_the_sessions_own_processes(machine: Machine, alice: Person) -> None:
    attach = (
        "import ctypes, os, subprocess; child = subprocess.Popen(['sleep', '4716']);"
        "print(ctypes.CDLL(None).ptrace(16, child.pid, 0, 0)); os.kill(child.pid, 9)"
    )
    assert await output_of(machine, alice, f'python3 -c "{attach}"') == "0\n"


async def test_only_the_usual_device_nodes_are_there(machine: Machine, alice: Person) -> None:
    said = await output_of(machine, alice, "find /dev -type b -o -type c | sort")

    nodes = {"full", "null", "ptmx", "random", "tty", "urandom", "zero"}
    assert {line.removeprefix("/dev/").removeprefix("pts/") for line in said.split()} <= nodes


async def test_two_sessions_do_not_see_each_other(large_machine: Machine, alice: Person, bob: Person) -> None:
    async with (
        large_machine.session(alice, slots=SLOTS[0]) as hers,
        large_machine.session(bob, slots=SLOTS[1]) as his,
    ):
        await hers.run(alice, "touch /tmp/hers /dev/shm/hers hers; (setsid sleep 4717 >/dev/null 2>&1 &)")
        status, said = await his.run(bob, "ls /tmp /dev/shm ~; pgrep -f 'sleep 471[7]'; true")
        assert (status, "hers" in said, "4717" in said) == (0, False, False)
        assert (await his.run(alice, "true"))[0] == 255, "her key opens his session"


async def test_a_session_has_the_nodes_and_programs_of_its_own_gpus(large_machine: Machine, alice: Person) -> None:
    async with large_machine.session(alice, slots=SLOTS[1]) as access:
        command = f"test -c {NODES[1]} && ! test -e {NODES[0]} && echo $ROCR_VISIBLE_DEVICES && echo $PATH && nproc"
        status, said = await access.run(alice, command)

    visible, path, cores = said.split()
    assert (status, visible) == (0, "1")
    assert path.startswith("/opt/library/bin:/usr/local/bin:")
    assert int(cores) == max(1, len(os.sched_getaffinity(0)) // 2)


@pytest.mark.skipif(not LIMITS_MEMORY, reason="no control groups that we may use")
async def test_what_takes_too_much_memory_is_killed_and_counted_and_the_session_goes_on(
    machine: Machine, alice: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = HostFacts("", "", "", cpu_count=2, memory_mib=256)
    monkeypatch.setattr(machine.server.sessions, "_host", lambda: small)
    async with machine.session(alice) as access, access.terminal(alice) as terminal:
        status, _ = await access.run(alice, "tail /dev/zero")
        assert status != 0
        machine.pass_time(seconds=1)

        assert (await access.events.reach("out_of_memory")).out_of_memory.killed == 1
        await terminal.see("which used more than its memory: 0.237 GiB")
        assert await access.run(alice, "echo still here") == (0, "still here\n")


async def test_who_kills_the_first_program_ends_the_session_and_nothing_else(machine: Machine, alice: Person) -> None:
    async with machine.session(alice) as access:
        await access.run(alice, "pkill -9 -f supervisor.py")

        ended = (await access.events.reach("ended")).ended
        assert ended.reason == session_pb2.SESSION_END_REASON_SANDBOX_ENDED


@pytest.mark.parametrize(("text", "details"), [("broken", "broken"), ("\ud800", "?")], ids=["plain", "half of a pair"])
async def test_who_forges_a_failure_of_the_first_program_ends_a_session_that_is_paid_for(
    machine: Machine, alice: Person, text: str, details: str
) -> None:
    async with machine.session(alice) as access:
        (session,) = machine.server.sessions._sessions.values()
        # A debugger in the session can have the first program write this.
        session.reports.take({"report": "failed", "text": text})

        ended = (await access.events.reach("ended")).ended
        assert (ended.reason, ended.details) == (session_pb2.SESSION_END_REASON_SANDBOX_ENDED, details)


async def test_who_stops_the_first_program_does_not_keep_the_session_from_ending(
    machine: Machine, alice: Person
) -> None:
    async with machine.session(alice, minutes=10) as access:
        await access.run(alice, "(sleep 0; pkill -STOP -f supervisor.py) & exit")
        machine.pass_time(minutes=12)

        assert (await access.events.reach("ended")).ended.reason == session_pb2.SESSION_END_REASON_EXPIRED


async def test_a_closed_session_leaves_nothing(machine: Machine, alice: Person, tmp_path: Path) -> None:
    before = set(descendants(os.getpid()))
    async with machine.session(alice) as access:
        await access.run(alice, "(setsid nohup sleep 4718 >/dev/null 2>&1 &); mkdir -p a/b; touch a/b/c")
        processes = living(set(descendants(os.getpid())) - before)
        groups = {group for pid in processes for group in cgroup_of(pid) if "wavepool-sandbox" in str(group)}
        folders = list(tmp_path.glob("wavepool-run-*"))
        assert len(processes) >= 4
        assert groups or not LIMITS_MEMORY
        assert folders
    await access.events.reach("ended")

    # With its last event, not some time after it.
    assert all_ended(processes)
    assert not any(group.exists() for group in groups)
    assert not any(folder.exists() for folder in folders)


async def test_a_session_whose_first_program_takes_no_order_leaves_nothing(
    machine: Machine, alice: Person, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: dict[int, str] = {}

    def release(tree: BubblewrapTree) -> bool:
        begun.update(living({tree.child.pid, *descendants(tree.child.pid)}))
        raise SilentSessionError("ses_1")

    monkeypatch.setattr(BubblewrapTree, "release", release)
    ended = (await machine.client.events(session_request([alice])).reach("ended")).ended

    assert ended.reason == session_pb2.SESSION_END_REASON_FAILED
    assert len(begun) >= 2
    assert all_ended(begun)
    assert not list(tmp_path.glob("wavepool-run-*"))


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
async def test_an_executor_that_ends_leaves_nothing_of_its_sessions(
    tmp_path: Path, alice: Person, number: signal.Signals
) -> None:
    executor = Executor(tmp_path)
    async with executor.client() as client:
        machine = Machine(executor, SessionClient(executor.port, client.channel), SystemClock(), tmp_path)  # pyright: ignore - a process
        end = instant_to_proto(datetime.now(UTC) + timedelta(hours=1))
        asked = session_request([alice], end_time=end)
        access = Access(machine.client, asked, machine.client.events(asked), tmp_path)
        access.known_hosts.write_text(f"session {(await access.events.reach('ready')).ready.host_key}\n")
        async with access.terminal(alice) as terminal:
            await terminal.type("(trap '' HUP TERM; setsid sleep 4719 >/dev/null 2>&1 &) ; echo 'star'ted")
            await terminal.see("started")
            tree = descendants(executor.process.pid)
            processes = living(tree)
            groups = {group for pid in processes for group in cgroup_of(pid) if "wavepool-sandbox" in str(group)}
            folders = [path for path in tmp_path.glob("wavepool-run-*") if (path / "session").is_dir()]
            assert folders
            assert groups or not LIMITS_MEMORY

            executor.process.send_signal(number)
            if number == signal.SIGTERM:
                await terminal.see("This machine is being stopped, and the session with it.")
            await terminal.ended()
        if number == signal.SIGTERM:
            ended = (await access.events.reach("ended")).ended
            assert ended.reason == session_pb2.SESSION_END_REASON_EXECUTOR_STOPPED
    executor.ended()

    await until(lambda: all_ended(processes))
    await until(lambda: not any(group.exists() for group in groups))
    await until(lambda: not any(folder.exists() for folder in folders))


async def test_an_executor_whose_pool_is_gone_stays_while_a_session_lives(
    start_executor: StartExecutor, alice: Person, tmp_path: Path, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    sandbox = await open_bubblewrap_session(CpuDevice(), tmp_path)
    server, client = await start_executor(session_sandbox=sandbox, clock=clock, pool_timeout=900)
    machine = Machine(server, SessionClient(server.port, client.channel), clock, tmp_path)
    watch = server.pool_watch
    assert watch is not None
    async with machine.session(alice, minutes=10) as access:
        monkeypatch.setattr(watch, "_monotonic_seconds", lambda: watch._heard_seconds + 100_000)
        assert watch.check() == RECHECK_SECONDS
        machine.pass_time(minutes=12)
        await access.events.reach("ended")

        with pytest.raises(PoolGoneError):
            watch.check()


async def test_nothing_of_a_key_is_logged(machine: Machine, alice: Person, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG")
    async with machine.session(alice) as access:
        await access.run(alice, "true")
        await access.events.reach("logout")
    await access.events.reach("ended")

    logged = "\n".join(str(record.__dict__) for record in caplog.records)
    assert alice.fingerprint in logged
    assert alice.public_key.split()[1] not in logged
    assert access.host_key.split()[1] not in logged
