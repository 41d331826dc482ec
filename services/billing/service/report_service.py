"""ReportService: decode, ask, encode."""

from __future__ import annotations

from dataclasses import dataclass

import grpc
from wavepool.billing.v1 import reports_pb2 as pb
from wavepool.billing.v1 import reports_pb2_grpc

from servicekit.clock import Clock
from servicekit.rpc.proto_of import proto_of
from services.billing.ledger.report import OverheadPolicy
from services.billing.store.account_store import AccountStore
from services.billing.store.machine_usage_store import MachineUsageStore
from services.billing.store.posting_store import PostingStore
from services.billing.store.report_store import ReportStore
from services.billing.wire import reports as wire

Context = grpc.aio.ServicerContext[object, object]


@dataclass(frozen=True)
class ReportServicer(reports_pb2_grpc.ReportServiceServicer):
    """The RPCs of the service; `reports.proto` documents them."""

    accounts: AccountStore
    reports: ReportStore
    postings: PostingStore
    usage: MachineUsageStore
    policy: OverheadPolicy
    clock: Clock

    async def GetOperatorCredit(
        self, request: pb.GetOperatorCreditRequest, context: Context
    ) -> pb.GetOperatorCreditResponse:
        """Gets the operator's credit."""
        return proto_of(pb.GetOperatorCreditResponse, await self.usage.operator_balance())

    async def GetCostReport(self, request: pb.GetCostReportRequest, context: Context) -> pb.GetCostReportResponse:
        """Reconciles cost with charge."""
        report = await self.reports.costs(*wire.period_from_proto(request, self.clock.now()))
        return wire.report_to_proto(report, await self.reports.account_names(), self.policy)

    async def GetStatement(self, request: pb.GetStatementRequest, context: Context) -> pb.GetStatementResponse:
        """Gets an account's statement."""
        period = wire.period_from_proto(request, self.clock.now())
        account_id = await self.accounts.id_of(request.account_id)
        return wire.statement_to_proto(await self.reports.statement(account_id, *period, request.user_id))

    async def GetWorkCost(self, request: pb.GetWorkCostRequest, context: Context) -> pb.GetWorkCostResponse:
        """Gets cost and charge of one job or reservation."""
        return proto_of(pb.GetWorkCostResponse, await self.reports.work_cost(request.subject, request.attempts))

    async def VerifyLedger(self, request: pb.VerifyLedgerRequest, context: Context) -> pb.VerifyLedgerResponse:
        """Verifies the ledger."""
        return wire.proof_to_proto(await self.postings.prove(whole=not request.since_checkpoint))
