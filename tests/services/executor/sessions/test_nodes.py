"""Nodes of a gang reach one another over their machines' own network, with real sessions on two machines."""

from __future__ import annotations

import signal
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from ipaddress import IPv4Network
from pathlib import Path
from typing import Any

import grpc
import pytest
from wavepool.executor.v1 import executor_pb2, executor_pb2_grpc, inventory_pb2, session_pb2

from servicekit.clock import ManualClock
from servicekit.rpc.channels import open_channel
from services.executor.sessions.gang.ports import FREE_PORTS, PORTS, SSH_PORT
from services.executor.sessions.network.destinations import Destinations
from services.executor.sessions.network.session_network import outer_addresses
from services.executor.sessions.root.bubblewrap_session import open_bubblewrap_session
from tests.services.executor.client import LEASE_TOKEN, StartExecutor
from tests.services.executor.sessions.conftest import SLOTS, Machine, TwoGpus
from tests.services.executor.sessions.session_client import Access, Person, SessionClient, session_request
from tests.services.executor.sessions.test_network import (
    OURS,
    PRIVATE,
    PUBLIC,
    Internet,
    an_ordinary_users_executor,
    internet,
    opened,
    reading,
)
from tests.services.executor.test_process import Executor

__all__ = ["internet"]
pytestmark = [pytest.mark.sshd, pytest.mark.bubblewrap, pytest.mark.network]

SEED = b"0123456789abcdef" * 2
WHOLE = [inventory_pb2.Slot(eighths=8)]


def a_gang(rank: int, *, own: str = OURS, seed: bytes = SEED) -> session_pb2.Gang:
    """Node 0 is on this machine, and node 1 on the other."""
    nodes = [session_pb2.GangNode(name=f"node-{n}", address=address) for n, address in enumerate((own, PRIVATE))]
    return session_pb2.Gang(gang_id="g1", rank=rank, nodes=nodes, ssh_seed=seed)


@asynccontextmanager
async def two_nodes(
    machine: Machine, far: Internet, person: Person, folder: Path, **settings: str
) -> AsyncGenerator[Access]:
    """Node 0, after node 1 on another machine with an executor of its own is ready."""
    work = folder / "far"
    work.mkdir()
    executor = Executor(work, [*far.enter, sys.executable], EXECUTOR_HOST="0.0.0.0", **settings)  # noqa: S104 - in a namespace of its own
    try:
        async with open_channel(f"{PUBLIC}:{executor.port}") as channel:
            client = SessionClient(executor.port, channel)
            request = session_request([person], gang=a_gang(1))
            await client.events(request).reach("ready")
            async with machine.session(person, slots=SLOTS[0], gang=a_gang(0)) as node:
                yield node
    finally:
        executor.end(signal.SIGTERM)


SERVER = """\
import hashlib, socket, sys
s = socket.create_server((sys.argv[1], int(sys.argv[2]))); print(s.getsockname()[1], flush=True)
c, a = s.accept(); data = b''
while piece := c.recv(1 << 20): data += piece
c.sendall(hashlib.md5(data).hexdigest().encode()); c.close()
"""
"""Answers a connection with the digest of what it sent."""
CLIENT = """\
import hashlib, socket, sys
s = socket.create_connection((sys.argv[1], int(sys.argv[2])), 20); data = bytes(range(256)) * 40960
s.sendall(data); s.shutdown(1); print(s.recv(100).decode() == hashlib.md5(data).hexdigest())
"""

TALK = """\
import subprocess
def started(*words):
    server = subprocess.Popen(words, stdout=subprocess.PIPE, text=True); return server.stdout.readline().strip()
port = started('ssh', 'node-1', 'python3 server.py node-1 0'); print(port, flush=True)
subprocess.run(['python3', 'client.py', 'node-1', port])
started('python3', 'server.py', '', '29500')
subprocess.run(['ssh', 'node-1', 'python3 client.py $MASTER_ADDR $MASTER_PORT'])
"""
"""Node 1 listens at its own address and any port, as libraries do; then node 0 at all of its and a launcher's port."""


@pytest.mark.slow
@pytest.mark.timeout(300)
async def test_nodes_on_two_machines_reach_each_other_by_name(
    online_machine: Machine, internet: Internet, alice: Person, tmp_path: Path
) -> None:
    async with two_nodes(online_machine, internet, alice, tmp_path) as node:
        status, said = await node.run(alice, "ssh node-1 'hostname; id -un; echo $NODE_RANK $WAVEPOOL_USER; exit 7'")
        assert (status, said) == (7, "node-1\ndev\n1 alice\n")
        assert await node.run(alice, "ssh node-1 'ssh node-0 hostname'") == (0, "node-0\n")
        files = {"server.py": SERVER, "client.py": CLIENT, "talk.py": TALK}
        written = "".join(f"cat >{name} <<'END'\n{text}END\n" for name, text in files.items())
        _, said = await node.run(alice, f"{written} scp -q client.py server.py node-1: && python3 talk.py")
        port, *answers = said.split()
        assert int(port) in FREE_PORTS
        assert answers == ["True", "True"]


async def test_a_node_knows_its_place_and_has_its_machines_address(
    online_machine: Machine, internet: Internet, alice: Person
) -> None:
    ask = (
        "hostname; echo $NODE_RANK/$NNODES $RANK/$WORLD_SIZE $MASTER_ADDR:$MASTER_PORT; cat $WAVEPOOL_HOSTFILE; "
        "getent hosts node-0 node-1; ip -4 -o addr show dev tap0"
    )
    async with online_machine.session(alice, slots=SLOTS[0], gang=a_gang(0)) as node:
        _, said = await node.run(alice, ask)
    lines = said.splitlines()
    assert lines[:4] == ["node-0", "0/2 0/2 node-0:29500", "node-0 slots=1", "node-1 slots=1"]
    assert lines[4].split()[:2] == [OURS, "node-0"]
    assert lines[5].split() == [PRIVATE, "node-1"]
    assert [line.split()[3] for line in lines[6:]] == [f"{OURS}/32"]


async def test_a_node_reaches_the_machines_of_its_gang_and_no_others_nor_its_own(
    online_machine: Machine, internet: Internet, alice: Person
) -> None:
    own = [str(address) for address in outer_addresses() if str(address) != OURS]
    port = online_machine.server.port
    async with online_machine.session(alice, slots=SLOTS[0], gang=a_gang(0)) as node:
        assert (await node.run(alice, reading(PRIVATE)))[1] == f"hello {OURS}"
        assert (await node.run(alice, reading(PUBLIC)))[1] == f"hello {OURS}"
        assert "No route to host" in (await node.run(alice, reading("10.99.250.1")))[1]
        for address in (*own, OURS, "127.0.0.1", "10.0.2.2"):
            status, said = await node.run(alice, reading(address, port))
            assert status != 0, said
            assert ("No route to host" in said) == (address in own), said
    assert own


async def test_a_denied_network_is_denied_to_nodes_too(
    start_executor: StartExecutor, internet: Internet, alice: Person, tmp_path: Path, clock: ManualClock
) -> None:
    denied = Destinations((), (IPv4Network(f"{PRIVATE}/32"),))
    sandbox = await open_bubblewrap_session(TwoGpus(), tmp_path, denied)  # pyright: ignore - as in conftest
    server, client = await start_executor(session_sandbox=sandbox, clock=clock)
    machine = Machine(server, SessionClient(server.port, client.channel), clock, tmp_path)
    async with machine.session(alice, slots=WHOLE, gang=a_gang(0)) as node:
        assert "No route to host" in (await node.run(alice, reading(PRIVATE)))[1]


async def test_a_program_can_change_neither_its_nodes_address_nor_what_is_passed_on(
    online_machine: Machine, internet: Internet, alice: Person
) -> None:
    attempts = [
        "ip addr add 10.1.1.1/24 dev tap0",
        "ip link set tap0 down",
        "ip route add 10.0.0.0/8 via 10.0.2.2",
        "ip route del unreachable 172.16.0.0/12",
        "echo 1 2 >/proc/sys/net/ipv4/ip_local_port_range",
        "unshare --user --net true",
    ]
    async with online_machine.session(alice, slots=SLOTS[0], gang=a_gang(0)) as node:
        _, said = await node.run(alice, "; ".join(f"({attempt}) 2>/dev/null && echo did" for attempt in attempts))
    assert said == ""


async def test_the_nodes_key_opens_no_session_from_outside(
    online_machine: Machine, internet: Internet, alice: Person, tmp_path: Path
) -> None:
    async with online_machine.session(alice, slots=SLOTS[0], gang=a_gang(0)) as node:
        status, key = await node.run(alice, "cat /session/node_key")
        assert status == 0
        thief = Person("mallory", tmp_path)
        thief.identity.write_text(key)
        thief.identity.with_suffix(".pub").unlink()
        status, said = await node.run(thief, "echo in")
    assert (status, "in\n" in said) == (255, False)


async def test_without_a_seed_no_node_lets_another_in(
    online_machine: Machine, internet: Internet, alice: Person
) -> None:
    async with online_machine.session(alice, slots=SLOTS[0], gang=a_gang(0, seed=b"")) as node:
        _, said = await node.run(alice, f"ls /session; echo >/dev/tcp/node-0/{SSH_PORT}")
    assert "node_key" not in said
    assert "Connection refused" in said


async def test_a_port_that_the_machine_uses_itself_fails_the_session_with_its_number(
    online_machine: Machine, internet: Internet, alice: Person
) -> None:
    async with online_machine.session(alice, slots=SLOTS[0], gang=a_gang(0)):
        second = session_request([alice], slots=SLOTS[1], fencing_token=8, gang=a_gang(0))
        ended = (await online_machine.client.events(second).reach("ended")).ended
    assert f"slirp4netns cannot listen at port {PORTS[0]} of {OURS}" in str(ended)


@pytest.mark.usefixtures("_system_python")
async def test_an_ordinary_users_session_is_a_node_as_well(internet: Internet, alice: Person, tmp_path: Path) -> None:
    with an_ordinary_users_executor() as executor:
        async with (
            executor.client() as client,
            opened(executor, client, tmp_path, alice, gang=a_gang(0)) as node,
        ):
            command = f"ssh node-0 hostname; cat /proc/sys/net/ipv4/ip_local_port_range; {reading(PRIVATE)}"
            status, said = await node.run(alice, command)
            assert (status, said.split()) == (0, ["node-0", str(FREE_PORTS[0]), str(FREE_PORTS[-1]), "hello", OURS])
            for attack in ("ip addr add 10.1.1.1/24 dev tap0", "nsenter -U -t 1 true"):
                assert (await node.run(alice, attack))[0] != 0


@pytest.mark.parametrize(
    ("own", "has_network", "words"),
    [
        ("10.99.251.7", True, "10.99.251.7 is no address of this machine"),
        (OURS, False, "sessions have no network here .EXECUTOR_SESSION_NETWORK"),
    ],
    # Each worker has addresses of its own, and all must collect the same tests.
    ids=["no address of its own", "no network"],
)
async def test_a_machine_that_cannot_be_the_node_says_why(
    start_executor: StartExecutor,
    alice: Person,
    tmp_path: Path,
    clock: ManualClock,
    own: str,
    has_network: bool,
    words: str,
) -> None:
    destinations = Destinations() if has_network else None
    sandbox = await open_bubblewrap_session(TwoGpus(), tmp_path, destinations)  # pyright: ignore - as in conftest
    server, client = await start_executor(session_sandbox=sandbox, clock=clock)
    events = SessionClient(server.port, client.channel).events(session_request([alice], gang=a_gang(0, own=own)))
    with pytest.raises(grpc.aio.AioRpcError, match=f"gang: .*{words}") as caught:
        await anext(events)
    assert caught.value.code() is grpc.StatusCode.UNIMPLEMENTED


async def test_a_wrong_gang_is_refused_and_a_repeated_call_must_name_the_same_one(
    online_machine: Machine, internet: Internet, alice: Person
) -> None:
    wrong = session_request([alice], gang=session_pb2.Gang(gang_id="g1", rank=5), slots=SLOTS[0])
    with pytest.raises(grpc.aio.AioRpcError, match=r"gang.nodes: has 0"):
        await anext(online_machine.client.events(wrong))
    async with online_machine.session(alice, slots=SLOTS[0], gang=a_gang(0)) as node:
        again = session_pb2.OpenSessionRequest()
        again.CopyFrom(node.request)
        again.gang.rank = 1
        with pytest.raises(grpc.aio.AioRpcError, match="other slots, environment, home, disk, image or gang"):
            await anext(online_machine.client.events(again))


@pytest.mark.parametrize(("setting", "said"), [("", None), ("10.128.0.7", ["10.128.0.7"])])
async def test_a_machine_reports_its_addresses_or_the_one_that_it_is_given(
    start_executor: StartExecutor, setting: str, said: Any
) -> None:
    server, client = await start_executor(**({"machine_address": setting} if setting else {}))
    del server
    stub = executor_pb2_grpc.ExecutorServiceStub(client.channel)
    metadata = (("authorization", f"Bearer {LEASE_TOKEN}"),)
    answer = await stub.GetCapabilities(executor_pb2.GetCapabilitiesRequest(), metadata=metadata)
    assert list(answer.addresses) == (said or [str(address) for address in outer_addresses()])
    assert answer.addresses
    assert not any(address.startswith("127.") for address in answer.addresses)
