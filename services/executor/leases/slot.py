"""Slots: adjacent eighths of a machine. Pure.

Eighths are numbered over all GPUs: GPU g has eighths 8 g to 8 g + 7. A slot of up to a whole GPU begins at a multiple
of its size, so that slots nest; a larger one consists of whole GPUs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from vocabulary.slots import EIGHTHS_PER_GPU


@dataclass(frozen=True)
class Slot:
    """`eighths` adjacent eighths of a machine, from number `first`."""

    first: int
    eighths: int

    @property
    def range(self) -> range:
        """The numbers of the slot's eighths."""
        return range(self.first, self.first + self.eighths)

    def overlaps(self, other: Slot) -> bool:
        """True if the slots share an eighth."""
        return self.first < other.first + other.eighths and other.first < self.first + self.eighths


def overlap(some: Iterable[Slot], others: Sequence[Slot]) -> bool:
    """True if a slot of `some` shares an eighth with one of `others`."""
    return any(slot.overlaps(other) for slot in some for other in others)


def devices_of(slots: Iterable[Slot], device_counts: Sequence[int]) -> tuple[int, ...]:
    """Return the slots' devices. `device_counts` has the devices of each GPU: 1, or 8 partitions in CPX mode."""
    found: set[int] = set()
    for eighth in (eighth for slot in slots for eighth in slot.range):
        gpu, place = divmod(eighth, EIGHTHS_PER_GPU)
        found.add(sum(device_counts[:gpu]) + place * device_counts[gpu] // EIGHTHS_PER_GPU)
    return tuple(sorted(found))


def part_of_device(slots: Sequence[Slot], device_counts: Sequence[int]) -> tuple[int, int]:
    """Return the first eighth and the number of eighths of a device that a slot smaller than it takes of it.

    (0, 0) if the slots are whole devices.
    """
    slot = slots[0]
    gpu, place = divmod(slot.first, EIGHTHS_PER_GPU)
    devices = device_counts[gpu]
    if slot.eighths * devices >= EIGHTHS_PER_GPU:
        return 0, 0
    return place * devices % EIGHTHS_PER_GPU, slot.eighths * devices


def places(eighths: int, capacity_eighths: int) -> list[Slot]:
    """Return every slot of this size on a machine with `capacity_eighths`."""
    step = min(eighths, EIGHTHS_PER_GPU)
    return [Slot(first, eighths) for first in range(0, capacity_eighths - eighths + 1, step)]


def free_place(eighths: int, capacity_eighths: int, taken: Iterable[Slot]) -> Slot | None:
    """Return the first slot of this size that overlaps none of `taken`, or None."""
    occupied = list(taken)
    free = (s for s in places(eighths, capacity_eighths) if not any(s.overlaps(other) for other in occupied))
    return next(free, None)
