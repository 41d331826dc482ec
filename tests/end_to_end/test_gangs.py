"""A reservation of two machines of 8 GPUs on a whole Wavepool of real processes, with the real ssh."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import sys
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import asyncssh
import pytest

from services.executor.sessions.gang.ports import SSH_PORT
from tests.end_to_end.test_reservations import RESERVATIONS, SUPERVISOR, Person, below_executors, ended
from tests.end_to_end.wavepool_processes import Wavepool, start, until
from vocabulary.money import MICROS_PER_DOLLAR, price_of
from vocabulary.ports import free_port

pytestmark = [pytest.mark.ssh, pytest.mark.sshd, pytest.mark.bubblewrap]

PRICE = 1_990_000
GANG = ("-g", "16", "--distributed", "--allow-slow-links")
EXECUTOR = f"""\
EXECUTOR_MACHINE_ADDRESS=127.$((EXECUTOR_PORT / 256)).$((EXECUTOR_PORT % 256)).1 \\
exec {sys.executable} -m services.executor
"""
"""An executor with an address of its own, as machines have. On this one host its sessions do not reach the others'."""


@pytest.fixture(scope="module")
def port() -> int:
    """The front door's."""
    return free_port()


@pytest.fixture(scope="module")
def wavepool(tmp_path_factory: pytest.TempPathFactory, port: int) -> Iterator[Wavepool]:
    """None of its machines is there at first; two may be started, each with 8 GPUs."""
    running = start(
        tmp_path_factory.mktemp("wavepool"),
        VMPOOL_MAX_MACHINES="2",
        VMPOOL_GPUS_PER_MACHINE="8",
        GATEWAY_SSH_PORT=str(port),
        GATEWAY_TUNNEL_CHECK="0.5",
        VMPOOL_MACHINE_NETWORK="127.0.0.0/8",
        VMPOOL_LOCAL_EXECUTOR_COMMAND=json.dumps(["/bin/sh", "-c", EXECUTOR]),
    )
    yield running
    running.stop()


@pytest.fixture
def person(wavepool: Wavepool, tmp_path: Path) -> Person:
    return Person(wavepool, tmp_path / "home")


def sessions(wavepool: Wavepool) -> list[Any]:
    return [one for one in below_executors(wavepool) if SUPERVISOR in " ".join(one.cmdline())]


def executor_of(wavepool: Wavepool, machine_id: str) -> int:
    return int(json.loads((wavepool.data_dir / "machines" / machine_id / "process.json").read_text())["executor_pid"])


def check_refusals(person: Person) -> None:
    said = person.run("reserve", "-h", "0.1", "-g", "16", "--no-connect").stderr.decode()
    assert "gpu_count: a machine has at most 8 MI300X; for 16 give --distributed (2 machines x 8)" in said
    said = person.run("reserve", "-h", "0.1", "-g", "24", *GANG[2:], "--no-connect").stderr.decode()
    assert "the pool may have 2 machines (VMPOOL_MAX_MACHINES)" in said
    said = person.run("reserve", "-h", "0.1", *GANG[:3], "--no-connect").stderr.decode()
    assert "distributed: no provider promises a fast link between the machines" in said


def check_taken(address: str) -> None:
    """The machine takes connections for its node at its address.

    They reach no session here: Linux drops what comes from outside for an address of a loopback, and this host has no
    others to give. `sessions/test_nodes.py` has two machines.
    """
    socket.create_connection((address, SSH_PORT), 10).close()


async def stays_through_the_front_door(port: int, key: Path, host: str) -> None:
    """Reaches a node's sshd, which waits for what we say; several checks pass meanwhile."""
    connecting = asyncssh.connect("127.0.0.1", port, client_keys=[str(key)], known_hosts=None, config=None)
    async with connecting as connection:
        reader, _ = await connection.open_connection(host, 22)
        assert (await reader.readline()).startswith(b"SSH-2.0-")
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(reader.read(), 2)


@pytest.mark.timeout(300)
def test_sixteen_gpus_are_two_machines_to_log_in_to_with_one_charge(
    wavepool: Wavepool, person: Person, port: int
) -> None:
    check_refusals(person)
    made = person.json("reserve", "-h", "0.1", "-n", "training", *GANG, "--no-connect")
    assert (made["state"], made["gpu_count"]) == ("active", 16)
    assert [node["rank"] for node in made["nodes"]] == [0, 1]
    assert len({node["machine_id"] for node in made["nodes"]}) == len({node["host_key"] for node in made["nodes"]}) == 2

    for words in ((), ("--node", "1")):
        there = person.run("connect", made["id"], *words, "--", "echo > here; ls")
        assert (there.returncode, there.stdout) == (0, b"here\n"), there.stderr.decode()
    key = Path(person.environment["HOME"]) / ".ssh" / "id_ed25519"
    asyncio.run(stays_through_the_front_door(port, key, f"wp-{made['id'][-8:].lower()}-1"))
    among = person.run("connect", made["id"], "--", "echo $NNODES; ssh node-0 hostname; getent hosts node-1")
    assert among.stdout.split()[:2] == [b"2", b"node-0"], among.stderr.decode()
    check_taken(among.stdout.split()[2].decode())
    hosts = person.run("ssh-config", made["id"]).stdout.decode()
    short = made["id"][-8:].lower()
    assert f"Host wp-{short} training\n" in hosts
    assert f"Host wp-{short}-1 training-1\n" in hosts
    shown = person.run("reservations", "show", made["id"]).stdout.decode()
    assert all(node["machine_id"] in shown for node in made["nodes"])

    wavepool.kill("scheduler")
    again = ("connect", made["id"], "--node", "1", "--", "ls")
    until(lambda: person.run(*again).stdout == b"here\n", "a scheduler that leads")
    assert person.run("cancel", made["id"], "--yes").returncode == 0
    over = ended(wavepool, made["id"])
    assert over["state"] == "cancelled"
    lasted = datetime.fromisoformat(over["end_time"]) - datetime.fromisoformat(over["active_at"])
    assert 0 < round(over["cost_usd"] * MICROS_PER_DOLLAR) <= price_of(lasted, 16 * PRICE)
    assert over["cost_usd"] * MICROS_PER_DOLLAR > price_of(lasted - timedelta(seconds=60), 16 * PRICE)
    until(lambda: not sessions(wavepool), "the end of all sessions")


@pytest.mark.timeout(300)
def test_a_machine_that_dies_fails_the_whole_reservation_and_ends_the_other(wavepool: Wavepool, person: Person) -> None:
    made = person.json("reserve", "-h", "0.1", *GANG, "--no-connect")
    lost = made["nodes"][1]["machine_id"]
    os.kill(executor_of(wavepool, lost), signal.SIGKILL)
    over = ended(wavepool, made["id"])
    assert over["state"] == "failed"
    assert lost in over["message"]
    assert over["cost_usd"] == 0
    until(lambda: not sessions(wavepool), "the end of the other session")
    assert wavepool.http.get(RESERVATIONS, params={"state": "active"}).json()["reservations"] == []


@pytest.mark.restic
@pytest.mark.timeout(300)
def test_a_cancelled_one_saves_its_disk_once_from_node_0(wavepool: Wavepool, person: Person) -> None:
    person.json("disk", "create", "work", "--size", "1g")
    made = person.json("reserve", "-h", "0.1", "--disk", "work", *GANG, "--no-connect")
    for rank in ("0", "1"):
        there = person.run("connect", made["id"], "--node", rank, "--", f"ls -A; echo {rank} >node-{rank}")
        assert (there.returncode, there.stdout) == (0, b""), there.stderr.decode()
    person.json("cancel", made["id"], "--yes")
    over = ended(wavepool, made["id"])
    assert over["state"] == "cancelled"
    disk = next(one for one in person.json("disk", "list") if one["name"] == "work")
    assert [one["reason"] for one in disk["snapshots"]] == ["end"]
    assert (disk["state"], disk["safe_time"]) == ("available", over["disk_safe_time"])
    assert [one["path"] for one in person.json("disk", "list-content", "work")["files"]] == ["node-0"]


@pytest.mark.timeout(300)
def test_one_that_starts_in_a_minute_is_there_before_and_its_time_begins_then(
    wavepool: Wavepool, person: Person
) -> None:
    made = person.json("reserve", "-h", "0.1", *GANG, "--start", "+1m", "--wait", "--no-connect")
    assert (made["state"], len(made["nodes"])) == ("active", 2)
    assert made["active_at"] == made["start_time"]
    said = person.run("reserve", "-h", "0.1", "-g", "1", "--start", "+2m", "--no-connect").stderr.decode()
    assert "In the way" in said
    there = person.run("connect", made["id"], "--node", "1", "--", "hostname")
    assert (there.returncode, there.stdout) == (0, b"node-1\n"), there.stderr.decode()
    person.json("cancel", made["id"], "--yes")
    ended(wavepool, made["id"])
