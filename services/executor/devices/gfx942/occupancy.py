"""Occupancy: the number of a kernel's wavefronts on each SIMD of a CDNA3 compute unit, and its limit.

The limits are from AMD's "CDNA3 Instruction Set Architecture" reference guide (December 2023; vector registers and LDS
in chapters 3 and 11) and, for allocation granules and the 16 barriers, from LLVM's description of gfx942
(AMDGPUBaseInfo.cpp: getVGPRAllocGranule, getSGPRAllocGranule, getLocalMemorySize, getMaxWorkGroupsPerCU).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

WAVEFRONT_THREADS = 64
SIMDS_PER_COMPUTE_UNIT = 4
MAX_WAVEFRONTS = 8
"""Maximum per SIMD."""
VECTOR_REGISTERS = 512
"""Maximum per lane of a SIMD: architected and accumulation registers share one file."""
VECTOR_REGISTER_GRANULE = 8
SCALAR_REGISTERS = 800
SCALAR_REGISTER_GRANULE = 16
LDS_BYTES = 64 << 10
LDS_GRANULE_BYTES = 512
MAX_BARRIERS = 16
"""Maximum number of blocks of several wavefronts on a compute unit: each needs a barrier."""
MAX_BLOCK_THREADS = 1024


class Limit(StrEnum):
    """The reason why no more wavefronts fit."""

    WAVEFRONTS = "wavefronts"
    """No other limit: the SIMD is full."""
    VECTOR_REGISTERS = "vgpr"
    SCALAR_REGISTERS = "sgpr"
    LDS = "lds"
    BLOCK_SIZE = "block"
    """Whole blocks of this size do not fill the SIMD."""


@dataclass(frozen=True)
class Demand:
    """A kernel's needs: registers of a lane (both vector kinds together), LDS and threads of a block."""

    vector_registers: int
    scalar_registers: int
    lds_bytes: int
    block_threads: int


@dataclass(frozen=True)
class Occupancy:
    """The number of `wavefronts` on each SIMD, rounded down, and its limit; 0 if not even one block fits."""

    wavefronts: int
    limit: Limit


def occupancy_of(demand: Demand) -> Occupancy:
    """Return the occupancy; raises ValueError for a demand that no kernel can have."""
    _check(demand)
    block_wavefronts = -(-demand.block_threads // WAVEFRONT_THREADS)
    per_resource = {
        Limit.VECTOR_REGISTERS: _by_registers(demand.vector_registers, VECTOR_REGISTERS, VECTOR_REGISTER_GRANULE),
        Limit.SCALAR_REGISTERS: _by_registers(demand.scalar_registers, SCALAR_REGISTERS, SCALAR_REGISTER_GRANULE),
    }
    blocks = {limit: each * SIMDS_PER_COMPUTE_UNIT // block_wavefronts for limit, each in per_resource.items()}
    if demand.lds_bytes:
        blocks[Limit.LDS] = LDS_BYTES // _up(demand.lds_bytes, LDS_GRANULE_BYTES)
    full = MAX_WAVEFRONTS * SIMDS_PER_COMPUTE_UNIT // block_wavefronts
    blocks[Limit.BLOCK_SIZE] = full if block_wavefronts == 1 else min(full, MAX_BARRIERS)
    limit = min(blocks, key=lambda name: (blocks[name], name is not Limit.BLOCK_SIZE))
    wavefronts = blocks[limit] * block_wavefronts // SIMDS_PER_COMPUTE_UNIT
    return Occupancy(wavefronts, Limit.WAVEFRONTS if wavefronts == MAX_WAVEFRONTS else limit)


def saving_for_next_step(demand: Demand) -> tuple[Limit, int] | None:
    """Return the limiting resource and its least saving for one more wavefront: registers of a lane, or bytes of LDS.

    The answer is None if neither is the limit, or if saving it alone does not help.
    """
    now = occupancy_of(demand)
    if now.limit is Limit.VECTOR_REGISTERS:
        return _saving(demand, now, "vector_registers", VECTOR_REGISTER_GRANULE)
    if now.limit is Limit.LDS:
        return _saving(demand, now, "lds_bytes", LDS_GRANULE_BYTES)
    return None


def _saving(demand: Demand, now: Occupancy, name: str, granule: int) -> tuple[Limit, int] | None:
    have: int = getattr(demand, name)
    for wanted in range((have - 1) // granule * granule, 0, -granule):
        if occupancy_of(replace(demand, **{name: wanted})).wavefronts > now.wavefronts:
            return now.limit, have - wanted
    return None


def _by_registers(count: int, file: int, granule: int) -> int:
    return min(MAX_WAVEFRONTS, file // _up(max(count, 1), granule))


def _up(value: int, granule: int) -> int:
    return -(-value // granule) * granule


def _check(demand: Demand) -> None:
    bounds = {
        "vector_registers": (0, VECTOR_REGISTERS),
        "scalar_registers": (0, SCALAR_REGISTERS),
        "lds_bytes": (0, LDS_BYTES),
        "block_threads": (1, MAX_BLOCK_THREADS),
    }
    for name, (least, most) in bounds.items():
        value = getattr(demand, name)
        if not least <= value <= most:
            raise ValueError(f"{name} is {value}; it must be {least} to {most}")
