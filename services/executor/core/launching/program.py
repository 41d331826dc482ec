"""A launch program: the operations that one call asks of a device, as data. `core/runner/replay.cpp` performs it.

It contains no addresses. A kernel's arguments are bytes, some of which are filled in before each call: with the address
of one of the call's arrays, of a workspace or of a device variable, or with a scalar of the call.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import TypeAlias

_MAGIC = 0x31474F5250505721
_WORD = struct.Struct("<Q")
_WORD_BYTES = 8
_MOST = 1 << 64
ADDRESS_BYTES = 8
_ARGUMENT_ALIGNMENT = 16
DEFAULT_STREAM = 0


class Base(IntEnum):
    """Kinds of memory that a Place is in. Its `index` counts within a kind; for SCALAR it is the argument's number."""

    ARGUMENT = 1
    WORKSPACE = 2
    VARIABLE = 3
    SCALAR = 4


@dataclass(frozen=True)
class Place:
    """`offset` bytes from the beginning of an array, a workspace or a device variable, or in a scalar."""

    base: Base
    index: int
    offset: int


@dataclass(frozen=True)
class Relocation:
    """Bytes to fill in: the address of `place` at byte `at`, or `bytes` bytes of a scalar."""

    at: int
    place: Place
    bytes: int = ADDRESS_BYTES


@dataclass(frozen=True)
class Value:
    """Bytes of an argument or a write; `relocations` fill in some of them, which are zero here."""

    data: bytes
    relocations: tuple[Relocation, ...] = ()


@dataclass(frozen=True)
class Step:
    """One operation on a stream; `line` is the source's line, 0 if it is not known."""

    stream: int
    line: int = field(default=0, compare=False, kw_only=True)


@dataclass(frozen=True)
class Launch(Step):
    """The launch of a kernel, by its registered name."""

    kernel: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    lds_bytes: int
    is_cooperative: bool
    arguments: tuple[Value, ...]


@dataclass(frozen=True)
class Copy(Step):
    """A copy from the device to the device."""

    target: Place
    source: Place
    bytes: int


@dataclass(frozen=True)
class Write(Step):
    """Constants of the host, copied to the device."""

    target: Place
    value: Value


@dataclass(frozen=True)
class Fill(Step):
    """A fill with `count` elements of 1, 2 or 4 bytes."""

    target: Place
    element_bytes: int
    value: int
    count: int


@dataclass(frozen=True)
class Mark(Step):
    """An event is noted on a stream."""

    event: int


@dataclass(frozen=True)
class Wait(Step):
    """A stream waits for an event."""

    event: int


Work: TypeAlias = Launch | Copy | Write | Fill
Operation: TypeAlias = Work | Mark | Wait


@dataclass(frozen=True)
class LaunchProgram:
    """The operations of the first call of a case, and those of each later call.

    `workspaces` are sizes in bytes, `variables` are names, and `streams` are the flags of all streams but the default
    one.
    """

    workspaces: tuple[int, ...]
    variables: tuple[str, ...]
    streams: tuple[int, ...]
    events: int
    first: tuple[Operation, ...]
    later: tuple[Operation, ...]

    @property
    def launches(self) -> int:
        """The number of launches in each call after the first."""
        return sum(isinstance(operation, Launch) for operation in self.later)


def program_bytes(program: LaunchProgram) -> bytes:
    """The program in the format that the runner reads; `replay.hpp` describes it."""
    operations = (*program.first, *program.later)
    kernels = list(dict.fromkeys(one.kernel for one in operations if isinstance(one, Launch)))
    parts = [_words(_MAGIC, len(program.workspaces), *program.workspaces, len(kernels)), *map(_name, kernels)]
    parts += [_words(len(program.variables)), *map(_name, program.variables)]
    parts.append(_words(len(program.streams), *program.streams, program.events))
    for steps in (program.first, program.later):
        parts.append(_words(len(steps)))
        parts += [_operation(step, kernels) for step in steps]
    return b"".join(parts)


def _operation(step: Operation, kernels: Sequence[str]) -> bytes:
    match step:
        case Launch():
            return _launch(step, kernels.index(step.kernel))
        case Copy():
            return _words(2, step.stream, step.bytes) + _place(step.target) + _place(step.source)
        case Write():
            head = _words(3, step.stream, len(step.value.data)) + _place(step.target)
            return head + _values([(0, step.value)], len(step.value.data))
        case Fill():
            return _words(4, step.stream, step.element_bytes, step.value, step.count) + _place(step.target)
        case Mark():
            return _words(5, step.event, step.stream)
        case Wait():
            return _words(6, step.stream, step.event)


def _launch(launch: Launch, kernel: int) -> bytes:
    placed: list[tuple[int, Value]] = []
    end = 0
    for value in launch.arguments:
        placed.append((end, value))
        end += -(-len(value.data) // _ARGUMENT_ALIGNMENT) * _ARGUMENT_ALIGNMENT
    numbers = (launch.stream, kernel, *launch.grid, *launch.block, launch.lds_bytes, int(launch.is_cooperative))
    return _words(1, *numbers, len(placed), *(begin for begin, _ in placed)) + _values(placed, end)


def _values(placed: Sequence[tuple[int, Value]], size: int) -> bytes:
    data = bytearray(size)
    relocations: list[bytes] = []
    for begin, value in placed:
        data[begin : begin + len(value.data)] = value.data
        relocations += [_words(begin + one.at, one.bytes) + _place(one.place) for one in value.relocations]
    return _words(size) + _filled_up(bytes(data)) + _words(len(relocations)) + b"".join(relocations)


def _place(place: Place) -> bytes:
    return _words(place.base, place.index, place.offset)


def _name(name: str) -> bytes:
    data = name.encode(errors="surrogateescape")
    return _words(len(data)) + _filled_up(data)


def _words(*numbers: int) -> bytes:
    return b"".join(_WORD.pack(number % _MOST) for number in numbers)


def _filled_up(data: bytes) -> bytes:
    return data + bytes(-len(data) % _WORD_BYTES)


def described(program: LaunchProgram, arrays: Sequence[str]) -> Iterator[str]:
    """The program as text for people, one line per operation; `arrays` are the names of the call's arguments."""
    for at, size in enumerate(program.workspaces):
        yield f"workspace{at}: {size:,} bytes"
    if program.first != program.later:
        yield "the first call:"
        yield from (f"  {_described(step, program, arrays)}" for step in program.first)
        yield "each later call:"
    yield from (f"  {_described(step, program, arrays)}" for step in program.later)


def _described(step: Operation, program: LaunchProgram, arrays: Sequence[str]) -> str:
    place = f"line {step.line}: " if step.line else ""
    stream = f" on stream {step.stream}" if step.stream != DEFAULT_STREAM else ""
    names = _Names(program, arrays)
    match step:
        case Launch():
            grid, block = (" x ".join(map(str, lengths)) for lengths in (step.grid, step.block))
            lds = f", {step.lds_bytes} bytes of dynamic LDS" if step.lds_bytes else ""
            how = "launch cooperatively" if step.is_cooperative else "launch"
            values = ", ".join(names.value(value) for value in step.arguments)
            text = f"{how} {step.kernel}({values}) with grid {grid}, block {block}{lds}"
        case Copy():
            text = f"copy {step.bytes:,} bytes from {names.place(step.source)} to {names.place(step.target)}"
        case Write():
            text = f"write {len(step.value.data):,} bytes of constants to {names.place(step.target)}"
        case Fill():
            size = f"{step.count:,} elements of {step.element_bytes} bytes"
            text = f"fill {names.place(step.target)} with {size} of value {step.value}"
        case Mark():
            text = f"note event {step.event}"
        case Wait():
            text = f"wait for event {step.event}"
    return f"{place}{text}{stream}"


@dataclass(frozen=True)
class _Names:
    program: LaunchProgram
    arrays: Sequence[str]

    def place(self, place: Place) -> str:
        """The name of the memory that a place is in, with the offset."""
        match place.base:
            case Base.WORKSPACE:
                name = f"workspace{place.index}"
            case Base.VARIABLE:
                name = self.program.variables[place.index]
            case _:
                name = self.arrays[place.index]
        return f"{name}{place.offset:+,}" if place.offset else name

    def value(self, value: Value) -> str:
        """An argument as text: a place, a number, or its bytes."""
        if len(value.relocations) == 1 and value.relocations[0].bytes == len(value.data):
            return self.place(value.relocations[0].place)
        if not value.relocations and len(value.data) in {1, 2, 4, 8}:
            return str(int.from_bytes(value.data, "little"))
        places = [self.place(one.place) for one in value.relocations]
        return f"{{{', '.join([f'{len(value.data)} bytes', *places])}}}"
