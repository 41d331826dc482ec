"""What becomes of packets between the nodes of a gang."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from services.vmpool.lifecycle.gang_switch import (
    BATCH_BYTES,
    FORGED,
    FULL,
    MOST_QUEUED_BYTES,
    NOWHERE,
    PASSED,
    Port,
    Switch,
)

ADDRESSES = [f"198.18.0.{n}" for n in range(1, 4)]


def packet(source: str, destination: str, content: bytes = b"") -> bytes:
    return bytes(12) + b"".join(bytes(map(int, address.split("."))) for address in (source, destination)) + content


class Node:
    def __init__(self, address: str) -> None:
        self.wakes = 0
        self.port = Port(address, self._wake)

    def _wake(self) -> None:
        self.wakes += 1


def joined(*addresses: str) -> tuple[Switch, list[Node]]:
    switch, nodes = Switch(), [Node(address) for address in addresses]
    assert all(switch.join(node.port) for node in nodes)
    return switch, nodes


@given(
    st.lists(
        st.tuples(
            st.integers(0, 2), st.sampled_from([*ADDRESSES, "10.0.0.1"]), st.sampled_from([*ADDRESSES, "1.1.1.1"])
        ),
        max_size=30,
    )
)
def test_each_packet_reaches_the_node_that_it_is_for_in_order_if_it_is_from_its_sender(
    sent: list[tuple[int, str, str]],
) -> None:
    switch, nodes = joined(*ADDRESSES)
    expected: dict[str, list[bytes]] = {address: [] for address in ADDRESSES}
    for number, (sender, source, destination) in enumerate(sent):
        one = packet(source, destination, bytes([number]))
        fate = FORGED if source != ADDRESSES[sender] else PASSED if destination in expected else NOWHERE
        assert switch.pass_on(nodes[sender].port, [one]) == {fate: 1}
        if fate == PASSED:
            expected[destination].append(one)
    assert [list(node.port.take()) for node in nodes] == list(expected.values())


@given(st.binary(max_size=40))
def test_garbage_reaches_nobody_and_does_no_harm(garbage: bytes) -> None:
    switch, (first, second) = joined("1.1.1.1", "2.2.2.2")
    fates = switch.pass_on(first.port, [garbage])
    assert fates.total() == 1
    assert (fates[PASSED] == 1) == (garbage[12:20] in (b"\1\1\1\1\2\2\2\2", b"\1\1\1\1\1\1\1\1"))
    assert len(second.port.take()) + len(first.port.take()) == fates[PASSED]


def test_what_a_slow_node_does_not_take_is_dropped_and_others_get_theirs() -> None:
    switch, (sender, slow, quick) = joined(*ADDRESSES)
    large = packet(ADDRESSES[0], ADDRESSES[1], bytes(65_000))
    fates: Counter[str] = Counter()
    for _ in range(100):
        fates += switch.pass_on(sender.port, [large, packet(ADDRESSES[0], ADDRESSES[2])])
        assert len(quick.port.take()) == 1
    assert fates[FULL] == 100 - MOST_QUEUED_BYTES // len(large)
    taken = 0
    while batch := slow.port.take():
        assert sum(map(len, batch)) < BATCH_BYTES + len(large)
        taken += len(batch)
    assert taken == MOST_QUEUED_BYTES // len(large)
    # There is room again.
    assert switch.pass_on(sender.port, [large]) == {PASSED: 1}


def test_a_node_is_woken_when_its_queue_is_no_longer_empty() -> None:
    switch, (sender, receiver, _) = joined(*ADDRESSES)
    one = packet(ADDRESSES[0], ADDRESSES[1])
    switch.pass_on(sender.port, [one, one])
    assert receiver.wakes == 1
    receiver.port.take()
    switch.pass_on(sender.port, [one])
    assert receiver.wakes == 2


def test_no_second_node_gets_an_address_until_the_first_has_left() -> None:
    switch, (first, other, _) = joined(*ADDRESSES)
    second = Node(ADDRESSES[0])
    assert not switch.join(second.port)
    # It was not let in, so it cannot throw the first one out.
    switch.leave(second.port)
    assert switch.pass_on(other.port, [packet(ADDRESSES[1], ADDRESSES[0])]) == {PASSED: 1}
    switch.leave(first.port)
    assert switch.pass_on(other.port, [packet(ADDRESSES[1], ADDRESSES[0])]) == {NOWHERE: 1}
    assert switch.join(second.port)
