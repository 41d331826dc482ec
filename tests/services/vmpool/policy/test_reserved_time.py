"""Reservations need machines that last, and money for their whole length."""

from __future__ import annotations

from datetime import timedelta

from services.vmpool.machines.lease import Holder
from services.vmpool.machines.machine import MachineState
from services.vmpool.machines.offer import START_MARGIN, Offer
from services.vmpool.policy.demand_board import DemandBoard
from services.vmpool.policy.machine_budget import Funds, funds_left, held_micros
from services.vmpool.policy.offer_choice import Market
from services.vmpool.policy.packing import Demand, Pace, PackingRules, machines_missing
from services.vmpool.policy.sizing import Pool
from tests.services.vmpool.conftest import START, a_machine, a_request
from tests.services.vmpool.policy.test_sizing import DOLLAR, plan, started, warm

HOUR = timedelta(hours=1)
SHORT = Offer("dstack", "MI300X", 1, 2 * DOLLAR, longest_life=12 * HOUR, life_setting="VMPOOL_DSTACK_MAX_DURATION")
LONG = Offer("other", "MI300X", 1, 3 * DOLLAR)


def reserved(hours: float, jobs: int = 1) -> Demand:
    return Demand("MI300X", 8, jobs, longest_time=hours * HOUR)


def test_a_machine_that_ends_too_soon_is_not_started_and_the_reason_names_the_setting() -> None:
    made = plan([reserved(24)], market=Market([SHORT]))
    assert made.start == ()
    assert made.blocked == {}
    [(work, reason)] = made.blocked_reserved.items()
    assert work == (("MI300X",), 1, 24 * HOUR)
    assert reason == (
        "MI300X at dstack: its machines live for 43200 s at most (VMPOOL_DSTACK_MAX_DURATION), and the reservation "
        "takes 86400 s, beside 1800 s to start"
    )


def test_a_dearer_machine_that_lasts_is_started_instead() -> None:
    [start] = plan([reserved(24)], market=Market([SHORT, LONG])).start
    assert start.offer == LONG
    [start] = plan([reserved(11)], market=Market([SHORT, LONG])).start
    assert start.offer == SHORT


def test_a_reservation_that_no_machine_outlasts_keeps_no_job_from_its_machine() -> None:
    made = plan([reserved(24), Demand("MI300X", 8, 1)], market=Market([SHORT]))
    assert started(made) == ["MI300X"]
    assert made.blocked == {}


def test_a_machine_on_its_way_is_still_counted_on_when_its_start_has_taken_its_time() -> None:
    demand = reserved(12 - START_MARGIN / HOUR)
    assert len(plan([demand], market=Market([SHORT])).start) == 1
    starting = a_machine(state=MachineState.STARTING, max_duration=12 * HOUR, provision_time=START)
    assert plan([demand], [starting], now=START + START_MARGIN, market=Market([SHORT])).start == ()


def test_a_machine_that_ends_before_the_reservation_is_not_counted_on_and_serves_jobs_all_the_same() -> None:
    ending = a_machine(state=MachineState.WARM, max_duration=12 * HOUR, provision_time=START, last_used_time=START)
    now = START + 2 * HOUR
    assert len(plan([reserved(11)], [ending], now=now, market=Market([LONG])).start) == 1
    assert plan([reserved(10)], [ending], now=now, market=Market([LONG])).start == ()
    assert plan([Demand("MI300X", 8, 1)], [ending], now=now, market=Market([LONG])).start == ()


def test_nobody_waits_in_turn_for_the_end_of_a_reservation() -> None:
    paces = {"MI300X": Pace(timedelta(seconds=30), timedelta(seconds=150))}
    taken = {"state": MachineState.BUSY, "occupied": (255,), "last_used_time": START}
    waiting = [Demand("MI300X", 8, 1)]
    for reservation_ids, missing in (((), 0), (("res_1",), 1)):
        machine = a_machine(**taken, reservation_ids=reservation_ids)
        assert len(machines_missing(waiting, [machine], paces, PackingRules(), START).wishes) == missing


def test_a_start_puts_the_whole_reservation_aside() -> None:
    need = 24 * 3 * DOLLAR
    assert len(plan([reserved(24)], market=Market([LONG]), funds=Funds(need, need)).start) == 1
    short = plan([reserved(24)], market=Market([LONG]), funds=Funds(need - 1, need))
    assert short.start == ()
    assert "reserves $72.00" in short.blocked_reason
    assert started(plan([reserved(24, jobs=2)], market=Market([LONG]), funds=Funds(2 * need - 1, need))) == ["MI300X"]


def test_money_is_put_aside_for_a_reservation_that_waits_for_a_machine_on_its_way() -> None:
    starting = a_machine(state=MachineState.STARTING, price_micros_per_hour=3 * DOLLAR, provision_time=START)
    demands = [reserved(24), Demand("MI210", 8, 1)]
    market = Market([LONG, Offer("other", "MI210", 1, DOLLAR)])
    held_beside = 23 * 3 * DOLLAR
    assert started(plan(demands, [starting], market=market, funds=Funds(held_beside + DOLLAR))) == ["MI210"]
    assert started(plan(demands, [starting], market=market, funds=Funds(held_beside + DOLLAR - 1))) == []


def test_a_reserved_machine_holds_its_cost_until_the_end_of_its_last_reservation() -> None:
    machine = a_machine(price_micros_per_hour=2 * DOLLAR, provision_time=START, reservation_ids=("res_1",))
    now = START + 5 * HOUR
    assert held_micros(machine, now, START + 24 * HOUR) == 48 * DOLLAR
    assert held_micros(machine, now, now + HOUR / 2) == held_micros(machine, now) == 12 * DOLLAR
    left = funds_left(100 * DOLLAR, 0, [machine], now, {"m1": START + 24 * HOUR})
    assert left == Funds(52 * DOLLAR, 100 * DOLLAR, ahead_micros=38 * DOLLAR)


def test_a_reservation_that_gets_its_lease_a_little_later_than_reported_waits_no_more() -> None:
    board = DemandBoard(HOUR)
    board.report([reserved(8), reserved(24, jobs=2), Demand("MI300X", 8, 1)], START)
    asked = a_request("res_1", holder=Holder.RESERVATION, duration=24 * HOUR - timedelta(seconds=7))
    board.refused(asked, START)
    assert board.present(START) == [Demand("MI300X", 8, 1), reserved(8), reserved(24, jobs=2)]
    board.granted(asked)
    assert board.present(START) == [Demand("MI300X", 8, 1), reserved(8), reserved(24)]


def test_an_idle_machine_that_a_reservation_waits_for_stays() -> None:
    assert plan([reserved(24)], Pool([warm()]), now=START + HOUR).release == ()
