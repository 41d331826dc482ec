"""Steps the state of one alert, which is one rule for one set of labels.

Each function takes a state and gives the next one, with the transitions between them. A repeated or older reading
changes nothing. FIRED and RESOLVED always alternate. A source that falls silent leaves its alerts as they are, marked
as without data: nobody knows whether the cause is gone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime

    from services.billing.alert_rules.rule import Reading, Rule

NOTHING = timedelta(0)


class Phase(StrEnum):
    """Where an alert is.

    INACTIVE: entered by a reading that clears it, left by one that breaches its rule. PENDING: the breach has not
    lasted for the rule's duration; left by time or by a reading without a breach. FIRING: left by a reading beyond the
    clear threshold, or when its source or its rule is gone.
    """

    INACTIVE = "inactive"
    PENDING = "pending"
    FIRING = "firing"


class Transition(StrEnum):
    """A change of an alert that the history keeps."""

    PENDING = "pending"
    """The rule is breached, but not yet for long enough."""
    CANCELLED = "cancelled"
    """A pending alert ended before it fired."""
    FIRED = "fired"
    RESOLVED = "resolved"
    NO_DATA = "no_data"
    """The source has been silent for longer than it promised; the alert stays as it was."""
    DATA_BACK = "data_back"
    """The source reports again, and the alert is as it was."""


ANNOUNCED = frozenset({Transition.FIRED, Transition.RESOLVED, Transition.NO_DATA})
"""What channels are told. A firing alert without data is announced once; a pending one is not worth a message."""


@dataclass(frozen=True)
class AlertState:
    """The state of one alert. `since` is when it entered its phase, or when its pending breach began again."""

    phase: Phase = Phase.INACTIVE
    since: datetime | None = None
    value: float = 0.0
    reading_time: datetime | None = None
    valid_for: timedelta = NOTHING
    """How long the source promised its reading to stand; it reports again sooner."""
    no_data: bool = False

    @property
    def is_active(self) -> bool:
        """True if the alert is pending or firing."""
        return self.phase is not Phase.INACTIVE


Step = tuple[AlertState, tuple[Transition, ...]]


def step(rule: Rule, state: AlertState, reading: Reading, valid_for: timedelta) -> Step:
    """Takes a reading."""
    if state.reading_time is not None and reading.time < state.reading_time:
        return state, ()
    seen = replace(state, value=reading.value, reading_time=reading.time, valid_for=valid_for, no_data=False)
    match state.phase:
        case Phase.INACTIVE:
            return _from_inactive(rule, seen, reading)
        case Phase.PENDING:
            return _from_pending(rule, seen, reading, was_silent=state.no_data)
        case Phase.FIRING:
            if rule.is_cleared(reading.value):
                return _to(seen, Phase.INACTIVE, reading.time), (Transition.RESOLVED,)
            return seen, (Transition.DATA_BACK,) if state.no_data else ()


def silence(state: AlertState, now: datetime) -> Step:
    """Looks at the clock: an active alert whose last reading is too old has no data, which is reported once."""
    if not state.is_active or state.no_data or state.reading_time is None:
        return state, ()
    if now - state.reading_time <= state.valid_for:
        return state, ()
    return replace(state, no_data=True), (Transition.NO_DATA,)


def gone(state: AlertState, now: datetime) -> Step:
    """Ends an alert because what it was about is no longer there: the labelled thing, or the rule."""
    if not state.is_active:
        return state, ()
    ended = Transition.RESOLVED if state.phase is Phase.FIRING else Transition.CANCELLED
    return replace(_to(state, Phase.INACTIVE, now), no_data=False), (ended,)


def _from_inactive(rule: Rule, seen: AlertState, reading: Reading) -> Step:
    if not rule.is_breached(reading.value):
        return seen, ()
    if rule.for_duration <= NOTHING:
        return _to(seen, Phase.FIRING, reading.time), (Transition.FIRED,)
    return _to(seen, Phase.PENDING, reading.time), (Transition.PENDING,)


def _from_pending(rule: Rule, seen: AlertState, reading: Reading, *, was_silent: bool) -> Step:
    back = (Transition.DATA_BACK,) if was_silent else ()
    if not rule.is_breached(reading.value):
        return _to(seen, Phase.INACTIVE, reading.time), (Transition.CANCELLED,)
    if was_silent:
        # Nobody saw the breach last through the silence, so its duration is counted again.
        return replace(seen, since=reading.time), back
    if seen.since is not None and reading.time - seen.since < rule.for_duration:
        return seen, ()
    return _to(seen, Phase.FIRING, reading.time), (Transition.FIRED,)


def _to(state: AlertState, phase: Phase, time: datetime) -> AlertState:
    return replace(state, phase=phase, since=time)
