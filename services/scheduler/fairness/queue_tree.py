"""The tree of queues: what each may have of every resource, checked as a whole before any of it counts.

Amounts are integers. A GPU is 1,000 thousandths: an eighth of a GPU, the unit of Wavepool's slots, is 125 of them, and
requests for 0.1 to 0.9 of a GPU stay exact, which eighths would round.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

UNLIMITED = 2**62
"""Larger than any amount, so that comparisons need no special case."""
WHOLE_GPU_MILLI = 1000
DEFAULT_PRIORITY = 100


class Amounts(NamedTuple):
    """An amount of each resource, or a number for each resource such as a weight."""

    gpu_milli: int = 0
    cpu_milli: int = 0
    memory_bytes: int = 0

    def plus(self, other: Amounts) -> Amounts:
        """The sum, resource by resource."""
        return Amounts(self[0] + other[0], self[1] + other[1], self[2] + other[2])

    def minus(self, other: Amounts) -> Amounts:
        """The difference, resource by resource; it may be negative."""
        return Amounts(self[0] - other[0], self[1] - other[1], self[2] - other[2])

    def at_most(self, other: Amounts) -> bool:
        """True if no resource is above the other's amount."""
        return self[0] <= other[0] and self[1] <= other[1] and self[2] <= other[2]


NOTHING = Amounts()
EQUAL_WEIGHT = Amounts(1, 1, 1)
EVERYTHING = Amounts(UNLIMITED, UNLIMITED, UNLIMITED)
RESOURCES = Amounts._fields


class ReclaimStrategy(StrEnum):
    """When a queue may take resources back."""

    CONSERVATIVE = "conservative"
    """From queues over their fair share only."""
    AGGRESSIVE = "aggressive"
    """Also within its own quota from queues over theirs; the victims' minimum runtime does not count then."""


@dataclass(frozen=True, slots=True)
class Queue:
    """One queue. Jobs go into queues without children only.

    A queue may use its quota whatever others want. What is left over is divided by priority, then by weight, up to the
    limit. An unlimited quota is the whole of what the parent has.
    """

    name: str
    parent: str | None = None
    create_order: int = 0
    """Earlier queues win ties."""
    priority: int = DEFAULT_PRIORITY
    quota: Amounts = EVERYTHING
    weight: Amounts = EQUAL_WEIGHT
    limit: Amounts = EVERYTHING
    preempt_min_runtime_seconds: int | None = None
    """How long a job runs before another of its queue may preempt it; None asks the parent."""
    reclaim_min_runtime_seconds: int | None = None
    """The same for jobs of other queues that reclaim."""


class Violation(NamedTuple):
    """A fault of a tree: the field, the value it has, the rule it breaks and what to do."""

    field: str
    value: object
    rule: str
    fix: str

    def __str__(self) -> str:
        return f"{self.field}: {self.value!r} {self.rule}. {self.fix}."


class InvalidQueueTreeError(Exception):
    """The tree is refused whole; `violations` has every fault that was found."""

    def __init__(self, violations: Sequence[Violation]) -> None:
        super().__init__(" ".join(map(str, violations)))
        self.violations = tuple(violations)


class QueueTree:
    """Queues by name, with their children in order of creation."""

    def __init__(self, queues: Iterable[Queue]) -> None:
        in_order = sorted(queues, key=lambda queue: (queue.create_order, queue.name))
        self.queues: Mapping[str, Queue] = {queue.name: queue for queue in in_order}
        self._children: defaultdict[str | None, list[Queue]] = defaultdict(list)
        for queue in in_order:
            self._children[queue.parent].append(queue)
        self._upwards: dict[str, tuple[Queue, ...]] = {}

    def children(self, name: str | None) -> Sequence[Queue]:
        """The queue's children; None for the queues at the top."""
        return self._children.get(name, ())

    def upwards(self, name: str) -> Sequence[Queue]:
        """The queue, its parent, and so on to the top."""
        path = self._upwards.get(name)
        if path is None:
            queue = self.queues[name]
            path = self._upwards[name] = (queue, *(() if queue.parent is None else self.upwards(queue.parent)))
        return path

    def below(self, name: str) -> Iterator[Queue]:
        """The queue and all queues below it."""
        yield self.queues[name]
        for child in self.children(name):
            yield from self.below(child.name)


def checked_tree(queues: Iterable[Queue]) -> QueueTree:
    """The tree of the queues.

    Raises InvalidQueueTreeError with every fault: names that are missing, double or unknown, cycles, negative numbers,
    and quotas above the queue's own limit or that of a queue above it.
    """
    listed = list(queues)
    names = Counter(queue.name for queue in listed)
    violations = [*_names(listed, names), *_cycles(listed), *(fault for queue in listed for fault in _amounts(queue))]
    if not violations:
        tree = QueueTree(listed)
        violations = [fault for queue in listed for fault in _limits(queue, tree)]
    if violations:
        raise InvalidQueueTreeError(violations)
    return QueueTree(listed)


def _names(queues: Sequence[Queue], names: Counter[str]) -> Iterator[Violation]:
    for position, queue in enumerate(queues):
        field = f"queues[{position}]"
        if not queue.name:
            yield Violation(f"{field}.name", queue.name, "is empty", "Give every queue a name")
        elif names[queue.name] > 1:
            yield Violation(f"{field}.name", queue.name, "is the name of several queues", "Rename all but one of them")
        if queue.parent is not None and queue.parent not in names:
            fix = "Name a queue of this tree, or leave the parent out for a queue at the top"
            yield Violation(f"queues[{queue.name}].parent", queue.parent, "is no queue of this tree", fix)


def _cycles(queues: Sequence[Queue]) -> Iterator[Violation]:
    parents = {queue.name: queue.parent for queue in queues}
    ends: set[str] = set()
    for queue in queues:
        path: list[str] = []
        name: str | None = queue.name
        while name is not None and name not in ends and name not in path:
            path.append(name)
            name = parents.get(name)
        if name is not None and name in path:
            cycle = " -> ".join([*path[path.index(name) :], name])
            fix = "Give one queue of the cycle another parent, or none"
            yield Violation(f"queues[{name}].parent", parents[name], f"closes the cycle {cycle}", fix)
        ends.update(path)


def _amounts(queue: Queue) -> Iterator[Violation]:
    for kind in ("quota", "weight", "limit"):
        for resource, amount in zip(RESOURCES, getattr(queue, kind), strict=True):
            if amount < 0:
                field = f"queues[{queue.name}].{kind}.{resource}"
                yield Violation(field, amount, "is negative", "Give zero or more, or leave it out for no limit")
    for field in ("preempt_min_runtime_seconds", "reclaim_min_runtime_seconds"):
        seconds = getattr(queue, field)
        if seconds is not None and seconds < 0:
            fix = "Give zero or more seconds, or leave it out to inherit"
            yield Violation(f"queues[{queue.name}].{field}", seconds, "is negative", fix)


def _limits(queue: Queue, tree: QueueTree) -> Iterator[Violation]:
    """Quotas above a limit on the way up. An unlimited quota is no number, so it is above none."""
    for position, resource in enumerate(RESOURCES):
        quota = queue.quota[position]
        for holder in tree.upwards(queue.name):
            limit = holder.limit[position]
            if limit < quota < UNLIMITED:
                field = f"queues[{queue.name}].quota.{resource}"
                whose = "its own limit" if holder is queue else f"the limit of its ancestor {holder.name!r}"
                yield Violation(field, quota, f"is above {whose}, {limit}", f"Give at most {limit}, or raise the limit")
                break
