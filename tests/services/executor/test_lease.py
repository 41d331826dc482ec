"""The fence lets the parts of a machine run side by side and keeps out those whose lease is over."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.executor.errors import StaleLeaseError
from services.executor.lease import Fence, Lease

NOW = datetime(2026, 1, 1, tzinfo=UTC)
WHOLE, PART = 8, 2


def lease(token: int, eighths: int = WHOLE) -> Lease:
    return Lease(token, NOW + timedelta(minutes=1), eighths)


def admitted(fence: Fence, one: Lease) -> bool:
    try:
        fence.admit(one)
    except StaleLeaseError:
        return False
    return True


def test_a_lease_holds_until_it_expires() -> None:
    one = Lease(1, NOW, WHOLE)

    one.check_alive(NOW - timedelta(microseconds=1))
    with pytest.raises(StaleLeaseError):
        one.check_alive(NOW)


def test_a_lease_may_be_used_for_several_runs() -> None:
    fence = Fence(WHOLE)

    assert admitted(fence, lease(5))
    assert admitted(fence, lease(5))


def test_parts_may_come_in_any_order() -> None:
    fence = Fence(WHOLE)

    assert admitted(fence, lease(6, PART))
    assert admitted(fence, lease(5, PART))


def test_a_part_older_than_a_whole_is_over() -> None:
    fence = Fence(WHOLE)

    assert admitted(fence, lease(6))
    assert not admitted(fence, lease(5, PART))


def test_a_whole_older_than_a_part_is_over() -> None:
    fence = Fence(WHOLE)

    assert admitted(fence, lease(6, PART))
    assert not admitted(fence, lease(5))


def test_the_administrator_is_never_kept_out_and_keeps_nobody_out() -> None:
    fence = Fence(WHOLE)

    assert admitted(fence, lease(6))
    assert admitted(fence, lease(0))
    assert admitted(fence, lease(6))


@given(st.lists(st.tuples(st.integers(1, 30), st.sampled_from([1, 2, 4, 8]))))
def test_whole_leases_are_admitted_in_the_order_in_which_they_were_given_out(asked: list[tuple[int, int]]) -> None:
    fence = Fence(WHOLE)

    done = [(token, eighths) for token, eighths in asked if admitted(fence, lease(token, eighths))]

    for place, (token, eighths) in enumerate(done):
        if eighths == WHOLE:
            assert all(earlier <= token for earlier, _ in done[:place])
            assert all(later >= token for later, _ in done[place:])
