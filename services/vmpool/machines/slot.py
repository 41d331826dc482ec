"""Slots: aligned eighths of a GPU.

A slot of n eighths begins at a multiple of n, so that slots nest and freed ones join up again. The taken eighths of a
GPU are a bit mask with the first eighth in its lowest bit; a machine's occupancy is one mask for each of its GPUs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from services.vmpool.errors import InvalidFieldError

if TYPE_CHECKING:
    from collections.abc import Sequence

EIGHTHS_PER_GPU = 8
LEGAL_EIGHTHS = (1, 2, 4, 8)


@dataclass(frozen=True)
class Slot:
    """`eighths` of GPU number `gpu`, from eighth number `first` on."""

    gpu: int
    first: int
    eighths: int

    @property
    def mask(self) -> int:
        """The bits of its GPU's mask that the slot takes."""
        return ((1 << self.eighths) - 1) << self.first


def check_eighths(eighths: int) -> int:
    """The size of a slot, if it is legal; InvalidFieldError lists the legal sizes."""
    if eighths not in LEGAL_EIGHTHS:
        legal = ", ".join(map(str, LEGAL_EIGHTHS))
        raise InvalidFieldError("eighths", f"must be one of {legal}; it is {eighths}")
    return eighths


def free_slot(occupied: Sequence[int], eighths: int) -> Slot | None:
    """A free slot of that size on the fullest GPU with room, so that whole GPUs stay whole; None if there is none."""
    for gpu in sorted(range(len(occupied)), key=lambda gpu: -occupied[gpu].bit_count()):
        for first in range(0, EIGHTHS_PER_GPU, eighths):
            slot = Slot(gpu, first, eighths)
            if not occupied[gpu] & slot.mask:
                return slot
    return None


def taken(occupied: Sequence[int], slot: Slot) -> tuple[int, ...]:
    """The occupancy with `slot` taken; raises ValueError if part of it is taken already."""
    if occupied[slot.gpu] & slot.mask:
        raise ValueError(f"{slot} overlaps what is taken: {occupied[slot.gpu]:#010b}")
    return tuple(mask | slot.mask if gpu == slot.gpu else mask for gpu, mask in enumerate(occupied))


def freed(occupied: Sequence[int], slot: Slot) -> tuple[int, ...]:
    """The occupancy with `slot` free."""
    return tuple(mask & ~slot.mask if gpu == slot.gpu else mask for gpu, mask in enumerate(occupied))


def free_eighths(occupied: Sequence[int]) -> int:
    """The total number of free eighths."""
    return sum(EIGHTHS_PER_GPU - mask.bit_count() for mask in occupied)
