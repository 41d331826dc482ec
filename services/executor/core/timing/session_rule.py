"""Decides whether sessions agree, and the time of a case that was measured in several fresh processes.

A process keeps conditions from its start: where its memory lies, how its pages are mapped, at which clock it began. No
number of samples in one process averages them out. So a case's time is the median of the medians of sessions. If
sessions disagree, more are made; if these disagree too, the case has no time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from statistics import median


@dataclass(frozen=True)
class SessionRule:
    """The number of sessions, how many more there are if they disagree, and the limit of disagreement.

    `tolerance` is relative to the median of the sessions; if it is None, disagreement is reported but does not count.
    """

    sessions: int = 3
    more_sessions: int = 2
    tolerance: float | None = 0.01


GPU_SESSIONS = SessionRule()
CPU_SESSIONS = SessionRule(more_sessions=0, tolerance=None)
"""The rule for shared processors: sessions may differ by half. Their times rank nowhere, so nobody fails by it."""


class Agreement(Enum):
    """The next step after a number of sessions."""

    MORE = "more"
    AGREED = "agreed"
    UNSTABLE = "unstable"


def score(medians: Sequence[float]) -> float:
    """A case's time: the median of its sessions' medians."""
    return median(medians)


def disagreement(medians: Sequence[float], rule: SessionRule) -> float:
    """The span of the `rule.sessions` medians in the middle, relative to the median of all.

    If only the first sessions were made, these are all medians. If more were made, the few left out at either end may
    be due to chance, or to somebody who tries to be lucky.
    """
    ordered = sorted(medians)
    outside = max(0, len(ordered) - rule.sessions)
    middle = ordered[outside // 2 : len(ordered) - (outside - outside // 2)]
    return (middle[-1] - middle[0]) / median(ordered)


def agreement(medians: Sequence[float], rule: SessionRule) -> Agreement:
    """The next step for the medians of one case's sessions so far, all of them above 0."""
    most = rule.sessions + rule.more_sessions
    if len(medians) < rule.sessions or rule.sessions < len(medians) < most:
        return Agreement.MORE
    if rule.tolerance is None or disagreement(medians, rule) <= rule.tolerance:
        return Agreement.AGREED
    return Agreement.MORE if len(medians) < most else Agreement.UNSTABLE
