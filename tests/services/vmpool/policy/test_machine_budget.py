from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from services.vmpool.machines.machine import Machine
from services.vmpool.machines.offer import Offer
from services.vmpool.policy.machine_budget import Funds, funds_left, held_micros, never_paid, reserve_micros
from tests.services.vmpool.conftest import START, a_machine
from vocabulary.money import Tariff

DOLLAR = 1_000_000
HOUR = timedelta(hours=1)
AN_OFFER = Offer("dstack", "MI300X", 1, 2 * DOLLAR, "hotaisle", minimum_billed=3 * HOUR)


def machine(**changes: object) -> Machine:
    return a_machine(price_micros_per_hour=2 * DOLLAR, **changes)


def test_a_start_reserves_the_least_it_can_cost_and_an_hour() -> None:
    assert reserve_micros(Tariff(2 * DOLLAR)) == 2 * DOLLAR
    assert reserve_micros(AN_OFFER.tariff) == 8 * DOLLAR


def test_a_machine_holds_what_it_has_cost_and_an_hour_more_until_it_is_released() -> None:
    running = machine(provision_time=START)
    assert held_micros(machine(), START) == 2 * DOLLAR
    assert held_micros(running, START + 5 * HOUR) == 12 * DOLLAR
    assert held_micros(machine(provision_time=START, release_time=START + HOUR), START + 5 * HOUR) == 2 * DOLLAR
    assert held_micros(machine(provision_time=START, minimum_billed=3 * HOUR), START) == 8 * DOLLAR


def test_a_start_holds_what_its_machine_does_from_then_on() -> None:
    ordered = machine(minimum_billed=AN_OFFER.minimum_billed)
    before = funds_left(100 * DOLLAR, 50 * DOLLAR, [], START)
    after = funds_left(100 * DOLLAR, 50 * DOLLAR, [ordered], START)
    assert before.without(AN_OFFER).left_micros == after.left_micros


def test_what_is_left_pays_to_the_last_micro_dollar() -> None:
    assert Funds(8 * DOLLAR, 9 * DOLLAR).refusal(AN_OFFER) == ""
    refusal = Funds(8 * DOLLAR - 1, 9 * DOLLAR).refusal(AN_OFFER)
    assert "$7.999999 of the machine budget of $9.00" in refusal
    assert "MI300X at dstack/hotaisle at $2.00 per hour reserves $8.00, so $0.000001 is missing" in refusal


@given(st.integers(0, 30), st.integers(0, 30), st.lists(st.integers(0, 5), max_size=4))
def test_a_type_is_never_paid_for_only_if_the_release_of_every_machine_would_not_help(
    budget: int, spent: int, hours: list[int]
) -> None:
    machines = [machine(provision_time=START) for _ in hours]
    now = START + HOUR
    funds = funds_left(budget * DOLLAR, spent * DOLLAR, machines, now)
    ended = [machine(provision_time=START, release_time=now) for _ in hours]
    later = funds_left(budget * DOLLAR, spent * DOLLAR, ended, now)
    dear, cheap = AN_OFFER, Offer("other", "MI300X", 1, DOLLAR)
    assert bool(never_paid([dear], funds)) == bool(later.refusal(dear))
    assert bool(never_paid([dear, cheap], funds)) == bool(later.refusal(cheap))
    assert "other at $1.00" in never_paid([dear, cheap], replace(funds, left_micros=0, ahead_micros=0))["MI300X"]
    assert not never_paid([dear], Funds(unknown="billing is away"))


def test_what_costs_nothing_needs_no_money() -> None:
    free = Offer("local", "MI300X", 1, 0)
    assert Funds(0, 0).refusal(free) == Funds(unknown="billing is away").refusal(free) == ""
    assert "billing is away" in Funds(unknown="billing is away").refusal(AN_OFFER)
    assert Funds().refusal(AN_OFFER) == ""
