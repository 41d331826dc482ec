from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.vmpool.errors import InvalidFieldError
from services.vmpool.machines.slot import check_size, check_slots
from vocabulary.slots import (
    LEGAL_EIGHTHS,
    LEGAL_SIZES,
    Slot,
    free_eighths,
    free_masks,
    free_slots,
    freed,
    overlap,
    size_of,
    size_text,
    taken,
)

Held = list[tuple[Slot, ...]]

sizes = st.lists(st.sampled_from(LEGAL_SIZES), max_size=40)


@given(sizes=sizes, gpus=st.sampled_from([1, 2, 3, 4, 8]), drops=st.randoms(use_true_random=False))
def test_slots_are_legal_never_overlap_and_join_up_again(sizes: list[int], gpus: int, drops: Random) -> None:
    occupied: tuple[int, ...] = (0,) * gpus
    held: Held = []
    for size in sizes:
        slots = free_slots(occupied, size)
        if not slots:
            held, occupied = _drop_one(held, occupied, drops)
            continue
        assert check_slots(slots) == slots
        assert size_of(slots) == size
        assert overlap(occupied, slots) is None
        occupied = taken(occupied, slots)
        held.append(slots)
        assert free_eighths(occupied) == 8 * gpus - sum(map(size_of, held))
        assert sum(mask.bit_count() for mask in free_masks(occupied)) == free_eighths(occupied)
    for slots in held:
        occupied = freed(occupied, slots)
    assert occupied == (0,) * gpus


def _drop_one(held: Held, occupied: tuple[int, ...], drops: Random) -> tuple[Held, tuple[int, ...]]:
    if not held:
        return held, occupied
    slots = held.pop(drops.randrange(len(held)))
    return held, freed(occupied, slots)


masks = st.lists(st.integers(0, 255), min_size=1, max_size=8)


@given(occupied=masks, slots=st.lists(st.builds(Slot, st.integers(0, 7), st.just(0), st.just(8)), unique=True))
def test_freeing_slots_gives_back_exactly_these(occupied: list[int], slots: list[Slot]) -> None:
    free = [slot for slot in slots if slot.gpu < len(occupied) and not occupied[slot.gpu]]
    assert freed(taken(occupied, free), free) == tuple(occupied)


@given(occupied=masks, size=st.sampled_from(LEGAL_SIZES))
def test_no_slots_means_that_none_fit(occupied: list[int], size: int) -> None:
    whole = sum(not mask for mask in occupied)
    aligned = [Slot(0, first, size) for first in range(0, 8, size)] if size < 8 else []
    fits = any(not mask & slot.mask for mask in occupied for slot in aligned) if size < 8 else whole >= size // 8
    assert bool(free_slots(occupied, size)) == fits


@given(occupied=masks, size=st.sampled_from(LEGAL_EIGHTHS[:-1]))
def test_a_part_of_a_gpu_never_breaks_up_a_whole_one_while_another_has_room(occupied: list[int], size: int) -> None:
    slots = free_slots(occupied, size)
    broken = [mask for mask in occupied if mask and free_slots([mask], size)]
    if slots and broken:
        assert occupied[slots[0].gpu]


def test_slots_go_where_least_is_broken() -> None:
    assert free_slots((0, 0b1), 1) == (Slot(1, 1, 1),)
    assert free_slots((0, 0b1), 8) == (Slot(0, 0, 8),)
    assert [slot.gpu for slot in free_slots((0, 0, 0, 0, 0, 255, 0, 0), 8)] == [4]
    assert [slot.gpu for slot in free_slots((0, 0, 0, 0, 255, 255, 0, 0), 16)] == [6, 7]
    assert [slot.gpu for slot in free_slots((0, 0, 255, 0, 0, 0, 0, 0), 32)] == [4, 5, 6, 7]


def test_gpus_that_are_no_neighbours_do_if_there_are_no_others() -> None:
    assert [slot.gpu for slot in free_slots((255, 0, 0, 255), 16)] == [1, 2]
    assert [slot.gpu for slot in free_slots((1, 0, 2, 0, 4, 0, 8, 0), 32)] == [1, 3, 5, 7]
    assert free_slots((0, 255, 0, 0), 32) == ()


def test_taking_what_is_taken_is_refused_as_a_whole() -> None:
    with pytest.raises(ValueError, match="overlaps"):
        taken((0b11,), [Slot(0, 0, 1)])
    with pytest.raises(ValueError, match="overlaps"):
        taken((0, 0b1), [Slot(0, 0, 8), Slot(1, 0, 8)])
    with pytest.raises(ValueError, match="overlaps"):
        taken((0,), [Slot(0, 0, 4), Slot(0, 0, 8)])


@pytest.mark.parametrize("eighths", [-1, 0, 3, 5, 9, 16])
def test_other_sizes_are_refused_with_the_legal_ones(eighths: int) -> None:
    with pytest.raises(InvalidFieldError, match="1, 2, 4, 8"):
        check_size(eighths)


@pytest.mark.parametrize("gpus", [-1, 0, 3, 6, 16])
def test_other_numbers_of_gpus_are_refused_with_the_legal_ones(gpus: int) -> None:
    with pytest.raises(InvalidFieldError, match=r"demands.gpus: must be one of 1, 2, 4, 8"):
        check_size(8, gpus, "demands.")


def test_several_gpus_are_whole_ones() -> None:
    assert [check_size(8, gpus) for gpus in (1, 2, 4, 8)] == [8, 16, 32, 64]
    with pytest.raises(InvalidFieldError, match="must be 8 for 2 GPUs; it is 4"):
        check_size(4, 2)


def gpus(*numbers: int) -> list[Slot]:
    return [Slot(number, 0, 8) for number in numbers]


@pytest.mark.parametrize(
    ("slots", "words"),
    [
        ([], "slots: number must be one of 1, 2, 4, 8; it is 0"),
        (gpus(0, 1, 2), "slots: number must be one of 1, 2, 4, 8; it is 3"),
        (gpus(1, 1), "slots: must not name a GPU twice"),
        ([Slot(0, 0, 4), Slot(0, 4, 4)], "slots.eighths: must be 8 if there are several slots"),
        ([Slot(0, 2, 4)], "slots.first_eighth: must be one of 0, 4 for 4 eighths; it is 2"),
        ([Slot(0, 8, 1)], "slots.first_eighth: must be one of 0, 1, 2, 3, 4, 5, 6, 7 for 1 eighths; it is 8"),
        ([Slot(0, -4, 4)], "slots.first_eighth"),
        ([Slot(0, 0, 3)], "slots.eighths: must be one of 1, 2, 4, 8; it is 3"),
        ([Slot(-1, 0, 8)], "slots.gpu: must not be negative; it is -1"),
    ],
)
def test_slots_that_no_machine_can_give_are_refused_by_field(slots: list[Slot], words: str) -> None:
    with pytest.raises(InvalidFieldError, match=words):
        check_slots(slots)


def test_named_slots_come_in_the_order_of_their_gpus() -> None:
    assert check_slots(gpus(5, 2)) == tuple(gpus(2, 5))


def test_sizes_and_slots_have_texts_for_people() -> None:
    assert [size_text(size) for size in (4, 8, 16)] == ["4/8 of a GPU", "1 GPU", "2 GPUs"]
    assert [str(Slot(3, 0, 8)), str(Slot(3, 4, 2))] == ["GPU 3", "eighths 4 to 5 of GPU 3"]
