"""Places at which device threads wait for each other: finds these calls in a kernel's IR and isolates them."""

from __future__ import annotations

from dataclasses import dataclass

from hipcpu.ir.function import Block, Blocks, block
from hipcpu.ir.instruction import Instruction

_BLOCK, _WAVE, _MATRIX = "@__wp_block_barrier", "@__wp_wave_barrier", "@__wp_matrix_barrier"


@dataclass(frozen=True)
class Barrier:
    """A call at which threads wait for their block or for their wavefront.

    `value` and `mask` are the IR operands that the thread brings, e.g. `%v` or `0`.
    """

    is_wave: bool
    value: str
    mask: str
    line: int
    matrix: int = 0
    """The matrix instruction that the wavefront executes there, as in `runtime/matrix/matrix.h`; 0 for none."""

    @property
    def has_mask(self) -> bool:
        """True if the barrier also names lanes or has a predicate to count."""
        return (self.mask if self.is_wave else self.value) != "0"


def barrier_of(instruction: Instruction) -> Barrier | None:
    """Return the barrier that an instruction calls, or None."""
    if instruction.callee not in (_BLOCK, _WAVE, _MATRIX):
        return None
    *value_and_mask, line = (operand.value for operand in instruction.operands)
    if instruction.callee == _MATRIX:
        operation, modifiers = map(int, value_and_mask)
        return Barrier(True, "0", "0", _line(line), operation & 0xFF | (modifiers & 0xFFFFFF) << 8)
    value, mask = (*value_and_mask, "0")[:2]
    return Barrier(instruction.callee == _WAVE, value, mask, _line(line))


def _line(operand: str) -> int:
    return int(operand) if operand.isdigit() else 0


def is_any_matrix_instruction(instruction: Instruction) -> bool:
    """Return True for a matrix instruction that is not known before it is executed."""
    if instruction.callee != _MATRIX:
        return False
    return not all(operand.value.lstrip("-").isdigit() for operand in instruction.operands[:2])


def barrier_label(number: int) -> str:
    """Return the label of the block that holds only barrier `number`."""
    return f"%wp.barrier.{number}"


def after_label(number: int) -> str:
    """Return the label of the block at which threads go on after barrier `number`."""
    return f"%wp.after.{number}"


def with_barriers_apart(blocks: Blocks) -> tuple[Blocks, int]:
    """Put every barrier into a block of its own; returns the blocks and the number of barriers."""
    count = 0
    cut: list[Block] = []
    renamed: dict[str, str] = {}
    for label, each in blocks.items():
        heading, current = each.heading, list[Instruction]()
        for one in each.instructions:
            if not barrier_of(one):
                current.append(one)
                continue
            waiting, after = barrier_label(count), after_label(count)
            count += 1
            cut.append(Block(renamed.get(label, label), (*current, Instruction(f"  br label {waiting}")), heading))
            cut.append(block(waiting, [one.text, f"  br label {after}"]))
            heading, current = f"\n{after[1:]}:", []
            renamed[label] = after
        cut.append(Block(renamed.get(label, label), tuple(current), heading))
    return {each.label: _with_renamed_sources(each, renamed) for each in cut}, count


def _with_renamed_sources(each: Block, renamed: dict[str, str]) -> Block:
    return each.with_instructions(one.renamed(renamed) if one.opcode == "phi" else one for one in each.instructions)
