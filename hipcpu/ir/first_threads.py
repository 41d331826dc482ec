"""Regions in which only the first threads of a row have work, like `if (threadIdx.x == 0)` or half a reduction."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hipcpu.ir.index_values import parameter

if TYPE_CHECKING:
    from collections.abc import Collection

    from hipcpu.ir.function import Blocks
    from hipcpu.ir.instruction import Instruction

_FIRST = frozenset(("eq", "ult", "slt"))
_EFFECTS = frozenset(("call", "atomicrmw", "cmpxchg"))


def first_threads(
    blocks: Blocks, start: str, stops: Collection[str], derived: tuple[Instruction, ...], variables: Collection[str]
) -> int | None:
    """Return how many threads of a row have work in the region from `start`; None means all, or unknown.

    The caller makes sure that nothing, including `variables`, must be kept or shown at the end of the region.
    """
    *before, last = blocks[start].instructions
    if last.opcode != "br" or not last.operands or not all(map(_has_no_effect, before)):
        return None
    condition = next((one for one in derived if one.result == last.operands[0].value), None)
    if condition is None or condition.opcode != "icmp" or condition.predicate not in _FIRST:
        return None
    (kind, index, *_), (_, limit, *_) = condition.operands
    if kind != "i32" or index != parameter("thread_x") or not limit.isdigit():
        return None
    if not _ends_idly(blocks, last.targets[1], stops, variables):
        return None
    if condition.predicate == "eq":
        return 1 if limit == "0" else None
    return int(limit) or None


def _has_no_effect(one: Instruction) -> bool:
    if not one.result:
        return (one.opcode == "br" and not one.operands) or one.opcode == "ret"
    return one.opcode not in _EFFECTS and one.is_plain


def _ends_idly(blocks: Blocks, label: str, stops: Collection[str], variables: Collection[str]) -> bool:
    seen: set[str] = set()
    while label not in stops:
        block = blocks[label]
        idle = all(_has_no_effect(one) or one.stored in variables for one in block.instructions)
        if not idle or label in seen or len(block.targets) > 1:
            return False
        if not block.targets:
            return block.instructions[-1].opcode == "ret"
        seen.add(label)
        label = block.targets[0]
    return True
