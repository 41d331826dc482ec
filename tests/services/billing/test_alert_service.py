"""AlertService behind its server."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import grpc
import pytest
from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp
from wavepool.billing.v1 import alerts_pb2 as pb

from services.billing.config import BillingSettings
from services.billing.server import Alerting
from tests.services.billing.test_service import failure

if TYPE_CHECKING:
    from wavepool.billing.v1.alerts_pb2_grpc import AlertServiceAsyncStub

RULES = """[
  {"name": "machines-failed", "severity": "CRITICAL", "reading": "pool.failed_machines", "comparison": ">=",
   "threshold": 2, "for_seconds": 60, "summary": "{value} machines of {provider} have failed."},
  {"name": "queue-long", "severity": "INFO", "reading": "account.queued_jobs", "comparison": ">", "threshold": 5}
]"""
MINUTE = Duration(seconds=60)


@pytest.fixture
def database_url(tmp_path: Path) -> str:
    """One kind of database is enough here: the tests of the stores cover the differences."""
    return f"sqlite+aiosqlite:///{tmp_path / 'billing.db'}"


@pytest.fixture
def settings(tmp_path: Path, database_url: str) -> BillingSettings:
    return BillingSettings(port=0, data_dir=tmp_path / "data", database_url=database_url, alert_rules=RULES)


def at(seconds_ago: float) -> Timestamp:
    time = Timestamp()
    time.FromDatetime(datetime.now(UTC) - timedelta(seconds=seconds_ago))
    return time


def report(value: float, seconds_ago: float = 0, name: str = "pool.failed_machines", **labels: str) -> Any:
    reading = pb.Reading(name=name, value=value, time=at(seconds_ago), labels=labels)
    return pb.ReportReadingsRequest(source="vmpool", valid_for=MINUTE, readings=[reading])


async def test_a_source_reports_and_its_alert_is_pending_then_fires(alerts: AlertServiceAsyncStub) -> None:
    await alerts.ReportReadings(report(3, seconds_ago=61, provider="dstack"))
    (pending,) = (await alerts.ListAlerts(pb.ListAlertsRequest())).alerts
    assert (pending.rule, pending.phase) == ("machines-failed", pb.ALERT_PHASE_PENDING)
    await alerts.ReportReadings(report(4, provider="dstack"))
    (fired,) = (await alerts.ListAlerts(pb.ListAlertsRequest())).alerts
    assert (fired.alert_id, fired.phase, fired.severity) == (
        pending.alert_id,
        pb.ALERT_PHASE_FIRING,
        pb.ALERT_SEVERITY_CRITICAL,
    )
    assert (fired.summary, fired.source, dict(fired.labels)) == (
        "4 machines of dstack have failed.",
        "vmpool",
        {"provider": "dstack"},
    )


async def test_a_report_from_the_future_counts_as_of_now(alerts: AlertServiceAsyncStub) -> None:
    await alerts.ReportReadings(report(9, seconds_ago=-3600, name="account.queued_jobs"))
    await alerts.ReportReadings(report(1, name="account.queued_jobs"))
    assert not (await alerts.ListAlerts(pb.ListAlertsRequest())).alerts


async def test_a_report_from_long_ago_is_no_older_than_it_promised_to_stand(alerts: AlertServiceAsyncStub) -> None:
    await alerts.ReportReadings(report(9, seconds_ago=86_400, name="account.queued_jobs"))
    (alert,) = (await alerts.ListAlerts(pb.ListAlertsRequest())).alerts
    age = datetime.now(UTC) - alert.since.ToDatetime(tzinfo=UTC)
    assert timedelta(seconds=60) <= age < timedelta(seconds=120)


async def test_an_account_sees_its_own_alerts_alone(alerts: AlertServiceAsyncStub) -> None:
    readings = [
        pb.Reading(name="account.queued_jobs", value=9, labels={"account": "acct_1"}),
        pb.Reading(name="account.queued_jobs", value=9, labels={"account": "acct_2"}),
        pb.Reading(name="account.queued_jobs", value=9),
    ]
    await alerts.ReportReadings(pb.ReportReadingsRequest(source="scheduler", valid_for=MINUTE, readings=readings))
    everything = (await alerts.ListAlerts(pb.ListAlertsRequest())).alerts
    own = (await alerts.ListAlerts(pb.ListAlertsRequest(account_id="acct_1"))).alerts
    nobody = (await alerts.ListAlerts(pb.ListAlertsRequest(account_id=""))).alerts
    assert (len(everything), [alert.labels["account"] for alert in own], len(nobody)) == (3, ["acct_1"], 0)
    history = await alerts.ListAlertHistory(pb.ListAlertHistoryRequest(account_id="acct_2"))
    assert [line.labels["account"] for line in history.transitions] == ["acct_2"]


async def test_the_history_comes_in_pages_with_the_fate_of_each_message(
    alerts: AlertServiceAsyncStub, alerting: Alerting
) -> None:
    for value in (9, 1, 9):
        await alerts.ReportReadings(report(value, name="account.queued_jobs"))
    for delivery in alerting.deliveries:
        await delivery.run_once()
    first = await alerts.ListAlertHistory(pb.ListAlertHistoryRequest(page_size=2))
    second = await alerts.ListAlertHistory(pb.ListAlertHistoryRequest(page_size=2, page_token=first.next_page_token))
    events = [line.event for line in (*first.transitions, *second.transitions)]
    assert events == [pb.ALERT_EVENT_FIRED, pb.ALERT_EVENT_RESOLVED, pb.ALERT_EVENT_FIRED]
    assert second.next_page_token == ""
    (sent,) = first.transitions[0].deliveries
    assert (sent.channel, sent.outcome, sent.attempts) == ("log", pb.DELIVERY_OUTCOME_DELIVERED, 1)
    refused = await failure(alerts.ListAlertHistory(pb.ListAlertHistoryRequest(page_token="no")))  # noqa: S106 - of a page
    assert (refused.code, refused.violations[0][0]) == (grpc.StatusCode.INVALID_ARGUMENT, "page_token")


async def test_the_rules_are_listed_with_their_last_reading_and_the_channels(alerts: AlertServiceAsyncStub) -> None:
    await alerts.ReportReadings(report(0))
    listed = await alerts.ListAlertRules(pb.ListAlertRulesRequest())
    rules = {rule.name: rule for rule in listed.rules}
    failed = rules["machines-failed"]
    assert (failed.comparison, failed.threshold, failed.for_duration.seconds) == (pb.ALERT_COMPARISON_AT_LEAST, 2, 60)
    assert failed.HasField("last_reading_time")
    assert not rules["queue-long"].HasField("last_reading_time")
    assert {name for name, rule in rules.items() if rule.about_accounts} == {
        "account-credit-spent-80",
        "account-credit-ends-soon",
        "queue-long",
    }
    assert [(channel.name, channel.kind) for channel in listed.channels] == [("log", "log")]


async def test_a_channel_is_tried(alerts: AlertServiceAsyncStub, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    tried = await alerts.SendTestAlert(pb.SendTestAlertRequest())
    assert [(one.channel, one.delivered, one.failure) for one in tried.deliveries] == [("log", True, "")]
    assert "[TEST] INFO: This message tries the channel" in caplog.text
    refused = await failure(alerts.SendTestAlert(pb.SendTestAlertRequest(channel="pager")))
    assert (refused.code, refused.message) == (
        grpc.StatusCode.NOT_FOUND,
        "There is no alert channel 'pager'; there are: log.",
    )


def with_change(**changes: Any) -> pb.ReportReadingsRequest:
    request = report(1)
    for name, value in changes.items():
        if name in {"source", "valid_for"}:
            request.ClearField(name)
            request.MergeFrom(pb.ReportReadingsRequest(**{name: value}))
        else:
            request.readings[0].MergeFrom(pb.Reading(**{name: value}))
    return request


@pytest.mark.parametrize(
    ("request_", "field"),
    [
        (with_change(source="billing"), "source"),
        (with_change(source="V M"), "source"),
        (with_change(valid_for=Duration()), "valid_for"),
        (with_change(valid_for=Duration(seconds=86_401)), "valid_for"),
        (with_change(name="no spaces"), "name"),
        (with_change(value=float("nan")), "value"),
        (with_change(value=float("inf")), "value"),
        (with_change(labels={"provider": "x" * 201}), "labels"),
        (with_change(labels={f"l{number}": "x" for number in range(11)}), "labels"),
        (with_change(details={"why": "two\nlines"}), "details"),
        (with_change(time=Timestamp(seconds=2**60)), "time"),
        (pb.ReportReadingsRequest(source="x", valid_for=MINUTE, readings=[pb.Reading()] * 10_001), "readings"),
    ],
)
async def test_a_report_that_makes_no_sense_is_refused(
    alerts: AlertServiceAsyncStub, request_: pb.ReportReadingsRequest, field: str
) -> None:
    refused = await failure(alerts.ReportReadings(request_))
    assert (refused.code, refused.violations[0][0]) == (grpc.StatusCode.INVALID_ARGUMENT, field)
