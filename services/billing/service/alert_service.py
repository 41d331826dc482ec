"""AlertService: decode, ask, encode."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import grpc
from wavepool.billing.v1 import alerts_pb2 as pb
from wavepool.billing.v1 import alerts_pb2_grpc

from servicekit.clock import Clock
from servicekit.rpc.proto_of import proto_of
from services.billing.alert_rules.rule import Severity
from services.billing.alerts.channels.channel import TEST, Notice
from services.billing.alerts.channels.plugins import NamedChannel
from services.billing.alerts.delivery import attempt
from services.billing.alerts.evaluator import Evaluator
from services.billing.alerts.money_source import SOURCE as OWN_SOURCE
from services.billing.errors import ChannelNotFoundError, InvalidFieldError
from services.billing.store.alert_store import AlertStore
from services.billing.wire import alerts as wire
from services.billing.wire.billing import page_size_from_proto
from services.billing.wire.fields import page_token_from_proto

Context = grpc.aio.ServicerContext[object, object]


@dataclass(frozen=True)
class AlertServicer(alerts_pb2_grpc.AlertServiceServicer):
    """The RPCs of the service; `alerts.proto` documents them."""

    store: AlertStore
    evaluator: Evaluator
    channels: Mapping[str, NamedChannel]
    clock: Clock
    new_id: Callable[[str], str]

    async def ReportReadings(self, request: pb.ReportReadingsRequest, context: Context) -> pb.ReportReadingsResponse:
        """Takes a source's readings."""
        now = self.clock.now()
        source, valid_for, readings = wire.report_from_proto(request, now)
        if source == OWN_SOURCE:
            raise InvalidFieldError("source", f"must not be {OWN_SOURCE!r}, which is billing itself")
        await self.evaluator.take_all(source, readings, valid_for, now)
        return pb.ReportReadingsResponse()

    async def ListAlerts(self, request: pb.ListAlertsRequest, context: Context) -> pb.ListAlertsResponse:
        """Lists active alerts."""
        account_id = request.account_id if request.HasField("account_id") else None
        alerts = await self.store.active(account_id)
        return pb.ListAlertsResponse(alerts=[wire.alert_to_proto(alert) for alert in alerts])

    async def ListAlertHistory(
        self, request: pb.ListAlertHistoryRequest, context: Context
    ) -> pb.ListAlertHistoryResponse:
        """Lists transitions."""
        page_size = page_size_from_proto(request.page_size)
        account_id = request.account_id if request.HasField("account_id") else None
        before_seq = page_token_from_proto(wire.HISTORY, request.page_token, "the history of alerts")
        lines = await self.store.history(account_id, before_seq=before_seq, limit=page_size + 1)
        return wire.history_to_proto(lines, page_size)

    async def ListAlertRules(self, request: pb.ListAlertRulesRequest, context: Context) -> pb.ListAlertRulesResponse:
        """Lists rules and channels."""
        times = self.evaluator.last_reading_time
        return pb.ListAlertRulesResponse(
            rules=[wire.rule_to_proto(rule, times.get(name)) for name, rule in self.evaluator.rules.items()],
            channels=[proto_of(pb.AlertChannel, one) for one in self.channels.values()],
        )

    async def SendTestAlert(self, request: pb.SendTestAlertRequest, context: Context) -> pb.SendTestAlertResponse:
        """Tries channels."""
        if request.channel and request.channel not in self.channels:
            raise ChannelNotFoundError(request.channel, sorted(self.channels))
        named = [self.channels[request.channel]] if request.channel else list(self.channels.values())
        failures = await asyncio.gather(*(attempt(partial(one.channel.send, self._test_notice())) for one in named))
        return pb.SendTestAlertResponse(
            deliveries=[
                pb.TestDelivery(channel=one.name, delivered=not failure, failure=failure)
                for one, failure in zip(named, failures, strict=True)
            ]
        )

    def _test_notice(self) -> Notice:
        return Notice(
            notice_id=self.new_id("altr"),
            alert_id=self.new_id("alert"),
            event=TEST,
            rule=TEST,
            severity=Severity.INFO,
            summary="This message tries the channel. Nothing is wrong.",
            value=0.0,
            time=self.clock.now(),
        )
