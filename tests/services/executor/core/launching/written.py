"""Recordings as a recorder writes them, with memory at any address a test wants."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from itertools import pairwise

from services.executor.core.launching.recording import Kind

GAP = 32 << 20


def record(kind: int, *numbers: int, strings: tuple[bytes, ...] = (), count: bool = False, line: int = 7) -> bytes:
    payload = struct.pack(f"<{len(numbers)}Q", *(number % (1 << 64) for number in numbers))
    for at, string in enumerate(strings):
        if count and at == 1:
            payload += struct.pack("<Q", len(strings) - 1)
        payload += struct.pack("<Q", len(string)) + string
    if count and len(strings) == 1:
        payload += struct.pack("<Q", 0)
    return struct.pack("<IIQ", kind, line, len(payload)) + payload


def launch(*arguments: bytes, kernel: bytes = b"k", stream: int = 0, grid: int = 4, line: int = 7) -> bytes:
    numbers = (stream, grid, 1, 1, 256, 1, 1, 0, 0)
    return record(Kind.LAUNCH, *numbers, strings=(kernel, *arguments), count=True, line=line)


def refusal(text: str, line: int = 7) -> bytes:
    return record(Kind.REFUSED, 0, strings=(text.encode(),), line=line)


@dataclass
class Written:
    """A recording of three calls; the test draws `addresses`, which are given out in turn."""

    addresses: list[int]
    data: bytes = b""
    _given: list[int] = field(default_factory=list)

    def address(self) -> int:
        self._given.append(self.addresses[len(self._given)])
        return self._given[-1]

    def call(self, number: int, *sizes: int) -> list[int]:
        """Begins a call with arrays of these sizes; returns their addresses."""
        self.data += record(Kind.CALL, number)
        given = [self.address() for _ in sizes]
        for at, (address, size) in enumerate(zip(given, sizes, strict=True)):
            self.data += record(Kind.ARGUMENT, at, address, size)
        return given

    def allocate(self, size: int, *, of_host: bool = False) -> int:
        address = self.address()
        self.data += record(Kind.ALLOCATE, address, size, int(of_host))
        return address

    def variable(self, name: str, size: int) -> int:
        address = self.address()
        self.data += record(Kind.VARIABLE, address, size, strings=(name.encode(),))
        return address

    def add(self, *records: bytes) -> None:
        self.data += b"".join(records)

    def ended(self) -> bytes:
        return self.data + record(Kind.END)


def word(*numbers: int) -> bytes:
    return struct.pack(f"<{len(numbers)}Q", *(number % (1 << 64) for number in numbers))


def apart(numbers: list[int], recording: int, room: int = 1 << 20) -> list[int]:
    """Addresses from numbers, far enough apart for arrays of `room` bytes, in the numbers' order.

    Addresses of different recordings never coincide.
    """
    order = sorted(range(len(numbers)), key=lambda at: numbers[at])
    step = GAP + room
    placed = [0] * len(numbers)
    for rank, at in enumerate(order):
        placed[at] = (1 << 44) + (recording << 42) + rank * 2 * step + numbers[at] % step // 256 * 256
    assert all(b - a >= step for a, b in pairwise(sorted(placed)))
    return placed
