"""The built-in rules about machines, jobs and queues, on the readings that the services really report."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from services.billing.alert_rules import engine
from services.billing.alert_rules.engine import AlertState, Phase, Transition
from services.billing.alert_rules.money import money_rules
from services.billing.alert_rules.platform import platform_rules
from services.billing.alert_rules.rule import Reading, Rule, check_reading, summary_of
from services.scheduler.jobs.queue_state import (
    EndCounts,
    Waiters,
    queue_readings,
    queue_states,
    reservation_readings,
)
from services.scheduler.jobs.reservation import Reservation
from services.vmpool.fault import Fault
from services.vmpool.machines.load import MeanLoad
from services.vmpool.machines.machine import MachineState
from services.vmpool.machines.pool_readings import (
    UnmetDemand,
    demand_readings,
    failure_readings,
    machine_readings,
    stopped_reading,
)
from tests.services.scheduler.jobs import a_job
from tests.services.vmpool.conftest import START, a_machine
from vocabulary import readings

NOW = datetime(2026, 1, 1, tzinfo=UTC)
RULES = {rule.name: rule for rule in platform_rules()}
PLACE = ("default", "MI300X")


def reported() -> list[Reading]:
    """A bad day, as the scheduler and vmpool report it."""
    waiting = {PLACE: Waiters([NOW - timedelta(seconds=8000)], 1, "no machine can be had")}
    states = queue_states(waiting, [], [EndCounts(PLACE, jobs=10, failed=9, lost_attempts=30)], NOW)
    hour = timedelta(hours=1)
    machine = a_machine(state=MachineState.WARM, ready_time=START)
    failed = [a_machine(fault=Fault.UNFIT, reason="no GPU", end_time=START)] * 5
    sent = [
        *queue_readings(states, {"MI300X": 3.0}),
        *reservation_readings(
            [a_job().changed(reservation=Reservation("train", (), hour, active_time=NOW))], NOW + hour
        ),
        *machine_readings([machine], {"m1": MeanLoad(0.99, 0.99, 0.0, 0.0)}, hour, START + hour),
        *failure_readings([], failed),
        *demand_readings([UnmetDemand("MI300X", 3, "the limit of 1 machines is reached")]),
        stopped_reading(["MI300X at dstack"]),
    ]
    return [check_reading(Reading(one.name, one.value, NOW, one.labels, one.details)) for one in sent]


@pytest.mark.parametrize("rule", RULES.values(), ids=lambda rule: rule.name)
def test_every_rule_has_a_reading_that_breaches_it_and_a_text_without_gaps(rule: Rule) -> None:
    [reading] = [one for one in reported() if one.name == rule.reading]
    assert rule.is_breached(reading.value)
    assert "{" not in summary_of(rule, reading)


def test_every_reading_has_a_rule() -> None:
    assert {one.name for one in reported()} == {rule.reading for rule in RULES.values()}
    fixed = {value for name, value in vars(readings).items() if name.isupper() and isinstance(value, str)}
    assert {rule.reading for rule in RULES.values()} == fixed | {*readings.RESERVATION_WARNINGS.values()}


@pytest.mark.parametrize("rule", RULES.values(), ids=lambda rule: rule.name)
def test_a_value_that_fires_does_not_clear_the_alert_again(rule: Rule) -> None:
    for value in (rule.threshold, rule.clear_threshold, (rule.threshold + rule.clear_threshold) / 2):
        assert not (rule.is_breached(value) and rule.is_cleared(value))


def test_no_two_built_in_rules_have_one_name() -> None:
    assert len({one.name for one in [*money_rules([0.8], 1, 1, 7), *RULES.values()]}) == len(RULES) + 8


def test_a_busy_processor_is_pending_before_it_fires_and_does_not_tremble() -> None:
    rule, state = RULES["machine-cpu-high"], AlertState()
    events: list[tuple[int, Transition]] = []
    for minute, value in enumerate([0.99] * 20 + [0.9] * 5 + [0.99, 0.5, 0.99]):
        reading = Reading(rule.reading, value, NOW + minute * timedelta(minutes=1), {"machine": "m1"})
        state, transitions = engine.step(rule, state, reading, timedelta(minutes=3))
        events += [(minute, one) for one in transitions]
    assert events == [
        (0, Transition.PENDING),
        (15, Transition.FIRED),
        (26, Transition.RESOLVED),
        (27, Transition.PENDING),
    ]
    assert state.phase is Phase.PENDING


def test_a_reservation_gives_alerts_30_15_and_5_minutes_before_its_end() -> None:
    rules = [rule for rule in RULES.values() if rule.reading in readings.RESERVATION_WARNINGS.values()]
    assert {readings.RESERVATION_WARNINGS[int(rule.threshold)] for rule in rules} == {rule.reading for rule in rules}
    fired = {minutes: sum(rule.is_breached(minutes) for rule in rules) for minutes in (31, 30, 16, 15, 6, 5, 0)}
    assert fired == {31: 0, 30: 1, 16: 1, 15: 2, 6: 2, 5: 3, 0: 3}
