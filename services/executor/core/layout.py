"""Where each argument of a call lies in the memory that judge and runner share.

The first page is the plan: it tells the runner the kinds and sizes. Each array then has a region of its own, with a
guard band on both sides that the runner copies to the device and back together with the data.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from problems.signature import Parameter

GUARD_BYTES = 4096
"""On each side of an array; a whole page, so that data keeps the alignment of its allocation."""
PAGE_BYTES = 4096
MOST_ARGUMENTS = 60

_PLAN_MAGIC = 0x314E414C50505721
_HEADER = struct.Struct("<QQII40x")
_ARGUMENT = struct.Struct("<IIQQ16s24x")


class _Kind(IntEnum):
    SCALAR = 0
    DEVICE_ARRAY = 1
    HOST_READABLE_ARRAY = 2


@dataclass(frozen=True)
class Region:
    """One array: `offset` is where its first guard band begins."""

    parameter: Parameter
    shape: tuple[int, ...]
    offset: int

    @property
    def data_bytes(self) -> int:
        """Without the guards."""
        return math.prod(self.shape) * self.parameter.dtype.itemsize

    @property
    def end(self) -> int:
        """The first byte after the last guard band."""
        return self.offset + self.data_bytes + 2 * GUARD_BYTES


@dataclass(frozen=True)
class Layout:
    """The regions of a call's arrays, by name, and the size of the whole memory."""

    parameters: tuple[Parameter, ...]
    regions: Mapping[str, Region]
    file_bytes: int


def layout_of(parameters: Sequence[Parameter], shapes: Mapping[str, tuple[int, ...]]) -> Layout:
    """Place every array; raises ValueError for more arguments than a plan can name."""
    if len(parameters) > MOST_ARGUMENTS:
        raise ValueError(f"a signature has at most {MOST_ARGUMENTS} parameters, not {len(parameters)}")
    regions: dict[str, Region] = {}
    end = PAGE_BYTES
    for parameter in parameters:
        if parameter.pointer:
            regions[parameter.name] = region = Region(parameter, shapes[parameter.name], _page_up(end))
            end = region.end
    return Layout(tuple(parameters), regions, _page_up(end))


def plan_bytes(layout: Layout, scalars: Mapping[str, Any]) -> bytes:
    """The first page; raises OverflowError for a scalar that its type cannot hold."""
    header = _HEADER.pack(_PLAN_MAGIC, layout.file_bytes, len(layout.parameters), GUARD_BYTES)
    return header + b"".join(_argument(parameter, layout, scalars) for parameter in layout.parameters)


def _argument(parameter: Parameter, layout: Layout, scalars: Mapping[str, Any]) -> bytes:
    if not parameter.pointer:
        value = np.array(scalars[parameter.name], parameter.dtype).tobytes()
        return _ARGUMENT.pack(_Kind.SCALAR, 0, 0, 0, value)
    region = layout.regions[parameter.name]
    kind = _Kind.HOST_READABLE_ARRAY if parameter.valid_on_host else _Kind.DEVICE_ARRAY
    return _ARGUMENT.pack(kind, 0, region.offset, region.data_bytes, b"")


def _page_up(offset: int) -> int:
    return -(-offset // PAGE_BYTES) * PAGE_BYTES
