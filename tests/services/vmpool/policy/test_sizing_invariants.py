"""Invariants of sizing, on random pools."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from services.vmpool.capacity.sizer import ordered_machine
from services.vmpool.machines.machine import ON_THE_WAY, READY, Machine, MachineState
from services.vmpool.machines.offer import START_MARGIN, Offer
from services.vmpool.policy.machine_budget import Funds, funds_left
from services.vmpool.policy.offer_choice import Market, OfferPolicy
from services.vmpool.policy.packing import Demand, Pace, PackingRules, machines_missing
from services.vmpool.policy.retention import Retention, paid_until
from services.vmpool.policy.sizing import Limits, Plan, Pool, machines_wanted, pool_needs
from tests.services.vmpool.conftest import START, a_machine
from vocabulary.slots import LEGAL_SIZES

GPU_TYPES = ("MI300X", "MI210")
DOLLAR = 1_000_000
HOUR = timedelta(hours=1)
NOW = START + 2 * HOUR
LATER = timedelta(days=1)
SINGLE = [
    Offer("one", "MI300X", 1, 2 * DOLLAR, "a", minimum_billed=HOUR, billing_increment=timedelta(minutes=1)),
    Offer("one", "MI300X", 1, 3 * DOLLAR, "b"),
    Offer("two", "MI210", 1, DOLLAR, longest_life=12 * HOUR, life_setting="VMPOOL_TWO_MAX_DURATION"),
]
LARGER = [
    Offer("one", "MI300X", 2, 4 * DOLLAR, "a"),
    Offer("one", "MI300X", 4, 9 * DOLLAR, "b", available=False),
    Offer("one", "MI300X", 8, 15 * DOLLAR, "b", minimum_billed=HOUR),
    Offer("two", "MI210", 4, 3 * DOLLAR),
]
MARKETS = [Market(SINGLE), Market([*SINGLE, *LARGER]), Market([*LARGER, SINGLE[0]])]
SIZES = [(1, ()), (1, (8,)), (1, (2, 4, 8)), (2, (8,)), (4, ()), (8, ())]
"""The usual number of GPUs of a machine, and the larger ones."""

moments = st.timedeltas(timedelta(0), 2 * HOUR).map(lambda span: START + span)
demands = st.lists(
    st.builds(
        Demand,
        st.sampled_from(GPU_TYPES),
        st.sampled_from(LEGAL_SIZES),
        st.integers(0, 50),
        st.sampled_from([(), ("MI210",), ("MI300X",)]),
        longest_time=st.sampled_from([timedelta(0), timedelta(0), HOUR / 2, 24 * HOUR]),
    ),
    max_size=4,
)


@st.composite
def machines(draw: st.DrawFn) -> list[Machine]:
    made: list[Machine] = []
    for number in range(draw(st.integers(0, 6))):
        state = draw(st.sampled_from([*READY, *ON_THE_WAY, MachineState.DRAINING, MachineState.LOST]))
        begun = draw(moments)
        gpus = draw(st.sampled_from([1, 1, 2, 8]))
        taken = draw(st.lists(st.sampled_from([0, 1, 240, 255]), min_size=gpus, max_size=gpus))
        made.append(
            a_machine(
                machine_id=f"m{number}",
                gpu_type=draw(st.sampled_from(GPU_TYPES)),
                state=state,
                gpu_count=gpus,
                occupied=(draw(st.integers(1, 255)), *taken[1:]) if state is MachineState.BUSY else (0,) * gpus,
                create_time=begun,
                provision_time=begun,
                last_used_time=draw(st.one_of(st.none(), moments)),
                price_micros_per_hour=draw(st.sampled_from([0, 2 * DOLLAR])),
                minimum_billed=draw(st.sampled_from([timedelta(0), HOUR])),
                billing_increment=draw(st.sampled_from([timedelta(seconds=1), HOUR])),
                max_duration=draw(st.sampled_from([timedelta(0), 12 * HOUR])),
            )
        )
    return made


limits = st.builds(
    Limits,
    st.integers(0, 6),
    st.builds(Retention, st.timedeltas(timedelta(0), HOUR), surplus_share=st.floats(0, 1)),
    st.sampled_from(SIZES).map(lambda sizes: OfferPolicy(gpu_count=sizes[0], larger_gpu_counts=sizes[1])),
)
markets = st.sampled_from(MARKETS)
paces = st.sampled_from([{}, {"MI300X": Pace(timedelta(seconds=30), timedelta(seconds=150))}])


def plan_of(
    demands: list[Demand], pool: Pool, limits: Limits, funds: Funds, market: Market, now: datetime = NOW
) -> Plan:
    return machines_wanted(pool_needs(demands, pool, limits, now), pool, market, funds, limits, now)


def applied(plan: Plan, pool: Pool, limits: Limits, now: datetime = NOW, name: str = "new") -> Pool:
    """The pool after the plan was carried out; its new machines have `name` and a number."""
    kept = [machine.drain(now, "plan") if machine.machine_id in plan.release else machine for machine in pool.machines]
    started = [ordered_machine(start, f"{name}{number}", "", limits, now) for number, start in enumerate(plan.start)]
    return replace(pool, machines=[*kept, *started])


@given(demands=demands, machines=machines(), limits=limits, paces=paces, market=markets)
def test_never_more_than_the_limit_and_only_idle_machines_go(
    demands: list[Demand], machines: list[Machine], limits: Limits, paces: dict[str, Pace], market: Market
) -> None:
    made = plan_of(demands, Pool(machines, {}, paces), limits, Funds(), market)
    assert len(made.start) <= max(0, limits.max_machines - len(machines))
    assert set(made.release) <= {machine.machine_id for machine in machines if machine.state is MachineState.WARM}
    assert max(Counter(made.release).values(), default=1) == 1
    wanted = {gpu_type for demand in demands if demand.jobs for gpu_type in demand.gpu_types}
    assert {start.offer.gpu_type for start in made.start} <= wanted


@given(demands=demands, machines=machines(), limits=limits, paces=paces, market=markets)
def test_a_machine_is_larger_than_usual_only_for_work_that_needs_it(
    demands: list[Demand], machines: list[Machine], limits: Limits, paces: dict[str, Pace], market: Market
) -> None:
    policy = limits.offers
    made = plan_of(demands, Pool(machines, {}, paces), limits, Funds(), market)
    for start in made.start:
        for_it = [demand for demand in demands if demand.jobs and start.offer.gpu_type in demand.gpu_types]
        if start.offer.gpu_count != policy.gpu_count:
            assert start.offer.gpu_count in policy.larger_gpu_counts
            assert any(policy.gpu_count < demand.gpus <= start.offer.gpu_count for demand in for_it)


@given(demands=demands, machines=machines(), limits=limits, paces=paces, market=markets)
def test_work_has_a_machine_that_is_large_enough_or_hears_why_not(
    demands: list[Demand], machines: list[Machine], limits: Limits, paces: dict[str, Pace], market: Market
) -> None:
    pool = Pool(machines, {}, paces)
    made = plan_of(demands, pool, limits, Funds(), market)
    there = applied(made, pool, limits).live
    for demand in demands:
        fitting = [
            m
            for m in there
            if m.gpu_type in demand.gpu_types
            and m.gpu_count >= demand.gpus
            and (not demand.longest_time or m.lasts_until(NOW + demand.longest_time))
        ]
        work = (demand.gpu_types, demand.gpus)
        reserved = made.blocked_reserved.get((*work, demand.longest_time))
        assert fitting or not demand.jobs or (reserved if demand.longest_time else made.blocked.get(work))


@given(demands=demands, machines=machines(), limits=limits, market=markets)
def test_no_machine_is_started_for_reservations_alone_that_it_does_not_outlast(
    demands: list[Demand], machines: list[Machine], limits: Limits, market: Market
) -> None:
    reservations = [demand for demand in demands if demand.longest_time]
    for start in plan_of(reservations, Pool(machines), limits, Funds(), market).start:
        life = start.offer.longest_life
        for_it = [one for one in reservations if one.jobs and start.offer.gpu_type in one.gpu_types]
        assert not life or any(one.longest_time + START_MARGIN <= life for one in for_it)


@given(demands=demands, machines=machines(), limits=limits, market=markets)
def test_work_that_cannot_be_served_keeps_no_other_from_its_machines(
    demands: list[Demand], machines: list[Machine], limits: Limits, market: Market
) -> None:
    """There is room for all, so that only the offers decide."""
    limits = replace(limits, max_machines=1000)
    pool = Pool(machines)
    # A fallback that was started takes work that further wishes were for, so later passes may wish for others.
    for number in range(5):
        pool = applied(plan_of(demands, pool, limits, Funds(), market), pool, limits, name=f"new{number}-")
    missing = machines_missing(demands, pool.machines, {}, PackingRules(limits.offers), NOW)
    assert all(not can_be_had(work, limits.offers, market) for wish in missing.wishes for work in wish.work)


def can_be_had(work: tuple[tuple[str, ...], int], policy: OfferPolicy, market: Market) -> bool:
    gpu_types, gpus = work
    offers = [offer for offer in market.offers if offer.available and offer.gpu_type in gpu_types]
    return any(policy.has_right_size(offer, gpus) for offer in offers)


@given(demands=demands, machines=machines(), limits=limits, market=markets)
def test_each_machine_that_is_started_is_needed(
    demands: list[Demand], machines: list[Machine], limits: Limits, market: Market
) -> None:
    pool = Pool(machines)
    made = plan_of(demands, pool, limits, Funds(), market)
    after = applied(made, pool, limits).machines
    for number in range(len(made.start)):
        without = [machine for machine in after if machine.machine_id != f"new{number}"]
        assert machines_missing(demands, without, {}, PackingRules(limits.offers), NOW).wishes


@given(
    demands=demands,
    machines=machines(),
    limits=limits,
    market=markets,
    budget=st.integers(0, 90),
    spent=st.integers(0, 20),
)
def test_no_start_goes_beyond_the_budget(
    demands: list[Demand], machines: list[Machine], limits: Limits, market: Market, budget: int, spent: int
) -> None:
    pool = Pool(machines)
    made = plan_of(demands, pool, limits, funds_left(budget * DOLLAR, spent * DOLLAR, machines, NOW), market)
    after = funds_left(budget * DOLLAR, spent * DOLLAR, applied(made, pool, limits).machines, NOW)
    assert not made.start or (after.left_micros is not None and after.left_micros >= 0)


@given(demands=demands, machines=machines(), limits=limits, market=markets)
def test_no_machine_goes_in_time_that_is_paid_unless_it_gives_way(
    demands: list[Demand], machines: list[Machine], limits: Limits, market: Market
) -> None:
    made = plan_of(demands, Pool(machines), limits, Funds(), market)
    for machine in machines:
        if machine.machine_id in made.release and machine.machine_id not in made.give_way:
            assert paid_until(machine, NOW) - NOW <= limits.retention.release_margin


@given(demands=demands, machines=machines(), limits=limits, market=markets)
def test_machines_give_way_only_at_the_limit(
    demands: list[Demand], machines: list[Machine], limits: Limits, market: Market
) -> None:
    made = plan_of(demands, Pool(machines), limits, Funds(), market)
    assert not made.give_way or len(machines) + len(made.start) >= limits.max_machines


@given(machines=machines(), limits=limits)
def test_every_idle_machine_goes_in_the_end_when_nothing_waits(machines: list[Machine], limits: Limits) -> None:
    pool = Pool([machine for machine in machines if machine.state is MachineState.WARM])
    # Each is due shortly before the end of a fully billed hour, counted from its own start.
    for minute in range(2 * 60):
        now = NOW + LATER + timedelta(minutes=minute)
        made = plan_of([], pool, limits, Funds(), MARKETS[0], now)
        pool = replace(pool, machines=[m for m in pool.machines if m.machine_id not in made.release])
    assert pool.machines == []


@given(demands=demands, machines=machines(), limits=limits, paces=paces, market=markets, left=st.integers(0, 60))
def test_plans_that_are_carried_out_soon_leave_nothing_to_do_and_undo_nothing(
    demands: list[Demand], machines: list[Machine], limits: Limits, paces: dict[str, Pace], market: Market, left: int
) -> None:
    """A fallback that was started takes work that further wishes were for, so a second pass may wish for others."""
    pool = Pool(machines, {}, paces)
    budget = left * DOLLAR + 1
    funds = Funds(budget, budget)
    for number in range(limits.max_machines + 1):
        plan = plan_of(demands, pool, limits, funds, market)
        assert not any(machine_id.startswith("new") for machine_id in plan.release)
        for start in plan.start:
            funds = funds.without(start.offer)
        pool = applied(plan, pool, limits, name=f"new{number}-")
    again = plan_of(demands, pool, limits, funds, market)
    assert (again.start, again.release) == ((), ())
