"""An hour of two teams on two machines of 8 GPUs, in simulated time, by the plans that the dispatcher carries out."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

import pytest

from services.scheduler.fairness.plan import plan
from services.scheduler.fairness.queue_tree import ReclaimStrategy
from services.scheduler.fairness.settings import FairnessPolicy, Queues, QueueSettings, Share
from services.scheduler.fairness.situation import Candidate, Machine, Running, Situation

START = datetime(2026, 11, 26, 9, tzinfo=UTC)
STEP = timedelta(seconds=10)
MINUTE = timedelta(minutes=1)
MACHINES = [Machine("m1", 8), Machine("m2", 8)]


class Job(NamedTuple):
    name: str
    queue: str
    came: datetime
    takes: timedelta


class Hour:
    """Jobs run as long as they take; one that gives way ends within a step, and begins anew later."""

    def __init__(self, queues: Queues, jobs: list[Job]) -> None:
        self.queues = queues
        self.now = START
        self.coming = sorted(jobs, key=lambda job: job.came)
        self.jobs = {job.name: job for job in jobs}
        self.waiting: dict[str, Candidate] = {}
        self.running: dict[str, Running] = {}
        self.promises: dict[str, str] = {}
        self.ended: Counter[str] = Counter()
        self.stopped: Counter[str] = Counter()
        self.used: list[Counter[str]] = []

    def run(self, until: datetime) -> None:
        while self.now < until:
            self._end()
            self._come()
            self._decide()
            used = Counter(one.queue for one in self.running.values())
            assert sum(used.values()) <= 16
            self.used.append(used)
            self.now += STEP

    def at(self, minutes: int) -> Counter[str]:
        """GPUs in use by each team then."""
        return self.used[minutes * 6]

    def _end(self) -> None:
        for name, one in list(self.running.items()):
            if one.gives_way_to:
                del self.running[name]
                self.waiting[name] = Candidate(name, one.queue, self.jobs[name].came)
            elif self.now - one.start_time >= self.jobs[name].takes:
                del self.running[name]
                self.ended[one.queue] += 1

    def _come(self) -> None:
        while self.coming and self.coming[0].came <= self.now:
            job = self.coming.pop(0)
            self.waiting[job.name] = Candidate(job.name, job.queue, job.came)

    def _decide(self) -> None:
        order = sorted(self.waiting.values(), key=lambda one: (one.turn_time, one.job_id))
        asked = [
            Candidate(one.job_id, one.queue, one.turn_time, promised=self.promises.get(one.job_id, "")) for one in order
        ]
        decided = plan(Situation("MI300X", self.queues, self.now, MACHINES, list(self.running.values()), asked))
        for name, machine_id in decided.starts.items():
            one = self.waiting.pop(name)
            self.running[name] = Running(name, one.queue, machine_id, self.now)
        before = Counter(one.queue for one in self.running.values())
        for stop in decided.stops:
            one = self.running[stop.job_id]
            self.running[stop.job_id] = Running(
                one.job_id, one.queue, one.machine_id, one.start_time, stopping=True, gives_way_to=stop.winner
            )
            self.stopped[one.queue] += 1
            before[one.queue] -= 1
            assert before[one.queue] >= 8, "a team falls below its quota"
            assert self.now - one.start_time >= MINUTE, "a run gives way before its minimum runtime"
        winners = {stop.winner for stop in decided.stops} | {one.gives_way_to for one in self.running.values()}
        self.promises = {name: machine for name, machine in decided.promises.items() if name in winners}


@pytest.mark.parametrize("policy", list(FairnessPolicy))
def test_quotas_are_lent_and_taken_back_within_the_hour(policy: FairnessPolicy) -> None:
    lab = QueueSettings("lab", policy=policy, reclaim_strategy=ReclaimStrategy.CONSERVATIVE)
    teams = [QueueSettings(name, parent="lab", resources={"gpu": Share(8000)}) for name in ("red", "blue")]
    red = [Job(f"red-{n}", "red", START, 5 * MINUTE) for n in range(200)]
    blue = [Job(f"blue-{n}", "blue", START + 21 * MINUTE, 5 * MINUTE) for n in range(24)]
    hour = Hour(Queues([lab, *teams]), [*red, *blue])

    hour.run(START + 60 * MINUTE)

    assert hour.at(15) == {"red": 16}, "the blue team lends what it does not use"
    assert hour.at(23) == {"red": 8, "blue": 8}, "and has it back after the minimum runtime at most"
    assert hour.at(59) == {"red": 16}, "and lends it again when it is done"
    assert hour.ended["blue"] == 24
    assert hour.stopped["blue"] == 0
    assert hour.stopped["red"] <= 8, "each GPU is taken back once"
