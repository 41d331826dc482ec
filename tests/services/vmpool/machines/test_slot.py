from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.vmpool.errors import InvalidFieldError
from services.vmpool.machines.slot import LEGAL_EIGHTHS, Slot, check_eighths, free_eighths, free_slot, freed, taken

if TYPE_CHECKING:
    from random import Random

sizes = st.lists(st.sampled_from(LEGAL_EIGHTHS), max_size=30)


@given(sizes=sizes, gpus=st.integers(1, 3), drops=st.randoms(use_true_random=False))
def test_slots_are_aligned_never_overlap_and_join_up_again(sizes: list[int], gpus: int, drops: Random) -> None:
    occupied: tuple[int, ...] = (0,) * gpus
    held: list[Slot] = []
    for size in sizes:
        slot = free_slot(occupied, size)
        if slot is None:
            held, occupied = _drop_one(held, occupied, drops)
            continue
        assert slot.first % size == 0
        occupied = taken(occupied, slot)
        held.append(slot)
        assert free_eighths(occupied) == 8 * gpus - sum(slot.eighths for slot in held)
    for slot in held:
        occupied = freed(occupied, slot)
    assert occupied == (0,) * gpus


def _drop_one(held: list[Slot], occupied: tuple[int, ...], drops: Random) -> tuple[list[Slot], tuple[int, ...]]:
    if not held:
        return held, occupied
    slot = drops.choice(held)
    return [other for other in held if other != slot], freed(occupied, slot)


@given(occupied=st.integers(0, 255), size=st.sampled_from(LEGAL_EIGHTHS))
def test_no_slot_means_that_none_fits(occupied: int, size: int) -> None:
    fits = any(not occupied & Slot(0, first, size).mask for first in range(0, 8, size))
    assert (free_slot((occupied,), size) is not None) == fits


def test_a_small_slot_goes_where_least_is_broken() -> None:
    assert free_slot((0, 0b1), 1) == Slot(1, 1, 1)
    assert free_slot((0, 0b1), 8) == Slot(0, 0, 8)


def test_taking_what_is_taken_is_refused() -> None:
    with pytest.raises(ValueError, match="overlaps"):
        taken((0b11,), Slot(0, 0, 1))


@pytest.mark.parametrize("eighths", [-1, 0, 3, 5, 9, 16])
def test_other_sizes_are_refused_with_the_legal_ones(eighths: int) -> None:
    with pytest.raises(InvalidFieldError, match="1, 2, 4, 8"):
        check_eighths(eighths)
