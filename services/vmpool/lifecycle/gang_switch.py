"""Passes packets on among the nodes of one gang, by their addresses; pure.

Each node has a queue of limited bytes. What a node does not take in time is dropped, as a network would, so that no
node holds up another: its TCP sends that again, more slowly.
"""

from __future__ import annotations

from collections import Counter, deque
from ipaddress import IPv4Address
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

MOST_QUEUED_BYTES = 4 << 20
"""Of one node: some tens of the largest packets."""
BATCH_BYTES = 1 << 18
"""Bytes of the packets of one message; less than one largest packet more are sent."""
_SOURCE, _DESTINATION = slice(12, 16), slice(16, 20)
"""Where the addresses are in a packet of IPv4."""

PASSED, FORGED, NOWHERE, FULL = "passed", "forged", "nowhere", "full"
"""What becomes of a packet: the last three are dropped, as it has another node's address as its source or is none, goes
to no node that is here, or finds that node's queue full."""


class Port:
    """A node's end of the switch; `wake` is called when there is something in an empty queue."""

    def __init__(self, address: str, wake: Callable[[], None]) -> None:
        self.address = IPv4Address(address).packed
        self._wake = wake
        self._queue: deque[bytes] = deque()
        self._queued_bytes = 0

    def put(self, packet: bytes) -> bool:
        """Queue a packet for the node; returns False if it is dropped."""
        if self._queued_bytes + len(packet) > MOST_QUEUED_BYTES:
            return False
        was_empty = not self._queue
        self._queue.append(packet)
        self._queued_bytes += len(packet)
        if was_empty:
            self._wake()
        return True

    def take(self) -> Sequence[bytes]:
        """The oldest packets, as many as one message takes; empty if there are none."""
        taken: list[bytes] = []
        size = 0
        while self._queue and size < BATCH_BYTES:
            packet = self._queue.popleft()
            taken.append(packet)
            size += len(packet)
        self._queued_bytes -= size
        return taken


class Switch:
    """The nodes of one gang that are joined now."""

    def __init__(self) -> None:
        self._ports: dict[bytes, Port] = {}

    def join(self, port: Port) -> bool:
        """Let a node in; returns False if another has its address."""
        return self._ports.setdefault(port.address, port) is port

    def leave(self, port: Port) -> None:
        """Let a node go; what is queued for it is lost."""
        if self._ports.get(port.address) is port:
            del self._ports[port.address]

    def pass_on(self, port: Port, packets: Iterable[bytes]) -> Counter[str]:
        """Pass on what a node has sent; returns how many packets were passed, and dropped for which reason."""
        return Counter(self._fate(port, packet) for packet in packets)

    def _fate(self, port: Port, packet: bytes) -> str:
        if packet[_SOURCE] != port.address:
            return FORGED
        target = self._ports.get(packet[_DESTINATION])
        if target is None:
            return NOWHERE
        return PASSED if target.put(packet) else FULL
