"""Hints about registers, scratch memory and occupancy."""

from __future__ import annotations

from collections.abc import Iterator

from services.executor.devices.gfx942.assembly import MATRIX_INSTRUCTIONS, Code, Figures, Instruction
from services.executor.devices.gfx942.hints.hint import Hint, line_list
from services.executor.devices.gfx942.occupancy import (
    MAX_BLOCK_THREADS,
    VECTOR_REGISTERS,
    Demand,
    Limit,
    Occupancy,
    saving_for_next_step,
)

# With fewer wavefronts on a SIMD there is little to switch to while one waits for memory. Kernels on matrix cores keep
# their data in registers instead, and are often best with one or two.
_FEW_WAVEFRONTS = 4
# LDS is shared by the wavefronts of a block: if a kernel does not give its block size, only clear cases get a hint.
_VERY_FEW_WAVEFRONTS = 3
_SCRATCH = ("scratch_load", "scratch_store")


def resource_hints(
    code: Code, figures: Figures, demand: Demand, occupancy: Occupancy, *, known: bool
) -> Iterator[Hint]:
    """Yield hints from the figures and instructions; `known` is True if the kernel gives its block size."""
    scratch = [item for item in code.instructions if item.mnemonic.startswith(_SCRATCH)]
    yield from _spills(figures, [item for item in scratch if _is_spill(item)])
    yield from _local_arrays(figures, [item for item in scratch if not _is_spill(item)])
    uses_matrix_cores = any(item.mnemonic.startswith(MATRIX_INSTRUCTIONS) for item in code.instructions)
    few = _FEW_WAVEFRONTS if known or occupancy.limit is not Limit.LDS else _VERY_FEW_WAVEFRONTS
    if occupancy.wavefronts < few and not uses_matrix_cores:
        yield from _few_wavefronts(demand, occupancy, known=known)


def _is_spill(instruction: Instruction) -> bool:
    return "Folded Spill" in instruction.note or "Folded Reload" in instruction.note


def _spills(figures: Figures, moves: list[Instruction]) -> Iterator[Hint]:
    count = figures["vgpr_spill_count"]
    if not count or not moves:
        return
    places = line_list(item.line for item in moves)
    limit = figures["max_flat_workgroup_size"]
    advice = "keep fewer values alive at once: smaller tiles per thread, or fewer loop iterations unrolled"
    if limit == MAX_BLOCK_THREADS:
        advice = (
            "if your blocks are smaller than 1024 threads, say so with __launch_bounds__(threads): without it a thread"
            f" may use {VECTOR_REGISTERS // 4} of {VECTOR_REGISTERS} registers. Otherwise {advice}"
        )
    yield Hint(
        "spills",
        next((item.line for item in moves if item.line), 0),
        f"{count} vector registers are spilled to scratch memory",
        f"{len(moves)} instructions move them out and back{f' ({places})' if places else ''}; scratch is global memory",
        advice,
    )


def _local_arrays(figures: Figures, accesses: list[Instruction]) -> Iterator[Hint]:
    scratch_bytes = figures["private_segment_fixed_size"]
    if not scratch_bytes or not accesses:
        return
    places = line_list(item.line for item in accesses)
    yield Hint(
        "local-array",
        next((item.line for item in accesses if item.line), 0),
        "a local array lies in scratch memory, not in registers",
        f"{len(accesses)} instructions access it{f' ({places})' if places else ''}, {scratch_bytes} bytes per thread;"
        " registers cannot be indexed by a value that is only known at run time",
        "index it by constants only (unroll the loops over it with #pragma unroll), or keep it in __shared__ memory",
    )


def _few_wavefronts(demand: Demand, occupancy: Occupancy, *, known: bool) -> Iterator[Hint]:
    saving = saving_for_next_step(demand)
    if saving is None:
        return
    limit, amount = saving
    if limit is Limit.LDS:
        what, unit = f"{demand.lds_bytes} bytes of LDS in each block", "bytes of LDS"
    else:
        what, unit = f"{demand.vector_registers} vector registers in each thread", "vector registers"
    yield Hint(
        "occupancy",
        0,
        f"only {occupancy.wavefronts} of 8 wavefronts fit on a SIMD",
        f"{what} ({'' if known else 'if '}blocks of {demand.block_threads} threads) keep more from fitting; a SIMD has"
        " nothing else to do while all of its wavefronts wait for memory",
        f"{amount} {unit} less would let one wavefront more in",
    )
