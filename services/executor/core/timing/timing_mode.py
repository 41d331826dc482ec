"""In which state a call is timed: each has a time of its own, and they are never compared."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from typing import TYPE_CHECKING

from services.executor.core.timing.sessions import SessionRule

if TYPE_CHECKING:
    from services.executor.core.timing.stopping import StoppingProfile

_FIRST_CALLS = 100
_FEWEST_FIRST_CALLS = 20
"""Twenty medians' intervals reach from the 6th to the 15th; a process for each takes a second on a GPU."""
_FIRST_CALL_PRECISION = 0.02
"""Half-width of the interval: processes differ by more than calls of one do."""


class TimingMode(StrEnum):
    """How calls are timed."""

    COLD = "cold"
    """After a warm-up, with the caches swept before each call: the default on GPUs."""
    HOT = "hot"
    """After a warm-up, with the caches as the new inputs left them: the default on the cpu device."""
    FIRST_CALL = "first-call"
    """The first call of a fresh process, one for each sample: modules load, kernels are found, pools are empty."""


def default_mode(profile: StoppingProfile) -> TimingMode:
    """What a device's own budget says."""
    return TimingMode.COLD if profile.cold else TimingMode.HOT


def profile_in(mode: TimingMode, profile: StoppingProfile) -> StoppingProfile:
    """A device's budget, for times of one mode.

    First calls are samples of one session: each has a process of its own already.
    """
    if mode is not TimingMode.FIRST_CALL:
        return replace(profile, cold=mode is TimingMode.COLD)
    return replace(
        profile,
        min_samples=_FEWEST_FIRST_CALLS,
        check_every=5,
        relative_half_width=_FIRST_CALL_PRECISION,
        max_samples=_FIRST_CALLS,
        sessions=SessionRule(sessions=1, more_sessions=0, tolerance=None),
    )
