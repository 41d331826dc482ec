"""Orderings and placements by name: those built in, and plug-ins of `wavepool.orderings` and `wavepool.placements`.

The built-in ones are no entry points: `age` and `pack` decide when a plug-in fails, so they are there whatever is
installed.
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias, TypeVar

from servicekit.logging import get_logger
from servicekit.settings.config import WrongSettingsError
from servicekit.settings.plugins import BrokenPluginError, PluginGroup, PluginLives, UnknownPluginError
from services.scheduler import metrics
from services.scheduler.queue.ordering import LARGEST_HEAD_START, Age, Classic, facts_of, rank_of
from services.scheduler.queue.scoring import MachineFacts, Pack, Spread

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from services.scheduler.config import SchedulerSettings
    from services.scheduler.fairness.settings import Queues
    from services.scheduler.fairness.situation import Machine, Scores
    from services.scheduler.jobs.job import Job
    from services.scheduler.queue.ordering import JobFacts, Ordering, Rank
    from services.scheduler.queue.queue_book import QueueBook

log = get_logger(__name__)

AGE, PACK = "age", "pack"
ORDERINGS = PluginGroup("wavepool.orderings", "ordering", ("head_start",))
PLACEMENTS = PluginGroup("wavepool.placements", "placement", ("score",))

T = TypeVar("T")
Rooms: TypeAlias = "Sequence[tuple[Machine, int]]"
"""Machines with room, each with its free GPUs."""


@dataclass
class Choice:
    """An ordering or a placement. A fault of it stops nobody: it is counted, and the first is logged."""

    kind: str
    name: str
    made: Any
    distribution: str = ""
    """The package that a plug-in is of, with its version."""
    failures: int = 0
    last_failure: str = ""

    def ask(self, call: Callable[[], T], otherwise: Callable[[], T]) -> T:
        """The answer of `call`, or of `otherwise` if it raises."""
        try:
            return call()
        except Exception as error:
            self.failures += 1
            self.last_failure = f"{type(error).__name__}: {error}"
            metrics.plugin_failures.labels(self.kind, self.name).inc()
            if self.failures == 1:
                words = "the %s %r fails, and the built-in one decides; further failures are only counted"
                log.exception(words, self.kind, self.name, extra={"distribution": self.distribution})
            return otherwise()


class Missing:
    """Stands for an ordering or a placement that a queue or a job names and that is not here any more."""

    def __init__(self, setting: str) -> None:
        self._setting = setting

    def head_start(self, job: JobFacts) -> NoReturn:
        """Raises LookupError."""
        del job
        raise LookupError(f"it is not here; name it in {self._setting}, or choose another in the queue's document")

    def score(self, job: JobFacts, machine: MachineFacts) -> NoReturn:
        """Raises LookupError."""
        del machine
        self.head_start(job)


class Choices:
    """Those of one kind, by name; `setting` names the plug-ins among them."""

    def __init__(self, group: PluginGroup, setting: str, built_in: Mapping[str, object]) -> None:
        self.setting = setting
        self.group = group
        self._known = {name: Choice(group.kind, name, made) for name, made in built_in.items()}
        self._missing: dict[str, Choice] = {}

    def open(self, wanted: Mapping[str, Mapping[str, Any]]) -> None:
        """Makes the plug-ins from their options; raises WrongSettingsError, which names plug-in, option and fix."""
        for name, options in wanted.items():
            if name in self._known:
                raise WrongSettingsError(f"{self.setting}: {name}: this {self.group.kind} is built in; leave it out")
            try:
                made = self.group.make_with_options(name, options)
                self._known[name] = Choice(self.group.kind, name, made, self.group.owner(name))
            except (UnknownPluginError, BrokenPluginError) as error:
                raise WrongSettingsError(f"{self.setting}: {name}: {error}") from error

    @property
    def names(self) -> list[str]:
        """All names that a queue may say."""
        return list(self._known)

    def named(self, name: str) -> Choice:
        """The one of that name; one that fails when it is asked if there is none."""
        known = self._known.get(name) or self._missing.get(name)
        if known is None:
            known = self._missing[name] = Choice(self.group.kind, name, Missing(self.setting))
        return known

    def plugins(self) -> Iterator[tuple[str, object]]:
        """Those that are not built in, each with words for it."""
        for one in self._known.values():
            if one.distribution:
                yield f"{self.setting}: {one.name} of {one.distribution}", one.made

    def __iter__(self) -> Iterator[Choice]:
        yield from self._known.values()
        yield from self._missing.values()


class Orderings:
    """Ranks jobs by the orderings and classes of their queues."""

    def __init__(self, book: QueueBook, choices: Choices) -> None:
        self._book = book
        self.choices = choices
        self._age: Ordering = choices.named(AGE).made

    def in_force(self, queue: str) -> str:
        """The name of a queue's ordering."""
        queues = self._book.queues
        return queues.ordering(queues.known(queue)) or AGE

    def facts(self, job: Job) -> JobFacts:
        """What orderings know of the job."""
        return _facts(job, self._book.queues)

    def rank(self, job: Job) -> Rank:
        """The job's place in its queue."""
        facts = self.facts(job)
        choice = self.choices.named(self.in_force(job.spec.queue))
        head_start = choice.ask(lambda: _head_start(choice, facts), lambda: self._age.head_start(facts))
        return rank_of(job, head_start)


class Placements:
    """Scores machines by what jobs ask for, or else by the placements of their queues."""

    def __init__(self, book: QueueBook, choices: Choices) -> None:
        self._book = book
        self.choices = choices

    def in_force(self, queue: str, asked: str = "") -> str:
        """The name of the placement of a job in a queue."""
        queues = self._book.queues
        return asked or queues.placement(queues.known(queue)) or PACK

    def scores(self, job: Job, gpu_type: str) -> Scores | None:
        """Scores machines of a GPU type for the job; None if they are packed, which the policies do themselves."""
        name = self.in_force(job.spec.queue, job.spec.placement)
        if name == PACK:
            return None
        choice = self.choices.named(name)
        facts = _facts(job, self._book.queues)
        return lambda rooms: choice.ask(lambda: _scores(choice, facts, gpu_type, rooms), lambda: _packed(rooms))

    def looked_up(self, job: Job, gpu_type: str, rooms: Rooms) -> tuple[str, Sequence[float]]:
        """The scores of these machines, and whose they are: `pack` if the plug-in fails. Failures are not counted."""
        name = self.in_force(job.spec.queue, job.spec.placement)
        with suppress(Exception):
            return name, _scores(self.choices.named(name), _facts(job, self._book.queues), gpu_type, rooms)
        return PACK, _packed(rooms)


class SchedulerPlugins:
    """The orderings and placements that are built in or that the settings name; raises WrongSettingsError."""

    def __init__(self, settings: SchedulerSettings) -> None:
        point = settings.waiting_per_priority_point
        self.orderings = Choices(ORDERINGS, "SCHEDULER_ORDERINGS", {AGE: Age(point), "classic": Classic(point)})
        self.placements = Choices(PLACEMENTS, "SCHEDULER_PLACEMENTS", {PACK: Pack(), "spread": Spread()})
        self.orderings.open(settings.orderings)
        self.placements.open(settings.placements)
        self._lives = PluginLives([*self.orderings.plugins(), *self.placements.plugins()])

    async def start(self) -> None:
        """Starts the plug-ins; raises WrongSettingsError if one cannot."""
        try:
            await self._lives.start()
        except BrokenPluginError as error:
            raise WrongSettingsError(str(error)) from error

    async def close(self) -> None:
        """Closes the plug-ins that have started."""
        await self._lives.close()


def _facts(job: Job, queues: Queues) -> JobFacts:
    return facts_of(job, queues.class_value(queues.known(job.spec.queue), job.spec.job_class))


def _head_start(choice: Choice, facts: JobFacts) -> timedelta:
    answer: object = choice.made.head_start(facts)
    if not isinstance(answer, timedelta):
        raise TypeError(f"head_start gave {type(answer).__name__}, not a timedelta")
    # The operator's own setting says what a point is worth in those that are built in.
    if choice.distribution and abs(answer) > LARGEST_HEAD_START:
        raise ValueError(f"head_start gave {answer}, which is more than {LARGEST_HEAD_START.days} days")
    return answer


def _scores(choice: Choice, facts: JobFacts, gpu_type: str, rooms: Rooms) -> Sequence[float]:
    return [
        _score(choice.made.score(facts, MachineFacts(machine.machine_id, gpu_type, machine.own_gpus, free)))
        for machine, free in rooms
    ]


def _packed(rooms: Rooms) -> Sequence[float]:
    return [-free for _, free in rooms]


def _score(answer: object) -> float:
    if not isinstance(answer, int | float) or not math.isfinite(answer):
        raise TypeError(f"score gave {answer!r}, not a finite number"[:200])
    return answer
