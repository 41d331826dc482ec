"""Estimates how long a job will wait, by playing the queue forward many times with the times of the last runs.

Each play draws a time for every run that is under way and for every job ahead, and gives each job what is free first,
as the dispatcher does: so many eighths of one GPU, or so many GPUs of one or of several machines, within the limits of
its queue. A few runs say only roughly how long their kind takes; so each play also draws, for each kind, how far all of
its times are off. The waits of all plays are the estimate. Jobs that come later are not in it: they wait behind this
one, unless they have a higher priority, or start in room that a large job ahead leaves.

That is not enough where people have GPUs for hours, or wait for some: most leave before their time, and small ones pass
large ones. Such queues are played in full (`forward_play.py`), with what the last people used of the time that they had
asked for, with what is kept for later, and with others who come as they came on the last days.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta

import numpy as np

from services.scheduler.jobs.forward_play import Coming, ForwardPlay
from services.scheduler.jobs.played_machines import Asked, Busy, Need, PlayedMachines
from vocabulary.slots import EIGHTHS_PER_GPU, gpus_for

PLAYS = 60
"""The p90 is the 54th of them; more plays change it by less than the history's own error."""
PLAYED_AHEAD = 200
"""Callers pass this many jobs; further ones count with a mean time, so that an estimate takes some 3 ms however long
the queue is."""
PLAYED_IN_FULL, FULL_PLAYS = 60, 30
"""With more jobs ahead, one goes behind the other: it takes longer to play who goes before whom. The p90 is the 28th of
the plays in which that is done."""
_SHORTEST, _MOST_ERROR = 1e-3, 0.5
"""Seconds that a run of no time counts as, and the largest error of a kind's time: a factor of 1.6."""


@dataclass(frozen=True)
class WaitEstimate:
    """The waits that 50 % and 90 % of such jobs do not exceed."""

    p50: timedelta
    p90: timedelta


class _Kind:
    """What the last runs of one kind say: their times in order, and by how much each play's times are off.

    A play's times of the kind are all off by one factor, whose error is that of the mean logarithm of a time.
    """

    def __init__(self, times: Sequence[float], chance: np.random.Generator) -> None:
        self.ordered = np.sort(np.asarray(times, dtype=float))
        logarithms = np.log(np.maximum(self.ordered, _SHORTEST))
        error = min(_MOST_ERROR, float(logarithms.std()) / math.sqrt(len(times)))
        self.factors = np.exp(error * chance.standard_normal(PLAYS))

    def times(self, shares: np.ndarray) -> np.ndarray:
        """A time for each play: the share of all times that are below it is drawn."""
        return self.factors * self.ordered[(shares * len(self.ordered)).astype(int)]

    def rests(self, elapsed: float, shares: np.ndarray) -> np.ndarray:
        """What a run that has taken `elapsed` takes yet; one that is longer than all known ones takes as long again."""
        first_longer = np.searchsorted(self.ordered, elapsed / self.factors, side="right")
        longer = len(self.ordered) - first_longer
        drawn = np.minimum(first_longer + (shares * longer).astype(int), len(self.ordered) - 1)
        return np.where(longer == 0, elapsed, self.factors * self.ordered[drawn] - elapsed)


class _Parts:
    """The parts that the last people used of what they had asked for, in order.

    They have no error of their own: most who stay to the end leave at one known instant, which a factor would move.
    """

    def __init__(self, parts: Sequence[float]) -> None:
        self.ordered = np.sort(np.asarray(parts, dtype=float))

    def times(self, shares: np.ndarray, asked: Asked) -> np.ndarray:
        """A time for each play: the share of all parts that are below it is drawn."""
        return self.ordered[(shares * len(self.ordered)).astype(int)] * asked.seconds + asked.beyond

    def rests(self, elapsed: float, shares: np.ndarray, asked: Asked) -> np.ndarray:
        """How much longer they stay who have used `elapsed`; to the end, if all others would have left by now."""
        used = elapsed / asked.seconds
        longer = self.ordered[np.searchsorted(self.ordered, used, side="right") :]
        if used >= 1 or not len(longer):
            return np.full(len(shares), max(0.0, asked.seconds - elapsed + asked.beyond))
        return longer[(shares * len(longer)).astype(int)] * asked.seconds - elapsed + asked.beyond


def _ready(shares: np.ndarray, elapsed: float, p50: float, p90: float) -> np.ndarray:
    """When a machine is ready: at its p50 in half of all plays, and spread out beyond it in the others."""
    times = np.where(shares > 0.5, p50 + (p90 - p50) * (shares - 0.5) / 0.4, p50)  # noqa: PLR2004 - of the two percentiles
    return np.maximum(0.0, times - elapsed)


def wait_estimate(
    job: Need, ahead: Sequence[Need], fleet: PlayedMachines, seed: str, beyond_seconds: float = 0.0
) -> WaitEstimate | None:
    """The wait of a job behind those ahead; None without history, or if nothing of the fleet could ever take it.

    Jobs ahead that nothing could take hold nobody up. `beyond_seconds` is what further jobs ahead add. The same seed
    gives the same estimate. `why_unknown` says why there is none.
    """
    if why_unknown(job, ahead, fleet):
        return None
    ahead = [one for one in ahead if fleet.can_give(one)]
    plain = all(
        one.eighths == EIGHTHS_PER_GPU and one.machines == 1 and one.gpus is None and not one.limits
        for one in (*ahead, job)
    )
    if plain and not beyond_seconds and not fleet.kept and len(ahead) < fleet.free_gpus():
        return WaitEstimate(timedelta(0), timedelta(0))
    # Draws of their own for the kinds, the GPUs and the jobs, so that one more job ahead changes no other draw.
    of_kinds, of_slots, of_jobs = np.random.default_rng(zlib.crc32(seed.encode())).spawn(3)
    kinds = _Kinds((*fleet.busy, *ahead, *(need for those in fleet.coming for _, need in those)), of_kinds)
    drawn = of_jobs.random((len(ahead), PLAYS))
    if is_played_in_full(job, ahead, fleet):
        waits = _waits_in_full(job, ahead, fleet, kinds, of_slots, drawn)
        return WaitEstimate(*(timedelta(seconds=_not_exceeded(waits, percent)) for percent in (50, 90)))
    play = _Play(fleet, [*ahead, job], kinds, of_slots)
    for one, shares in zip(ahead, drawn, strict=True):
        play.start(one, kinds.times(one, shares))
    waits = (play.start(job) + beyond_seconds).tolist()
    return WaitEstimate(*(timedelta(seconds=percentile(waits, percent)) for percent in (50, 90)))


def _not_exceeded(waits: list[float], percent: int) -> float:
    """What so many percent of further waits like these do not exceed.

    A further one is one more in their order, which counts if they are few.
    """
    ordered = sorted(waits)
    return ordered[min(len(ordered), -(-(len(ordered) + 1) * percent // 100)) - 1]


def is_played_in_full(job: Need, ahead: Sequence[Need], fleet: PlayedMachines) -> bool:
    """True if people have GPUs or wait for some, so that it counts who goes before whom."""
    has_people = bool(fleet.kept) or any(one.asked for one in (*fleet.busy, *ahead, job))
    return has_people and len(ahead) <= PLAYED_IN_FULL


def _waits_in_full(
    job: Need,
    ahead: Sequence[Need],
    fleet: PlayedMachines,
    kinds: _Kinds,
    chance: np.random.Generator,
    drawn: np.ndarray,
) -> list[float]:
    """The waits of all plays, in each of which small jobs go before large ones as the dispatcher lets them."""
    shares = chance.random((len(fleet.busy) + len(fleet.starting), PLAYS))
    rests = [kinds.rests(one, row).tolist() for one, row in zip(fleet.busy, shares, strict=False)]
    starts = zip(fleet.starting.values(), shares[len(fleet.busy) :], strict=True)
    ready = [_ready(row, *start).tolist() for start, row in starts]
    times = [kinds.times(one, row).tolist() for one, row in zip(ahead, drawn, strict=True)]
    play = ForwardPlay(fleet, [*ahead, job])
    days = _days(fleet)
    return [
        play.wait(
            [row[at] for row in rests],
            [row[at] for row in ready],
            [row[at] for row in times],
            _with_times(days[at % len(days)], kinds, chance.spawn(1)[0]) if days else iter(()),
        )
        for at in range(FULL_PLAYS)
    ]


def _days(fleet: PlayedMachines) -> list[list[Coming]]:
    """Those that come, as on each of the last days, with the machines that will do for them."""
    groups: dict[tuple[int, int, frozenset[int] | None], list[list[int]]] = {}
    days: list[list[Coming]] = []
    for those in fleet.coming:
        able: list[Coming] = []
        for at, need in those:
            key = need.eighths, need.machines, need.gpus
            if key not in groups:
                groups[key] = fleet.groups(need) if fleet.can_give(need) else []
            if groups[key]:
                able.append(Coming(at, need, groups[key]))
        days.append(able)
    return days


def _with_times(coming: Sequence[Coming], kinds: _Kinds, chance: np.random.Generator) -> Iterator[tuple[Coming, float]]:
    """Those that come, each with its time; most plays are over before the last of them."""
    for one in coming:
        yield one, float(kinds.times(one.need, chance.random(1))[0])


def why_unknown(job: Need, ahead: Sequence[Need], fleet: PlayedMachines) -> str:
    """Why there is no estimate of a job's wait behind those ahead; empty if there is one."""
    if fleet.is_above_limit(job):
        return "it takes more than its queue may have at once"
    missing = job.machines - len(fleet.able(job))
    if missing > fleet.unknown_starts:
        few = f"it takes {job.machines} whole machines, and fewer are there or on their way"
        return few if job.machines > 1 else "no machine that is there or on its way has so much"
    if missing > 0:
        return "it is not known yet how long the machines that are being started take to start"
    if not all(one.times for one in (*(one for one in ahead if fleet.can_give(one)), *fleet.busy)):
        return "too few runs like those ahead of it have ended yet"
    return ""


class _Kinds:
    """What is known of the times of runs, by the sequence that all jobs of a kind share."""

    def __init__(self, those: Sequence[Need | Busy], chance: np.random.Generator) -> None:
        jobs = {id(one.times): one.times for one in those if one.asked is None}
        people = {id(one.times): one.times for one in those if one.asked is not None}
        self._jobs = {key: _Kind(times, chance) for key, times in jobs.items()}
        self._people = {key: _Parts(parts) for key, parts in people.items()}

    def times(self, one: Need, shares: np.ndarray) -> np.ndarray:
        """For how long a job that waits has what it takes, in each play."""
        if one.asked is None:
            return self._jobs[id(one.times)].times(shares)
        return self._people[id(one.times)].times(shares, one.asked)

    def rests(self, one: Busy, shares: np.ndarray) -> np.ndarray:
        """For how much longer a run has what it has, in each play."""
        if one.asked is None:
            return self._jobs[id(one.times)].rests(one.elapsed, shares)
        return self._people[id(one.times)].rests(one.elapsed, shares, one.asked)


class _Play:
    """When each unit of each GPU is free next, in seconds from now, with a row for each play.

    A unit is the smallest size that a job takes. A limit is a number of tokens, of which each job takes some beside the
    units of its GPUs.
    """

    def __init__(
        self, fleet: PlayedMachines, needs: Sequence[Need], kinds: _Kinds, chance: np.random.Generator
    ) -> None:
        unit = self._unit = min(EIGHTHS_PER_GPU, *(need.eighths for need in needs))
        counted = [one.counted_eighths for one in (*needs, *fleet.busy) if one.limits]
        self._token = min([EIGHTHS_PER_GPU, *counted])
        self._gpus = fleet.gpus
        self._rows = np.arange(PLAYS)
        self._free_at = np.zeros((PLAYS, self._gpus, EIGHTHS_PER_GPU // unit))
        self._fleet = fleet
        self._machines = list(zip(fleet.first_gpus, fleet.machines, strict=True))
        shares = chance.random((len(fleet.busy) + len(fleet.starting), PLAYS))
        rests = [kinds.rests(one, drawn) for one, drawn in zip(fleet.busy, shares, strict=False)]
        for one, rest in zip(fleet.busy, rests, strict=True):
            for slot in one.slots:
                cells = self._free_at[:, slot.gpu, slot.first // unit : -(-(slot.first + slot.eighths) // unit)]
                np.maximum(cells, rest[:, None], out=cells)
        for (machine, start), drawn in zip(fleet.starting.items(), shares[len(fleet.busy) :], strict=True):
            first, count = self._machines[machine]
            self._free_at[:, first : first + count] = _ready(drawn, *start)[:, None, None]
        self._limits = {name: self._limit(name, most, fleet, rests) for name, most in fleet.limits.items()}
        self._columns: dict[int, np.ndarray] = {}

    def start(self, need: Need, run_times: np.ndarray | None = None) -> np.ndarray:
        """When the job starts; with the times of its run, it has what it takes for so long."""
        names = [name for name in need.limits if name in self._limits]
        taken = need.counted_eighths // self._token
        earliest: np.ndarray | None = None
        for name in names:
            tokens, spare = self._limits[name]
            at = np.partition(tokens, taken + spare - 1, axis=1)[:, taken + spare - 1]
            earliest = at if earliest is None else np.maximum(earliest, at)
        on_one = need.eighths <= EIGHTHS_PER_GPU and need.machines == 1
        take = self._on_one_gpu if on_one else self._on_several
        begin = take(need, earliest, run_times)
        if run_times is not None:
            for name in names:
                tokens, spare = self._limits[name]
                first = np.argpartition(tokens, taken + spare - 1, axis=1)[:, :taken]
                np.put_along_axis(tokens, first, (begin + run_times)[:, None], axis=1)
        return begin

    def _on_one_gpu(self, need: Need, earliest: np.ndarray | None, run_times: np.ndarray | None) -> np.ndarray:
        width = need.eighths // self._unit
        blocks = self._free_at.reshape(PLAYS, -1, width)
        begins = blocks[:, :, 0] if width == 1 else blocks.max(axis=2)
        if need.gpus is not None:
            allowed = np.repeat(self._is_allowed(need.gpus), EIGHTHS_PER_GPU // need.eighths)
            begins = np.where(allowed, begins, np.inf)
        index, begin = self._choose(begins, earliest)
        if run_times is not None:
            blocks[self._rows, index] = (begin + run_times)[:, None]
        return begin

    def _on_several(self, need: Need, earliest: np.ndarray | None, run_times: np.ndarray | None) -> np.ndarray:
        """The machines that are free first, one or so many as the job takes."""
        wanted = gpus_for(need.eighths)
        columns = self._columns_of(wanted)
        ready = self._free_at.max(axis=2)
        if need.gpus is not None:
            ready = np.where(self._is_allowed(need.gpus), ready, np.inf)
        # One column more, which is never free, fills up the machines with fewer GPUs.
        of_machines = np.hstack((ready, np.full((PLAYS, 1), np.inf)))[:, columns]
        begins = np.partition(of_machines, wanted - 1, axis=2)[:, :, wanted - 1]
        if need.machines > 1:
            rows, begin = self._choose_several(need, begins)
            begin = begin if earliest is None else np.maximum(begin, earliest)
        else:
            index, begin = self._choose(begins, earliest)
            rows = index[:, None]
        if run_times is not None:
            for row in rows.T:
                order = np.argpartition(of_machines[self._rows, row], wanted - 1, axis=1)[:, :wanted]
                gpus = np.take_along_axis(columns[row], order, axis=1)
                self._free_at[self._rows[:, None], gpus] = (begin + run_times)[:, None, None]
        return begin

    def _choose_several(self, need: Need, begins: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Those of one site that are free first together: their columns in `begins`, and when."""
        large = [number for number, (_, count) in enumerate(self._machines) if count >= gpus_for(need.eighths)]
        rows = np.zeros((PLAYS, need.machines), dtype=int)
        first = np.full(PLAYS, np.inf)
        for numbers in self._fleet.groups(need):
            group = np.array([large.index(number) for number in numbers])
            order = np.argsort(begins[:, group], axis=1, kind="stable")[:, : need.machines]
            chosen = group[order]
            begin = begins[self._rows, chosen[:, -1]]
            rows = np.where((begin < first)[:, None], chosen, rows)
            first = np.minimum(first, begin)
        return rows, first

    def _choose(self, begins: np.ndarray, earliest: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
        """What is free first. A job that its queue's limit holds back leaves that to others, if it can."""
        index: np.ndarray = begins.argmin(axis=1)
        if earliest is None:
            return index, begins[self._rows, index]
        in_time = np.where(begins <= earliest[:, None], begins, -np.inf)
        last = in_time.argmax(axis=1)
        index = np.where(in_time[self._rows, last] > -np.inf, last, index)
        return index, np.maximum(begins[self._rows, index], earliest)

    def _is_allowed(self, gpus: frozenset[int]) -> np.ndarray:
        return np.fromiter((gpu in gpus for gpu in range(self._gpus)), dtype=bool, count=self._gpus)

    def _columns_of(self, wanted: int) -> np.ndarray:
        """The GPUs of each machine that has so many."""
        if wanted not in self._columns:
            large = [(first, count) for first, count in self._machines if count >= wanted]
            columns = np.full((len(large), max(count for _, count in large)), self._gpus)
            for row, (first, count) in enumerate(large):
                columns[row, :count] = np.arange(first, first + count)
            self._columns[wanted] = columns
        return self._columns[wanted]

    def _limit(
        self, name: Hashable, most: int, fleet: PlayedMachines, rests: Sequence[np.ndarray]
    ) -> tuple[np.ndarray, int]:
        """When each token of a limit is free next, and how many stay free: more may be in use than the limit allows."""
        runs = [
            (one.counted_eighths // self._token, rest)
            for one, rest in zip(fleet.busy, rests, strict=True)
            if name in one.limits
        ]
        allowed, used = most // self._token, sum(taken for taken, _ in runs)
        tokens = np.zeros((PLAYS, max(allowed, used)))
        column = 0
        for taken, rest in runs:
            tokens[:, column : column + taken] = rest[:, None]
            column += taken
        return tokens, max(0, used - allowed)


def percentile(values: Sequence[float], percent: int) -> float:
    """Nearest-rank percentile of values that are not empty."""
    ordered = sorted(values)
    return ordered[max(0, -(-len(ordered) * percent // 100) - 1)]
