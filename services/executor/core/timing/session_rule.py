"""Whether sessions agree: one case measured in several fresh processes, and what its time is.

A process keeps what it was given at its start: where its memory lies, how its pages are mapped, at which clock it
began. No number of samples in one process averages that out. So a case's time is the median of the medians of
sessions. Where sessions disagree, more are made; where these disagree too, the case has no time.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from statistics import median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class SessionRule:
    """How many sessions, how many more where they disagree, and what disagreement is.

    `tolerance` is relative to the median of the sessions; with None every disagreement is reported and none counts.
    """

    sessions: int = 3
    more_sessions: int = 2
    tolerance: float | None = 0.01


GPU_SESSIONS = SessionRule()
CPU_SESSIONS = SessionRule(more_sessions=0, tolerance=None)
"""Sessions on a processor that others use too may differ by half: its times rank nowhere, so nobody is failed."""


class Agreement(Enum):
    """What to do after a number of sessions."""

    MORE = "more"
    AGREED = "agreed"
    UNSTABLE = "unstable"


def score(medians: Sequence[float]) -> float:
    """A case's time: the median of its sessions' medians."""
    return median(medians)


def disagreement(medians: Sequence[float], rule: SessionRule) -> float:
    """The span of the `rule.sessions` medians in the middle, over their median.

    Of the first sessions these are all. Where more were made, the few at either end are those that chance, or somebody
    who wants to be lucky, may have made.
    """
    ordered = sorted(medians)
    outside = max(0, len(ordered) - rule.sessions)
    middle = ordered[outside // 2 : len(ordered) - (outside - outside // 2)]
    return (middle[-1] - middle[0]) / median(ordered)


def agreement(medians: Sequence[float], rule: SessionRule) -> Agreement:
    """What the medians of one case's sessions so far, all of them above 0, ask for."""
    most = rule.sessions + rule.more_sessions
    if len(medians) < rule.sessions or rule.sessions < len(medians) < most:
        return Agreement.MORE
    if rule.tolerance is None or disagreement(medians, rule) <= rule.tolerance:
        return Agreement.AGREED
    return Agreement.MORE if len(medians) < most else Agreement.UNSTABLE
