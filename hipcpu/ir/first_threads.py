"""Regions that only the first threads of each row have work in, like `if (threadIdx.x == 0)` or half of a reduction."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hipcpu.ir.blocks import stored_variable

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from hipcpu.ir.blocks import Block
    from hipcpu.ir.derived_values import Derived

_BRANCH = re.compile(r'^\s*br i1 (%(?:"[^"]*"|[-\w$.]+)), label (%(?:"[^"]*"|[-\w$.]+)), label (%(?:"[^"]*"|[-\w$.]+))')
_FIRST = re.compile(r" = icmp (?:samesign )?(eq|ult|slt) i32 %wp\.thread_x, (\d+)$")
_NO_EFFECT = re.compile(r"^\s*(?:br label |ret void|%\S+ = (?!.*\b(?:call|atomicrmw|cmpxchg|volatile|atomic)\b))")


def first_threads(
    blocks: Mapping[str, Block],
    start: str,
    stops: Collection[str],
    derived: tuple[Derived, ...],
    variables: Collection[str],
) -> int | None:
    """How many threads of a row do more in the region from `start` on than to come to its end; None is all, or unknown.

    That nothing need be kept or shown at the end of the region, `variables` among it, is the caller's to see to.
    """
    *before, last = blocks[start].lines
    match = _BRANCH.match(last)
    if not match or not all(_NO_EFFECT.match(line) for line in before):
        return None
    lines = [definition.line for definition in derived if definition.name == match[1]]
    found = _FIRST.search(lines[0]) if lines else None
    if not found or not _ends_idly(blocks, match[3], stops, variables):
        return None
    if found[1] == "eq":
        return 1 if found[2] == "0" else None
    return int(found[2]) or None


def _ends_idly(blocks: Mapping[str, Block], label: str, stops: Collection[str], variables: Collection[str]) -> bool:
    seen: set[str] = set()
    while label not in stops:
        block = blocks[label]
        idle = all(_NO_EFFECT.match(line) or stored_variable(line) in variables for line in block.lines)
        if not idle or label in seen or len(block.targets) > 1:
            return False
        if not block.targets:
            return block.lines[-1].strip() == "ret void"
        seen.add(label)
        label = block.targets[0]
    return True
