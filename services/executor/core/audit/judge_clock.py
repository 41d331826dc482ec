"""Decides whether claimed times can be true.

The runner shares its process with the submission, so its clocks and events are claims. The judge's wall clock runs
outside: a call cannot have been much shorter than the judge's wait, less the way to the runner and back.

Each call is judged on its own, and the half with the shortest claims decides, because those calls make the median
short: to forge the median, a program has to forge all of them. The claims are found untrue if most of that half cannot
be true. Null calls alternate with the timed ones and measure the way, so the delay that a busy host adds to one is
known from the other. But a scheduler may let a short call through and keep a long one with many threads waiting. So on
a processor that others use too, such calls are in doubt, and accuse nobody.

Chained calls say more: the input of each is made from the output of the one before. So no call can begin before its
input exists, or end before a right answer exists. The wall time of a chain, less that of a chain of null calls, is time
in which the work was done, whatever anybody claims.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from statistics import median

import numpy as np

from vocabulary import roofline
from vocabulary.roofline import Roofs, Work

# Share of the deciding calls that may look untrue by chance.
_MOST_DISTURBED = 0.7
_MOST_DRIFT = 1.1


@dataclass(frozen=True)
class AuditRule:
    """The tolerated difference between claims and the judge's clock.

    A claim is too short if it is below `least_share_of_wall` of the wall time, after the `null_quantile` of the null
    calls and `slack_ns` are taken off. At most `most_null_ns` are taken off for null calls, or a runner could dawdle
    over them.

    If there is a `precision`, a time is proven only if it is no farther than that share and `precision_slack_ns` below
    the judge's median wait, less the median null call. A time that is farther below is doubted, not accused.
    """

    least_share_of_wall: float
    null_quantile: float
    most_null_ns: float
    slack_ns: float
    precision: float | None = None
    precision_slack_ns: float = 0.0


_MOST_DAWDLE = 1.5
"""The factor by which null calls of a submission's process may be slower than those of a runner of our own."""


def on_this_machine(rule: AuditRule, our_nulls_ns: Sequence[float]) -> AuditRule:
    """Returns the rule for a machine where null calls of a runner of our own take `our_nulls_ns`.

    How long the way to a runner takes depends on the machine: in the virtual machine with an H200 it took 135 to 216 us
    (docs/measurements.md). Nothing of a submission runs in our runner, so its null calls say how much may be taken off.
    """
    return replace(rule, most_null_ns=max(rule.most_null_ns, _MOST_DAWDLE * long_way_ns(our_nulls_ns)))


def long_way_ns(our_nulls_ns: Sequence[float]) -> float:
    """Returns the time in ns that nine of ten null calls of a runner of our own do not exceed."""
    return float(np.quantile(our_nulls_ns, 0.9))


GPU_RULE = AuditRule(
    least_share_of_wall=0.9,
    null_quantile=0.5,
    most_null_ns=100e3,
    slack_ns=2e3,
    precision=0.03,
    precision_slack_ns=10e3,
)
"""The rule before a runner of our own has told how slow this machine is (`on_this_machine`)."""

CPU_RULE = AuditRule(least_share_of_wall=0.75, null_quantile=0.9, most_null_ns=8e6, slack_ns=1e6)
"""The cpu device's kernels compete for cores with the judge and everything else; its times rank nowhere."""


def no_time(claimed_ns: Sequence[float], walls_ns: Sequence[float], rule: AuditRule) -> str:
    """Says why the claims of a case cannot be times of its calls, however busy the machine is; empty if they can."""
    if not all(0 < claim < math.inf for claim in claimed_ns):
        return "a call is said to have taken no time at all"
    return _longer_than_the_wait(claimed_ns, walls_ns, rule)


def too_short(
    claimed_ns: Sequence[float], walls_ns: Sequence[float], nulls_ns: Sequence[float], rule: AuditRule
) -> str:
    """Says how the claims of a case are shorter than the judge's waits; empty if most are not."""
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
    """Returns the median call of one session in ns by the judge's clock, without the way to the runner and back.

    Claims and waits are compared call by call: if half of the calls are slow, a median of each could be of another
    half.
    """
    way_ns = min(median(nulls_ns), rule.most_null_ns)
    beyond_ns = median(wall - claim for claim, wall in zip(claimed_ns, walls_ns, strict=True))
    return median(claimed_ns) + beyond_ns - way_ns


def short_of_the_wait(claimed_ns: float, waited_ns: Sequence[float], rule: AuditRule) -> str:
    """Says how the ranked time is below the judge's wait for a call, which `waited_ns` has for each session.

    Empty if it is not, or if the rule has no precision. A time is the median over sessions, so a program has to forge
    half of the sessions, however few calls they have.
    """
    if rule.precision is None:
        return ""
    call_ns = median(waited_ns)
    if claimed_ns >= (1 - rule.precision) * call_ns - rule.precision_slack_ns:
        return ""
    return f"calls are said to take {claimed_ns / 1e3:.1f} us, and the judge waited {call_ns / 1e3:.1f} us"


def _longer_than_the_wait(claimed_ns: Sequence[float], walls_ns: Sequence[float], rule: AuditRule) -> str:
    """Says how claims exceed the judge's waits; empty if most do not.

    The judge waits for the whole of a call, so no part of it is longer, except for the drift between two clocks.
    """
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
    """Says why the hardware's limits rule a claimed time out; None if they do not, or are not known."""
    seconds = claimed_ns / 1e9
    if roofs is None or not roofline.is_below_floor(roofs, work, seconds):
        return None
    floor = roofline.floor_of(roofs, work)
    least_us = floor.seconds * 1e6
    return f"calls are said to take {seconds * 1e6:.2f} us, but {floor.because} takes at least {least_us:.2f} us"
