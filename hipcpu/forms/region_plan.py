"""Facts about a kernel that is to be cut: the ends of its regions, and its live and uniform variables there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hipcpu.ir.first_threads import first_threads
from hipcpu.ir.function import reachable
from hipcpu.ir.lazy import lazy
from hipcpu.ir.synchronisation import after_label, barrier_label, barrier_of
from hipcpu.ir.uniformity import uniformity_of
from hipcpu.ir.variables import Variable, live_at_entry, stored_in, variables_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hipcpu.ir.function import Blocks
    from hipcpu.ir.instruction import Instruction
    from hipcpu.ir.synchronisation import Barrier

# Room for 1024 threads and at least one more cache line: arrays a power of two apart share few lines of a cache.
_THREAD_SLOTS = 1024 + 16


@dataclass(frozen=True)
class Uniform:
    """A uniform variable: its IR type and its place in the context, an array of the value before and after a region.

    If control is uniform, it is a variable of the block function instead; if `each` is set, each thread keeps it.
    """

    type: str
    slot: int
    each: bool = False

    @property
    def variable(self) -> str:
        """Name of the block function's variable."""
        return f"%wp.slot.{self.slot}"


class RegionPlan:
    """The regions of a kernel; `counts` holds its numbers of barriers and of split points, which follow them."""

    def __init__(self, blocks: Blocks, counts: tuple[int, int], derived: tuple[Instruction, ...]) -> None:
        self.blocks = blocks
        self.derived = derived
        self.variables = variables_of(blocks)
        simple = {name for name, variable in self.variables.items() if variable.simple}
        self._live = live_at_entry(blocks, simple)
        labels = [barrier_label(number) for number in range(sum(counts))]
        self.stops = set(labels)
        uniformity = uniformity_of(blocks, self.variables, derived, set(labels[: counts[0]]))
        self.uniform_control = uniformity.control
        self.divergent = tuple(number_of(label) + 1 for label in labels[counts[0] :] if label in uniformity.divergent)
        # A store that only some threads make cannot be made once for all of them in a vectorised loop.
        self._each = uniformity.variables & self.live_at_divergent() & self.stored_in(uniformity.divergent)
        self.uniform = uniformity.variables
        self.once = self.uniform - self._each
        after = [self._live[after_label(number)] for number in range(len(labels))]
        kept = frozenset[str]().union(*after) | (self.variables.keys() - simple)
        self.slots = {name: number for number, name in enumerate(name for name in self.variables if name in kept)}
        self.barriers = tuple(self._barrier(number) for number in range(len(labels)))
        self.context = "{ " + ", ".join(self._slot_type(name) for name in self.slots) + " }"

    def _slot_type(self, name: str) -> str:
        if name in self.once:
            return f"[2 x {self.variables[name].type}]"
        return f"[{_THREAD_SLOTS} x {_stored_type(self.variables[name])}]"

    def live_at_start(self, number: int) -> frozenset[str]:
        """Return the simple variables whose values may be read in or after a region, from before it."""
        return frozenset() if number == 0 else self._live[after_label(number - 1)]

    def uniforms(self, number: int) -> tuple[Uniform, ...]:
        """Return the uniform variables that are live at the start of a region."""
        return self._uniforms_in(self.live_at_start(number))

    def _uniforms_in(self, live: frozenset[str]) -> tuple[Uniform, ...]:
        names = sorted(live & self.uniform, key=self.slots.__getitem__)
        return tuple(Uniform(self.variables[name].type, self.slots[name], name in self._each) for name in names)

    @lazy
    def kept(self) -> list[Uniform]:
        """Every uniform variable that is passed to a region and belongs to the block function."""
        passed = {uniform for number in range(len(self.barriers) + 1) for uniform in self.uniforms(number)}
        return sorted((uniform for uniform in passed if not uniform.each), key=lambda uniform: uniform.slot)

    def live_at_divergent(self) -> frozenset[str]:
        """Return the simple variables that are live at places that not all threads reach."""
        return frozenset[str]().union(*(self.live_at_start(place) for place in self.divergent))

    def rest_uniforms(self) -> tuple[Uniform, ...]:
        """Return the uniform variables that are live at places that not all threads reach."""
        return self._uniforms_in(self.live_at_divergent() - self._each)

    def overtakes(self) -> bool:
        """Return True if a thread may change a uniform variable before slower threads have read it."""
        return any(self._overtakes(number) for number in range(len(self.barriers) + 1))

    def _overtakes(self, number: int) -> bool:
        exits = self.exits(number)
        if not set(exits) & set(self.divergent):
            return False
        labels = {*reachable(self.blocks, [self.start(number)], self.stops), *self.rest_labels()}
        changed = self.stored_in(labels) & self.uniform
        places = {*exits, *self.rest_exits()} - {0}
        behind = [self.live_at_start(place) for place in places if place in self.divergent]
        return any(
            changed & live & self.live_at_start(place)
            for live in behind
            for place in places
            if place not in self.divergent
        )

    def stored_in(self, labels: Iterable[str]) -> frozenset[str]:
        """Return the variables that some block of `labels` stores to."""
        return frozenset(self.variables.keys() & set(stored_in(self.blocks[label] for label in labels)))

    def _barrier(self, number: int) -> Barrier:
        found = (barrier_of(one) for one in self.blocks[barrier_label(number)].instructions)
        return next(barrier for barrier in found if barrier)

    def start(self, number: int) -> str:
        """Return the label at which a region begins."""
        return next(iter(self.blocks)) if number == 0 else after_label(number - 1)

    def exits(self, number: int) -> tuple[int, ...]:
        """Return the possible results of a region function."""
        return self._exits(reachable(self.blocks, [self.start(number)], self.stops), self.stops)

    def rest_exits(self) -> tuple[int, ...]:
        """Return the possible results of the rest function for a thread that it moved."""
        return self._exits(self.rest_labels(), self.rest_stops()) if self.divergent else ()

    @property
    def places(self) -> list[int]:
        """All possible results of the region functions and the rest function."""
        exits = map(self.exits, range(len(self.barriers) + 1))
        return sorted({place for all_ in (*exits, self.rest_exits()) for place in all_})

    def _exits(self, labels: Sequence[str], stops: set[str]) -> tuple[int, ...]:
        bodies = (self.blocks[label].instructions for label in labels if label not in stops)
        ends = any(one.opcode == "ret" for body in bodies for one in body)
        return (*([0] if ends else []), *(number_of(label) + 1 for label in labels if label in stops))

    def first_threads(self, number: int) -> int | None:
        """Return how many threads of each row have work in a region; None if that is unknown."""
        stored = self.stored_in(reachable(self.blocks, [self.start(number)], self.stops))
        for place in self.exits(number):
            if place in self.divergent or (place and stored & self.live_at_start(place)):
                return None
            if place and (self.barriers[place - 1].is_wave or self.barriers[place - 1].has_mask):
                return None
        simple = [name for name, variable in self.variables.items() if variable.simple]
        return first_threads(self.blocks, self.start(number), self.stops, self.derived, simple)

    def rest_stops(self) -> set[str]:
        """Return the labels at which the rest function ends: the places that all threads reach."""
        return self.stops - {barrier_label(place - 1) for place in self.divergent}

    def rest_labels(self) -> list[str]:
        """Return the labels in the rest function."""
        return reachable(self.blocks, [self.start(place) for place in self.divergent], self.rest_stops())


def number_of(label: str) -> int:
    """Return the number of a label's barrier."""
    return int(label.rpartition(".")[2])


def _stored_type(variable: Variable) -> str:
    return "i8" if variable.type == "i1" else variable.type
