"""Machines that are started for one job, because it wants a new one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.vmpool.errors import InvalidFieldError
from services.vmpool.machines.machine import Machine, MachineState
from services.vmpool.machines.offer import Offer
from services.vmpool.policy.demand_board import DemandBoard
from services.vmpool.policy.machine_budget import Funds
from services.vmpool.policy.offer_choice import Market, OfferPolicy
from services.vmpool.policy.packing import Demand
from services.vmpool.policy.retention import Retention
from services.vmpool.policy.sizing import Limits, Plan, Pool, check_demand, machines_wanted, pool_needs
from tests.services.vmpool.conftest import START, a_machine, a_request

MARKET = Market([Offer("scripted", "MI300X", gpus, 2_000_000) for gpus in (1, 8)])
LIMITS = Limits(
    max_machines=3,
    retention=Retention(timedelta(minutes=10)),
    offers=OfferPolicy(gpu_count=1, larger_gpu_counts=(8,)),
)
ORDINARY = Demand("MI300X", 8, 1)
LATER = START + timedelta(hours=1)


def own(job_id: str = "job", eighths: int = 8) -> Demand:
    return Demand("MI300X", eighths, 1, own_job_id=job_id)


def plan(
    demands: Sequence[Demand], machines: Sequence[Machine] = (), limits: Limits = LIMITS, market: Market = MARKET
) -> Plan:
    pool = Pool(machines)
    return machines_wanted(pool_needs(demands, pool, limits, START), pool, market, Funds(), limits, START)


def warm(machine_id: str = "m1", **changes: object) -> Machine:
    return a_machine(**({"machine_id": machine_id, "state": MachineState.WARM, "last_used_time": START} | changes))


def for_whom(plan: Plan) -> list[str]:
    return [start.own_job_id for start in plan.start]


def test_a_machine_is_started_for_the_job_although_others_are_free() -> None:
    assert for_whom(plan([own()], [warm()])) == ["job"]
    assert for_whom(plan([own("one"), own("two")], [warm()])) == ["one", "two"]


@pytest.mark.parametrize("state", [MachineState.REQUESTED, MachineState.STARTING, MachineState.WARM])
def test_it_is_started_once_and_no_other_work_counts_on_it(state: MachineState) -> None:
    its = a_machine(machine_id="its", state=state, own_job_id="job")
    assert plan([own()], [its]).start == ()
    assert for_whom(plan([own(), ORDINARY], [its])) == [""]
    assert for_whom(plan([own("another")], [its])) == ["another"]


def test_it_is_for_everybody_once_the_job_waits_no_longer_or_has_used_it() -> None:
    its = warm("its", own_job_id="job")
    assert plan([ORDINARY], [its]).start == ()
    used = replace(its, fencing_token=1, jobs_run=1)
    assert plan([ORDINARY], [used]).start == ()
    assert for_whom(plan([own()], [used])) == ["job"]


def test_other_work_uses_nothing_of_a_machine_that_is_started_for_one_job() -> None:
    wishes = plan([own(eighths=64), ORDINARY, Demand("MI300X", 4, 1)]).start
    assert sorted((start.offer.gpu_count, start.own_job_id) for start in wishes) == [(1, ""), (1, ""), (8, "job")]
    assert for_whom(plan([own(eighths=4), Demand("MI300X", 64, 1)])) == ["", "job"]


def test_at_the_limit_an_idle_machine_gives_way_and_with_none_the_job_hears_of_the_limit() -> None:
    tight = replace(LIMITS, max_machines=1)
    idle = plan([own()], [warm()], tight)
    assert (idle.start, idle.give_way) == ((), frozenset({"m1"}))
    busy = plan([own()], [warm(state=MachineState.BUSY, occupied=(255,))], tight)
    assert (busy.start, busy.release) == ((), ())
    assert dict(busy.blocked_own) == {own(): "the limit of 1 machines is reached"}
    assert "limit of 1" in busy.blocked_reason
    assert not busy.blocked


def test_its_machine_is_kept_while_it_waits_and_idles_out_afterwards() -> None:
    its = warm("its", own_job_id="job", last_used_time=START - timedelta(hours=1))
    assert plan([own()], [its]).release == ()
    assert plan([], [its]).release == ("its",)


def test_an_obstacle_is_the_jobs_own() -> None:
    nothing = plan([own(), ORDINARY], market=Market())
    assert set(nothing.blocked_own) == {own()}
    assert set(nothing.blocked) == {(("MI300X",), 1)}


@given(st.sets(st.sampled_from("abcdef")), st.sets(st.sampled_from("abcdef")), st.integers(0, 3))
def test_each_job_has_exactly_one_machine_of_its_own_whatever_else_there_is(
    jobs: set[str], served: set[str], ordinary: int
) -> None:
    roomy = replace(LIMITS, max_machines=100)
    machines = [a_machine(machine_id=f"m-{name}", state=MachineState.STARTING, own_job_id=name) for name in served]
    demands = [*map(own, sorted(jobs)), Demand("MI300X", 8, ordinary)]
    made = for_whom(plan(demands, machines, roomy))
    assert sorted(filter(None, made)) == sorted(jobs - served)
    assert made.count("") == max(0, ordinary - len(served - jobs))


def test_the_board_keeps_such_jobs_apart_and_forgets_one_that_got_its_lease() -> None:
    board = DemandBoard(timedelta(minutes=1))
    board.report([Demand("MI300X", 8, 2), own("one"), own("two")], START)
    assert list(board.present(START)) == [Demand("MI300X", 8, 2), own("one"), own("two")]
    board.granted(a_request("one"))
    assert list(board.present(START)) == [Demand("MI300X", 8, 2), own("two")]
    board.granted(a_request("ordinary"))
    assert list(board.present(START)) == [Demand("MI300X", 8, 1), own("two")]
    assert not board.present(LATER)


def test_such_a_demand_is_of_one_job() -> None:
    with pytest.raises(InvalidFieldError, match="must be 1 beside own_job_id"):
        check_demand(Demand("MI300X", 8, 2, own_job_id="job"), ["MI300X"])
    assert check_demand(own(), ["MI300X"]) == own()
