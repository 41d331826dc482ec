"""Refuses orders that no machine can meet. Each refusal names the field, the legal values and the nearest of them."""

from __future__ import annotations

from collections.abc import Sequence

from services.vmpool.errors import InvalidFieldError
from vocabulary.money import dollars_text
from vocabulary.names import LONGEST_QUOTE, known_name, none_of

LEGAL_GPU_COUNTS = (1, 2, 4, 8)
"""GPU counts of one machine; clouds rent MI300X in these."""


def check_gpu_type(gpu_type: str, gpu_types: Sequence[str], field: str = "gpu_type") -> str:
    """The GPU type in its one spelling; the case of the input does not matter."""
    return _check_name(gpu_type, gpu_types, field)


def check_fallback_gpu_types(
    fallbacks: Sequence[str], gpu_type: str, gpu_types: Sequence[str], field: str = "fallback_gpu_types"
) -> tuple[str, ...]:
    """GPU types to take if `gpu_type` cannot be had, in the order of the request, each once and without `gpu_type`."""
    known = [check_gpu_type(fallback, gpu_types, field) for fallback in fallbacks]
    return tuple(dict.fromkeys(fallback for fallback in known if fallback != gpu_type))


def check_gpu_count(gpu_count: int, field: str = "gpu_count", legal_counts: Sequence[int] = LEGAL_GPU_COUNTS) -> int:
    """The number of GPUs of a machine, if it is legal."""
    if gpu_count in legal_counts:
        return gpu_count
    # If two are equally near, take the larger one, which holds the number that was asked for.
    nearest = min(legal_counts, key=lambda legal: (abs(legal - gpu_count), -legal))
    legal = ", ".join(map(str, legal_counts))
    why = "" if legal_counts is LEGAL_GPU_COUNTS else " (what the providers are set up for)"
    raise InvalidFieldError(field, f"must be one of {legal}{why}; it is {gpu_count}, and the nearest is {nearest}")


def check_backend(backend: str, backends: Sequence[str], field: str = "backend") -> str:
    """The name of a backend that offers machines; empty leaves the choice to the pool."""
    return _check_name(backend, backends, field) if backend else ""


def check_max_price(
    max_price_micros_per_gpu_hour: int,
    offered_micros_per_gpu_hour: Sequence[int],
    field: str = "max_price_micros_per_gpu_hour",
) -> int:
    """The highest price of one GPU for one hour, in micro-dollars; 0 sets no limit.

    `offered_micros_per_gpu_hour` are the prices of the offers that fit otherwise. If there are none, no limit is too
    low.
    """
    limit = max_price_micros_per_gpu_hour
    if limit < 0:
        raise InvalidFieldError(
            field, f"must be 0 (no limit) or more; it is {dollars_text(limit)}, and the nearest is 0"
        )
    cheapest = min(offered_micros_per_gpu_hour, default=0)
    if 0 < limit < cheapest:
        raise InvalidFieldError(
            field,
            f"{dollars_text(limit)} is below every offer: the cheapest is {dollars_text(cheapest)} ({cheapest} micros)",
        )
    return limit


def _check_name(name: str, names: Sequence[str], field: str) -> str:
    if known := known_name(name, names):
        return known
    if not names:
        quoted = repr(name[:LONGEST_QUOTE])
        raise InvalidFieldError(field, f"no offer names one now, so {quoted} cannot be had: leave it empty")
    raise InvalidFieldError(field, none_of(name, names))
