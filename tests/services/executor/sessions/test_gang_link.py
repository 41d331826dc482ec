"""Nodes of a gang reach one another and nobody else, with real sessions whose packets the test passes on."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack, asynccontextmanager
from ipaddress import IPv4Network
from typing import TYPE_CHECKING, Any

import grpc
import pytest
from wavepool.executor.v1 import inventory_pb2, session_pb2

from services.executor.sessions.bubblewrap_session import open_bubblewrap_session
from services.executor.sessions.destinations import Destinations
from services.executor.sessions.network import own_addresses
from tests.services.executor.sessions.conftest import Machine, TwoGpus
from tests.services.executor.sessions.session_client import SEE_SECONDS, Access, Person, SessionClient, session_request
from tests.services.executor.sessions.test_gang import packet
from tests.services.executor.sessions.test_network import an_ordinary_users_executor, opened

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence
    from pathlib import Path

    from servicekit.clock import ManualClock
    from tests.services.executor.client import StartExecutor

pytestmark = [pytest.mark.sshd, pytest.mark.bubblewrap, pytest.mark.network]

NAMES = {"node-0": "198.18.0.1", "node-1": "198.18.0.2"}
SEED = b"0123456789abcdef" * 2


@pytest.fixture
async def wide_machine(start_executor: StartExecutor, tmp_path: Path, clock: ManualClock) -> Machine:
    """A machine with four GPUs, as far as leases go, whose sessions have a network."""
    sandbox = await open_bubblewrap_session(TwoGpus(), tmp_path, Destinations())  # pyright: ignore - as in conftest
    server, client = await start_executor(session_sandbox=sandbox, clock=clock, gpu_count=4, max_runs=4)
    return Machine(server, SessionClient(server.port, client.channel), clock, tmp_path)


def a_gang(rank: int, gang_id: str = "g1", seed: bytes = SEED) -> session_pb2.Gang:
    nodes = [session_pb2.GangNode(name=name, address=address) for name, address in NAMES.items()]
    return session_pb2.Gang(gang_id=gang_id, rank=rank, nodes=nodes, ssh_seed=seed)


class Relay:
    """Passes packets on between the sessions that it has joined, as vmpool does."""

    def __init__(self, client: SessionClient) -> None:
        self._client = client
        self._calls: dict[str, Any] = {}
        self._tasks: list[asyncio.Task[None]] = []
        self.seen: list[bytes] = []

    async def join(self, fencing_token: int) -> str:
        call = exchange(self._client)
        await call.write(session_pb2.ExchangeRequest(fencing_token=fencing_token))
        address = (await call.read()).address
        self._calls[address] = call
        self._tasks.append(asyncio.create_task(self._pass_on(call)))
        return address

    async def send(self, address: str, *packets: bytes) -> None:
        await self._calls[address].write(session_pb2.ExchangeRequest(packets=packets))

    async def _pass_on(self, call: Any) -> None:
        while (answer := await call.read()) is not grpc.aio.EOF:
            self.seen += answer.packets
            for each in answer.packets:
                await self.send(".".join(map(str, each[16:20])), each)

    def end(self) -> None:
        for task in self._tasks:
            task.cancel()
        for call in self._calls.values():
            call.cancel()


def exchange(client: SessionClient, *messages: session_pb2.ExchangeRequest) -> Any:
    metadata = (("authorization", f"Bearer {client.token}"),)
    return client.stub.Exchange(iter(messages) if messages else None, metadata=metadata)


@asynccontextmanager
async def nodes(machine: Machine, person: Person, *gangs: session_pb2.Gang | None) -> AsyncGenerator[Sequence[Access]]:
    """Sessions of these nodes, on a GPU each; None is a session that is alone. Their leases' tokens are 7, 8, ..."""
    async with AsyncExitStack() as stack:
        opened: list[Access] = []
        for number, gang in enumerate(gangs):
            fields: dict[str, Any] = {"gang": gang} if gang else {}
            slots = [inventory_pb2.Slot(gpu=number, eighths=8)]
            session = machine.session(person, slots=slots, fencing_token=7 + number, **fields)
            opened.append(await stack.enter_async_context(session))
        yield opened


@asynccontextmanager
async def joined(
    machine: Machine, person: Person, *others: session_pb2.Gang | None
) -> AsyncGenerator[tuple[Sequence[Access], Relay]]:
    """Two nodes that reach each other, and other sessions."""
    async with nodes(machine, person, a_gang(0), a_gang(1), *others) as found:
        relay = Relay(machine.client)
        try:
            assert [await relay.join(7), await relay.join(8)] == list(NAMES.values())
            yield found, relay
        finally:
            relay.end()


SERVER = """\
import hashlib, socket
s = socket.create_server(('', 4000)); print('up', flush=True)
while True:
    c, a = s.accept(); data = b''
    while piece := c.recv(1 << 20): data += piece
    c.sendall((a[0] + ' ' + hashlib.md5(data).hexdigest()).encode()); c.close()
"""
"""Answers each connection with the caller's address and the digest of what it sent."""
CLIENT = """\
import hashlib, socket, sys
s = socket.create_connection((sys.argv[1], 4000), 3); data = bytes(range(256)) * 40960
s.settimeout(50); s.sendall(data); s.shutdown(1)
print(s.recv(100).decode() == sys.argv[2] + ' ' + hashlib.md5(data).hexdigest())
"""


async def test_nodes_reach_each_other_by_name_over_tcp_both_ways(wide_machine: Machine, alice: Person) -> None:
    async with joined(wide_machine, alice) as (found, _):
        for server, client, address in ((0, 1, "198.18.0.2"), (1, 0, "198.18.0.1")):
            async with serving(found[server], alice):
                command = f'python3 -c "{CLIENT}" node-{server} {address}'
                assert await found[client].run(alice, command) == (0, "True\n")


@asynccontextmanager
async def serving(access: Access, person: Person) -> AsyncGenerator[None]:
    """The node answers on a port."""
    process = await access.start(person, "-tt", "dev@session", f'python3 -c "{SERVER}"', stdin=asyncio.subprocess.PIPE)
    assert process.stdout is not None
    try:
        assert (await process.stdout.readline()).strip() == b"up"
        yield
    finally:
        process.kill()
        await process.wait()


async def test_a_node_knows_its_place(wide_machine: Machine, alice: Person) -> None:
    ask = (
        "hostname; echo $NODE_RANK/$NNODES $RANK/$WORLD_SIZE $MASTER_ADDR:$MASTER_PORT $NCCL_SOCKET_IFNAME; "
        "cat $WAVEPOOL_HOSTFILE; getent hosts node-0 node-1; ip -4 -o addr show dev gang0; ip route get 198.18.0.1"
    )
    async with nodes(wide_machine, alice, a_gang(1)) as (node,):
        _, said = await node.run(alice, ask)
    assert said.splitlines()[:4] == ["node-1", "1/2 1/2 node-0:29500 gang0", "node-0 slots=1", "node-1 slots=1"]
    assert said.splitlines()[4].split() == ["198.18.0.1", "node-0"]
    assert said.splitlines()[5].split()[:2] == ["198.18.0.2", "node-1"]
    assert "inet 198.18.0.2/24" in said
    assert "198.18.0.1 dev gang0 src 198.18.0.2" in said


async def test_a_program_can_change_neither_the_nodes_address_nor_its_routes(
    wide_machine: Machine, alice: Person
) -> None:
    attempts = [
        "ip addr add 198.18.0.9/24 dev gang0",
        "ip link set gang0 down",
        "ip link del gang0",
        "ip route add 198.18.0.9/32 dev gang0",
        "ip route del 198.18.0.0/24",
        "unshare --user --net true",
        'python3 -c "import socket; socket.socket(socket.AF_INET, socket.SOCK_RAW, 255)"',
        "python3 -c \"open('/dev/net/tun', 'r+b', 0)\"",
    ]
    async with nodes(wide_machine, alice, a_gang(0)) as (node,):
        _, said = await node.run(alice, "; ".join(f"{attempt} 2>/dev/null && echo did" for attempt in attempts))
    assert said == ""


async def test_addresses_that_are_no_nodes_fail_at_once(wide_machine: Machine, alice: Person) -> None:
    async with nodes(wide_machine, alice, a_gang(0)) as (node,):
        _, said = await node.run(alice, "for n in 3 77 254; do echo >/dev/tcp/198.18.0.$n/80; done 2>&1")
    assert said.count("80: No route to host") == 3


@pytest.mark.parametrize("gang", [None, a_gang(0, "g2")], ids=["alone", "of another gang"])
async def test_another_session_reaches_no_node(
    wide_machine: Machine, alice: Person, gang: session_pb2.Gang | None
) -> None:
    command = f'python3 -c "{CLIENT}"'
    async with joined(wide_machine, alice, gang) as (found, _), serving(found[1], alice):
        assert await found[0].run(alice, f"{command} 198.18.0.2 198.18.0.1") == (0, "True\n")
        # Whatever the internet answers, it is not the node.
        _, said = await found[2].run(alice, f"{command} 198.18.0.2 198.18.0.1")
    assert "True" not in said


async def test_a_node_still_reaches_nothing_of_the_machine(wide_machine: Machine, alice: Person) -> None:
    own = [str(net[0]) for net in own_addresses() if net.prefixlen == 32 and not net.is_loopback]
    port = wide_machine.server.port
    async with nodes(wide_machine, alice, a_gang(0)) as (node,):
        reach = "; ".join(f"echo >/dev/tcp/{address}/{port} && echo in" for address in (*own, "127.0.0.1", "10.0.2.2"))
        _, said = await node.run(alice, f"({reach}) 2>&1")
    assert own
    assert "in\n" not in said
    assert said.count("No route to host") >= len(own)


async def test_packets_that_are_not_for_the_node_or_are_from_nobody_do_not_enter(
    wide_machine: Machine, alice: Person
) -> None:
    first, second, other = bytes([198, 18, 0, 1]), bytes([198, 18, 0, 2]), bytes([198, 18, 0, 3])
    count = "grep -A0 gang0 /proc/net/dev | tr -s ' ' | cut -d' ' -f4"
    async with joined(wide_machine, alice) as ((node, _), relay):
        _, before = await node.run(alice, count)
        garbage = (b"", b"x", bytes(20), packet(other, first), packet(second, other), packet(first, first))
        await relay.send("198.18.0.1", *garbage, packet(second, first, b"whole"))
        _, after = await node.run(alice, f"until [ $({count}) -gt {int(before)} ]; do sleep 0.05; done; {count}")
    assert int(after) == int(before) + 1


async def test_ssh_between_nodes_asks_nothing_and_is_the_same_person(wide_machine: Machine, alice: Person) -> None:
    async with joined(wide_machine, alice) as ((first, second), _):
        status, said = await first.run(alice, "ssh node-1 'hostname; id -un; echo $NODE_RANK $WAVEPOOL_USER'")
        assert (status, said) == (0, "node-1\ndev\n1 alice\n")
        status, said = await second.run(
            alice, "echo there > f && scp -q f node-0:g && ssh node-0 cat g; ssh node-0 exit 7"
        )
        assert (status, said) == (7, "there\n")


async def test_the_nodes_key_opens_no_session_from_outside(
    wide_machine: Machine, alice: Person, tmp_path: Path
) -> None:
    async with joined(wide_machine, alice) as ((first, _), _):
        status, key = await first.run(alice, "cat /session/node_key")
        assert status == 0
        thief = Person("mallory", tmp_path)
        thief.identity.write_text(key)
        thief.identity.with_suffix(".pub").unlink()
        status, said = await first.run(thief, "echo in")
    assert (status, "in\n" in said) == (255, False)


async def test_without_a_seed_no_node_lets_another_in(wide_machine: Machine, alice: Person) -> None:
    async with nodes(wide_machine, alice, a_gang(0, seed=b"")) as (node,):
        _, said = await node.run(alice, "ls /session; echo >/dev/tcp/node-0/22")
    assert "node_key" not in said
    assert "Connection refused" in said


@pytest.mark.usefixtures("_system_python")
async def test_an_ordinary_users_sessions_are_nodes_as_well(alice: Person, tmp_path: Path) -> None:
    with an_ordinary_users_executor(EXECUTOR_GPU_COUNT="2", EXECUTOR_MAX_RUNS="2") as executor:
        async with AsyncExitStack() as stack:
            client = await stack.enter_async_context(executor.client())
            first, second = [
                await stack.enter_async_context(
                    opened(
                        executor,
                        client,
                        tmp_path,
                        alice,
                        slots=[inventory_pb2.Slot(gpu=rank, eighths=8)],
                        fencing_token=7 + rank,
                        gang=a_gang(rank),
                    )
                )
                for rank in (0, 1)
            ]
            relay = Relay(first.client)
            stack.callback(relay.end)
            assert [await relay.join(7), await relay.join(8)] == list(NAMES.values())
            assert await first.run(alice, "ssh node-1 hostname") == (0, "node-1\n")
            assert await second.run(alice, "ssh node-0 hostname") == (0, "node-0\n")
            for attack in ("ip addr add 198.18.0.9/24 dev gang0", "ip link del gang0", "nsenter -U -t 1 true"):
                assert (await first.run(alice, attack))[0] != 0


async def test_nodes_reach_each_other_where_sessions_have_no_other_network(
    start_executor: StartExecutor, alice: Person, tmp_path: Path, clock: ManualClock
) -> None:
    sandbox = await open_bubblewrap_session(TwoGpus(), tmp_path)  # pyright: ignore - as in conftest
    server, client = await start_executor(session_sandbox=sandbox, clock=clock, gpu_count=2, max_runs=2)
    machine = Machine(server, SessionClient(server.port, client.channel), clock, tmp_path)
    async with joined(machine, alice) as ((first, _), _):
        _, said = await first.run(alice, "ssh node-1 hostname; ip -o link | cut -d: -f2")
    assert said.split() == ["node-1", "lo", "gang0"]


async def test_a_machine_that_cannot_make_the_network_holds_no_node_and_says_why(
    wide_machine: Machine, alice: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("services.executor.sessions.network._PATH", "/nowhere")
    request = session_request([alice], gang=a_gang(0), slots=[inventory_pb2.Slot(eighths=8)])
    with pytest.raises(grpc.aio.AioRpcError, match=r"gang: .*apt-get install iproute2") as caught:
        await anext(wide_machine.client.events(request))
    assert caught.value.code() is grpc.StatusCode.UNIMPLEMENTED


async def test_another_exchange_takes_the_place_of_the_one_before(wide_machine: Machine, alice: Person) -> None:
    async with nodes(wide_machine, alice, a_gang(0)):
        calls = [exchange(wide_machine.client) for _ in range(2)]
        for call in calls:
            await call.write(session_pb2.ExchangeRequest(fencing_token=7))
            assert (await call.read()).address == "198.18.0.1"
            await call.write(session_pb2.ExchangeRequest(packets=[b"x"]))
        assert (await refused(calls[0])).code() is grpc.StatusCode.ABORTED
        await calls[1].done_writing()
        async with asyncio.timeout(SEE_SECONDS):
            while await calls[1].read() is not grpc.aio.EOF:
                pass


async def test_an_exchange_ends_with_its_session(wide_machine: Machine, alice: Person) -> None:
    async with nodes(wide_machine, alice, a_gang(0)) as (node,):
        call = exchange(wide_machine.client)
        await call.write(session_pb2.ExchangeRequest(fencing_token=7))
        await call.read()
        await wide_machine.client.close(node.session_id)
        assert (await refused(call)).code() is grpc.StatusCode.NOT_FOUND
        await node.events.reach("ended")
        again = exchange(wide_machine.client, session_pb2.ExchangeRequest(fencing_token=7))
        assert (await refused(again)).code() is grpc.StatusCode.NOT_FOUND


async def refused(call: Any) -> grpc.aio.AioRpcError:
    async with asyncio.timeout(SEE_SECONDS):
        try:
            while await call.read() is not grpc.aio.EOF:
                pass
        except grpc.aio.AioRpcError as error:
            return error
    pytest.fail("the call ended without an error")


@pytest.mark.parametrize(
    ("messages", "code", "words"),
    [
        ([session_pb2.ExchangeRequest(packets=[b"x"])], grpc.StatusCode.INVALID_ARGUMENT, "fencing_token"),
        (
            [session_pb2.ExchangeRequest(fencing_token=7, packets=[b"x"])],
            grpc.StatusCode.INVALID_ARGUMENT,
            "no packets",
        ),
        ([session_pb2.ExchangeRequest(fencing_token=7)] * 2, grpc.StatusCode.INVALID_ARGUMENT, "first message"),
        ([session_pb2.ExchangeRequest(fencing_token=6)], grpc.StatusCode.NOT_FOUND, "token 6"),
        ([session_pb2.ExchangeRequest(fencing_token=8)], grpc.StatusCode.FAILED_PRECONDITION, "not part of a gang"),
    ],
)
async def test_a_wrong_exchange_is_refused(
    wide_machine: Machine,
    alice: Person,
    messages: Sequence[session_pb2.ExchangeRequest],
    code: grpc.StatusCode,
    words: str,
) -> None:
    async with nodes(wide_machine, alice, a_gang(0), None):
        error = await refused(exchange(wide_machine.client, *messages))
    assert error.code() is code
    assert words in (error.details() or "")


async def test_a_machine_that_has_an_address_of_the_gang_holds_no_node_of_it(
    wide_machine: Machine, alice: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = [*own_addresses()]
    monkeypatch.setattr(
        "services.executor.sessions.bubblewrap_session.own_addresses", lambda: [*own, IPv4Network("198.18.0.77/32")]
    )
    request = session_request([alice], gang=a_gang(0), slots=[inventory_pb2.Slot(eighths=8)])
    with pytest.raises(grpc.aio.AioRpcError, match=r"198.18.0.77/32, in the gang's 198.18.0.0/24") as caught:
        await anext(wide_machine.client.events(request))
    assert caught.value.code() is grpc.StatusCode.UNIMPLEMENTED


async def test_a_wrong_gang_is_refused_and_a_repeated_call_must_name_the_same_one(
    wide_machine: Machine, alice: Person
) -> None:
    wrong = session_request([alice], gang=session_pb2.Gang(gang_id="g1", rank=5), slots=[inventory_pb2.Slot(eighths=8)])
    with pytest.raises(grpc.aio.AioRpcError, match=r"gang.nodes: has 0"):
        await anext(wide_machine.client.events(wrong))
    async with nodes(wide_machine, alice, a_gang(0)) as (node,):
        again = session_pb2.OpenSessionRequest()
        again.CopyFrom(node.request)
        again.gang.rank = 1
        with pytest.raises(grpc.aio.AioRpcError, match="other slots, environment, home, disk, image or gang"):
            await anext(wide_machine.client.events(again))
