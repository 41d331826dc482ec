"""Queues as operators describe them, checked as a whole tree; their changes; and the queues of one GPU type.

Amounts are in thousandths of a GPU here (an eighth is 125), and in GPUs in messages for people.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from datetime import timedelta
from enum import StrEnum
from typing import Any, Literal

from services.scheduler.fairness.queue_tree import (
    DEFAULT_PRIORITY,
    UNLIMITED,
    WHOLE_GPU_MILLI,
    Amounts,
    InvalidQueueTreeError,
    Queue,
    QueueTree,
    ReclaimStrategy,
    Violation,
    checked_tree,
)
from vocabulary.limits import DEFAULT_QUEUE, MAX_PRIORITY
from vocabulary.slots import EIGHTH_MILLI

ANY_GPU = "gpu"
"""The entry for each GPU type without one of its own."""
DEFAULT_RECLAIM_MIN_RUNTIME = timedelta(seconds=60)
LEAST_RECALL_NOTICE = timedelta(seconds=60)
MOST_QUEUES = 1_000
LARGEST_MILLI = 1_000_000 * WHOLE_GPU_MILLI
LEAST_PRIORITY, MOST_PRIORITY = -1_000_000, 1_000_000
MOST_CHARACTERS = 200
MOST_CLASSES = 50
MOST_ACCOUNTS = 1_000
DEFAULT_MAX_PRIORITY = 0
"""Above it, a submission goes before others of its queue, which somebody has to allow."""
LARGEST_CLASS_VALUE = 1_000
"""With the ordering `age` and its usual point, the waiting of two and a half hours."""

DURATIONS: tuple[Literal["reclaim_min_runtime", "time_limit", "longest_borrowing", "recall_notice"], ...] = (
    "reclaim_min_runtime",
    "time_limit",
    "longest_borrowing",
    "recall_notice",
)
"""The fields of QueueSettings that are times."""
_NAME = re.compile(r"[a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])?")


class FairnessPolicy(StrEnum):
    """How GPUs are divided among queues."""

    KAI = "kai"
    KUEUE = "kueue"


@dataclass(frozen=True)
class Share:
    """What a queue may have of one GPU type, in thousandths of a GPU. None: not said."""

    quota: int | None = None
    over_quota_weight: int | None = None
    """In thousandths."""
    limit: int | None = None
    lending_limit: int | None = None
    borrowing_limit: int | None = None


@dataclass(frozen=True)
class JobClass:
    """A class that jobs of a queue may have. `value` is in points; the queue's ordering says what a point is worth."""

    value: int = 0
    administrators_only: bool = False
    """True if it takes the right of an administrator, as priorities above the queue's do."""


NO_CLASS = JobClass()


@dataclass(frozen=True)
class QueueSettings:
    """One queue. Unset fields are those of the parent, or the defaults."""

    name: str
    display_name: str = ""
    parent: str = ""
    priority: int = DEFAULT_PRIORITY
    resources: Mapping[str, Share] = field(default_factory=dict[str, Share])
    """By GPU type or ANY_GPU."""
    policy: FairnessPolicy | None = None
    reclaim_strategy: ReclaimStrategy | None = None
    reclaim_min_runtime: timedelta | None = None
    max_jobs_per_user: int = 0
    """0: no limit."""
    closed: bool = False
    time_limit: timedelta | None = None
    """The longest time of one attempt at a job."""
    longest_borrowing: timedelta | None = None
    """The longest time of a reservation that takes more than the quota; 0 for none."""
    recall_notice: timedelta | None = None
    """Reservations with more than the quota are ended so long after another queue needs their GPUs; 0 for never."""
    ordering: str = ""
    """The name of how its waiting jobs are ordered."""
    placement: str = ""
    """The name of how machines are chosen for its jobs."""
    classes: Mapping[str, JobClass] = field(default_factory=dict[str, JobClass])
    """By name; a queue with some has none of those above."""
    default_class: str = ""
    """The class, one of `classes`, of jobs that name none."""
    max_priority: int | None = None
    """The highest priority that its jobs may have without the right of an administrator."""
    max_priority_by_account: Mapping[str, int] = field(default_factory=dict[str, int])
    """The same for single accounts, by id."""


@dataclass(frozen=True)
class QueueChange:
    """What happens to one queue; `fields` maps names to values before and after, as text."""

    name: str
    kind: str
    """`added`, `changed` or `removed`."""
    fields: tuple[tuple[str, str, str], ...] = ()


class Queues:
    """A checked tree of queues with the default queue; immutable.

    Raises InvalidQueueTreeError with every fault.
    """

    def __init__(self, described: Iterable[QueueSettings], gpu_types: Sequence[str] | None = None) -> None:
        listed = list(described)
        if all(queue.name != DEFAULT_QUEUE for queue in listed):
            listed.insert(0, QueueSettings(DEFAULT_QUEUE))
        violations = [*_wrong_tree(listed), *(fault for queue in listed for fault in _wrong_queue(queue, gpu_types))]
        if violations:
            raise InvalidQueueTreeError(violations)
        # Names and parents first: sums over children end only if there is no cycle.
        checked_tree(Queue(queue.name, queue.parent or None) for queue in listed)
        self.by_name: Mapping[str, QueueSettings] = {queue.name: queue for queue in listed}
        self._children: defaultdict[str, list[QueueSettings]] = defaultdict(list)
        for queue in listed:
            self._children[queue.parent].append(queue)
        self._trees: dict[str, QueueTree] = {}
        violations = [fault for queue in listed for fault in self._above_limits(queue)]
        if violations:
            raise InvalidQueueTreeError(violations)
        parents_first = self.tree(ANY_GPU)
        self.order = tuple(_downwards(parents_first, None))
        """Names, parents before children."""
        self.leaves = frozenset(name for name in self.order if not parents_first.children(name))
        self.policy = next((queue.policy for queue in listed if queue.policy), FairnessPolicy.KAI)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Queues) and self.by_name == other.by_name

    def __hash__(self) -> int:
        return hash(frozenset(self.by_name))

    def tree(self, gpu_type: str) -> QueueTree:
        """The queues with what each may have of that GPU type."""
        if gpu_type not in self._trees:
            self._trees[gpu_type] = checked_tree(self._of_type(gpu_type))
        return self._trees[gpu_type]

    def share(self, name: str, gpu_type: str) -> Share:
        """What was said of that GPU type."""
        resources = self.by_name[name].resources
        return resources.get(gpu_type) or resources.get(ANY_GPU) or Share()

    def upwards(self, name: str) -> Iterator[QueueSettings]:
        """The queue, its parent, and so on to the top."""
        queue: QueueSettings | None = self.by_name[name]
        while queue:
            yield queue
            queue = self.by_name[queue.parent] if queue.parent else None

    def known(self, name: str) -> str:
        """The queue of that name if it may have jobs; or else, as for jobs of a queue that is gone, the default one."""
        return name if name in self.leaves else DEFAULT_QUEUE

    def with_below(self, amounts: Iterable[tuple[str, int]]) -> Counter[str]:
        """Adds up the amounts of each queue, those of all below it included. Unknown queues count as the default."""
        sums: Counter[str] = Counter()
        for name, amount in amounts:
            for queue in self.upwards(self.known(name)):
                sums[queue.name] += amount
        return sums

    def reclaim_min_runtime(self, name: str) -> timedelta:
        """That of the queue or the nearest above that says one."""
        found = (queue.reclaim_min_runtime for queue in self.upwards(name) if queue.reclaim_min_runtime is not None)
        return next(found, DEFAULT_RECLAIM_MIN_RUNTIME)

    def reclaim_strategy(self, name: str) -> ReclaimStrategy:
        """That of the queue or the nearest above that says one."""
        found = (queue.reclaim_strategy for queue in self.upwards(name) if queue.reclaim_strategy)
        return next(found, ReclaimStrategy.CONSERVATIVE)

    def longest_borrowing(self, name: str) -> timedelta | None:
        """That of the queue or the nearest above that says one; None if reservations may borrow for any time."""
        found = (queue.longest_borrowing for queue in self.upwards(name) if queue.longest_borrowing is not None)
        return next(found, None)

    def recall_notice(self, name: str) -> timedelta:
        """That of the queue or the nearest above that says one; 0 if its reservations are never ended for others."""
        found = (queue.recall_notice for queue in self.upwards(name) if queue.recall_notice is not None)
        return next(found, timedelta(0))

    def must_fit_quota(self, name: str, time: timedelta) -> bool:
        """True if a reservation of so much time may not take more than the quota of its queue."""
        longest = self.longest_borrowing(name)
        return longest is not None and time > longest

    def quota(self, name: str, gpu_type: str) -> int:
        """What the queue may have whatever others want, in thousandths of a GPU; UNLIMITED for everything."""
        return self.tree(gpu_type).queues[name].quota.gpu_milli

    def ordering(self, name: str) -> str:
        """That of the queue or the nearest above that says one; empty if none does."""
        return next((queue.ordering for queue in self.upwards(name) if queue.ordering), "")

    def placement(self, name: str) -> str:
        """That of the queue or the nearest above that says one; empty if none does."""
        return next((queue.placement for queue in self.upwards(name) if queue.placement), "")

    def classes(self, name: str) -> tuple[Mapping[str, JobClass], str]:
        """The classes of the queue, or of the nearest above that has some, and the name of the default one."""
        queue = next((queue for queue in self.upwards(name) if queue.classes), self.by_name[name])
        return queue.classes, queue.default_class

    def max_priority(self, name: str, account_id: str = "") -> tuple[int, str]:
        """The highest priority that jobs of an account may have, and the queue that says so; empty if none does.

        The nearest queue that says something counts. What it says of the account goes before what it says of all.
        """
        for queue in self.upwards(name):
            said = queue.max_priority_by_account.get(account_id, queue.max_priority)
            if said is not None:
                return said, queue.name
        return DEFAULT_MAX_PRIORITY, ""

    def class_value(self, name: str, job_class: str) -> int:
        """The points of a class in the queue; 0 for a class that is gone."""
        return self.classes(name)[0].get(job_class, NO_CLASS).value

    def orders_as(self, other: Queues) -> bool:
        """True if the jobs of all queues are ordered as in the other tree."""
        return self._orders() == other._orders()

    def _orders(self) -> dict[str, tuple[str, Mapping[str, JobClass]]]:
        """What is said of the order of each queue that has jobs; those of which nothing is said are left out."""
        said = {name: (self.ordering(name), self.classes(name)[0]) for name in self.leaves}
        return {name: order for name, order in said.items() if any(order)}

    def changed_to(self, other: Queues) -> list[QueueChange]:
        """What becomes of each queue that is not the same in the other tree."""
        changes = [
            _change(self.by_name.get(name), other.by_name.get(name)) for name in {**self.by_name, **other.by_name}
        ]
        return [change for change in changes if change]

    def _of_type(self, gpu_type: str) -> Iterator[Queue]:
        for order, queue in enumerate(self.by_name.values()):
            said = self.share(queue.name, gpu_type)
            runtime = queue.reclaim_min_runtime
            yield Queue(
                queue.name,
                queue.parent or None,
                order,
                queue.priority,
                _amounts(self._quota(queue, gpu_type)),
                Amounts(WHOLE_GPU_MILLI if said.over_quota_weight is None else said.over_quota_weight, 1, 1),
                _amounts(UNLIMITED if said.limit is None else said.limit),
                reclaim_min_runtime_seconds=None if runtime is None else int(runtime.total_seconds()),
            )

    def _quota(self, queue: QueueSettings, gpu_type: str) -> int:
        said = self.share(queue.name, gpu_type).quota
        if said is not None:
            return said
        below = sum(self._quota(child, gpu_type) for child in self._children.get(queue.name, ()))
        # Children may be promised more than their parent, or one above it, may have; its limit counts then.
        limits = (self.share(above.name, gpu_type).limit for above in self.upwards(queue.name))
        return min([below, UNLIMITED, *(limit for limit in limits if limit is not None)])

    def _above_limits(self, queue: QueueSettings) -> Iterator[Violation]:
        for resource in queue.resources:
            quota = self.share(queue.name, resource).quota
            for above in self.upwards(queue.name):
                limit = self.share(above.name, resource).limit
                if quota is not None and limit is not None and limit < quota < UNLIMITED:
                    field = f"queues[{queue.name}].resources.{resource}.quota"
                    whose = "its own limit" if above is queue else f"the limit of {above.name!r}, above it"
                    fix = f"Give at most {in_gpus(limit)}, or raise the limit"
                    yield Violation(field, in_gpus(quota), f"GPUs are more than {whose}, {in_gpus(limit)}", fix)
                    break


def described(
    before: Queues, changes: Iterable[QueueSettings], removed: Iterable[str], *, prune: bool
) -> list[QueueSettings]:
    """The queues of `before` with these changes; with `prune`, only those of `changes` and the default queue."""
    changed, gone = {queue.name: queue for queue in changes}, set(removed)
    kept = [
        changed.get(name, queue)
        for name, queue in before.by_name.items()
        if name not in gone and (name in changed or name == DEFAULT_QUEUE or not prune)
    ]
    return kept + [queue for name, queue in changed.items() if name not in before.by_name and name not in gone]


def in_gpus(milli: int) -> str:
    """Thousandths of a GPU, as people say it."""
    return "unlimited" if milli >= UNLIMITED else f"{milli / WHOLE_GPU_MILLI:g}"


def as_text(queue: QueueSettings) -> dict[str, str]:
    """All fields that are set, by the names that documents use, as text."""
    texts = {
        "displayName": queue.display_name,
        "parentQueue": queue.parent,
        "priority": str(queue.priority),
        "policy": queue.policy or "",
        "reclaimStrategy": queue.reclaim_strategy or "",
        "reclaimMinRuntime": _seconds(queue.reclaim_min_runtime),
        "maxJobsPerUser": str(queue.max_jobs_per_user or ""),
        "closed": "true" if queue.closed else "",
        "timeLimit": _seconds(queue.time_limit),
        "longestBorrowing": _seconds(queue.longest_borrowing),
        "recallNotice": _seconds(queue.recall_notice),
        "ordering": queue.ordering,
        "placement": queue.placement,
        "defaultClass": queue.default_class,
        "maxPriority": "" if queue.max_priority is None else str(queue.max_priority),
    }
    for account_id, most in queue.max_priority_by_account.items():
        texts[f"maxPriorityByAccount.{account_id}"] = str(most)
    for name, job_class in queue.classes.items():
        only = ", administrators only" if job_class.administrators_only else ""
        texts[f"classes.{name}"] = f"{job_class.value}{only}"
    names = {
        "quota": "quota",
        "over_quota_weight": "overQuotaWeight",
        "limit": "limit",
        "lending_limit": "lendingLimit",
        "borrowing_limit": "borrowingLimit",
    }
    for resource, share in queue.resources.items():
        for name, title in names.items():
            amount = getattr(share, name)
            texts[f"resources.{resource}.{title}"] = "" if amount is None else in_gpus(amount)
    return {name: text for name, text in texts.items() if text}


def _seconds(duration: timedelta | None) -> str:
    return "" if duration is None else f"{duration.total_seconds():g}s"


def _change(before: QueueSettings | None, after: QueueSettings | None) -> QueueChange | None:
    if before == after:
        return None
    old, new = (as_text(before) if before else {}), (as_text(after) if after else {})
    changed = tuple(
        (name, old.get(name, ""), new.get(name, "")) for name in {**old, **new} if old.get(name) != new.get(name)
    )
    named = after or before
    kind = "added" if before is None else "removed" if after is None else "changed"
    return QueueChange(named.name if named else "", kind, changed if after else ())


def _amounts(gpu_milli: int) -> Amounts:
    return Amounts(gpu_milli, UNLIMITED, UNLIMITED)


def _downwards(tree: QueueTree, name: str | None) -> Iterator[str]:
    for queue in tree.children(name):
        yield queue.name
        yield from _downwards(tree, queue.name)


def _wrong_tree(listed: Sequence[QueueSettings]) -> Iterator[Violation]:
    if len(listed) > MOST_QUEUES:
        yield Violation("queues", len(listed), f"are more than {MOST_QUEUES} queues", "Remove some")
    policies = {queue.name: queue.policy for queue in listed if queue.policy}
    if len(set(policies.values())) > 1:
        said = ", ".join(f"{name}: {policy}" for name, policy in policies.items())
        fix = "Name the policy once, at a queue at the top"
        yield Violation("queues.policy", said, "are different policies in one tree", fix)
    children = [queue for queue in listed if queue.parent == DEFAULT_QUEUE]
    if children:
        fix = "Give it another parent, or none: jobs without a queue's name go to `default`, so it has no children"
        yield Violation(
            f"queues[{children[0].name}].parent", DEFAULT_QUEUE, "is the queue for jobs that name none", fix
        )


def _wrong_queue(queue: QueueSettings, gpu_types: Sequence[str] | None) -> Iterator[Violation]:
    where, title = f"queues[{queue.name}]", queue.display_name
    if queue.name and not _NAME.fullmatch(queue.name):
        fix = "Give 1 to 63 lower-case letters, digits, `-` or `.`, with a letter or digit at both ends"
        yield Violation(f"{where}.name", queue.name[:MOST_CHARACTERS], "is no name of a queue", fix)
    if "\0" in title or len(title) > MOST_CHARACTERS:
        rule = f"is no text of at most {MOST_CHARACTERS} characters"
        yield Violation(f"{where}.display_name", title[:MOST_CHARACTERS], rule, "Shorten it")
    if not LEAST_PRIORITY <= queue.priority <= MOST_PRIORITY:
        fix = f"Give {LEAST_PRIORITY} to {MOST_PRIORITY}"
        yield Violation(f"{where}.priority", queue.priority, "is too far from 0", fix)
    if queue.max_jobs_per_user < 0:
        fix = "Give 0 for no limit, or more"
        yield Violation(f"{where}.max_jobs_per_user", queue.max_jobs_per_user, "is negative", fix)
    yield from _wrong_durations(where, queue)
    yield from _wrong_classes(where, queue)
    yield from _wrong_priorities(where, queue)
    for resource, share in queue.resources.items():
        if gpu_types is not None and resource not in {ANY_GPU, *gpu_types}:
            fix = f"Give one of {', '.join([ANY_GPU, *gpu_types])}"
            yield Violation(f"{where}.resources", resource[:MOST_CHARACTERS], "is no GPU type of the price list", fix)
        yield from _wrong_share(f"{where}.resources.{resource}", share)


def _wrong_durations(where: str, queue: QueueSettings) -> Iterator[Violation]:
    runtime = queue.reclaim_min_runtime
    if runtime is not None and runtime < timedelta(0):
        yield Violation(f"{where}.reclaim_min_runtime", str(runtime), "is negative", "Give 0 s or more")
    if queue.time_limit is not None and (queue.time_limit < timedelta(seconds=1) or queue.time_limit.microseconds):
        fix = "Give whole seconds, from 1 s"
        yield Violation(f"{where}.time_limit", str(queue.time_limit), "is no limit of runs", fix)
    if queue.longest_borrowing is not None and queue.longest_borrowing < timedelta(0):
        fix = "Give 0 s, so that reservations keep to the quota, or more"
        yield Violation(f"{where}.longest_borrowing", str(queue.longest_borrowing), "is negative", fix)
    if queue.recall_notice and queue.recall_notice < LEAST_RECALL_NOTICE:
        fix = "Give 60 s or more, or 0 s, so that no reservation is ended"
        yield Violation(f"{where}.recall_notice", str(queue.recall_notice), "is no time to save work", fix)


def _wrong_classes(where: str, queue: QueueSettings) -> Iterator[Violation]:
    classes, default = queue.classes, queue.default_class
    if len(classes) > MOST_CLASSES:
        yield Violation(f"{where}.classes", len(classes), f"are more than {MOST_CLASSES} classes", "Remove some")
    for name, job_class in classes.items():
        if not _NAME.fullmatch(name):
            fix = "Give 1 to 63 lower-case letters, digits, `-` or `.`, with a letter or digit at both ends"
            yield Violation(f"{where}.classes", name[:MOST_CHARACTERS], "is no name of a class", fix)
        if abs(job_class.value) > LARGEST_CLASS_VALUE:
            fix = f"Give -{LARGEST_CLASS_VALUE} to {LARGEST_CLASS_VALUE}"
            yield Violation(f"{where}.classes.{name}.value", job_class.value, "is too far from 0", fix)
    if default and default not in classes:
        fix = f"Name one of its classes: {', '.join(classes)}" if classes else "Describe the classes in the same queue"
        yield Violation(f"{where}.default_class", default[:MOST_CHARACTERS], "is no class of this queue", fix)
    elif default and classes[default].administrators_only:
        fix = "Name a class that everybody may use: it is for jobs that name none"
        yield Violation(f"{where}.default_class", default, "is for administrators only", fix)


def _wrong_priorities(where: str, queue: QueueSettings) -> Iterator[Violation]:
    accounts = queue.max_priority_by_account
    if len(accounts) > MOST_ACCOUNTS:
        fix = "Raise max_priority for all, or divide the queue"
        yield Violation(f"{where}.max_priority_by_account", len(accounts), f"are more than {MOST_ACCOUNTS}", fix)
    said = {"max_priority": queue.max_priority}
    for account_id, most in accounts.items():
        name = f"max_priority_by_account.{account_id[:MOST_CHARACTERS]}"
        said[name] = most
        if not account_id.strip() or "\0" in account_id or len(account_id) > MOST_CHARACTERS:
            fix = "`wavepool accounts` lists the ids"
            yield Violation(f"{where}.{name}", account_id[:MOST_CHARACTERS], "is no id of an account", fix)
    for name, most in said.items():
        if most is not None and not DEFAULT_MAX_PRIORITY <= most <= MAX_PRIORITY:
            fix = f"Give {DEFAULT_MAX_PRIORITY} to {MAX_PRIORITY}"
            yield Violation(f"{where}.{name}", most, "is out of range", fix)


def _wrong_share(where: str, share: Share) -> Iterator[Violation]:
    for one in fields(share):
        amount: int | None = getattr(share, one.name)
        if amount is None or amount == UNLIMITED:
            continue
        value = amount / WHOLE_GPU_MILLI
        if not 0 <= amount <= LARGEST_MILLI:
            yield Violation(f"{where}.{one.name}", value, "is out of range", "Give 0 to 1000000, or -1 for no limit")
        elif amount % EIGHTH_MILLI and one.name != "over_quota_weight":
            fix = "Give a multiple of 0.125, an eighth of a GPU"
            yield Violation(f"{where}.{one.name}", value, "is no number of eighths of a GPU", fix)


def to_json(queue: QueueSettings) -> dict[str, Any]:
    """The queue as stored."""
    kept: dict[str, Any] = {one.name: getattr(queue, one.name) for one in fields(queue)}
    kept["resources"] = {
        resource: {one.name: getattr(share, one.name) for one in fields(share)}
        for resource, share in queue.resources.items()
    }
    kept["max_priority_by_account"] = dict(queue.max_priority_by_account)
    kept["classes"] = {name: asdict(one) for name, one in queue.classes.items()}
    for name in DURATIONS:
        duration: timedelta | None = kept[name]
        kept[name] = None if duration is None else duration.total_seconds()
    return kept


def from_json(kept: Mapping[str, Any]) -> QueueSettings:
    """The queue that was stored."""
    policy, strategy = kept["policy"], kept["reclaim_strategy"]
    read: dict[str, Any] = dict(kept)
    read["resources"] = {resource: Share(**share) for resource, share in kept["resources"].items()}
    read["classes"] = {name: JobClass(**one) for name, one in kept.get("classes", {}).items()}
    for name in DURATIONS:
        seconds: float | None = kept.get(name)
        read[name] = None if seconds is None else timedelta(seconds=seconds)
    read["policy"] = FairnessPolicy(policy) if policy else None
    read["reclaim_strategy"] = ReclaimStrategy(strategy) if strategy else None
    return QueueSettings(**read)
