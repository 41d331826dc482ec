"""Converts alerts to and from their protos."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from wavepool.billing.v1 import alerts_pb2 as pb

from servicekit.rpc.proto_time import instant_to_proto
from services.billing.alert_rules.engine import Phase, Transition
from services.billing.alert_rules.rule import Comparison, Reading, Severity, check_name, check_reading
from services.billing.errors import InvalidFieldError
from services.billing.store.delivery_store import Outcome
from services.billing.wire.fields import duration_from_proto, instant_from_proto, numbers_of, page_token

if TYPE_CHECKING:
    from collections.abc import Sequence

    from services.billing.alert_rules.rule import Rule
    from services.billing.store.alert_store import Alert, HistoryLine

MAX_READINGS = 10_000
LONGEST_VALIDITY = timedelta(days=1)
HISTORY = "alerts"
"""The name of the list of transitions in its page tokens."""
ACCOUNT_READINGS = "account."
"""How the names of readings begin whose alerts are the accounts' own."""

SEVERITIES = numbers_of(Severity, pb.AlertSeverity.items(), "ALERT_SEVERITY")
_PHASES = {
    Phase.INACTIVE: pb.ALERT_PHASE_UNSPECIFIED,
    Phase.PENDING: pb.ALERT_PHASE_PENDING,
    Phase.FIRING: pb.ALERT_PHASE_FIRING,
}
_EVENTS = numbers_of(Transition, pb.AlertEvent.items(), "ALERT_EVENT")
_OUTCOMES = numbers_of(Outcome, pb.DeliveryOutcome.items(), "DELIVERY_OUTCOME")
_COMPARISONS = numbers_of(Comparison, pb.AlertComparison.items(), "ALERT_COMPARISON")


def report_from_proto(request: pb.ReportReadingsRequest, now: datetime) -> tuple[str, timedelta, list[Reading]]:
    """A report's source, how long it stands, and its readings; raises InvalidFieldError."""
    source = check_name("source", request.source)
    valid_for = duration_from_proto("valid_for", request.valid_for)
    if not timedelta(0) < valid_for <= LONGEST_VALIDITY:
        raise InvalidFieldError("valid_for", f"must be more than 0 and at most {LONGEST_VALIDITY}")
    if len(request.readings) > MAX_READINGS:
        raise InvalidFieldError("readings", f"must be at most {MAX_READINGS}; there are {len(request.readings)}")
    return source, valid_for, [_reading_from_proto(reading, now - valid_for, now) for reading in request.readings]


def alert_to_proto(alert: Alert) -> pb.Alert:
    """An active alert as a proto."""
    return pb.Alert(
        alert_id=alert.alert_id,
        rule=alert.rule,
        severity=SEVERITIES[alert.severity],
        phase=_PHASES[alert.state.phase],
        no_data=alert.state.no_data,
        labels=alert.labels,
        summary=alert.summary,
        value=alert.state.value,
        since=instant_to_proto(alert.state.since),
        reading_time=instant_to_proto(alert.state.reading_time),
        source=alert.source,
    )


def history_to_proto(lines: Sequence[HistoryLine], page_size: int) -> pb.ListAlertHistoryResponse:
    """A page of `page_size` transitions; if `lines` has one more, the page has a token for the next."""
    shown = lines[:page_size]
    return pb.ListAlertHistoryResponse(
        transitions=[_line_to_proto(line) for line in shown],
        next_page_token=page_token(HISTORY, shown[-1].seq) if len(lines) > page_size else "",
    )


def rule_to_proto(rule: Rule, last_reading_time: datetime | None) -> pb.AlertRule:
    """A rule as a proto."""
    message = pb.AlertRule(
        name=rule.name,
        severity=SEVERITIES[rule.severity],
        reading=rule.reading,
        comparison=_COMPARISONS[rule.comparison],
        threshold=rule.threshold,
        clear_threshold=rule.clear_threshold,
        summary=rule.summary,
        last_reading_time=instant_to_proto(last_reading_time),
        about_accounts=rule.reading.startswith(ACCOUNT_READINGS),
    )
    message.for_duration.FromTimedelta(rule.for_duration)
    return message


def _reading_from_proto(reading: pb.Reading, earliest: datetime, now: datetime) -> Reading:
    time = now
    if reading.HasField("time"):
        # A source whose clock is ahead must not make its own later reports look old, and one whose clock is behind must
        # not make news look like history.
        time = max(earliest, min(now, instant_from_proto("time", reading.time)))
    return check_reading(Reading(reading.name, reading.value, time, dict(reading.labels), dict(reading.details)))


def _line_to_proto(line: HistoryLine) -> pb.AlertTransition:
    return pb.AlertTransition(
        transition_id=line.transition_id,
        alert_id=line.alert_id,
        rule=line.rule,
        severity=SEVERITIES[line.severity],
        labels=line.labels,
        event=_EVENTS[line.event],
        summary=line.summary,
        value=line.value,
        time=instant_to_proto(line.time),
        deliveries=[
            pb.AlertDelivery(
                channel=delivery.channel,
                outcome=_OUTCOMES[delivery.outcome],
                attempts=delivery.attempts,
                time=instant_to_proto(delivery.time),
                failure=delivery.failure,
            )
            for delivery in line.deliveries
        ],
    )
