"""ReportService: decode, ask, encode."""

from __future__ import annotations

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


class ReportServicer(reports_pb2_grpc.ReportServiceServicer):
    """The RPCs of the service; `reports.proto` documents them."""

    def __init__(
        self,
        accounts: AccountStore,
        reports: ReportStore,
        postings: PostingStore,
        usage: MachineUsageStore,
        policy: OverheadPolicy,
        clock: Clock,
    ) -> None:
        self._accounts = accounts
        self._reports = reports
        self._postings = postings
        self._usage = usage
        self._policy = policy
        self._clock = clock

    async def GetOperatorCredit(
        self, request: pb.GetOperatorCreditRequest, context: Context
    ) -> pb.GetOperatorCreditResponse:
        """Gets the operator's credit."""
        return proto_of(pb.GetOperatorCreditResponse, await self._usage.operator_balance())

    async def GetCostReport(self, request: pb.GetCostReportRequest, context: Context) -> pb.GetCostReportResponse:
        """Reconciles cost with charge."""
        report = await self._reports.costs(*wire.period_from_proto(request, self._clock.now()))
        return wire.report_to_proto(report, await self._reports.account_names(), self._policy)

    async def GetStatement(self, request: pb.GetStatementRequest, context: Context) -> pb.GetStatementResponse:
        """Gets an account's statement."""
        period = wire.period_from_proto(request, self._clock.now())
        account_id = await self._accounts.id_of(request.account_id)
        return wire.statement_to_proto(await self._reports.statement(account_id, *period, request.user_id))

    async def GetWorkCost(self, request: pb.GetWorkCostRequest, context: Context) -> pb.GetWorkCostResponse:
        """Gets cost and charge of one job or reservation."""
        return proto_of(pb.GetWorkCostResponse, await self._reports.work_cost(request.subject, request.attempts))

    async def VerifyLedger(self, request: pb.VerifyLedgerRequest, context: Context) -> pb.VerifyLedgerResponse:
        """Verifies the ledger."""
        return wire.proof_to_proto(await self._postings.prove(whole=not request.since_checkpoint))
