"""Checks the sizes and slots that a lease is asked for with."""

from __future__ import annotations

from collections.abc import Sequence

from services.vmpool.errors import InvalidFieldError
from vocabulary.slots import EIGHTHS_PER_GPU, LEGAL_EIGHTHS, LEGAL_GPUS, Slot


def check_size(eighths: int, gpus: int = 1, prefix: str = "") -> int:
    """The size of a lease of `eighths` of each of `gpus` GPUs; InvalidFieldError lists the legal numbers."""
    _check_one_of(f"{prefix}gpus", gpus, LEGAL_GPUS)
    _check_one_of(f"{prefix}eighths", eighths, LEGAL_EIGHTHS)
    if gpus > 1 and eighths != EIGHTHS_PER_GPU:
        raise InvalidFieldError(f"{prefix}eighths", f"must be {EIGHTHS_PER_GPU} for {gpus} GPUs; it is {eighths}")
    return gpus * eighths


def check_slots(slots: Sequence[Slot], field: str = "slots") -> tuple[Slot, ...]:
    """The slots of one lease in the order of their GPUs; InvalidFieldError says what is wrong with them."""
    _check_one_of(field, len(slots), LEGAL_GPUS, "number")
    for slot in slots:
        _check_one_of(f"{field}.eighths", slot.eighths, LEGAL_EIGHTHS)
        if slot.gpu < 0:
            raise InvalidFieldError(f"{field}.gpu", f"must not be negative; it is {slot.gpu}")
        if not 0 <= slot.first < EIGHTHS_PER_GPU or slot.first % slot.eighths:
            places = ", ".join(map(str, range(0, EIGHTHS_PER_GPU, slot.eighths)))
            raise InvalidFieldError(
                f"{field}.first_eighth", f"must be one of {places} for {slot.eighths} eighths; it is {slot.first}"
            )
        if len(slots) > 1 and slot.eighths != EIGHTHS_PER_GPU:
            raise InvalidFieldError(f"{field}.eighths", f"must be {EIGHTHS_PER_GPU} if there are several slots")
    if len({slot.gpu for slot in slots}) < len(slots):
        raise InvalidFieldError(field, "must not name a GPU twice")
    return tuple(sorted(slots))


def _check_one_of(field: str, value: int, legal: Sequence[int], what: str = "") -> None:
    if value not in legal:
        numbers = ", ".join(map(str, legal))
        raise InvalidFieldError(field, f"{what + ' ' if what else ''}must be one of {numbers}; it is {value}")
