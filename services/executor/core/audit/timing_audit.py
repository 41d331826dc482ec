"""Whether claimed times can be true.

The runner shares its process with the submission, so its clocks and events are claims. The judge's wall clock ran
outside: a call cannot have been much shorter than the judge saw, less the way to the runner and back.

Each call is judged for itself, and the half of them with the shortest claims decides, since those make the median
short: whoever forges the median forges all of them. They are found out when most of them cannot be true. The way is
measured by null calls in turn with the timed ones, so that what a busy host adds to one is known from the other. That
is not all of it: a scheduler lets a short call through where it keeps a long one with many threads waiting. So on a
processor that others use too, such calls are in doubt, and accuse nobody.

Chained calls say more: the input of each is made from the output of the one before, so that none can begin before its
input exists, nor end before a right answer exists. Their wall time, less that of a chain of null calls, is time in
which the work was done, whoever says what.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from operator import itemgetter
from statistics import median
from typing import TYPE_CHECKING

import numpy as np

from services.executor.core.model import roofline

if TYPE_CHECKING:
    from collections.abc import Sequence

    from services.executor.core.model.roofline import Roofs, Work

# Share of the calls that decide which may look untrue by chance.
_MOST_DISTURBED = 0.7
_MOST_DRIFT = 1.1


@dataclass(frozen=True)
class AuditRule:
    """How far claims may be off the judge's clock.

    A claim is too short below `least_share_of_wall` of the wall time, after the `null_quantile` of the null calls (at
    most `most_null_ns`, or a runner could dawdle over them) and `slack_ns` are taken off.

    With a `precision` a time is proven only if it is no farther than that share and `precision_slack_ns` below what
    the judge waited in the median, less the median null call. That is doubt, and no accusation.
    """

    least_share_of_wall: float
    null_quantile: float
    most_null_ns: float
    slack_ns: float
    precision: float | None = None
    precision_slack_ns: float = 0.0


GPU_RULE = AuditRule(
    least_share_of_wall=0.9,
    null_quantile=0.5,
    most_null_ns=100e3,
    slack_ns=2e3,
    precision=0.03,
    precision_slack_ns=10e3,
)
"""On a GPU the host's part of a call is a few microseconds."""

CPU_RULE = AuditRule(least_share_of_wall=0.75, null_quantile=0.9, most_null_ns=8e6, slack_ns=1e6)
"""The cpu device's kernels compete for cores with the judge and with all else; its times rank nowhere."""


def no_time(claimed_ns: Sequence[float], walls_ns: Sequence[float], rule: AuditRule) -> str:
    """Why the claims of one case are no times of what the judge waited for, however busy the machine; or nothing."""
    if not all(0 < claim < math.inf for claim in claimed_ns):
        return "a call is said to have taken no time at all"
    return _longer_than_the_wait(claimed_ns, walls_ns, rule)


def too_short(
    claimed_ns: Sequence[float], walls_ns: Sequence[float], nulls_ns: Sequence[float], rule: AuditRule
) -> str:
    """How the claims of one case are shorter than what the judge waited; empty if most are not."""
    way_ns = min(float(np.quantile(nulls_ns, rule.null_quantile)), rule.most_null_ns) + rule.slack_ns
    by_claim = sorted(zip(claimed_ns, walls_ns, strict=True), key=itemgetter(0))
    shortest_half = by_claim[: (len(claimed_ns) + 1) // 2]
    untrue = [(claim, wall) for claim, wall in shortest_half if claim < rule.least_share_of_wall * (wall - way_ns)]
    if len(untrue) <= _MOST_DISTURBED * len(shortest_half):
        return ""
    claimed, wall = (median(column) / 1e3 for column in zip(*untrue, strict=True))
    return f"calls are said to take {claimed:.1f} us, but the judge waited {wall:.1f} us for them"


def waited_call_ns(
    claimed_ns: Sequence[float], walls_ns: Sequence[float], nulls_ns: Sequence[float], rule: AuditRule
) -> float:
    """What the median call of one session took by the judge's clock, without the way to the runner and back.

    Claims and waits are compared call by call: where half of the calls are slow, a median of each could be of another
    half.
    """
    way_ns = min(median(nulls_ns), rule.most_null_ns)
    beyond_ns = median(wall - claim for claim, wall in zip(claimed_ns, walls_ns, strict=True))
    return median(claimed_ns) + beyond_ns - way_ns


def short_of_the_wait(claimed_ns: float, waited_ns: Sequence[float], rule: AuditRule) -> str:
    """How the time that is ranked is below what the judge waited for a call, `waited_ns` in each session.

    Empty if it is not, or the rule has no precision. As a time is the median over sessions, whoever forges it forges
    half of the sessions, however few calls these have.
    """
    if rule.precision is None:
        return ""
    call_ns = median(waited_ns)
    if claimed_ns >= (1 - rule.precision) * call_ns - rule.precision_slack_ns:
        return ""
    return f"calls are said to take {claimed_ns / 1e3:.1f} us, and the judge waited {call_ns / 1e3:.1f} us"


def _longer_than_the_wait(claimed_ns: Sequence[float], walls_ns: Sequence[float], rule: AuditRule) -> str:
    """The judge waits for the whole of a call: no part of it is longer, but for the drift between two clocks."""
    too_long = [
        (claim, wall)
        for claim, wall in zip(claimed_ns, walls_ns, strict=True)
        if claim > _MOST_DRIFT * wall + rule.slack_ns
    ]
    if 2 * len(too_long) <= len(claimed_ns):
        return ""
    claimed, wall = (median(column) / 1e3 for column in zip(*too_long, strict=True))
    return f"calls are said to take {claimed:.1f} us, but the judge waited no more than {wall:.1f} us for them"


def floor_fault(roofs: Roofs | None, work: Work, claimed_ns: float) -> str | None:
    """Why the hardware's limits, where they are known, say that a claimed time cannot be true; None if they do not."""
    seconds = claimed_ns / 1e9
    if roofs is None or not roofline.is_below_floor(roofs, work, seconds):
        return None
    floor = roofline.floor_of(roofs, work)
    least_us = floor.seconds * 1e6
    return f"calls are said to take {seconds * 1e6:.2f} us, but {floor.because} takes at least {least_us:.2f} us"
