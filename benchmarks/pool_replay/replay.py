"""Replays arrivals through the product's own decisions: `sizing`, `packing`, `retention`, `Machine` and `Tariff`.

Time is simulated: it jumps from one event to the next. The loop also does the work of vmpool's stores: it gives
machines to jobs in order, the most recently used first, and measures paces from the events so far.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count
from math import log
from random import Random
from statistics import fmean, median

from benchmarks.pool_replay.arrivals import Arrival
from services.vmpool.capacity.sizer import ordered_machine
from services.vmpool.machines.lease import StartKind, start_kind
from services.vmpool.machines.machine import Machine, MachineState
from services.vmpool.machines.offer import Offer
from services.vmpool.policy.machine_budget import Funds
from services.vmpool.policy.offer_choice import Market
from services.vmpool.policy.packing import Demand, Pace
from services.vmpool.policy.sizing import Limits, Plan, Pool, machines_wanted, pool_needs
from vocabulary.money import Tariff
from vocabulary.slots import EIGHTHS_PER_GPU, Slot

DAY_START = datetime(2026, 3, 2, tzinfo=UTC)
GPU_TYPE = "MI300X"
PACE_HISTORY = 200
LOOK_SECONDS = 15.0
"""Interval between two looks at a queue if nothing happens; vmpool itself looks every second."""

SCHEDULE_SECONDS = 60.0
"""Interval between two looks at a keep-warm schedule, which is followed to the end of the day."""

DAY_SECONDS = 86400.0
_WHOLE_GPU = Slot(0, 0, EIGHTHS_PER_GPU)


@dataclass(frozen=True)
class Cloud:
    """A cloud: the tariff, the time until a machine is ready (log-normal), and the time of a release."""

    tariff: Tariff
    start_median_seconds: float = 150.0
    start_spread: float = 0.3
    release_seconds: float = 30.0


@dataclass(frozen=True)
class Policy:
    """`limits` as in the product. A plainer policy may not know the tariff or the measured paces."""

    name: str
    limits: Limits
    knows_tariff: bool = True
    knows_paces: bool = True


@dataclass
class Outcome:
    """The outcome of a day: each job's wait in seconds, and the time that each machine was held for."""

    waits: list[float] = field(default_factory=list[float])
    held: list[timedelta] = field(default_factory=list[timedelta])
    cold_starts: int = 0
    most_machines: int = 0

    def cost_micros(self, tariff: Tariff) -> int:
        """Cost of all machines, in micro-dollars."""
        return sum(tariff.cost_micros(held) for held in self.held)


class Replay:
    """One day under one policy."""

    def __init__(self, policy: Policy, cloud: Cloud, arrivals: Sequence[Arrival], draw: Random) -> None:
        self.outcome = Outcome()
        self._policy = policy
        self._cloud = cloud
        self._draw = draw
        self._machines: dict[str, Machine] = {}
        self._queue: deque[Arrival] = deque()
        self._job_seconds: deque[float] = deque(maxlen=PACE_HISTORY)
        self._start_seconds: deque[float] = deque(maxlen=PACE_HISTORY)
        self._order = count()
        self._next_look: datetime | None = None
        self._events: list[tuple[float, int, Callable[[datetime], None]]] = []
        self._market = Market(
            [_offer(cloud.tariff if policy.knows_tariff else Tariff(cloud.tariff.price_micros_per_hour))]
        )
        for arrival in arrivals:
            self._at(arrival.seconds, lambda _, arrival=arrival: self._queue.append(arrival))
        for step in range(_looks_at_schedule(arrivals) if policy.limits.keep_warm else 0):
            self._at(step * SCHEDULE_SECONDS, lambda _: None)

    def run(self) -> Outcome:
        """Goes on until every job is done and every machine is released."""
        while self._events:
            seconds, _, event = heapq.heappop(self._events)
            now = DAY_START + timedelta(seconds=seconds)
            event(now)
            self._give_out(now)
            self._resize(now)
        if self._machines or self._queue:
            raise RuntimeError(f"{len(self._machines)} machines and {len(self._queue)} jobs are left over")
        return self.outcome

    def _at(self, seconds: float, event: Callable[[datetime], None]) -> None:
        heapq.heappush(self._events, (seconds, next(self._order), event))

    def _after(self, now: datetime, seconds: float, event: Callable[[datetime], None]) -> None:
        self._at((now - DAY_START).total_seconds() + seconds, event)

    def _give_out(self, now: datetime) -> None:
        while self._queue:
            free = [machine for machine in self._machines.values() if machine.state is MachineState.WARM]
            if not free:
                return
            # The most recently used first, as in LeaseStore.
            machine = max(free, key=lambda machine: machine.last_used_time or machine.create_time)
            job = self._queue.popleft()
            self.outcome.cold_starts += start_kind(machine, now) is StartKind.COLD_START
            self.outcome.waits.append((now - DAY_START - timedelta(seconds=job.seconds)).total_seconds())
            self._keep(machine.lease(now, [_WHOLE_GPU]))
            self._job_seconds.append(job.duration_seconds)
            self._after(now, job.duration_seconds, lambda end, name=machine.machine_id: self._finish(name, end))

    def _finish(self, machine_id: str, now: datetime) -> None:
        self._keep(self._machines[machine_id].unlease(now, [_WHOLE_GPU], "done"))

    def _resize(self, now: datetime) -> None:
        pool = Pool(list(self._machines.values()), {}, self._paces())
        demands = [Demand(GPU_TYPE, EIGHTHS_PER_GPU, len(self._queue))] if self._queue else []
        limits = self._policy.limits
        plan = machines_wanted(pool_needs(demands, pool, limits, now), pool, self._market, Funds(), limits, now)
        self._carry_out(plan, now)
        self._look_again(now)
        self.outcome.most_machines = max(self.outcome.most_machines, len(self._machines))

    def _carry_out(self, plan: Plan, now: datetime) -> None:
        for machine_id in plan.release:
            self._keep(self._machines[machine_id].drain(now, "idle"))
            self._after(now, self._cloud.release_seconds, lambda end, name=machine_id: self._stop(name, end))
        for start in plan.start:
            machine_id = f"m{len(self.outcome.held) + len(self._machines)}"
            machine = ordered_machine(start, machine_id, "", self._policy.limits, now)
            self._keep(machine.provision(now))
            seconds = self._draw.lognormvariate(log(self._cloud.start_median_seconds), self._cloud.start_spread)
            self._after(now, seconds, lambda end, name=machine.machine_id, took=seconds: self._join(name, took, end))

    def _join(self, machine_id: str, took: float, now: datetime) -> None:
        self._start_seconds.append(took)
        self._keep(self._machines[machine_id].start(now, "there").join(now, self._machines[machine_id].inventory))

    def _stop(self, machine_id: str, now: datetime) -> None:
        machine = self._machines.pop(machine_id).stop(now)
        self.outcome.held.append(now - (machine.provision_time or now))

    def _look_again(self, now: datetime) -> None:
        idle = [machine for machine in self._machines.values() if machine.state is MachineState.WARM]
        moments = self._policy.limits.retention.release_times(idle, now).values()
        waits = [(moment - now).total_seconds() for moment in moments if moment > now]
        waits += [LOOK_SECONDS] if self._queue else []
        if not waits:
            return
        seconds = (now - DAY_START).total_seconds() + min(waits)
        if not self._next_look or not now < self._next_look <= DAY_START + timedelta(seconds=seconds):
            self._next_look = DAY_START + timedelta(seconds=seconds)
            self._at(seconds, lambda _: None)

    def _paces(self) -> dict[str, Pace]:
        if not self._policy.knows_paces:
            return {}
        job_time = timedelta(seconds=fmean(self._job_seconds)) if self._job_seconds else None
        start_time = timedelta(seconds=median(self._start_seconds)) if self._start_seconds else None
        return {GPU_TYPE: Pace(job_time, start_time)}

    def _keep(self, machine: Machine) -> None:
        self._machines[machine.machine_id] = machine


def _looks_at_schedule(arrivals: Sequence[Arrival]) -> int:
    """Number of looks in whole days, at least one; a sitting that goes on past midnight begins no other day."""
    last = max((arrival.seconds for arrival in arrivals), default=0.0)
    return int(max(1, round(last / DAY_SECONDS)) * DAY_SECONDS / SCHEDULE_SECONDS)


def _offer(tariff: Tariff) -> Offer:
    return Offer(
        provider="cloud",
        gpu_type=GPU_TYPE,
        gpu_count=1,
        price_micros_per_hour=tariff.price_micros_per_hour,
        minimum_billed=tariff.minimum,
        billing_increment=tariff.increment,
    )


def machine_per_job(cloud: Cloud, arrivals: Sequence[Arrival], draw: Random) -> Outcome:
    """The outcome of a day if every job has a machine of its own, which ends with it."""
    outcome = Outcome(cold_starts=len(arrivals))
    for arrival in arrivals:
        start = draw.lognormvariate(log(cloud.start_median_seconds), cloud.start_spread)
        outcome.waits.append(start)
        outcome.held.append(timedelta(seconds=start + arrival.duration_seconds + cloud.release_seconds))
    return outcome
