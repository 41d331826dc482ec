"""Slots nest, and lie on the devices that own their eighths."""

from __future__ import annotations

from itertools import product

import pytest

from services.executor.leases.slot import Slot, devices_of, free_place, part_of_device, places

SIZES = (1, 2, 4, 8, 16)


@pytest.mark.parametrize("gpu_count", [1, 2, 4, 8])
def test_slots_of_all_sizes_nest_or_are_apart(gpu_count: int) -> None:
    slots = [slot for size in SIZES[:4] for slot in places(size, gpu_count * 8)]

    for one, other in product(slots, slots):
        shared = set(one.range) & set(other.range)
        assert one.overlaps(other) == bool(shared)
        assert shared in (set(), set(one.range), set(other.range))


def test_a_slot_larger_than_a_gpu_is_made_of_whole_gpus() -> None:
    assert places(16, 32) == [Slot(0, 16), Slot(8, 16), Slot(16, 16)]
    assert places(16, 8) == []


def test_the_first_free_place_is_found_until_there_is_none() -> None:
    taken: list[Slot] = []
    while (slot := free_place(4, 16, taken)) is not None:
        taken.append(slot)

    assert taken == [Slot(0, 4), Slot(4, 4), Slot(8, 4), Slot(12, 4)]


@pytest.mark.parametrize(
    ("slot", "device_counts", "devices"),
    [
        (Slot(0, 8), [1], (0,)),
        (Slot(24, 8), [1] * 8, (3,)),
        (Slot(26, 2), [1] * 8, (3,)),
        (Slot(8, 16), [1] * 4, (1, 2)),
        (Slot(8, 8), [2, 2], (2, 3)),
        (Slot(12, 4), [2, 2], (3,)),
        (Slot(8, 1), [8, 8], (8,)),
        (Slot(14, 2), [8, 8], (14, 15)),
        (Slot(2, 2), [4], (1,)),
        (Slot(4, 4), [3], (1, 2)),
        (Slot(8, 8), [8, 1], (8,)),
    ],
)
def test_a_slot_lies_on_the_devices_that_its_eighths_are_of(
    slot: Slot, device_counts: list[int], devices: tuple[int, ...]
) -> None:
    assert devices_of([slot], device_counts) == devices


def test_slots_of_gpus_that_are_no_neighbours_lie_on_their_devices() -> None:
    assert devices_of([Slot(0, 8), Slot(16, 8)], [1, 1, 2]) == (0, 2, 3)


@pytest.mark.parametrize(
    ("slot", "device_counts", "part"),
    [
        (Slot(0, 8), [1], (0, 0)),
        (Slot(4, 4), [1], (4, 4)),
        (Slot(13, 1), [1, 1], (5, 1)),
        (Slot(12, 4), [1, 2], (0, 0)),
        (Slot(14, 2), [1, 2], (4, 4)),
        (Slot(3, 1), [8], (0, 0)),
    ],
)
def test_a_slot_that_is_smaller_than_its_device_is_so_many_eighths_of_it(
    slot: Slot, device_counts: list[int], part: tuple[int, int]
) -> None:
    assert part_of_device([slot], device_counts) == part
