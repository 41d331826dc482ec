"""Slots: aligned eighths of a GPU, and which of them a lease takes.

A slot of n eighths begins at a multiple of n, so that slots nest and freed ones join up again. A lease takes one slot,
or several whole GPUs of its machine: 2, 4 or 8. Its size is their total in eighths. The taken eighths of a GPU are a
bit mask with the first eighth in its lowest bit; a machine's occupancy is one mask for each of its GPUs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

EIGHTHS_PER_GPU = 8
EIGHTH_MILLI = 125
"""Thousandths of a GPU."""
LEGAL_EIGHTHS = (1, 2, 4, 8)
LEGAL_GPUS = (1, 2, 4, 8)
LEGAL_SIZES = (1, 2, 4, 8, 16, 32, 64)
"""Total eighths of a lease: the sizes of a slot, then whole GPUs."""
WHOLE_GPU = (1 << EIGHTHS_PER_GPU) - 1


@dataclass(frozen=True, order=True)
class Slot:
    """`eighths` of GPU number `gpu`, from eighth number `first` on."""

    gpu: int
    first: int
    eighths: int

    @property
    def mask(self) -> int:
        """The bits of its GPU's mask that the slot takes."""
        return ((1 << self.eighths) - 1) << self.first

    def overlaps(self, other: Slot) -> bool:
        """True if the slots share an eighth."""
        return self.gpu == other.gpu and bool(self.mask & other.mask)

    def __str__(self) -> str:
        """Text for people."""
        if self.eighths == EIGHTHS_PER_GPU:
            return f"GPU {self.gpu}"
        return f"eighths {self.first} to {self.first + self.eighths - 1} of GPU {self.gpu}"


def size_of(slots: Sequence[Slot]) -> int:
    """The total eighths of a lease's slots."""
    return sum(slot.eighths for slot in slots)


def gpus_for(size: int) -> int:
    """The number of GPUs that a lease of this size lies on."""
    return max(1, size // EIGHTHS_PER_GPU)


def size_text(size: int) -> str:
    """A lease's size for people: `4/8 of a GPU`, `2 GPUs`."""
    gpus = gpus_for(size)
    if size < EIGHTHS_PER_GPU:
        return f"{size}/{EIGHTHS_PER_GPU} of a GPU"
    return f"{gpus} GPU{'s' if gpus > 1 else ''}"


def free_slots(occupied: Sequence[int], size: int) -> tuple[Slot, ...]:
    """Free slots for a lease of that size; empty if there are none.

    They are taken where least is broken up: on the fullest GPU, of the fullest pair of GPUs, of the fullest four. GPUs
    that are neighbours come first, but any will do: all GPUs of an MI300X machine are linked to each other.
    """
    return _free_slots(tuple(occupied), size)


# A pass over the queue or the pool asks the same of many machines that are equally full.
@lru_cache(maxsize=4096)
def _free_slots(occupied: tuple[int, ...], size: int) -> tuple[Slot, ...]:
    if size > free_eighths(occupied):
        return ()
    gpus = sorted(range(len(occupied)), key=lambda gpu: _fullness(occupied, gpu, 1), reverse=True)
    if size < EIGHTHS_PER_GPU:
        slots = (Slot(gpu, first, size) for gpu in gpus for first in range(0, EIGHTHS_PER_GPU, size))
        return next(((slot,) for slot in slots if not occupied[slot.gpu] & slot.mask), ())
    wanted, whole = gpus_for(size), [gpu for gpu in gpus if not occupied[gpu]]
    groups = [range(first, first + wanted) for first in range(0, len(occupied) - wanted + 1, wanted)]
    free_groups = [group for group in groups if not any(occupied[gpu] for gpu in group)]
    best = max(free_groups, key=lambda group: _fullness(occupied, group[0], wanted), default=whole[:wanted])
    return tuple(Slot(gpu, 0, EIGHTHS_PER_GPU) for gpu in sorted(best)) if len(best) == wanted else ()


def _fullness(occupied: Sequence[int], gpu: int, group: int) -> tuple[int, ...]:
    """The taken eighths of the aligned group of that many GPUs around a GPU, and of the larger ones around it."""
    sizes = [count for count in LEGAL_GPUS if count >= group]
    starts = [gpu - gpu % count for count in sizes]
    return tuple(
        sum(mask.bit_count() for mask in occupied[start : start + count])
        for start, count in zip(starts, sizes, strict=True)
    )


def overlap(occupied: Sequence[int], slots: Sequence[Slot]) -> Slot | None:
    """The first of the slots of which something is taken; None if all are free."""
    return next((slot for slot in slots if occupied[slot.gpu] & slot.mask), None)


def taken(occupied: Sequence[int], slots: Sequence[Slot]) -> tuple[int, ...]:
    """The occupancy with `slots` taken; raises ValueError if part of them is taken already."""
    masks = list(occupied)
    for slot in slots:
        if masks[slot.gpu] & slot.mask:
            raise ValueError(f"{slot!r} overlaps what is taken: {masks[slot.gpu]:#010b}")
        masks[slot.gpu] |= slot.mask
    return tuple(masks)


def covered(occupied: Sequence[int], slots: Iterable[Slot]) -> tuple[int, ...]:
    """The occupancy with `slots` taken, whether they are free or not: what is known of one may be older than others."""
    masks = list(occupied)
    for slot in slots:
        masks[slot.gpu] |= slot.mask
    return tuple(masks)


def freed(occupied: Sequence[int], slots: Sequence[Slot]) -> tuple[int, ...]:
    """The occupancy with `slots` free."""
    masks = list(occupied)
    for slot in slots:
        masks[slot.gpu] &= ~slot.mask
    return tuple(masks)


def free_masks(occupied: Sequence[int]) -> tuple[int, ...]:
    """The free eighths of each GPU, as bit masks."""
    return tuple(WHOLE_GPU & ~mask for mask in occupied)


def free_eighths(occupied: Sequence[int]) -> int:
    """The total number of free eighths."""
    return sum(EIGHTHS_PER_GPU - mask.bit_count() for mask in occupied)
