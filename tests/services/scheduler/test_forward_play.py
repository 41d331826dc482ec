"""Queues in which people wait for GPUs, played forward: who goes before whom, and what it takes of the last people."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from services.scheduler.jobs.estimate import wait_estimate
from services.scheduler.jobs.played_machines import Asked, Busy, Kept, Need, PlayedMachines
from vocabulary.slots import EIGHTHS_PER_GPU, Slot

HOUR = 3600.0
WHOLE = (1.0,)


def people(gpus: int, hours: float, queue: str = "", parts: tuple[float, ...] = WHOLE) -> Need:
    """Somebody who asks for GPUs."""
    asked = Asked(hours * HOUR)
    return Need(parts, gpus * EIGHTHS_PER_GPU, asked=asked, queue=queue, longest=hours * HOUR)


def stay(*gpus: int, hours: float, used: float = 0, parts: tuple[float, ...] = WHOLE, queue: str = "") -> Busy:
    """Somebody who has GPUs, and has used some hours of what they asked for."""
    slots = [Slot(gpu, 0, EIGHTHS_PER_GPU) for gpu in gpus]
    eighths, rest = len(gpus) * EIGHTHS_PER_GPU, (hours - used) * HOUR
    return Busy(slots, used * HOUR, parts, (), eighths, Asked(hours * HOUR), rest, queue)


def hours_of(job: Need, ahead: list[Need], fleet: PlayedMachines) -> tuple[float, float]:
    estimate = wait_estimate(job, ahead, fleet, "job")
    assert estimate is not None
    return estimate.p50 / timedelta(hours=1), estimate.p90 / timedelta(hours=1)


def test_people_leave_as_early_as_the_last_ones_did() -> None:
    parts = (0.1,) * 6 + (0.5,) * 3 + (1.0,)
    p50, p90 = hours_of(people(1, 1), [], PlayedMachines([1], [stay(0, hours=10, parts=parts)]))
    assert p50 == pytest.approx(1)
    assert 5 <= p90 <= 10
    assert hours_of(people(1, 1), [], PlayedMachines([1], [stay(0, hours=10, used=6, parts=parts)])) == (4, 4), (
        "to the end"
    )


def test_who_is_in_the_grace_leaves_at_its_end_whoever_extended_before() -> None:
    over = stay(0, hours=1, used=1.01, parts=(1.0, 3.0))._replace(asked=Asked(HOUR, 120))
    assert hours_of(people(1, 1), [], PlayedMachines([1], [over]))[1] == pytest.approx((120 - 36) / HOUR)


def test_a_short_stay_goes_before_a_large_one_and_a_long_stay_does_not() -> None:
    fleet = PlayedMachines([4], [stay(0, 1, hours=3)])
    large = people(4, 8)
    assert hours_of(people(1, 2), [large], fleet) == (0, 0)
    assert hours_of(people(1, 5), [large], fleet) == (11, 11)


def test_those_who_go_before_a_large_one_delay_it_until_the_others_limits_at_most() -> None:
    early = stay(0, 1, hours=3, parts=(1 / 3,))
    fleet = PlayedMachines([4], [early])
    assert hours_of(people(4, 1), [], fleet) == (1, 1)
    assert hours_of(people(4, 1), [people(2, 2.5)], fleet) == (2.5, 2.5)


def test_a_large_one_beyond_its_queues_share_is_passed_by_those_who_fit() -> None:
    fleet = PlayedMachines([4], [stay(0, 1, hours=3, queue="a")], shares={"a": 8, "b": 24})
    passing = people(2, 20, "b")
    assert hours_of(people(4, 1, "a"), [passing], fleet) == (20, 20)
    owed = replace(fleet, shares={"a": 96, "b": 24})
    assert hours_of(people(2, 20, "b"), [people(4, 1, "a")], owed) == (4, 4)


def test_what_is_kept_for_later_is_for_those_alone_who_end_before_it() -> None:
    fleet = PlayedMachines([2], [stay(0, hours=50)], kept=[Kept(0, frozenset({1}), 2 * HOUR, 4 * HOUR)])
    assert hours_of(people(1, 1), [], fleet) == (0, 0)
    assert hours_of(people(1, 3), [], fleet) == (6, 6)


def test_those_who_may_come_as_they_came_on_other_days_go_before_a_large_one_that_is_not_owed() -> None:
    fleet = PlayedMachines([2], [stay(0, hours=2, queue="b")], shares={"a": 8, "b": 8})
    large = people(2, 1, "a")
    assert hours_of(large, [], fleet) == (2, 2)
    came = replace(fleet, coming=[[(0.5 * HOUR, people(1, 4, "b"))]])
    assert hours_of(large, [], came) == (4.5, 4.5)
    assert hours_of(large, [], replace(came, shares={})) == (2, 2), "one that is owed so much has a hold"


def test_a_queues_limit_holds_back_its_own_people_and_nobody_else() -> None:
    fleet = PlayedMachines([2], [stay(0, hours=2)._replace(limits=("q",))], limits={"q": EIGHTHS_PER_GPU})
    assert hours_of(people(1, 1)._replace(limits=("q",)), [], fleet) == (2, 2)
    assert hours_of(people(1, 1), [people(1, 1)._replace(limits=("q",))], fleet) == (0, 0)


def test_a_machine_that_is_being_started_is_waited_for() -> None:
    fleet = PlayedMachines([1, 1], [stay(0, hours=2)], {1: (0.0, HOUR, HOUR)})
    assert hours_of(people(1, 1), [], fleet) == (1, 1)


def test_several_machines_are_waited_for_until_the_last_is_free() -> None:
    fleet = PlayedMachines([1, 1], [stay(0, hours=2), stay(1, hours=3)])
    assert hours_of(people(1, 1)._replace(machines=2), [], fleet) == (3, 3)
