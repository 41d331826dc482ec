"""`/api/v1/alerts`: what is wrong now, what was, and the rules. Accounts see their own; operators see all."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field
from wavepool.billing.v1 import alerts_pb2
from wavepool.billing.v1.alerts_pb2 import (
    ListAlertHistoryRequest,
    ListAlertRulesRequest,
    ListAlertsRequest,
    SendTestAlertRequest,
)

from gateway.auth import Caller
from gateway.dependencies import TheAccount, TheAdmin, TheGateway
from gateway.http.json_route import JsonRoute
from gateway.http.route_docs import problems
from gateway.upstreams import CALL_TIMEOUT_SECONDS
from gateway.words.answer_words import (
    AlertComparisonSign,
    AlertEventWord,
    AlertPhaseWord,
    AlertSeverityWord,
    DeliveryOutcomeWord,
)
from gateway.words.enum_names import alert_comparison_sign
from gateway.words.proto_time import seconds_of
from gateway.words.shown import shown

router = APIRouter(prefix="/alerts", tags=["alerts"], route_class=JsonRoute)

TEST_TIMEOUT_SECONDS = 25.0
"""Longer than any channel may take for one try."""

AccountId = Annotated[str, Query(max_length=100, description="Only this account's; for operators.")]


class Alert(BaseModel):
    """An alert that is firing or pending."""

    id: Annotated[str, Field(description="A new one each time that the alert begins.")]
    rule: str
    severity: AlertSeverityWord
    phase: AlertPhaseWord
    no_data: Annotated[
        bool, Field(description="Its source reports nothing, so it is unknown whether the alert is over.")
    ]
    source: str
    labels: Annotated[
        dict[str, str], Field(description="The subject of the alert; with `account`, it belongs to that account.")
    ]
    summary: str
    value: float
    since: Annotated[datetime | None, Field(description="When it entered its phase.")]
    reading_time: datetime | None


class AlertList(BaseModel):
    """The alerts that are firing or pending, newest first."""

    alerts: list[Alert]


class AlertDelivery(BaseModel):
    """A message to a channel."""

    channel: str
    outcome: DeliveryOutcomeWord
    attempts: int
    time: Annotated[datetime | None, Field(description="Of the next try, or of the outcome.")]
    failure: Annotated[str, Field(description="Of the last try.")]


class AlertTransition(BaseModel):
    """Something that happened to an alert."""

    id: Annotated[str, Field(description="Channels pass it on, so that a repeated message can be recognised.")]
    alert_id: str
    rule: str
    severity: AlertSeverityWord
    event: AlertEventWord
    labels: dict[str, str]
    summary: str
    value: float
    time: datetime | None
    deliveries: Annotated[list[AlertDelivery], Field(description="For operators; empty for others.")]


class AlertHistory(BaseModel):
    """A page of what happened, newest first."""

    transitions: list[AlertTransition]
    next_page_token: str


class AlertRule(BaseModel):
    """A rule in force. An alert fires after `for_seconds` of `reading comparison threshold`."""

    name: str
    severity: AlertSeverityWord
    reading: str
    comparison: AlertComparisonSign
    threshold: float
    clear_threshold: Annotated[
        float, Field(description="The alert ends when the reading is no longer beyond this threshold.")
    ]
    for_seconds: float
    summary: str
    last_reading_time: Annotated[datetime | None, Field(description="Null: there has been no report yet.")]


class AlertChannel(BaseModel):
    """A channel that the operator has set up."""

    name: str
    kind: str
    least_severity: AlertSeverityWord


class AlertRules(BaseModel):
    """The rules, and for operators the channels."""

    rules: list[AlertRule]
    channels: list[AlertChannel]


class AlertTest(BaseModel):
    """The channel to try."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"channel": "log"}]})

    channel: Annotated[str, Field(max_length=100, description="Empty: every channel.")] = ""


class TestDelivery(BaseModel):
    """The outcome of a test message."""

    channel: str
    delivered: bool
    failure: str


class AlertTestResult(BaseModel):
    """The outcomes of the test messages."""

    deliveries: list[TestDelivery]


@router.get("", responses=problems(404))
async def list_alerts(account: TheAccount, gateway: TheGateway, account_id: AccountId = "") -> AlertList:
    """List the alerts that are firing or pending now, newest first."""
    request = ListAlertsRequest(account_id=_whose(account, account_id))
    answer = await gateway.upstreams.alerts.ListAlerts(request, timeout=CALL_TIMEOUT_SECONDS)
    return shown(AlertList, answer)


@router.get("/history", responses=problems(404))
async def list_alert_history(
    account: TheAccount,
    gateway: TheGateway,
    account_id: AccountId = "",
    page_size: Annotated[int, Query(ge=1, le=500)] = 50,
    page_token: Annotated[str, Query(max_length=500, description="The `next_page_token` of the page before.")] = "",
) -> AlertHistory:
    """List what happened to alerts, newest first."""
    request = ListAlertHistoryRequest(
        account_id=_whose(account, account_id), page_size=page_size, page_token=page_token
    )
    answer = await gateway.upstreams.alerts.ListAlertHistory(request, timeout=CALL_TIMEOUT_SECONDS)
    return AlertHistory(
        transitions=[transition_of(transition, for_admin=account.oversees) for transition in answer.transitions],
        next_page_token=answer.next_page_token,
    )


@router.get("/rules")
async def list_alert_rules(account: TheAccount, gateway: TheGateway) -> AlertRules:
    """List the rules that may concern you; for operators all, and the channels."""
    answer = await gateway.upstreams.alerts.ListAlertRules(ListAlertRulesRequest(), timeout=CALL_TIMEOUT_SECONDS)
    return AlertRules(
        rules=[rule_of(rule) for rule in answer.rules if account.oversees or rule.about_accounts],
        channels=[shown(AlertChannel, one) for one in answer.channels if account.oversees],
    )


@router.post("/test", responses=problems(403, 404))
async def send_test_alert(body: AlertTest, _: TheAdmin, gateway: TheGateway) -> AlertTestResult:
    """Send a test message through one channel, or through each, and report the outcome."""
    request = SendTestAlertRequest(channel=body.channel)
    return shown(AlertTestResult, await gateway.upstreams.alerts.SendTestAlert(request, timeout=TEST_TIMEOUT_SECONDS))


def _whose(caller: Caller, account_id: str) -> str | None:
    """The account whose alerts the caller may see: one of theirs, or any and everybody's for operators."""
    if caller.oversees and not account_id:
        return None
    return caller.seen_account(account_id)


def transition_of(transition: alerts_pb2.AlertTransition, *, for_admin: bool) -> AlertTransition:
    """A transition; which channels the operator has, and how they fail, is for operators."""
    whole = shown(AlertTransition, transition)
    return whole if for_admin else whole.model_copy(update={"deliveries": []})


def rule_of(rule: alerts_pb2.AlertRule) -> AlertRule:
    """A rule."""
    return shown(
        AlertRule, rule, comparison=alert_comparison_sign(rule.comparison), for_seconds=seconds_of(rule.for_duration)
    )
