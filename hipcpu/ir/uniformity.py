"""Which private variables have the same value in all threads of a block whenever it can be read.

A loop counter around a barrier is the usual one. Kept once instead of once per thread, LLVM sees that accesses which
use it are contiguous. A variable is uniform when every store to it stores a uniform value, and none that is made
between a branch on a non-uniform condition and where its ways meet again can be read there. The answer is used only
where no meeting lies between such a branch and where its ways meet, so that threads never wait at different ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hipcpu.ir.blocks import (
    is_declaration,
    live_at_entry,
    loaded_variable,
    names_in,
    stored_variable,
)
from hipcpu.ir.index_values import THREAD, parameter

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hipcpu.ir.blocks import Block, Variable
    from hipcpu.ir.derived_values import Derived

_OPAQUE = (" load ", " call ", " atomicrmw ", " cmpxchg ", " phi ", " alloca ")
_END = ("  ret void",)


@dataclass(frozen=True)
class Uniformity:
    """What is the same for all threads of a block."""

    variables: frozenset[str]
    """The names of uniform variables; none where threads may wait at different meetings."""
    together: bool
    """Whether all threads come to the same meetings, each of them, and to their ends."""
    apart: frozenset[str]
    """The labels of blocks to which not all threads may come, or not at the same time."""


def uniformity_of(
    blocks: Mapping[str, Block], variables: Mapping[str, Variable], derived: tuple[Derived, ...], meetings: set[str]
) -> Uniformity:
    """Analyse a kernel's body, whose `meetings` are the labels of blocks of their own."""
    strict = _Analysis(blocks, variables, derived, {label: block.targets for label, block in blocks.items()})
    strict.run()
    if not strict.apart & meetings:
        return Uniformity(frozenset(variables) - strict.varying, together=True, apart=frozenset(strict.apart))
    # Threads that a branch sends straight to their end read nothing any more.
    lasting = {label: tuple(t for t in block.targets if blocks[t].lines != _END) for label, block in blocks.items()}
    lenient = _Analysis(blocks, variables, derived, lasting)
    lenient.run()
    known = frozenset[str]() if lenient.apart & meetings else frozenset(variables) - lenient.varying
    return Uniformity(known, together=False, apart=frozenset(lenient.apart))


class _Analysis:
    def __init__(
        self,
        blocks: Mapping[str, Block],
        variables: Mapping[str, Variable],
        derived: tuple[Derived, ...],
        targets: Mapping[str, tuple[str, ...]],
    ) -> None:
        self._blocks = blocks
        # A thread that ends the process does not part from the others.
        fatal = {label for label, block in blocks.items() if block.lines[-1].strip() == "unreachable"}
        self._targets = {label: tuple(t for t in ways if t not in fatal) for label, ways in targets.items()}
        self._after = _post_dominators(self._targets)
        self._variables = variables
        self._live = live_at_entry(blocks, {name for name, variable in variables.items() if variable.simple})
        self.varying = {parameter(index) for index in THREAD} | {"%wp.thread"}
        self.varying |= {name for name, variable in variables.items() if not variable.simple or variable.type == "i1"}
        for definition in derived:
            if self.varying.intersection(definition.operands):
                self.varying.add(definition.name)
        self.apart: set[str] = set()

    def run(self) -> None:
        """Repeat until nothing more is found to vary."""
        size = -1
        while size != len(self.varying) + len(self.apart):
            size = len(self.varying) + len(self.apart)
            for block in self._blocks.values():
                for line in block.lines:
                    self._read(line)
                if len(block.targets) > 1 and self.varying.intersection(names_in(block.lines[-1])):
                    between = self._between(block.label)
                    self.apart |= between
                    self.varying |= self._stored_in(between) & self._read_where_ways_meet(block.label)

    def _stored_in(self, labels: set[str]) -> set[str]:
        stored = {stored_variable(line) for label in labels for line in self._blocks[label].lines}
        return {name for name in stored if name is not None and name in self._variables}

    def _read_where_ways_meet(self, label: str) -> set[str]:
        """The variables that may be read after blocks to which several ways from a branch lead."""
        ways = [self._from(target, self._after[label] - {label}) for target in set(self._targets[label])]
        meeting = {block for number, way in enumerate(ways) for other in ways[:number] for block in way & other}
        return {name for block in meeting for name in self._live[block]}

    def _from(self, label: str, stop: frozenset[str]) -> set[str]:
        """The blocks that can be reached, to the first that is in `stop`."""
        seen, waiting = {label}, [label]
        while waiting:
            current = waiting.pop()
            if current not in stop:
                fresh = set(self._targets[current]) - seen
                seen |= fresh
                waiting += fresh
        return seen

    def _read(self, line: str) -> None:
        stored = stored_variable(line)
        if stored in self._variables:
            if self.varying.intersection(names_in(line)):
                self.varying.add(str(stored))
        elif " = " in line and not is_declaration(line):
            result, operation = line.split(" = ", 1)
            opaque = any(word in f" {operation}" for word in _OPAQUE) and loaded_variable(line) not in self._variables
            if opaque or self.varying.intersection(names_in(operation)):
                self.varying.add(result.strip())

    def _between(self, label: str) -> set[str]:
        """The blocks on the ways from a branch to where they meet again."""
        stop = self._after[label] - {label}
        seen: set[str] = set()
        waiting = [target for target in self._targets[label] if target not in stop]
        while waiting:
            current = waiting.pop()
            seen.add(current)
            waiting += [t for t in self._targets[current] if t not in stop and t not in seen]
        return seen


def _post_dominators(targets: Mapping[str, tuple[str, ...]]) -> dict[str, frozenset[str]]:
    """For each block, the blocks that every way from it to an end comes through, itself among them."""
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
