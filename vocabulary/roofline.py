"""The limits that a GPU's roofs set: the least time of a call, and how near a kernel comes to it.

Roofs are the maker's figures for the GPUs in `roofs.toml`. Without roofs (any other GPU, and the cpu device) there is
no floor and no percentage.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any

_FILE = Path(__file__).with_name("roofs.toml")


class Bound(StrEnum):
    """The limit that bounds a kernel's time."""

    UNKNOWN = "unknown"
    """No roof is known, for example on the cpu device."""
    MEMORY = "memory"
    COMPUTE = "compute"
    LAUNCH = "launch"


@dataclass(frozen=True)
class Roofs:
    """A GPU's limits. Up to `write_cache_bytes` of writes may stay in the last cache until after the call."""

    bytes_per_second: float
    flops_per_second: Mapping[str, float]
    write_cache_bytes: float
    launch_seconds: float
    source: str = ""


@dataclass(frozen=True)
class Work:
    """The work of one call: its compulsory traffic, and operations on `dtype`.

    `flops_are_least`: no right kernel does fewer operations, as the problem fixes the algorithm, and the type that they
    are done in.
    """

    read_bytes: float
    written_bytes: float
    flops: float
    dtype: str
    flops_are_least: bool = False

    @property
    def arithmetic_intensity(self) -> float | None:
        """Operations per byte; None if nothing is moved."""
        moved = self.read_bytes + self.written_bytes
        return self.flops / moved if moved > 0 else None


@dataclass(frozen=True)
class Floor:
    """The least time of a call, and the reason for it in words."""

    seconds: float
    because: str


# The clocks' rounding can make a time appear this much below the floor.
_FLOOR_SLACK = 0.95


def roofs_of(architecture: str, title: str) -> Roofs | None:
    """The roofs of the GPU that the driver calls `title`; None if they are not known.

    A compile target alone does not identify a GPU: MI300X and MI300A share one, with other roofs.
    """
    for gpu in _known():
        if gpu["architecture"] == architecture and any(_is_word_of(title, name) for name in gpu["names"]):
            return _roofs(gpu)
    return None


def roofs_of_type(gpu_type: str) -> Roofs | None:
    """The roofs of a GPU type, such as MI300X; None if they are not known, or the type has GPUs with several."""
    found = [gpu for gpu in _known() if gpu_type.lower() in (name.lower() for name in gpu["names"])]
    return _roofs(found[0]) if len(found) == 1 else None


def _is_word_of(title: str, name: str) -> bool:
    """True if a title has the name as separate words: a GH200 is no H200."""
    return re.search(rf"\b{re.escape(name)}\b", title) is not None


def roofs_note(roofs: Roofs | None, title: str) -> str:
    """The source of a GPU's roofs, for the report, or a note that there is no floor."""
    return roofs.source if roofs else f"none are known of `{title}`: no time is too short for it, and has no percentage"


@cache
def _known() -> Sequence[Mapping[str, Any]]:
    return tomllib.loads(_FILE.read_text("utf-8"))["gpu"]


def _roofs(gpu: Mapping[str, Any]) -> Roofs:
    return Roofs(
        bytes_per_second=gpu["memory_tb_per_second"] * 1e12,
        flops_per_second={dtype: peak * 1e12 for dtype, peak in gpu["peaks"].items()},
        write_cache_bytes=gpu["write_cache_mib"] * 2**20,
        launch_seconds=gpu["launch_us"] * 1e-6,
        source=gpu["source"],
    )


def floor_of(roofs: Roofs, work: Work) -> Floor:
    """The physical floor: the longest of the least times for traffic, operations and the launch.

    Writes that fit into the last cache may reach memory after the call. Operations count only if no algorithm needs
    fewer: matrices can be multiplied in fewer than 2 n^3 (V. Strassen, Gaussian elimination is not optimal, 1969), and
    fp32 products can be put together from those of narrower types.
    """
    traffic = work.read_bytes + max(0.0, work.written_bytes - roofs.write_cache_bytes)
    flops = work.flops if work.flops_are_least else 0.0
    bandwidth, rate = roofs.bytes_per_second, peak_of(roofs, work.dtype)
    floors = (
        Floor(roofs.launch_seconds, "launching a kernel"),
        Floor(traffic / bandwidth, f"moving {traffic:.4g} bytes at {bandwidth / 1e12:g} TB/s"),
        Floor(flops / rate, f"doing {flops:.4g} operations at {rate / 1e12:g} TFLOP/s"),
    )
    return max(floors, key=lambda floor: floor.seconds)


def is_below_floor(roofs: Roofs, work: Work, seconds: float) -> bool:
    """True if a claimed time cannot be true."""
    return seconds < _FLOOR_SLACK * floor_of(roofs, work).seconds


def peak_of(roofs: Roofs, dtype: str) -> float:
    """Operations per second on a type. All float8 types are alike; a type without a figure gets the fastest."""
    return roofs.flops_per_second.get(_spelling(dtype), max(roofs.flops_per_second.values()))


def bound_of(roofs: Roofs, work: Work, seconds: float) -> tuple[Bound, float]:
    """The roof that bounds a call of `seconds`, and the percentage of it that the call reached."""
    bound, least = roof_of(roofs, work)
    return bound, 100 * least / seconds


def roof_of(roofs: Roofs, work: Work) -> tuple[Bound, float]:
    """The roof that bounds every call, and the seconds of a call that reaches it."""
    memory = (work.read_bytes + work.written_bytes) / roofs.bytes_per_second
    compute = work.flops / peak_of(roofs, work.dtype)
    if max(memory, compute) < roofs.launch_seconds:
        return Bound.LAUNCH, roofs.launch_seconds
    return (Bound.MEMORY, memory) if memory >= compute else (Bound.COMPUTE, compute)


def has_peak(roofs: Roofs, dtype: str) -> bool:
    """True if the maker states the rate of operations on a type."""
    return _spelling(dtype) in roofs.flops_per_second


def _spelling(dtype: str) -> str:
    return "float8" if dtype.startswith("float8") else dtype
