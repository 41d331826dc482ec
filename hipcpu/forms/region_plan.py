"""Facts about a kernel that is to be cut: the ends of its regions, and its live and uniform variables there."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from hipcpu.ir.function import Blocks
from hipcpu.ir.instruction import Instruction
from hipcpu.ir.synchronisation import Barrier, after_label, barrier_label, barrier_of
from hipcpu.ir.uniformity import uniform_variables
from hipcpu.ir.variables import Variable, live_at_entry, stored_in, variables_of

# Room for 1024 threads and at least one more cache line: arrays a power of two apart share few lines of a cache.
_THREAD_SLOTS = 1024 + 16


@dataclass(frozen=True)
class Uniform:
    """A uniform variable: its IR type and its place in the context, an array of the value before and after a region."""

    type: str
    slot: int


class RegionPlan:
    """The regions of a kernel with `count` barriers."""

    def __init__(self, blocks: Blocks, count: int, derived: tuple[Instruction, ...]) -> None:
        self.blocks = blocks
        self.derived = derived
        self.variables = variables_of(blocks)
        simple = {name for name, variable in self.variables.items() if variable.simple}
        self._live = live_at_entry(blocks, simple)
        labels = [barrier_label(number) for number in range(count)]
        self.stops = set(labels)
        self.uniform = uniform_variables(blocks, self.variables, derived, self.stops)
        after = [self._live[after_label(number)] for number in range(len(labels))]
        kept = frozenset[str]().union(*after) | (self.variables.keys() - simple)
        self.slots = {name: number for number, name in enumerate(name for name in self.variables if name in kept)}
        self.barriers = tuple(self._barrier(number) for number in range(len(labels)))
        self.context = "{ " + ", ".join(self._slot_type(name) for name in self.slots) + " }"

    def _slot_type(self, name: str) -> str:
        if name in self.uniform:
            return f"[2 x {self.variables[name].type}]"
        return f"[{_THREAD_SLOTS} x {_stored_type(self.variables[name])}]"

    def live_at_start(self, number: int) -> frozenset[str]:
        """Return the simple variables whose values may be read in or after a region, from before it."""
        return frozenset() if number == 0 else self._live[after_label(number - 1)]

    def uniforms(self, number: int) -> tuple[Uniform, ...]:
        """Return the uniform variables that are live at the start of a region."""
        names = sorted(self.live_at_start(number) & self.uniform, key=self.slots.__getitem__)
        return tuple(Uniform(self.variables[name].type, self.slots[name]) for name in names)

    def stored_in(self, labels: Iterable[str]) -> frozenset[str]:
        """Return the variables that some block of `labels` stores to."""
        return frozenset(self.variables.keys() & set(stored_in(self.blocks[label] for label in labels)))

    def _barrier(self, number: int) -> Barrier:
        found = (barrier_of(one) for one in self.blocks[barrier_label(number)].instructions)
        return next(barrier for barrier in found if barrier)

    def start(self, number: int) -> str:
        """Return the label at which a region begins."""
        return next(iter(self.blocks)) if number == 0 else after_label(number - 1)


def number_of(label: str) -> int:
    """Return the number of a label's barrier."""
    return int(label.rpartition(".")[2])


def _stored_type(variable: Variable) -> str:
    return "i8" if variable.type == "i1" else variable.type
