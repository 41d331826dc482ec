"""The private variables of a function, and their liveness."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from hipcpu.ir.function import Block, Blocks
from hipcpu.ir.instruction import Instruction


@dataclass(frozen=True)
class Variable:
    """A private variable; `simple` if it is only loaded and stored whole, so that it can live in a register."""

    name: str
    type: str
    simple: bool


def variables_of(blocks: Blocks) -> dict[str, Variable]:
    """Return the private variables of a function, by name."""
    instructions = [one for block in blocks.values() for one in block.instructions]
    types = {one.result: one.element_type for one in instructions if one.opcode == "alloca"}
    tangled = {name for one in instructions for name in _tangled_in(one, types)}
    return {name: Variable(name, kind, name not in tangled) for name, kind in types.items()}


def _tangled_in(instruction: Instruction, types: Mapping[str, str]) -> list[str]:
    """Return the variables that an instruction uses in other ways than loading or storing them whole."""
    used = [name for name in instruction.names if name in types]
    if not used or len(used) > 1:
        return used
    is_whole = used[0] in (instruction.loaded, instruction.stored) and instruction.accessed_type == types[used[0]]
    return [] if is_whole else used


def stored_in(blocks: Iterable[Block]) -> Iterator[str]:
    """Yield the addresses of all plain stores."""
    return (one.stored for block in blocks for one in block.instructions if one.stored)


def live_at_entry(blocks: Blocks, simple: set[str]) -> dict[str, frozenset[str]]:
    """Return, by label, the simple variables whose values at a block's start may still be read."""
    effects = {label: _effects(block, simple) for label, block in blocks.items()}
    live: dict[str, frozenset[str]] = dict.fromkeys(blocks, frozenset())
    changed = True
    while changed:
        changed = False
        for label in reversed(list(blocks)):
            read, written = effects[label]
            after = frozenset[str]().union(*(live[target] for target in blocks[label].targets))
            now = read | (after - written)
            changed |= now != live[label]
            live[label] = now
    return live


def _effects(block: Block, simple: set[str]) -> tuple[frozenset[str], frozenset[str]]:
    read: set[str] = set()
    written: set[str] = set()
    for one in block.instructions:
        if one.loaded in simple and one.loaded not in written:
            read.add(one.loaded)
        if one.stored in simple:
            written.add(one.stored)
    return frozenset(read), frozenset(written)
