from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from services.vmpool.errors import InvalidFieldError
from services.vmpool.machines.machine import Machine, MachineState, Origin
from services.vmpool.machines.offer import Offer, Source
from services.vmpool.policy.failures import Failures
from services.vmpool.policy.machine_budget import Funds
from services.vmpool.policy.offer_choice import Market, OfferPolicy
from services.vmpool.policy.packing import Demand
from services.vmpool.policy.retention import Retention
from services.vmpool.policy.sizing import Limits, Plan, Pool, check_demand, machines_wanted, pool_needs
from services.vmpool.policy.warm_windows import parse_keep_warm
from tests.services.vmpool.conftest import START, a_machine

LIMITS = Limits(max_machines=3, retention=Retention(timedelta(minutes=10)))
GPU_TYPES = ("MI300X", "MI210")
DOLLAR = 1_000_000
MARKET = Market([Offer("scripted", gpu_type, 1, 2 * DOLLAR) for gpu_type in GPU_TYPES])


def plan(
    demands: Sequence[Demand] = (),
    pool: Pool | Sequence[Machine] = (),
    limits: Limits = LIMITS,
    now: datetime = START,
    market: Market = MARKET,
    funds: Funds = Funds(),  # noqa: B008 - it cannot change
) -> Plan:
    pool = pool if isinstance(pool, Pool) else Pool(pool)
    return machines_wanted(pool_needs(demands, pool, limits, now), pool, market, funds, limits, now)


def started(plan: Plan) -> list[str]:
    return [start.offer.gpu_type for start in plan.start]


def warm(machine_id: str = "m1", gpu_type: str = "MI300X", used: datetime = START) -> Machine:
    return a_machine(machine_id=machine_id, gpu_type=gpu_type, state=MachineState.WARM, last_used_time=used)


def test_an_empty_pool_without_demand_stays_empty() -> None:
    assert plan() == Plan()


def test_whole_gpus_need_a_machine_each_up_to_the_limit() -> None:
    assert started(plan([Demand("MI300X", 8, 2)])) == ["MI300X", "MI300X"]
    beyond = plan([Demand("MI300X", 8, 1_000_000)])
    assert started(beyond) == ["MI300X"] * 3
    assert "limit of 3" in beyond.blocked_reason


def test_draining_and_lost_machines_take_room_and_serve_nobody() -> None:
    leaving = [a_machine(machine_id=state, state=state) for state in (MachineState.DRAINING, MachineState.LOST)]
    assert started(plan([Demand("MI300X", 8, 3)], leaving)) == ["MI300X"]


def test_an_idle_machine_is_released_after_the_timeout() -> None:
    assert plan(pool=[warm()], now=START + timedelta(minutes=10)).release == ("m1",)
    assert plan(pool=[warm()], now=START + timedelta(minutes=9)).release == ()


def test_an_idle_machine_that_is_waited_for_stays() -> None:
    assert plan([Demand("MI300X", 8, 1)], [warm()], now=START + timedelta(hours=1)) == Plan()


def test_idle_machines_beyond_what_is_waited_for_are_released() -> None:
    machines = [warm("newer", used=START), warm("older", used=START - timedelta(minutes=1))]
    made = plan([Demand("MI300X", 8, 1)], machines, now=START + timedelta(hours=1))
    assert len(made.release) == 1


def test_busy_machines_are_never_released() -> None:
    busy = replace(warm(), state=MachineState.BUSY, occupied=(255,))
    assert plan([Demand("MI210", 8, 9)], [busy], now=START + timedelta(days=1)).release == ()


def test_at_the_limit_the_longest_idle_machine_of_another_type_gives_way() -> None:
    limits = replace(LIMITS, max_machines=2)
    machines = [warm("newer", used=START), warm("older", used=START - timedelta(seconds=1))]
    made_room = plan([Demand("MI210", 8, 1)], machines, limits)
    assert (made_room.start, made_room.release, made_room.give_way) == ((), ("older",), {"older"})


def test_no_other_machine_gives_way_while_one_is_leaving_already() -> None:
    limits = replace(LIMITS, max_machines=2)
    machines = [warm(), a_machine(machine_id="leaving", state=MachineState.DRAINING)]
    assert plan([Demand("MI210", 8, 1)], machines, limits).release == ()


def test_no_machine_gives_way_for_one_that_nobody_offers() -> None:
    limits = replace(LIMITS, max_machines=1)
    assert plan([Demand("MI210", 8, 1)], [warm()], limits, market=Market()).release == ()


def test_machines_beyond_a_limit_that_was_lowered_are_released_once_idle() -> None:
    machines = [warm("newer", used=START), warm("older", used=START - timedelta(seconds=1))]
    assert plan(pool=machines, limits=replace(LIMITS, max_machines=1)).release == ("older",)


def test_a_fallback_is_started_where_the_wanted_type_failed_and_the_user_reads_both() -> None:
    failed = {Source("scripted", "", "MI300X"): Failures(2, START, "no capacity in this region")}
    wanted = Demand("MI300X", 8, 1, ("MI210",))
    now = START + timedelta(seconds=3)
    made = plan([wanted], Pool([], failed), now=now)
    assert started(made) == ["MI210"]
    for words in ("no capacity in this region", "tried again in 1 s", "trying MI210 at scripted now"):
        assert words in made.blocked_reason
        assert words in made.start[0].passed_over
    without = plan([replace(wanted, fallback_gpu_types=())], Pool([], failed), now=now)
    assert (without.start, "no capacity" in without.blocked_reason) == ((), True)


def test_work_that_shares_a_machine_with_other_work_has_its_own_fallback_where_that_cannot_be_had() -> None:
    strict, flexible = Demand("MI300X", 1, 1), Demand("MI300X", 1, 1, ("MI210",))
    assert started(plan([strict, flexible])) == ["MI300X"], "both fit on it"

    made = plan([strict, flexible], market=Market([MARKET.offers[1]]))

    assert started(made) == ["MI210"]
    assert (strict.gpu_types, 1) in made.blocked


def test_work_that_cannot_share_a_machine_shares_that_of_its_fallback() -> None:
    most, flexible = Demand("MI300X", 4, 1), Demand("MI300X", 2, 3, ("MI210",))
    other = Demand("MI300X", 1, 1, ("MI210", "MI250X"))
    no_mi300x = Market([MARKET.offers[1]])
    assert started(plan([most, flexible], market=no_mi300x)) == ["MI210"]
    assert started(plan([most, flexible, other], market=no_mi300x)) == ["MI210"]


def test_work_whose_wished_machine_becomes_another_type_hears_at_once_that_it_has_none() -> None:
    flexible, strict = Demand("MI300X", 1, 1, ("MI210",)), Demand("MI300X", 1, 1)
    made = plan([flexible, strict], market=Market([MARKET.offers[1]]))
    assert started(made) == ["MI210"]
    assert (strict.gpu_types, 1) in made.blocked


def test_all_work_that_would_share_a_machine_hears_of_the_limit() -> None:
    strict, flexible = Demand("MI300X", 1, 1), Demand("MI300X", 1, 1, ("MI210",))
    made = plan([strict, flexible], limits=replace(LIMITS, max_machines=0))
    assert made.blocked.keys() == {(strict.gpu_types, 1), (flexible.gpu_types, 1)}


def test_a_machine_of_a_fallback_type_serves_what_waits() -> None:
    on_the_way = a_machine(gpu_type="MI210", state=MachineState.PROVISIONING)
    assert plan([Demand("MI300X", 8, 1, ("MI210",))], [on_the_way]) == Plan()


def test_money_ends_before_the_limit_does() -> None:
    # A start at 2 dollars an hour reserves an hour.
    made = plan([Demand("MI300X", 8, 3)], funds=Funds(5 * DOLLAR, 100 * DOLLAR))
    assert started(made) == ["MI300X"] * 2
    for words in ("$1.00 of the machine budget of $100.00 is left", "reserves $2.00", "BILLING_MACHINE_BUDGET"):
        assert words in made.blocked_reason


def test_without_billing_only_machines_that_cost_nothing_are_started() -> None:
    unknown = Funds(unknown="billing does not answer")
    blocked = plan([Demand("MI300X", 8, 1)], funds=unknown)
    assert (blocked.start, "billing does not answer" in blocked.blocked_reason) == ((), True)
    free = Market([Offer("local", "MI300X", 1, 0)])
    assert started(plan([Demand("MI300X", 8, 1)], funds=unknown, market=free)) == ["MI300X"]


WARM_HOURS = parse_keep_warm("Thu 08:00-18:00 UTC MI300X=1", GPU_TYPES)
MORNING = START.replace(hour=8)


def test_the_schedule_starts_machines_in_its_hours_and_keeps_that_many() -> None:
    limits = replace(LIMITS, keep_warm=WARM_HOURS)
    assert [start.origin for start in plan(limits=limits, now=MORNING).start] == [Origin.SCHEDULE]
    assert plan(limits=limits, now=MORNING - timedelta(minutes=1)) == Plan()
    assert plan(pool=[warm()], limits=limits, now=MORNING) == Plan()
    both = [warm("newer", used=START), warm("older", used=START - timedelta(seconds=1))]
    assert plan(pool=both, limits=limits, now=MORNING).release == ("older",)


def test_after_its_hours_nothing_is_kept() -> None:
    limits = replace(LIMITS, keep_warm=WARM_HOURS)
    assert plan(pool=[warm()], limits=limits, now=START.replace(hour=18)).release == ("m1",)


def test_the_schedule_makes_no_machine_give_way_and_gives_way_itself() -> None:
    limits = replace(LIMITS, max_machines=1, keep_warm=WARM_HOURS)
    other = warm(gpu_type="MI210", used=MORNING)
    assert plan(pool=[other], limits=limits, now=MORNING) == Plan()
    assert plan([Demand("MI210", 8, 1)], [warm()], limits, MORNING).release == ("m1",)


LARGE = [Offer("scripted", "MI300X", 8, 15 * DOLLAR)]
ALL_SIZES = Market([*MARKET.offers, *LARGE])
WITH_LARGE = replace(LIMITS, offers=OfferPolicy(larger_gpu_counts=(8,)))
EIGHT = Demand("MI300X", 64, 1)


def sizes(plan: Plan) -> list[int]:
    return [start.offer.gpu_count for start in plan.start]


def test_a_job_on_eight_gpus_starts_a_machine_that_has_them() -> None:
    assert sizes(plan([EIGHT], limits=WITH_LARGE, market=ALL_SIZES)) == [8]
    assert sizes(plan([Demand("MI300X", 8, 2)], limits=WITH_LARGE, market=ALL_SIZES)) == [1, 1]
    usually_eight = replace(LIMITS, offers=OfferPolicy(gpu_count=8))
    assert sizes(plan([Demand("MI300X", 8, 8), EIGHT], limits=usually_eight, market=ALL_SIZES)) == [8, 8]


def test_small_work_uses_what_a_machine_for_larger_work_has_left() -> None:
    half = Demand("MI300X", 32, 1)
    assert sizes(plan([half, Demand("MI300X", 8, 3)], limits=WITH_LARGE, market=ALL_SIZES)) == [8]
    assert sizes(plan([half, Demand("MI300X", 8, 5)], limits=WITH_LARGE, market=ALL_SIZES)) == [8, 1]


def test_work_that_is_too_large_hears_why_and_keeps_no_other_waiting() -> None:
    made = plan([EIGHT, Demand("MI300X", 32, 1), Demand("MI300X", 8, 1)], limits=WITH_LARGE)
    why = (
        "no machine with {gpus} MI300X or more can be had: the providers offer 1, and VMPOOL_GPUS_PER_MACHINE allows "
        "1, 8"
    )
    assert made.blocked == {(("MI300X",), gpus): why.format(gpus=gpus) for gpus in (8, 4)}
    assert sizes(made) == [1]


def test_a_small_idle_machine_gives_way_to_a_larger_one_at_the_limit() -> None:
    pool = [warm(f"m{number}") for number in range(3)]
    made = plan([EIGHT], pool, WITH_LARGE, market=ALL_SIZES)
    assert (made.start, len(made.release), len(made.give_way)) == ((), 1, 1)
    assert made.blocked == {(("MI300X",), 8): "the limit of 3 machines is reached"}


@pytest.mark.parametrize(
    ("demand", "field"),
    [
        (Demand("H100", 8, 1), "demands.gpu_type: .*MI300X, MI210"),
        (Demand("MI300X", 8, -1), "demands.jobs"),
        (Demand("MI300X", 8, 1, ("MI21",)), "demands.fallback_gpu_types: .*nearest is MI210"),
    ],
)
def test_bad_demand_is_refused_by_field(demand: Demand, field: str) -> None:
    with pytest.raises(InvalidFieldError, match=field):
        check_demand(demand, GPU_TYPES)
