"""Turns three recordings of the same calls into the launch program that they all show.

In each recording all memory has other addresses, and in the third it also has another order. So bytes that are the same
in all three are constants. Bytes that differ must be the address of the same place in each, or a scalar, and are filled
in as such. If anything differs in another way, it depends on more than sizes, and there is no program.

Calls 2 and 3 of a recording must agree as well: they show the operations of each later call. The operations before them
are those of the first call, if they differ.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from itertools import pairwise, zip_longest
from typing import TypeAlias

import numpy as np

from services.executor.core.launching.ordering import Item, Noted, Synchronised, Waited, in_order
from services.executor.core.launching.program import (
    ADDRESS_BYTES,
    Base,
    Copy,
    Fill,
    Launch,
    LaunchProgram,
    Operation,
    Place,
    Relocation,
    Value,
    Write,
)
from services.executor.core.launching.recording import Kind, NotRecordableError, Record, Recording, RecordingError

RECORDINGS = 3
_SLACK_BYTES = 1 << 20
"""An address this far outside an allocation still counts as part of it: kernels are given `begin - 1`, and ends."""
_FREE_BYTES = 8 << 20
"""The least space that our recorder leaves free between two allocations."""
_MOST_WORKSPACE_BYTES = 1 << 42
_MOST_GRID = (0x7FFFFFFF, 65_535, 65_535)
_MOST_THREADS = 1_024
_MOST_LDS_BYTES = 1 << 20
_ELEMENTS = frozenset({1, 2, 4})
_MOST_ADDRESSES, _ADDRESSES_OF_ANY_ARGUMENT = 50_000, 16
"""Limit on the addresses in tables, in all calls of a recording: to explain one takes some 30 us.

Other addresses are limited by the number of operations.
"""
_KEPT = 0
"""The segment of memory that outlives its call: it was made before call 2."""


class DifferingError(NotRecordableError):
    """The recordings differ. Another try may agree, if host threads raced."""


class _Owner(Enum):
    ARGUMENT = "argument"
    VARIABLE = "variable"
    WORKSPACE = "workspace"
    HOST = "host"


@dataclass(frozen=True)
class _Block:
    """A piece of memory: an argument of a call, a variable, or the `number`-th allocation of a segment.

    Segment 0 comes before the first call, and segment n is call n.
    """

    owner: _Owner
    segment: int
    number: int
    name: str = ""


_Found: TypeAlias = "tuple[_Block, int] | None"


class _Memory:
    """The memory of one recording, by address."""

    def __init__(self, recording: Recording) -> None:
        found = sorted(_blocks(recording), key=lambda item: item[0])
        self._begins = [begin for begin, _, _ in found]
        self._sizes = [size for _, size, _ in found]
        self._blocks = [block for _, _, block in found]
        self.sizes = {block: size for _, size, block in found}
        for (begin, size, _), (after, _, _) in pairwise(found):
            if begin + size + _FREE_BYTES > after:
                raise RecordingError("its allocations lie too close together")

    def find(self, address: int) -> _Found:
        """The block that an address is in or near, and its offset there; None if there is no block."""
        at = bisect_right(self._begins, address)
        if at > 0 and address - self._begins[at - 1] <= self._sizes[at - 1] + _SLACK_BYTES:
            return self._blocks[at - 1], address - self._begins[at - 1]
        if at < len(self._begins) and self._begins[at] - address <= _SLACK_BYTES:
            return self._blocks[at], address - self._begins[at]
        return None


def _blocks(recording: Recording) -> Iterator[tuple[int, int, _Block]]:
    for segment, records in enumerate((recording.before, *recording.calls)):
        number = 0
        for record in records:
            if record.kind is Kind.VARIABLE:
                address, size = record.numbers
                yield address, size, _Block(_Owner.VARIABLE, 0, 0, _name(record.strings[0]))
            elif record.kind is Kind.ARGUMENT:
                index, address, size = record.numbers
                yield address, size, _Block(_Owner.ARGUMENT, segment, index)
            elif record.kind is Kind.ALLOCATE:
                address, size, is_host = record.numbers
                yield address, size, _Block(_Owner.HOST if is_host else _Owner.WORKSPACE, segment, number)
                number += 1


def understood(recordings: Sequence[Recording], scalars: Sequence[Mapping[int, bytes]] = ({}, {}, {})) -> LaunchProgram:
    """Returns the launch program; raises NotRecordableError (or DifferingError) with the reason, and RecordingError.

    `scalars` are the values that the calls of each recording were given, by argument. A scalar that differs between
    recordings is filled in wherever its bytes appear.
    """
    if len(recordings) != RECORDINGS:
        raise ValueError(f"there must be {RECORDINGS} recordings, not {len(recordings)}")
    reader = _Reader([_Memory(recording) for recording in recordings], scalars)
    segments = zip(*((recording.before, *recording.calls) for recording in recordings), strict=True)
    items = [reader.items(number, records) for number, records in enumerate(segments)]
    before, first, second, third = items
    later = _agreeing(reader, second, third)
    is_same = not before and _relative(reader, first, 1) == later
    writer = _Writer(reader)
    later_steps = writer.steps(second)
    first_steps = later_steps if is_same else writer.steps([*before, *first])
    return writer.program(first_steps, later_steps)


def _agreeing(reader: _Reader, second: Sequence[Item], third: Sequence[Item]) -> list[Item]:
    """The items that calls 2 and 3 have in common; raises NotRecordableError if the calls differ."""
    one, other = _relative(reader, second, 2), _relative(reader, third, 3)
    for left, right in zip_longest(one, other):
        if left != right:
            line = max((item.line for item in (left, right) if item is not None), default=0)
            raise NotRecordableError(
                "a second call and a third ask for different things; each call must do the same for the same sizes",
                line,
            )
    return one


class _Reader:
    """Reads the records of all recordings side by side. Places hold numbers, which index `blocks`."""

    def __init__(self, memories: Sequence[_Memory], scalars: Sequence[Mapping[int, bytes]]) -> None:
        self._memories = memories
        self._scalars = scalars
        self._numbers: dict[_Block, int] = {}
        self._addresses = 0
        self.blocks: list[_Block] = []
        self.streams: dict[int, int] = {}

    def size(self, block: _Block) -> int:
        """The size of a block in bytes."""
        return self._memories[0].sizes[block]

    def items(self, segment: int, records: Sequence[Sequence[Record]]) -> list[Item]:
        """The items of one segment, in which all recordings must agree."""
        items: list[Item] = []
        for group in zip_longest(*records):
            items += self._item(segment, _alike(group))
        return items

    def _item(self, segment: int, group: Sequence[Record]) -> Iterable[Item]:
        record = group[0]
        read: dict[Kind, Callable[[int, Sequence[Record]], Item]] = {
            Kind.LAUNCH: self._launch,
            Kind.COPY: self._copy,
            Kind.WRITE: self._write,
            Kind.FILL: self._fill,
        }
        if record.kind in read:
            return [read[record.kind](segment, group)]
        _same(group, lambda one: one.numbers if one.kind not in _ADDRESSED else one.numbers[_ADDRESSED[one.kind] :])
        match record.kind:
            case Kind.STREAM:
                self.streams[record.numbers[0]] = record.numbers[1]
                return []
            case Kind.EVENT:
                return [Noted(record.numbers[1], record.numbers[0], line=record.line)]
            case Kind.WAIT:
                return [Waited(record.numbers[0], record.numbers[1], line=record.line)]
            case Kind.SYNCHRONISE:
                return [Synchronised(record.numbers[0] - 1, line=record.line)]
            case _:
                return []

    def _launch(self, segment: int, group: Sequence[Record]) -> Launch:
        _same(group, lambda one: (one.numbers, one.strings[0], [len(value) for value in one.strings[1:]]))
        record = group[0]
        stream, *lengths, lds_bytes, is_cooperative = record.numbers
        name = _name(record.strings[0])
        grid, block = (lengths[0], lengths[1], lengths[2]), (lengths[3], lengths[4], lengths[5])
        fits = all(0 < length <= most for length, most in zip(grid, _MOST_GRID, strict=True))
        if not fits or not 0 < block[0] * block[1] * block[2] <= _MOST_THREADS or lds_bytes > _MOST_LDS_BYTES:
            raise RecordingError(f"the launch of {name[:100]} fits no device")
        values = [
            self._value(segment, [one.strings[at] for one in group], f"argument {at} of {name}", record.line)
            for at in range(1, len(record.strings))
        ]
        return Launch(stream, name, grid, block, lds_bytes, bool(is_cooperative), tuple(values), line=record.line)

    def _copy(self, segment: int, group: Sequence[Record]) -> Copy:
        _same(group, lambda one: (one.numbers[0], one.numbers[3]))
        stream, _, _, size = group[0].numbers
        target, source = (self._place(segment, group, at, size) for at in (1, 2))
        return Copy(stream, target, source, size, line=group[0].line)

    def _write(self, segment: int, group: Sequence[Record]) -> Write:
        _same(group, lambda one: (one.numbers[0], len(one.strings[0])))
        line = group[0].line
        value = self._value(segment, [one.strings[0] for one in group], "what is copied to the device", line)
        target = self._place(segment, group, 1, len(value.data))
        return Write(group[0].numbers[0], target, value, line=line)

    def _fill(self, segment: int, group: Sequence[Record]) -> Fill:
        _same(group, lambda one: (one.numbers[0], *one.numbers[2:]))
        stream, _, element_bytes, value, count = group[0].numbers
        if element_bytes not in _ELEMENTS:
            raise RecordingError(f"a fill has elements of {element_bytes} bytes")
        target = self._place(segment, group, 1, element_bytes * count)
        return Fill(stream, target, element_bytes, value % (1 << (8 * element_bytes)), count, line=group[0].line)

    def _place(self, segment: int, group: Sequence[Record], at: int, size: int) -> Place:
        """The place that begins at number `at` of the records and has `size` bytes.

        Kernels may be given any address, but our own copies and fills must stay inside a block.
        """
        line = group[0].line
        found = self._explained([one.numbers[at] for one in group])
        if found is None:
            raise DifferingError("a copy or fill is of memory that the device does not have", line)
        block, offset = found
        whole = self.size(block)
        if offset < 0 or offset + size > whole:
            raise NotRecordableError(f"{size:,} bytes are copied or filled where memory of {whole:,} bytes ends", line)
        return self._placed(segment, block, offset, line)

    def _explained(self, addresses: Sequence[int]) -> _Found:
        """The one place that all these addresses refer to, each in its own recording; None if there is none."""
        found = [memory.find(address) for memory, address in zip(self._memories, addresses, strict=True)]
        return found[0] if found[0] is not None and all(one == found[0] for one in found) else None

    def _placed(self, segment: int, block: _Block, offset: int, line: int) -> Place:
        if block.owner is _Owner.HOST:
            raise NotRecordableError(
                "the device is given memory of the host (hipHostMalloc, hipMallocManaged); use hipMalloc", line
            )
        if block.owner is _Owner.ARGUMENT:
            if block.segment != segment:
                raise NotRecordableError("an address that an earlier call was given is used again", line)
            return Place(Base.ARGUMENT, block.number, offset)
        number = self._numbers.setdefault(block, len(self.blocks))
        if number == len(self.blocks):
            self.blocks.append(block)
        return Place(Base.VARIABLE if block.owner is _Owner.VARIABLE else Base.WORKSPACE, number, offset)

    def _value(self, segment: int, values: Sequence[bytes], what: str, line: int) -> Value:
        """A value of constant bytes, with relocations for the bytes that differ between recordings."""
        first, *others = values
        if all(other == first for other in others):
            return Value(first)
        arrays = [np.frombuffer(value, np.uint8) for value in values]
        differs = np.flatnonzero((arrays[0] != arrays[1]) | (arrays[0] != arrays[2]))
        data, relocations, end = bytearray(first), list[Relocation](), 0
        for at in map(int, differs):
            if at < end:
                continue
            found = self._filled_in(segment, values, at, end, line)
            if found is None:
                raise DifferingError(
                    f"{what} differs from run to run at byte {at}, and is no address: it depends on where memory lies, "
                    "on time, or on chance; let it depend on sizes only",
                    line,
                )
            self._addresses += len(relocations) >= _ADDRESSES_OF_ANY_ARGUMENT
            if self._addresses > _MOST_ADDRESSES:
                raise NotRecordableError(
                    f"the device is given tables of more than {_MOST_ADDRESSES:,} addresses; give it one, and compute "
                    "the others in kernels",
                    line,
                )
            end = found.at + found.bytes
            data[found.at : end] = bytes(found.bytes)
            relocations.append(found)
        return Value(bytes(data), tuple(relocations))

    def _filled_in(self, segment: int, values: Sequence[bytes], at: int, least: int, line: int) -> Relocation | None:
        """The address or scalar that byte `at` belongs to; an aligned address is preferred."""
        begins = _begins(at, least, ADDRESS_BYTES, len(values[0]))
        for begin in sorted(begins, key=lambda begin: (begin % ADDRESS_BYTES != 0, -begin)):
            words = [int.from_bytes(value[begin : begin + ADDRESS_BYTES], "little") for value in values]
            if found := self._explained(words):
                return Relocation(begin, self._placed(segment, *found, line))
        for index, scalar in self._scalars[0].items():
            for begin in _begins(at, least, len(scalar), len(values[0])):
                found_bytes = [value[begin : begin + len(scalar)] for value in values]
                if found_bytes == [of_one[index] for of_one in self._scalars]:
                    return Relocation(begin, Place(Base.SCALAR, index, 0), len(scalar))
        return None


def _begins(at: int, least: int, size: int, end: int) -> range:
    """Offsets from `least` on at which a thing of `size` bytes that contains byte `at` may begin."""
    return range(max(least, at - size + 1), min(at, end - size) + 1)


# These records hold an address. Numbers from these positions on must be the same in all recordings.
_ADDRESSED = {Kind.VARIABLE: 1, Kind.ALLOCATE: 1, Kind.ARGUMENT: 2}


def _alike(group: Sequence[Record | None]) -> list[Record]:
    known = [record for record in group if record is not None]
    kinds = {record.kind for record in known}
    if len(known) != len(group) or len(kinds) != 1:
        raise DifferingError(
            "what is asked of the device differs from run to run; let it depend on sizes only", known[0].line
        )
    return known


def _same(group: Sequence[Record], of: Callable[[Record], object]) -> None:
    first = of(group[0])
    if any(of(record) != first for record in group):
        what = group[0].kind.name.lower()
        raise DifferingError(f"a {what} differs from run to run; let it depend on sizes only", group[0].line)


def _relative(reader: _Reader, items: Sequence[Item], segment: int) -> list[Item]:
    """The items of a call, with its own workspaces, streams and events numbered from the call's beginning."""
    numbering = _CallNumbers()

    def placed(place: Place) -> Place:
        if place.base is not Base.WORKSPACE:
            return place
        block = reader.blocks[place.index]
        if block.segment != segment:
            return replace(place, index=place.index * 2)
        return replace(place, index=block.number * 2 + 1)

    return [_mapped(item, placed, numbering.stream, numbering.event) for item in items]


class _CallNumbers:
    """Numbers streams and events by their first use."""

    def __init__(self) -> None:
        self._streams: dict[int, int] = {0: 0, -1: -1}
        self._events: dict[int, int] = {}

    def stream(self, number: int) -> int:
        return self._streams.setdefault(number, len(self._streams) - 1)

    def event(self, number: int) -> int:
        return self._events.setdefault(number, len(self._events))


def _mapped(
    item: Item, placed: Callable[[Place], Place], stream: Callable[[int], int], event: Callable[[int], int]
) -> Item:
    """The item with its places, streams and events replaced."""

    def valued(value: Value) -> Value:
        return replace(value, relocations=tuple(replace(one, place=placed(one.place)) for one in value.relocations))

    item = replace(item, stream=stream(item.stream))
    match item:
        case Launch():
            return replace(item, arguments=tuple(map(valued, item.arguments)))
        case Copy():
            return replace(item, target=placed(item.target), source=placed(item.source))
        case Write():
            return replace(item, target=placed(item.target), value=valued(item.value))
        case Fill():
            return replace(item, target=placed(item.target))
        case Noted() | Waited():
            return replace(item, event=event(item.event))
        case Synchronised():
            return item


class _Writer:
    """Numbers the memory, streams and events in use, and makes the program."""

    def __init__(self, reader: _Reader) -> None:
        self._reader = reader
        self._workspaces: dict[int, int] = {}
        self._variables: dict[int, int] = {}
        self._flags: list[int] = []
        self._events = 0

    def steps(self, items: Sequence[Item]) -> tuple[Operation, ...]:
        """The operations of a call, with streams numbered by their first use."""
        numbers: dict[int, int] = {0: 0, -1: -1}
        by_flags: dict[int, int] = {}

        def stream(number: int) -> int:
            if number not in numbers:
                flags = self._reader.streams.get(number)
                if flags is None:
                    raise RecordingError(f"stream {number} was never made")
                numbers[number] = self._stream(flags, by_flags)
            return numbers[number]

        ordered = in_order([_mapped(item, self._placed, stream, lambda event: event) for item in items])
        self._events = max(self._events, ordered.events)
        return ordered.operations

    def _stream(self, flags: int, by_flags: dict[int, int]) -> int:
        """The next stream with these flags. Calls share streams, as none is busy when a call begins."""
        nth = by_flags[flags] = by_flags.get(flags, 0) + 1
        alike = [at for at, known in enumerate(self._flags) if known == flags]
        if len(alike) < nth:
            self._flags.append(flags)
            return len(self._flags)
        return alike[nth - 1] + 1

    def _placed(self, place: Place) -> Place:
        numbers = {Base.WORKSPACE: self._workspaces, Base.VARIABLE: self._variables}.get(place.base)
        return place if numbers is None else replace(place, index=numbers.setdefault(place.index, len(numbers)))

    def program(self, first: tuple[Operation, ...], later: tuple[Operation, ...]) -> LaunchProgram:
        """Makes the whole program."""
        reader = self._reader
        sizes = tuple(reader.size(reader.blocks[number]) for number in self._workspaces)
        if sum(sizes) > _MOST_WORKSPACE_BYTES:
            raise RecordingError("its workspaces are larger than any device")
        names = tuple(reader.blocks[number].name for number in self._variables)
        return LaunchProgram(sizes, names, tuple(self._flags), self._events, first, later)


def _name(data: bytes) -> str:
    return data.decode(errors="surrogateescape")
