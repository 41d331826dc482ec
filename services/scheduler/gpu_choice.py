"""Which GPU types a job may run on: the wanted one, then those that its user allows in its place."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

GPU_TYPES = ("MI300X", "MI300A", "MI250X", "MI210")
DEFAULT_GPU_TYPE = GPU_TYPES[0]
"""Unless SCHEDULER_DEFAULT_GPU names another."""
FIELD = "spec.gpu_type"
FALLBACKS_FIELD = "spec.fallback_gpu_types"


def wanted_gpu_type(asked: str) -> str:
    """The GPU type in its one spelling, where it is known."""
    return _spelt(asked) or DEFAULT_GPU_TYPE


def known_gpu_type(named: str) -> str:
    """A GPU type of the settings in its one spelling; raises ValueError that names the nearest."""
    if _spelt(named) not in GPU_TYPES:
        raise ValueError(_unknown(named))
    return _spelt(named)


def allowed_gpu_types(asked: Sequence[str]) -> tuple[str, ...]:
    """The fallbacks in their one spelling, where they are known, in the order of the request."""
    return tuple(_spelt(one) for one in asked)


def wrong_gpu_types(wanted: str, fallbacks: Sequence[str]) -> list[tuple[str, str]]:
    """What is wrong with the choice: for each field, the first fault with its fix."""
    wrong = [] if wanted_gpu_type(wanted) in GPU_TYPES else [(FIELD, _unknown(wanted))]
    taken = [wanted_gpu_type(wanted)]
    for fallback in fallbacks:
        if fault := _fault(fallback, taken):
            return [*wrong, (FALLBACKS_FIELD, fault)]
        taken.append(_spelt(fallback))
    return wrong


def _fault(fallback: str, taken: Sequence[str]) -> str:
    name = _spelt(fallback)
    if name not in GPU_TYPES:
        return _unknown(fallback)
    if name not in taken:
        return ""
    fault = "is the GPU type that is wanted" if name == taken[0] else "is named twice"
    left = [one for one in GPU_TYPES if one not in taken]
    return f"{name} {fault}; leave it out" + (f", or give another: {', '.join(left)}" if left else "")


def _unknown(asked: str) -> str:
    closest = (get_close_matches(_spelt(asked), GPU_TYPES, n=1) or [DEFAULT_GPU_TYPE])[0]
    return f"{asked[:40]!r} is none of {', '.join(GPU_TYPES)}; the nearest is {closest}"


def _spelt(asked: str) -> str:
    return asked.strip().upper()
