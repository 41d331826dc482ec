"""The layout of a call's arguments in the memory that judge and runner share.

The first page is the plan: it tells the runner the kinds and sizes. Each array then has a region of its own, with a
guard band on both sides. The runner copies the bands to the device and back together with the data.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np

from problems.kit.signature import Parameter
from services.executor.core.sandbox.channel import Channel

GUARD_BYTES = 4096
"""Size of the guard band on each side of an array: a whole page, so that data keeps the alignment of its allocation."""
PAGE_BYTES = 4096
MOST_ARGUMENTS = 60

_PLAN_MAGIC = 0x314E414C50505721
_HEADER = struct.Struct("<QQIIIIQ24x")
_ARGUMENT = struct.Struct("<IIQQ16sIIQQ")
_RECORD = struct.Struct("<QQQ")

SHIFT_STEP_BYTES = 256
"""The alignment that real allocators give, and that vector loads may count on."""
SHIFTS = 64
"""Number of different places of an array within its allocation."""
MOST_LINKS = 256
"""The most links of a chain."""
EXCERPT_ELEMENTS = 2048
"""Number of elements of each output that are sent for a redrawn call (`commitment.py`)."""
_SLOT_BYTES = 16
"""Room, in bytes, for the place of an element that is sent, and for a range of bytes that is copied back with it."""


class _Kind(IntEnum):
    SCALAR = 0
    DEVICE_ARRAY = 1
    HOST_READABLE_ARRAY = 2


class RuleKind(IntEnum):
    """The change of an argument from call to call; `runner/chain_bodies.hpp` has the arithmetic."""

    FIXED = 0
    COPY = 1
    FLIP_BITS = 2
    INTEGERS = 3
    ROLL = 4
    POISON = 5
    ZERO = 6
    WHOLES = 7
    SYMMETRIC_BITS = 8
    WEIGHTS = 9
    DRAW = 10
    """Draws the values of a distribution."""
    CODES = 11
    BLOCKS = 12
    """Draws floats in blocks, each of which has an octave of its own."""


_MADE_ANEW = frozenset(RuleKind) - {
    *(RuleKind.FIXED, RuleKind.COPY, RuleKind.FLIP_BITS, RuleKind.ROLL),
    *(RuleKind.SYMMETRIC_BITS, RuleKind.WEIGHTS),
}


@dataclass(frozen=True)
class LinkRule:
    """A kind with its two numbers.

    `first` and `second` are mask and exponent mask for FLIP_BITS, and lowest value and count for INTEGERS and WHOLES.
    For CODES they are the bits that an element may have and, in one number, its width and the magnitude of NaN. For
    ROLL, `first` is the block. `chain_arithmetic.py` has those for DRAW and BLOCKS.
    """

    kind: RuleKind
    first: int = 0
    second: int = 0

    @property
    def is_anew(self) -> bool:
        """True if nothing is left of the loaded values."""
        return self.kind in _MADE_ANEW


@dataclass(frozen=True)
class LinkRecord:
    """The runner's claims about one call of a chain."""

    digest: tuple[int, int]
    event_ns: int


_FIXED = LinkRule(RuleKind.FIXED)


@dataclass(frozen=True)
class Region:
    """One array; `offset` is the first byte of its first guard band."""

    parameter: Parameter
    shape: tuple[int, ...]
    offset: int

    @property
    def data_bytes(self) -> int:
        """Size of the array without its guard bands."""
        return math.prod(self.shape) * self.parameter.dtype.itemsize

    @property
    def end(self) -> int:
        """The first byte after the last guard band."""
        return self.offset + self.data_bytes + 2 * GUARD_BYTES


@dataclass(frozen=True)
class Layout:
    """The regions of a call's arrays, by name, the records of a chain's links, and the size of the whole memory.

    Excerpts of a redrawn call, and ranges of its outputs, lie in the place of the records. `shift_bytes` is the
    distance of each array from the start of its allocation on the device.
    """

    parameters: tuple[Parameter, ...]
    regions: Mapping[str, Region]
    records_offset: int
    file_bytes: int
    shift_bytes: int = 0

    @property
    def outputs(self) -> dict[str, Region]:
        """Regions of the outputs, in the order of the signature."""
        return {name: region for name, region in self.regions.items() if region.parameter.output}


def layout_of(
    parameters: Sequence[Parameter], shapes: Mapping[str, tuple[int, ...]], links: int = 0, shift_bytes: int = 0
) -> Layout:
    """Places every array, and leaves room for `links` records, or for excerpts if there are none.

    Raises ValueError if there are more links or parameters than a plan can name.
    """
    if links > MOST_LINKS:
        raise ValueError(f"a chain has at most {MOST_LINKS} links, not {links}")
    if len(parameters) > MOST_ARGUMENTS:
        raise ValueError(f"a signature has at most {MOST_ARGUMENTS} parameters, not {len(parameters)}")
    regions: dict[str, Region] = {}
    end = PAGE_BYTES
    for parameter in parameters:
        if parameter.pointer:
            regions[parameter.name] = region = Region(parameter, shapes[parameter.name], _page_up(end))
            end = region.end
    records = _page_up(end)
    outputs = sum(region.parameter.output for region in regions.values())
    room_bytes = links * _RECORD.size or outputs * EXCERPT_ELEMENTS * _SLOT_BYTES
    return Layout(tuple(parameters), regions, records, _page_up(records + room_bytes), shift_bytes)


def plan_bytes(layout: Layout, scalars: Mapping[str, Any], rules: Mapping[str, LinkRule] | None = None) -> bytes:
    """Returns the plan; raises OverflowError if a scalar's type cannot hold its value.

    `rules` are those of a chain, or of redrawn calls.
    """
    capacity = (layout.file_bytes - layout.records_offset) // _RECORD.size
    parameters = layout.parameters
    header = _HEADER.pack(
        _PLAN_MAGIC,
        layout.file_bytes,
        len(parameters),
        GUARD_BYTES,
        layout.shift_bytes,
        capacity,
        layout.records_offset,
    )
    rows = (
        _argument(parameter, layout, scalars, (rules or {}).get(parameter.name, _FIXED)) for parameter in parameters
    )
    return header + b"".join(rows)


def read_records(channel: Channel, layout: Layout, links: int) -> tuple[LinkRecord, ...] | None:
    """Returns the runner's records of a chain's links; None if the memory was cut."""
    data = bytearray(links * _RECORD.size)
    if not channel.read(layout.records_offset, [memoryview(data)]):
        return None
    return tuple(LinkRecord((first, second), event_ns) for first, second, event_ns in _RECORD.iter_unpack(data))


def _argument(parameter: Parameter, layout: Layout, scalars: Mapping[str, Any], rule: LinkRule) -> bytes:
    size = parameter.dtype.itemsize
    if not parameter.pointer:
        value = np.array(scalars[parameter.name], parameter.dtype).tobytes()
        return _ARGUMENT.pack(_Kind.SCALAR, 0, 0, 0, value, RuleKind.FIXED, size, 0, 0)
    region = layout.regions[parameter.name]
    kind = _Kind.HOST_READABLE_ARRAY if parameter.valid_on_host else _Kind.DEVICE_ARRAY
    place = (kind, parameter.output, region.offset, region.data_bytes)
    return _ARGUMENT.pack(*place, b"", rule.kind, size, rule.first, rule.second)


def _page_up(offset: int) -> int:
    return -(-offset // PAGE_BYTES) * PAGE_BYTES
