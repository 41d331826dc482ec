"""The network among the nodes of reservations, between machines whose sessions the test plays, over gRPC."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import event

from services.vmpool import metrics
from services.vmpool.lifecycle.gang_links import SWEEP, GangLinks
from services.vmpool.machines.lease import Holder, PlacedRequest, Placement
from services.vmpool.machines.machine import Inventory
from tests.services.vmpool.conftest import a_machine
from tests.services.vmpool.lifecycle.test_gang_switch import packet
from tests.services.vmpool.scripted_sessions import ScriptedNode, serving
from vocabulary.backoff import Backoff
from vocabulary.slots import Slot

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence
    from pathlib import Path

    from services.vmpool.machines.lease import Lease
    from tests.services.vmpool.conftest import Bench

SEE_SECONDS = 60
A, B, C = (f"198.18.0.{n}" for n in range(1, 4))
SOON = Backoff(timedelta(milliseconds=1), timedelta(milliseconds=10))


@pytest.fixture
def database_url(tmp_path: Path) -> str:
    """One kind of database is enough here: the tests of the stores cover the differences."""
    return f"sqlite+aiosqlite:///{tmp_path / 'vmpool.db'}"


@pytest.fixture
async def links(bench: Bench) -> AsyncGenerator[GangLinks]:
    links = GangLinks(bench.leases, bench.machines, bench.clock, SOON)
    yield links
    await links.close()


@pytest.fixture
async def stack() -> AsyncGenerator[AsyncExitStack]:
    async with AsyncExitStack() as stack:
        yield stack


class Gangs:
    """Gangs of leases, each of a machine with a scripted node."""

    def __init__(self, bench: Bench, stack: AsyncExitStack) -> None:
        self._bench = bench
        self._stack = stack
        self._count = 0

    async def add(
        self, *addresses: str, holder: Holder = Holder.RESERVATION
    ) -> tuple[Sequence[ScriptedNode], Sequence[Lease]]:
        nodes = [await self._stack.enter_async_context(serving(ScriptedNode(address))) for address in addresses]
        placements: list[Placement] = []
        now = self._bench.clock.now()
        for node in nodes:
            self._count += 1
            machine = a_machine(machine_id=f"m{self._count}").provision(now).start(now, node.endpoint)
            await self._bench.machines.add(machine.join(now, Inventory(device="cpu")), "test")
            placements.append(Placement(machine.machine_id, (Slot(0, 0, 8),)))
        request = PlacedRequest(f"res_{self._count}", 1, "MI300X", tuple(placements), timedelta(hours=1), holder=holder)
        return nodes, [lease for lease, _ in await self._bench.leases.place(request)]


@pytest.fixture
def gangs(bench: Bench, stack: AsyncExitStack) -> Gangs:
    return Gangs(bench, stack)


async def joined(*nodes: ScriptedNode) -> None:
    async with asyncio.timeout(SEE_SECONDS):
        for node in nodes:
            await node.joined.wait()


async def arriving(node: ScriptedNode) -> bytes:
    async with asyncio.timeout(SEE_SECONDS):
        return await node.received.get()


async def answered(sender: ScriptedNode, receiver: ScriptedNode, content: bytes = b"hello") -> None:
    """Packets go there and back. They are sent again until one arrives, as a node that joins late misses some."""
    for here, there in ((sender, receiver), (receiver, sender)):
        sent, last = (packet(here.address, there.address, content + end) for end in (b"", b".last"))
        async with asyncio.timeout(SEE_SECONDS):
            while there.received.empty():
                here.send(sent)
                for _ in range(100):
                    await asyncio.sleep(0)
            here.send(last)
            while (found := await there.received.get()) != last:
                assert found == sent


async def test_packets_go_between_the_nodes_of_a_gang(links: GangLinks, gangs: Gangs) -> None:
    (first, second, third), _ = await gangs.add(A, B, C)
    await links.run_once()
    await joined(first, second, third)
    await answered(first, second)
    await answered(second, third)


async def test_packets_of_a_gang_reach_no_other_gang_with_the_same_addresses(links: GangLinks, gangs: Gangs) -> None:
    (first, second), _ = await gangs.add(A, B)
    others, _ = await gangs.add(A, B)
    await links.run_once()
    await joined(first, second, *others)
    await answered(first, second)
    await answered(*others, b"theirs")
    assert all(node.received.empty() for node in (first, second, *others))


async def test_forged_packets_and_garbage_are_dropped_and_counted(links: GangLinks, gangs: Gangs) -> None:
    (first, second), _ = await gangs.add(A, B)
    await links.run_once()
    await joined(first, second)
    await answered(first, second)
    before = metrics.gang_packets.labels("forged")._value.get()
    first.send(b"", b"x", packet(C, B), packet(B, A), packet(A, C), packet(A, B, b"sound"))
    assert await arriving(second) == packet(A, B, b"sound")
    assert metrics.gang_packets.labels("forged")._value.get() == before + 4
    assert first.received.empty()


async def test_a_node_that_does_not_read_holds_up_no_other(links: GangLinks, gangs: Gangs) -> None:
    (first, deaf, third), _ = await gangs.add(A, B, C)
    deaf.is_reading = False
    await links.run_once()
    await joined(first, deaf, third)
    await answered(first, third)
    before = metrics.gang_packets.labels("full")._value.get()
    large = packet(A, B, bytes(60_000))
    async with asyncio.timeout(SEE_SECONDS):
        while metrics.gang_packets.labels("full")._value.get() == before:
            first.send(large, large, large, packet(A, C))
            assert await third.received.get() == packet(A, C)


@pytest.mark.parametrize("way", ["released", "expired"])
async def test_the_end_of_a_lease_parts_all_nodes_of_its_gang_and_no_others(
    bench: Bench, links: GangLinks, gangs: Gangs, way: str
) -> None:
    nodes, leases = await gangs.add(A, B)
    await links.run_once()
    await joined(*nodes)
    if way == "expired":
        bench.clock.advance(timedelta(minutes=30))
    others, _ = await gangs.add(A, B)
    await links.run_once()
    await joined(*others)
    if way == "released":
        await bench.leases.release(leases[0].lease_id, "done")
    else:
        bench.clock.advance(timedelta(minutes=31))
    await links.run_once()
    async with asyncio.timeout(SEE_SECONDS):
        for node in nodes:
            await node.parted.wait()
    await answered(*others)
    assert not any(node.parted.is_set() for node in others)
    assert metrics.gang_nodes._value.get() == 2


async def test_a_call_that_breaks_is_made_again(links: GangLinks, gangs: Gangs) -> None:
    (first, second), _ = await gangs.add(A, B)
    await links.run_once()
    for node in (first, second, second):
        await joined(first, second)
        node.break_off()
        await joined(node)
        await answered(first, second)
    assert (first.calls, second.calls) == (2, 3)


async def test_a_session_that_is_opened_later_joins_then(links: GangLinks, gangs: Gangs) -> None:
    (first, second), _ = await gangs.add(A, B)
    second.is_open = False
    await links.run_once()
    await joined(first)
    async with asyncio.timeout(SEE_SECONDS):
        while second.calls < 3:
            await asyncio.sleep(0)
    second.is_open = True
    await joined(second)
    await answered(first, second)


async def test_a_node_with_the_address_of_another_or_none_is_not_let_in(links: GangLinks, gangs: Gangs) -> None:
    (first, second, thief, odd), _ = await gangs.add(A, B, C, "not an address")
    await links.run_once()
    await joined(first, second, thief, odd)
    thief.address = A
    thief.break_off()
    async with asyncio.timeout(SEE_SECONDS):
        while thief.calls < 3 or odd.calls < 3:
            await asyncio.sleep(0)
    await answered(first, second)
    assert thief.received.empty()


@pytest.mark.parametrize("count", [1, 2])
async def test_jobs_and_reservations_of_one_machine_have_no_such_network(
    links: GangLinks, gangs: Gangs, count: int
) -> None:
    nodes, _ = await gangs.add(*[A, B][:count], holder=Holder.RESERVATION if count == 1 else Holder.JOB)
    others, _ = await gangs.add(A, B)
    await links.run_once()
    await joined(*others)
    assert [node.calls for node in nodes] == [0] * count


async def test_a_new_pool_joins_the_nodes_again(bench: Bench, links: GangLinks, gangs: Gangs) -> None:
    (first, second), _ = await gangs.add(A, B)
    await links.run_once()
    await joined(first, second)
    await links.close()
    async with asyncio.timeout(SEE_SECONDS):
        await first.parted.wait()
        await second.parted.wait()
    successor = GangLinks(bench.leases, bench.machines, bench.clock, SOON)
    await successor.run_once()
    await answered(first, second)
    await successor.close()


async def test_without_any_gang_its_leases_are_read_seldom_and_a_new_one_is_joined_at_once(
    bench: Bench, links: GangLinks, gangs: Gangs
) -> None:
    statements: list[str] = []
    event.listen(bench.database.engine.sync_engine, "before_cursor_execute", lambda *call: statements.append(call[2]))
    for _ in range(5):
        await links.run_once()
        bench.clock.advance(SWEEP / 10)
    assert sum("leases" in one for one in statements) == 1
    bench.clock.advance(SWEEP)
    await links.run_once()
    assert sum("leases" in one for one in statements) == 2
    nodes, _ = await gangs.add(A, B)
    await links.run_once()
    await joined(*nodes)
