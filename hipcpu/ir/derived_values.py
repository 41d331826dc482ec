"""Values that follow from a kernel's parameters and indices alone: computing them again is cheaper than keeping them.

A value like `blockIdx.x * blockDim.x + threadIdx.x` that is live across a barrier would be kept in the context, and
LLVM would no longer see that it grows by one from thread to thread, which makes an access contiguous. So such
definitions are taken out of the body, and each region that uses one gets a copy.
"""

from __future__ import annotations

from collections.abc import Iterable

from hipcpu.ir.function import Blocks
from hipcpu.ir.instruction import Instruction
from hipcpu.ir.text import words
from hipcpu.ir.value_types import is_scalar

# Instructions without side effects that may run even if the kernel would not run them: at worst they give poison.
_ARITHMETIC = frozenset(words("add sub mul shl lshr ashr and or xor sext zext trunc bitcast sitofp uitofp icmp"))
_DIVISIONS = frozenset(("udiv", "urem", "sdiv", "srem"))
_CALLED = ("@llvm.smax.", "@llvm.smin.", "@llvm.umax.", "@llvm.umin.")


def without_derived_values(blocks: Blocks, given: set[str]) -> tuple[Blocks, tuple[Instruction, ...]]:
    """Take out the definitions that follow from the values in `given`; returns the blocks and these definitions."""
    known = set(given)
    derived: list[Instruction] = []
    changed: Blocks = {}
    for label, block in blocks.items():
        kept: list[Instruction] = []
        for one in block.instructions:
            if one.result and known.issuperset(one.names) and _can_be_repeated(one):
                known.add(one.result)
                derived.append(one)
            else:
                kept.append(one)
        changed[label] = block.with_instructions(kept)
    return changed, tuple(derived)


def _can_be_repeated(one: Instruction) -> bool:
    if one.metadata or not is_scalar(one.type) or not all(is_scalar(operand.type) for operand in one.operands):
        return False
    if one.opcode in _DIVISIONS:
        divisor = one.operands[1].value
        return divisor.isdigit() and divisor != "0"
    if one.opcode in ("call", "select"):
        return not one.flags and (one.opcode == "select" or one.calls(*_CALLED))
    return one.opcode in _ARITHMETIC or one.opcode == "getelementptr"


def needed(derived: tuple[Instruction, ...], used: Iterable[str]) -> list[Instruction]:
    """Return the definitions, in order, that the names in `used` need."""
    wanted = set(used)
    for definition in reversed(derived):
        if definition.result in wanted:
            wanted.update(definition.names)
    return [definition for definition in derived if definition.result in wanted]
