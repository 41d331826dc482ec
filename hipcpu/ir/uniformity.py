"""Finds private variables that have the same value in all threads of a block whenever it can be read.

A typical one is a loop counter around a barrier. If it is kept once instead of once per thread, LLVM sees that accesses
which use it are contiguous. A variable is uniform if every store to it stores a uniform value, and no store made
between a divergent branch and the point at which its ways join can be read there. The answer is used only if no barrier
lies between such a branch and that point, so that threads never wait at different barriers.
"""

from __future__ import annotations

from collections.abc import Mapping

from hipcpu.ir.function import Block, Blocks, successors_of
from hipcpu.ir.index_values import THREAD, parameter
from hipcpu.ir.instruction import Instruction
from hipcpu.ir.variables import Variable, live_at_entry, stored_in

_OPAQUE = frozenset(("load", "call", "atomicrmw", "cmpxchg", "phi"))


def uniform_variables(
    blocks: Blocks, variables: Mapping[str, Variable], derived: tuple[Instruction, ...], barriers: set[str]
) -> frozenset[str]:
    """Return the names of the uniform variables; none if threads may wait at different barriers.

    `barriers` are the labels of the barriers' own blocks.
    """
    strict = _Analysis(blocks, variables, derived, successors_of(blocks))
    strict.run()
    if not strict.divergent & barriers:
        return frozenset(variables) - strict.varying
    # Threads that a branch sends straight to their end read nothing more.
    lasting = {label: tuple(t for t in block.targets if not _is_end(blocks[t])) for label, block in blocks.items()}
    lenient = _Analysis(blocks, variables, derived, lasting)
    lenient.run()
    return frozenset[str]() if lenient.divergent & barriers else frozenset(variables) - lenient.varying


def _is_end(block: Block) -> bool:
    return len(block.instructions) == 1 and block.instructions[0].opcode == "ret"


class _Analysis:
    def __init__(
        self,
        blocks: Blocks,
        variables: Mapping[str, Variable],
        derived: tuple[Instruction, ...],
        targets: Mapping[str, tuple[str, ...]],
    ) -> None:
        self._blocks = blocks
        # A thread that ends the process does not diverge from the others.
        fatal = {label for label, block in blocks.items() if block.instructions[-1].opcode == "unreachable"}
        self._targets = {label: tuple(t for t in ways if t not in fatal) for label, ways in targets.items()}
        self._after = _post_dominators(self._targets)
        self._variables = variables
        self._live = live_at_entry(blocks, {name for name, variable in variables.items() if variable.simple})
        self.varying = {parameter(index) for index in THREAD} | {"%wp.thread"}
        self.varying |= {name for name, variable in variables.items() if not variable.simple or variable.type == "i1"}
        for definition in derived:
            if self.varying.intersection(definition.names):
                self.varying.add(definition.result)
        self.divergent: set[str] = set()

    def run(self) -> None:
        """Repeat until no more values are found to vary."""
        size = -1
        while size != len(self.varying) + len(self.divergent):
            size = len(self.varying) + len(self.divergent)
            for block in self._blocks.values():
                for one in block.instructions:
                    self._read(one)
                if len(block.targets) > 1 and self.varying.intersection(block.instructions[-1].names):
                    between = self._between(block.label)
                    self.divergent |= between
                    self.varying |= self._stored_in(between) & self._read_where_ways_join(block.label)

    def _stored_in(self, labels: set[str]) -> set[str]:
        return self._variables.keys() & set(stored_in(self._blocks[label] for label in labels))

    def _read_where_ways_join(self, label: str) -> set[str]:
        """Return the variables that may be read after blocks in which several ways from a branch meet."""
        ways = [self._from(target, self._after[label] - {label}) for target in set(self._targets[label])]
        joined = {block for number, way in enumerate(ways) for other in ways[:number] for block in way & other}
        return {name for block in joined for name in self._live[block]}

    def _from(self, label: str, stop: frozenset[str]) -> set[str]:
        """Return the reachable blocks, up to and including the first in `stop`."""
        seen, waiting = {label}, [label]
        while waiting:
            current = waiting.pop()
            if current not in stop:
                fresh = set(self._targets[current]) - seen
                seen |= fresh
                waiting += fresh
        return seen

    def _read(self, one: Instruction) -> None:
        if one.stored in self._variables:
            if self.varying.intersection(one.names):
                self.varying.add(one.stored)
        elif one.result and one.opcode != "alloca":
            opaque = one.opcode in _OPAQUE and one.loaded not in self._variables
            if opaque or self.varying.intersection(one.names):
                self.varying.add(one.result)

    def _between(self, label: str) -> set[str]:
        """Return the blocks on the ways from a branch to the point at which they join again."""
        stop = self._after[label] - {label}
        seen: set[str] = set()
        waiting = [target for target in self._targets[label] if target not in stop]
        while waiting:
            current = waiting.pop()
            seen.add(current)
            waiting += [t for t in self._targets[current] if t not in stop and t not in seen]
        return seen


def _post_dominators(targets: Mapping[str, tuple[str, ...]]) -> dict[str, frozenset[str]]:
    """Return, for each block, the blocks on every way from it to an end, including itself."""
    everything = frozenset(targets)
    after = {label: frozenset({label}) if not targets[label] else everything for label in targets}
    changed = True
    while changed:
        changed = False
        for label in reversed(list(targets)):
            ways = [after[target] for target in targets[label]]
            common = set[str]() if not ways else set(ways[0]).intersection(*ways[1:])
            now = frozenset({label, *common})
            changed |= now != after[label]
            after[label] = now
    return after
