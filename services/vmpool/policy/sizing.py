"""Decides how many machines there should be: pure functions of demand, machines, offers and limits.

`pool_needs` packs the waiting work into the existing machines, and lists the machines that are missing for it and for
the keep-warm schedule. `machines_wanted` chooses offers for those, as far as the limit and the budget go. Work for
which a larger machine is started leaves GPUs of it for smaller work, which then needs no machine of its own. It also
lists the idle machines to release: those whose time is over and, at the limit, the longest idle ones that no work waits
for. If nothing waits and nothing is scheduled, the pool shrinks to none.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from services.vmpool.errors import InvalidFieldError
from services.vmpool.machines.machine import ON_THE_WAY, READY, Machine, MachineState, Origin
from services.vmpool.machines.offer import Offer, Source
from services.vmpool.machines.order_checks import check_fallback_gpu_types, check_gpu_type
from services.vmpool.policy.failures import Failures
from services.vmpool.policy.machine_budget import Funds, waiting_micros
from services.vmpool.policy.offer_choice import Market, OfferPolicy, Terms, choose_offer
from services.vmpool.policy.packing import (
    Demand,
    Missing,
    Pace,
    PackingRules,
    ReservedWork,
    Wish,
    Work,
    machines_missing,
)
from services.vmpool.policy.retention import Retention, latest_first
from services.vmpool.policy.warm_windows import WarmWindow, machines_to_keep
from vocabulary import slots

_LIVE = READY | ON_THE_WAY
_NO_TIME = timedelta(0)


@dataclass(frozen=True)
class Limits:
    """Limits that the pool is sized within."""

    max_machines: int
    retention: Retention
    offers: OfferPolicy = field(default_factory=OfferPolicy)
    keep_warm: tuple[WarmWindow, ...] = ()
    unfit_limit: int = 0
    """After this many machines in a row that cost money and ran nothing, no more are rented there; 0: no limit."""


@dataclass(frozen=True)
class Pool:
    """Unreleased machines, sources that failed lately, the pace of each GPU type, and `Terms.trials`."""

    machines: Sequence[Machine]
    backing_off: Mapping[Source, Failures] = field(default_factory=dict["Source", "Failures"])
    paces: Mapping[str, Pace] = field(default_factory=dict[str, Pace])
    trials: Mapping[Source, int] = field(default_factory=dict["Source", int])

    @property
    def live(self) -> Sequence[Machine]:
        """Machines that serve or will serve."""
        return [machine for machine in self.machines if machine.state in _LIVE]


@dataclass(frozen=True)
class Needs:
    """The missing machines, the machines for the waiting work, and how many of each type are to stay."""

    missing: Missing
    floor: Mapping[str, int]

    @property
    def wishes(self) -> tuple[Wish, ...]:
        """The missing machines. If there are none, no offers are needed."""
        return self.missing.wishes


@dataclass(frozen=True)
class Start:
    """A machine to start, and why better offers were passed over. With an `own_job_id`, it is for that job alone."""

    offer: Offer
    origin: Origin
    passed_over: str = ""
    own_job_id: str = ""


@dataclass(frozen=True)
class Plan:
    """Machines to start, idle ones to release, and work that stays unmet.

    The machines in `give_way` are released to make room for others. `blocked` has the reasons for unmet work, by its
    kind; `blocked_own` has those of jobs that want machines of their own, `blocked_reserved` those of reservations.
    """

    start: tuple[Start, ...] = ()
    release: tuple[str, ...] = ()
    give_way: frozenset[str] = frozenset()
    blocked: Mapping[Work, str] = field(default_factory=dict["Work", str])
    blocked_own: Mapping[Demand, str] = field(default_factory=dict[Demand, str])
    blocked_reserved: Mapping[ReservedWork, str] = field(default_factory=dict["ReservedWork", str])

    @property
    def blocked_reason(self) -> str:
        """The reason for the first kind of unmet work; empty if there is none."""
        reasons = [self.blocked, self.blocked_own, self.blocked_reserved]
        return next((reason for kind in reasons for reason in kind.values()), "")


def check_demand(demand: Demand, gpu_types: Sequence[str]) -> Demand:
    """The demand with names in their known spelling; InvalidFieldError names the field and the legal values."""
    gpu_type = check_gpu_type(demand.gpu_type, gpu_types, "demands.gpu_type")
    if demand.jobs < 0:
        raise InvalidFieldError("demands.jobs", f"must not be negative; it is {demand.jobs}")
    fallbacks = check_fallback_gpu_types(demand.fallback_gpu_types, gpu_type, gpu_types, "demands.fallback_gpu_types")
    if demand.own_job_id and demand.jobs != 1:
        raise InvalidFieldError("demands.jobs", f"must be 1 beside own_job_id; it is {demand.jobs}")
    if demand.longest_time < _NO_TIME:
        seconds = demand.longest_time.total_seconds()
        raise InvalidFieldError("demands.longest_time", f"must not be negative; it is {seconds:g} s")
    return replace(demand, gpu_type=gpu_type, fallback_gpu_types=fallbacks)


def pool_needs(demands: Sequence[Demand], pool: Pool, limits: Limits, now: datetime) -> Needs:
    """The machines that are missing now."""
    # One more than the limit shows that there is more to do; further ones change nothing.
    rules = PackingRules(limits.offers, limits.max_machines + 1)
    missing = machines_missing(demands, pool.machines, pool.paces, rules, now)
    floor = _floor_ahead(pool, limits, now)
    present = Counter(machine.gpu_type for machine in pool.live)
    present.update(wish.gpu_types[0] for wish in missing.wishes)
    scheduled = [
        Wish((gpu_type,), Origin.SCHEDULE)
        for gpu_type, count in floor.items()
        for _ in range(min(count - present[gpu_type], limits.max_machines))
    ]
    kept = Counter(floor) | Counter(machines_to_keep(limits.keep_warm, now))
    return Needs(replace(missing, wishes=(*missing.wishes, *scheduled)), kept)


def machines_wanted(needs: Needs, pool: Pool, market: Market, funds: Funds, limits: Limits, now: datetime) -> Plan:
    """The machines to start and to release now."""
    room = max(0, limits.max_machines - len(pool.machines))
    reserved = [(machine, needs.missing.reserved.get(machine.machine_id)) for machine in pool.machines]
    funds = funds.less(sum(waiting_micros(machine, time) for machine, time in reserved if time))
    terms = Terms(limits.offers, pool.backing_off, funds, pool.trials)
    limit = f"the limit of {limits.max_machines} machines is reached"
    start, obstacles, over_limit = _starts(needs.wishes, market, terms, room, limit, now)
    idle = _idle(pool.machines, needs.missing.used)
    giving_way = _giving_way(idle, pool, limits, over_limit)
    staying = replace(pool, machines=[m for m in pool.machines if m.machine_id not in giving_way])
    timed_out = _timed_out(idle[len(giving_way) :], staying, needs.floor, limits.retention, now)
    release, gives_way = (*giving_way, *timed_out), frozenset(giving_way)
    return Plan(start, release, gives_way, obstacles.of_work, obstacles.of_own, obstacles.of_reserved)


def _floor_ahead(pool: Pool, limits: Limits, now: datetime) -> Mapping[str, int]:
    """Number of machines by GPU type that are to be ready by the time that one started now will be."""
    types = {gpu_type for window in limits.keep_warm for gpu_type, _ in window.counts}
    ahead = {
        gpu_type: machines_to_keep(limits.keep_warm, now + (pool.paces.get(gpu_type, Pace()).start_time or _NO_TIME))
        for gpu_type in sorted(types)
    }
    return {gpu_type: floor.get(gpu_type, 0) for gpu_type, floor in ahead.items()}


def _starts(
    wishes: Sequence[Wish], market: Market, terms: Terms, room: int, limit: str, now: datetime
) -> tuple[tuple[Start, ...], _Obstacles, int]:
    """The machines to start, the obstacles, and the number of machines that only the limit keeps back."""
    start: list[Start] = []
    obstacles = _Obstacles()
    spare, beyond = _Spare(), _Spare()
    left = deque(wishes)
    while left:
        wish = left.popleft()
        if spare.holds(wish):
            continue
        choice = choose_offer(wish.gpu_types, market, terms, now, wish.job_gpus[0], wish.longest_time)
        found = choice.offer.gpu_type if choice.offer else ""
        # Whom this machine does not suit, or all if there is none, may have another one.
        together = replace(wish, others=tuple(one for one in wish.others if found in one.gpu_types))
        left.extendleft(reversed([one for one in wish.others if one not in together.others]))
        if choice.offer is not None and len(start) >= room:
            if wish.origin is Origin.DEMAND and not beyond.holds(together):
                beyond.add(choice.offer, together)
            for one in (together, *together.others) if wish.origin is Origin.DEMAND else ():
                obstacles.note(one, limit)
            continue
        obstacles.note(wish, choice.outlook)
        if choice.offer is not None:
            own_job_id = wish.own.own_job_id if wish.own else ""
            start.append(Start(choice.offer, wish.origin, choice.outlook, own_job_id))
            spare.add(choice.offer, together)
            terms = terms.after(choice.offer, wish.longest_time)
    return tuple(start), obstacles, beyond.machines


class _Obstacles:
    """The first obstacle of each kind of work, and of each job that wants a machine of its own."""

    def __init__(self) -> None:
        self.of_work: dict[Work, str] = {}
        self.of_own: dict[Demand, str] = {}
        self.of_reserved: dict[ReservedWork, str] = {}

    def note(self, wish: Wish, obstacle: str) -> None:
        """Note an obstacle to a wish; empty if there is none."""
        for work in wish.work if obstacle else ():
            self.of_work.setdefault(work, obstacle)
        for reserved in wish.reserved_work if obstacle else ():
            self.of_reserved.setdefault(reserved, obstacle)
        if wish.own and obstacle:
            self.of_own.setdefault(wish.own, obstacle)


class _Spare:
    """What the work for machines leaves free of them."""

    def __init__(self) -> None:
        self._free: list[tuple[Offer, Sequence[int]]] = []
        self.machines = 0

    def add(self, offer: Offer, wish: Wish) -> None:
        """Add what the work of a wish leaves of its machine; nothing if it is for one job."""
        self.machines += 1
        if not wish.own:
            occupied = _with(wish, (0,) * offer.gpu_count)
            self._free += [] if occupied is None else [(offer, occupied)]

    def holds(self, wish: Wish) -> bool:
        """Take the room for the work of a wish, if one machine has enough of it left."""
        if wish.origin is not Origin.DEMAND or wish.own:
            return False
        for index, (offer, before) in enumerate(self._free):
            is_fit = all(offer.gpu_type in one.gpu_types for one in (wish, *wish.others))
            if is_fit and not offer.life_refusal(wish.longest_time):
                after = _with(wish, before)
                if after is not None:
                    self._free[index] = (offer, after)
                    return True
        return False


def _with(wish: Wish, occupied: Sequence[int]) -> Sequence[int] | None:
    """What is taken of a machine with all jobs of a wish; None if they do not fit."""
    jobs = [eighths for one in (wish, *wish.others) for eighths in one.jobs]
    for eighths in sorted(jobs, reverse=True):
        free = slots.free_slots(occupied, eighths)
        if not free:
            return None
        occupied = slots.taken(occupied, free)
    return occupied


def _idle(machines: Sequence[Machine], used: frozenset[str]) -> Sequence[Machine]:
    """Machines that are idle and that no work is to use, the longest idle first."""
    idle = [machine for machine in machines if machine.state is MachineState.WARM and machine.machine_id not in used]
    return latest_first(idle)[::-1]


def _giving_way(idle: Sequence[Machine], pool: Pool, limits: Limits, over_limit: int) -> tuple[str, ...]:
    """Idle machines that go because there are too many, or because the limit is reached and others are waited for."""
    leaving = len(pool.machines) - len(pool.live)
    too_many = max(0, len(pool.live) - limits.max_machines)
    count = too_many + max(0, over_limit - leaving)
    return tuple(machine.machine_id for machine in idle[:count])


def _timed_out(
    idle: Sequence[Machine], staying: Pool, floor: Mapping[str, int], retention: Retention, now: datetime
) -> tuple[str, ...]:
    """Idle machines whose time is over, the longest idle first, down to the number that the schedule keeps."""
    present = Counter(machine.gpu_type for machine in staying.live)
    release_times = retention.release_times(idle, now)
    timed_out: list[str] = []
    for machine in idle:
        to_spare = present[machine.gpu_type] > floor.get(machine.gpu_type, 0)
        if to_spare and now >= release_times[machine.machine_id]:
            present[machine.gpu_type] -= 1
            timed_out.append(machine.machine_id)
    return tuple(timed_out)
