"""Converts alerts to and from their protos."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from wavepool.billing.v1 import alerts_pb2 as pb

from servicekit.rpc.proto_of import proto_of
from services.billing.alert_rules.engine import Phase
from services.billing.alert_rules.rule import Reading, Rule, check_name, check_reading
from services.billing.errors import InvalidFieldError
from services.billing.store.alert_store import Alert, HistoryLine
from services.billing.wire.fields import duration_from_proto, instant_from_proto, page_token

MAX_READINGS = 10_000
LONGEST_VALIDITY = timedelta(days=1)
HISTORY = "alerts"
"""The name of the list of transitions in its page tokens."""
ACCOUNT_READINGS = "account."
"""How the names of readings begin whose alerts are the accounts' own."""


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
    phase = None if alert.state.phase is Phase.INACTIVE else alert.state.phase
    return proto_of(pb.Alert, alert, alert.state, phase=phase)


def history_to_proto(lines: Sequence[HistoryLine], page_size: int) -> pb.ListAlertHistoryResponse:
    """A page of `page_size` transitions; if `lines` has one more, the page has a token for the next."""
    shown = lines[:page_size]
    return pb.ListAlertHistoryResponse(
        transitions=[proto_of(pb.AlertTransition, line) for line in shown],
        next_page_token=page_token(HISTORY, shown[-1].seq) if len(lines) > page_size else "",
    )


def rule_to_proto(rule: Rule, last_reading_time: datetime | None) -> pb.AlertRule:
    """A rule as a proto."""
    about_accounts = rule.reading.startswith(ACCOUNT_READINGS)
    return proto_of(pb.AlertRule, rule, last_reading_time=last_reading_time, about_accounts=about_accounts)


def _reading_from_proto(reading: pb.Reading, earliest: datetime, now: datetime) -> Reading:
    time = now
    if reading.HasField("time"):
        # A source whose clock is ahead must not make its own later reports look old, and one whose clock is behind must
        # not make news look like history.
        time = max(earliest, min(now, instant_from_proto("time", reading.time)))
    return check_reading(Reading(reading.name, reading.value, time, dict(reading.labels), dict(reading.details)))
