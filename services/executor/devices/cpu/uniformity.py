"""Which private variables have the same value in all threads of a block whenever it can be read.

A loop counter around a barrier is the usual one. Kept once instead of once per thread, LLVM sees that accesses which
use it are contiguous. A variable is uniform when every store to it stores a uniform value in a place that all threads
come to together: not between a branch on a non-uniform condition and where its ways meet again. Threads that such a
branch sends straight to their end do not count, since they read nothing any more. The answer is used only where all
meetings are in such places too, so that threads never wait at different ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.executor.devices.cpu.blocks import is_declaration, loaded_variable, names_in, stored_variable
from services.executor.devices.cpu.index_values import THREAD, parameter

if TYPE_CHECKING:
    from collections.abc import Mapping

    from services.executor.devices.cpu.blocks import Block, Variable
    from services.executor.devices.cpu.derived_values import Derived

_OPAQUE = (" load ", " call ", " atomicrmw ", " cmpxchg ", " phi ", " freeze ", " alloca ")


def uniform_variables(
    blocks: Mapping[str, Block], variables: Mapping[str, Variable], derived: tuple[Derived, ...], meetings: set[str]
) -> frozenset[str]:
    """The names of uniform variables; none where a meeting is in a place to which not all threads come together."""
    analysis = _Analysis(blocks, variables, derived)
    analysis.run()
    if analysis.apart & meetings:
        return frozenset()
    return frozenset(variables) - analysis.varying


class _Analysis:
    def __init__(
        self, blocks: Mapping[str, Block], variables: Mapping[str, Variable], derived: tuple[Derived, ...]
    ) -> None:
        self._blocks = blocks
        self._targets = {label: _lasting_targets(blocks, block) for label, block in blocks.items()}
        self._after = _post_dominators(self._targets)
        self._variables = variables
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
                    self._read(line, block.label)
                if len(block.targets) > 1 and self.varying.intersection(names_in(block.lines[-1])):
                    self.apart |= self._between(block.label)

    def _read(self, line: str, label: str) -> None:
        stored = stored_variable(line)
        if stored in self._variables:
            if label in self.apart or self.varying.intersection(names_in(line)):
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


def _lasting_targets(blocks: Mapping[str, Block], block: Block) -> tuple[str, ...]:
    return tuple(target for target in block.targets if blocks[target].lines != ("  ret void",))


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
