from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.executor.core.check.sample_replacement import MOST_REPLACED, Cause, replaceable
from services.executor.devices.instruments import Reading

readings = st.builds(
    Reading,
    clock_mhz=st.none() | st.floats(500, 2500),
    page_faults=st.none() | st.integers(0, 2),
    other_processes=st.none() | st.integers(0, 1),
)


@given(st.lists(readings, max_size=200))
def test_at_most_five_per_cent_are_taken_again(session: list[Reading]) -> None:
    assert len(replaceable(session)) <= MOST_REPLACED * len(session)


@given(st.integers(0, 300))
def test_without_instruments_nothing_is_taken_again(count: int) -> None:
    assert replaceable([Reading()] * count) == {}


@pytest.mark.parametrize(
    ("reading", "cause"),
    [
        (Reading(clock_mhz=2036), Cause.CLOCK),
        (Reading(clock_mhz=2100, page_faults=1), Cause.PAGE_FAULT),
        (Reading(clock_mhz=2100, other_processes=1), Cause.OTHER_PROCESS),
    ],
)
def test_each_cause_is_named(reading: Reading, cause: Cause) -> None:
    session = [Reading(clock_mhz=2100, page_faults=0, other_processes=0)] * 99
    assert replaceable([*session[:40], reading, *session[40:]]) == {40: cause}


def test_a_clock_within_three_per_cent_is_no_cause() -> None:
    assert replaceable([Reading(clock_mhz=2100)] * 99 + [Reading(clock_mhz=2040)]) == {}


def test_of_many_the_earliest_are_taken_so_that_nobody_can_choose() -> None:
    faulty = Reading(page_faults=1)
    assert list(replaceable([faulty] * 100)) == [0, 1, 2, 3, 4]
