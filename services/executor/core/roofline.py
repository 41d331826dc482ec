"""What a GPU's roofs allow: the least time that a call can take, and how near to it a kernel comes.

Roofs are the maker's figures. Without roofs (the cpu device) there is no floor and no percentage.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from services.executor.core.events import Bound

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class Roofs:
    """A GPU's limits. Writes up to `write_cache_bytes` may rest in the last cache and reach no memory in the call."""

    bytes_per_second: float
    flops_per_second: Mapping[str, float]
    write_cache_bytes: float
    launch_seconds: float


@dataclass(frozen=True)
class Work:
    """What one call has to do: compulsory traffic and operations on `dtype`."""

    read_bytes: float
    written_bytes: float
    flops: float
    dtype: str


# AMD's data sheet of the MI300X; a null launch of 2 us is below what any published measurement shows.
_MI300X = Roofs(
    bytes_per_second=5.3e12,
    flops_per_second={
        "float64": 163.4e12,
        "float32": 163.4e12,
        "tfloat32": 653.7e12,
        "float16": 1307.4e12,
        "bfloat16": 1307.4e12,
        "float8": 2614.9e12,
        "int8": 2614.9e12,
    },
    write_cache_bytes=256 * 2**20,
    launch_seconds=2e-6,
)
_ROOFS = {"gfx942": _MI300X}
# A time this much below the floor is still possible by rounding of the clocks.
_FLOOR_SLACK = 0.95


def roofs_of(architecture: str) -> Roofs | None:
    """The roofs of a compile target, if they are known."""
    return _ROOFS.get(architecture)


def floor_seconds(roofs: Roofs, work: Work) -> float:
    """The least time of a call. Operations are not in it: a problem can have an algorithm that needs fewer."""
    traffic = work.read_bytes + max(0.0, work.written_bytes - roofs.write_cache_bytes)
    return max(traffic / roofs.bytes_per_second, roofs.launch_seconds)


def is_below_floor(roofs: Roofs, work: Work, seconds: float) -> bool:
    """Whether a claimed time cannot be true."""
    return seconds < _FLOOR_SLACK * floor_seconds(roofs, work)


def bound_of(roofs: Roofs, work: Work, seconds: float) -> tuple[Bound, float]:
    """What bounds a call that took `seconds`, and the percentage of that roof that it reached."""
    memory = (work.read_bytes + work.written_bytes) / roofs.bytes_per_second
    compute = work.flops / roofs.flops_per_second.get(work.dtype, roofs.flops_per_second["float32"])
    if max(memory, compute) < roofs.launch_seconds:
        return Bound.LAUNCH, 100 * roofs.launch_seconds / seconds
    bound = Bound.MEMORY if memory >= compute else Bound.COMPUTE
    return bound, 100 * max(memory, compute) / seconds
