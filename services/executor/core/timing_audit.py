"""Whether claimed times can be true.

The runner shares its process with the submission, so its clocks and events are claims. The judge's wall clock ran
outside: a call cannot have been much shorter than the judge saw, less the way to the runner and back.

Each call is judged for itself, and the half of them with the shortest claims decides, since those make the median
short: whoever forges the median forges all of them. They are found out when most of them cannot be true. A busy host,
which delays some calls by any amount after they are done, so accuses nobody.
"""

from __future__ import annotations

import math
from statistics import median
from typing import TYPE_CHECKING

from services.executor.core import roofline

if TYPE_CHECKING:
    from collections.abc import Sequence

    from services.executor.core.roofline import Roofs, Work

_LEAST_SHARE_OF_WALL = 0.9
# Share of honest calls that a busy host may delay.
_MOST_DISTURBED = 0.7


def timing_fault(
    claimed_ns: Sequence[float], walls_ns: Sequence[float], null_call_ns: float, slack_ns: float
) -> str | None:
    """Why the claims of one case cannot be true, or None. `slack_ns` is what the device's host side may add."""
    if not all(0 < claim < math.inf for claim in claimed_ns):
        return "a call is said to have taken no time at all"
    shortest_half = sorted(zip(claimed_ns, walls_ns, strict=True))[: (len(claimed_ns) + 1) // 2]
    untrue = [
        (claim, wall)
        for claim, wall in shortest_half
        if claim < _LEAST_SHARE_OF_WALL * (wall - null_call_ns) - slack_ns
    ]
    if len(untrue) <= _MOST_DISTURBED * len(shortest_half):
        return None
    claimed, wall = (median(column) / 1e3 for column in zip(*untrue, strict=True))
    return f"calls are said to take {claimed:.1f} us, but the judge waited {wall:.1f} us for them"


def floor_fault(roofs: Roofs | None, work: Work, claimed_ns: Sequence[float]) -> str | None:
    """The same by the hardware's limits, where they are known."""
    seconds = median(claimed_ns) / 1e9
    if roofs is None or not roofline.is_below_floor(roofs, work, seconds):
        return None
    floor_us = roofline.floor_seconds(roofs, work) * 1e6
    return f"calls are said to take {seconds * 1e6:.2f} us, but moving the data takes at least {floor_us:.2f} us"
