"""The fence lets the parts of a machine run side by side and keeps out holders whose lease is over."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.executor.leases.errors import StaleLeaseError
from services.executor.leases.fence import Fence
from services.executor.leases.lease import Lease
from services.executor.leases.slot import Slot
from vocabulary import slots as pool_slots

NOW = datetime(2026, 1, 1, tzinfo=UTC)
WHOLE, LEFT, RIGHT = Slot(0, 8), Slot(0, 4), Slot(4, 4)


def lease(token: int, *slots: Slot) -> Lease:
    placed = slots or (WHOLE,)
    return Lease(token, NOW + timedelta(minutes=1), sum(slot.eighths for slot in placed), placed)


def unplaced(token: int, eighths: int) -> Lease:
    return Lease(token, NOW + timedelta(minutes=1), eighths)


def admitted(fence: Fence, one: Lease) -> bool:
    try:
        fence.admit(one)
    except StaleLeaseError:
        return False
    return True


def test_a_lease_holds_until_it_expires() -> None:
    one = Lease(1, NOW, 8)

    one.check_alive(NOW - timedelta(microseconds=1))
    with pytest.raises(StaleLeaseError):
        one.check_alive(NOW)


def test_a_lease_may_be_used_for_several_runs() -> None:
    fence = Fence(8)

    assert admitted(fence, lease(5))
    assert admitted(fence, lease(5))


def test_an_older_lease_of_the_same_slot_is_over_and_the_refusal_says_so() -> None:
    fence = Fence(8)
    fence.admit(lease(6, LEFT))

    with pytest.raises(StaleLeaseError, match=r"is 5, and 6 was seen.*passed on"):
        fence.admit(lease(5, LEFT))


def test_slots_side_by_side_do_not_mind_each_others_tokens() -> None:
    fence = Fence(16)

    assert admitted(fence, lease(6, LEFT))
    assert admitted(fence, lease(5, RIGHT))
    assert admitted(fence, lease(4, Slot(8, 8)))


@pytest.mark.parametrize(("newer", "older"), [(WHOLE, LEFT), (LEFT, WHOLE), (RIGHT, Slot(6, 2))])
def test_of_slots_that_overlap_the_older_lease_is_over(newer: Slot, older: Slot) -> None:
    fence = Fence(8)

    assert admitted(fence, lease(6, newer))
    assert not admitted(fence, lease(5, older))


def test_a_lease_that_does_not_say_where_it_lies_is_kept_out_once_it_is_over_wherever_that_is() -> None:
    fence = Fence(8)
    fence.admit(lease(6, LEFT))
    assert admitted(fence, unplaced(5, 4))

    fence.admit(lease(7, RIGHT))
    assert not admitted(fence, unplaced(5, 4))
    assert admitted(fence, unplaced(6, 4))


def test_the_administrator_is_never_kept_out_and_keeps_nobody_out() -> None:
    fence = Fence(8)

    assert admitted(fence, lease(6))
    assert admitted(fence, lease(0))
    assert admitted(fence, lease(6))


def test_only_a_newer_lease_of_the_same_eighths_supersedes() -> None:
    assert lease(5, LEFT).is_superseded_by(lease(6, WHOLE))
    assert not lease(5, LEFT).is_superseded_by(lease(6, RIGHT))
    assert not lease(6, LEFT).is_superseded_by(lease(5, LEFT))
    assert not lease(0).is_superseded_by(lease(6))
    assert not unplaced(5, 4).is_superseded_by(lease(6))


@pytest.mark.parametrize("capacity", [4, 8, 16])
def test_a_fence_that_is_built_again_remembers_also_where_the_machine_has_changed_its_size(capacity: int) -> None:
    before = Fence(8)
    before.admit(lease(6, LEFT))

    after = Fence(capacity, before.newest)

    assert not admitted(after, lease(5, Slot(0, 2)))
    assert len(after.newest) == capacity


@dataclass
class Pool:
    """A machine's leases as vmpool would give them out."""

    gpu_count: int
    occupied: tuple[int, ...] = ()
    standing: dict[int, tuple[pool_slots.Slot, ...]] = field(default_factory=dict[int, "tuple[pool_slots.Slot, ...]"])
    ever: dict[int, tuple[pool_slots.Slot, ...]] = field(default_factory=dict[int, "tuple[pool_slots.Slot, ...]"])

    def __post_init__(self) -> None:
        self.occupied = (0,) * self.gpu_count

    def acquire(self, eighths: int) -> None:
        slots = pool_slots.free_slots(self.occupied, eighths)
        if slots:
            self.occupied = pool_slots.taken(self.occupied, slots)
            self.standing[len(self.ever) + 1] = self.ever[len(self.ever) + 1] = slots

    def release(self, choice: int) -> None:
        if self.standing:
            slots = self.standing.pop(sorted(self.standing)[choice % len(self.standing)])
            self.occupied = pool_slots.freed(self.occupied, slots)

    def lease(self, token: int) -> Lease:
        slots = self.ever[token]
        return lease(token, *(Slot(slot.gpu * 8 + slot.first, slot.eighths) for slot in slots))


STEPS = st.lists(
    st.tuples(st.sampled_from(["acquire", "release", "run", "restart"]), st.integers(0, 63)), min_size=1, max_size=60
)


@given(st.sampled_from([1, 2, 4, 8]), STEPS)
def test_a_standing_lease_is_always_admitted_and_none_ever_follows_the_lease_that_took_its_eighths(
    gpu_count: int, steps: list[tuple[str, int]]
) -> None:
    """Runs may arrive at any time, also long after their lease was over."""
    pool, fence, seen = Pool(gpu_count), Fence(gpu_count * 8), list[Lease]()
    for step, number in steps:
        if step == "acquire":
            pool.acquire(pool_slots.LEGAL_SIZES[number % len(pool_slots.LEGAL_SIZES)])
        elif step == "release":
            pool.release(number)
        elif step == "restart":
            fence = Fence(gpu_count * 8, fence.newest)
        elif pool.ever:
            token = number % len(pool.ever) + 1
            asked = pool.lease(token)
            is_over = any(asked.is_superseded_by(other) for other in seen)
            assert admitted(fence, asked) == (not is_over)
            assert not (is_over and token in pool.standing)
            seen += [] if is_over else [asked]
