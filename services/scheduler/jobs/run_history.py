"""Times of the last runs, by what ran: a check of one problem says little about the benchmark of another."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict, deque
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

from wavepool.submission.v1.submission_pb2 import RUN_MODE_SANDBOX, Submission

from services.scheduler.jobs.job import Job

LEAST_HISTORY = 3
"""Fewer runs say too little about the slowest tenth of them."""
RUNS_REMEMBERED = 100
"""Of each kind: only recent runs say how long the present ones take."""
LIMIT_PART = 4
"""One run that takes until its limit for so many of other users' programs: a fifth in all, so that a p90 shows it."""
LEAST_USES = 20
"""Fewer people say too little about those who leave early and those who stay."""
USES_REMEMBERED = 200
"""Of each length."""
DAY, DAYS_REMEMBERED, ARRIVALS_REMEMBERED = timedelta(days=1), 5, 500
WHOLE_TIME = (1.0,)
_LENGTHS = tuple(timedelta(hours=hours) for hours in (1, 4, 12))
"""Users who ask for an hour use another part of it than users who ask for a day."""


@dataclass(frozen=True)
class RunKind:
    """Runs of one kind take about as long as each other. `mode` is the number of the submission's mode.

    Programs of a sandbox only have that in common which one user runs, the `author`; other runs have none.
    """

    problem: str
    mode: int
    gpu_type: str
    author: str = ""

    def wider(self) -> Sequence[Hashable]:
        """The kind itself, and those to look at without history of it: any problem, any GPU, any mode."""
        return self, (self.mode, self.gpu_type), (self.mode,), ()


class Sample(NamedTuple):
    """Times in seconds, what they are of, for people, and the number of runs that are known of that source."""

    times: Sequence[float] = ()
    what: str = ""
    source: Hashable = None
    runs: int = 0


def kind_of(job: Job) -> RunKind:
    """The kind of a job's run, on the machine that it has or else wants."""
    return kind_by(job.spec.submission, job.machine_gpu_type or job.spec.gpu_type, job.user_id or job.account_id)


def kind_by(submission: Submission, gpu_type: str, user_id: str) -> RunKind:
    """The kind of a run of a user's submission."""
    author = user_id if submission.mode == RUN_MODE_SANDBOX else ""
    return RunKind(submission.problem, submission.mode, gpu_type, author)


class RunHistory:
    """The last run times in seconds of each kind, and of the wider ones, and how people used their reservations."""

    def __init__(self) -> None:
        self._times: dict[Hashable, deque[float]] = defaultdict(lambda: deque(maxlen=RUNS_REMEMBERED))
        self._arrivals: deque[Job] = deque(maxlen=ARRIVALS_REMEMBERED)
        self._parts: dict[Hashable, deque[float]] = defaultdict(lambda: deque(maxlen=USES_REMEMBERED))

    def remember_arrival(self, job: Job) -> None:
        """Adds a reservation for as soon as there are GPUs, which was made after all that are known."""
        self._arrivals.append(job)

    def whole_days(self, now: datetime) -> list[list[tuple[timedelta, Job]]]:
        """Who came after this time of each of the last days, for two days at most, and how long after it.

        Days that are not known whole have none.
        """
        days: list[list[tuple[timedelta, Job]]] = []
        for ago in range(1, DAYS_REMEMBERED + 1):
            begin = now - ago * DAY
            if not self._arrivals or self._arrivals[0].create_time > begin:
                break
            one = [
                (job.create_time - begin, job)
                for job in self._arrivals
                if begin < job.create_time <= min(now, begin + 2 * DAY)
            ]
            days.append(one)
        return days

    def remember_use(self, asked: timedelta, used: timedelta) -> None:
        """Adds for how long people used a reservation, extensions included, for which they had first asked so much."""
        for key in (_length(asked), None):
            self._parts[key].append(used / asked)

    def forget_reservations(self) -> None:
        """Forgets all of them."""
        self._arrivals.clear()
        self._parts.clear()

    def parts(self, asked: timedelta) -> Sequence[float]:
        """The parts of what they asked for that people used, of about so long a time; all of it without history."""
        found = (self._parts[key] for key in (_length(asked), None) if key in self._parts)
        return next((parts for parts in found if len(parts) >= LEAST_USES), WHOLE_TIME)

    def remember(self, kind: RunKind, run_time: timedelta) -> None:
        """Adds a run that is over."""
        for key in kind.wider():
            self._times[key].append(run_time.total_seconds())

    def times(self, kind: RunKind) -> Sequence[float]:
        """Times of the narrowest kind with enough runs; empty if there is none."""
        return self._times.get(self._source(kind.wider()), ())

    def _source(self, keys: Sequence[Hashable]) -> Hashable:
        """The first of these that has enough runs; None if none has."""
        return next((key for key in keys if len(self._times.get(key, ())) >= LEAST_HISTORY), None)

    def sample(self, kind: RunKind, limit: float) -> Sample:
        """What the past says of a run of this kind that may take up to `limit` seconds; empty if it says nothing.

        What other users' programs took says little of a program: it may as well take until its limit.
        """
        keys = kind.wider()
        # Runs in other modes say nothing of a program.
        source = self._source(keys[:-1] if kind.author else keys)
        times, is_own = self._times.get(source, ()), source == kind
        if not kind.author:
            return Sample(times, "of the same problems" if is_own else "of other problems", source, len(times))
        capped = [min(one, limit) for one in times]
        if is_own or not times:
            return Sample(capped, "of the same users' programs", source, len(times))
        until_limit = [limit] * -(-len(capped) // LIMIT_PART)
        return Sample([*capped, *until_limit], "of other users' programs (and time limits)", source, len(times))

    def all_times(self) -> Sequence[float]:
        """The last times of any kind."""
        return self._times[()]


def _length(asked: timedelta) -> int:
    """The number of the class of times that are about as long."""
    return bisect_left(_LENGTHS, asked)
