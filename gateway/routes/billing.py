"""`/api/v1/billing`: statements, grants and budgets, and the operator's report."""

from __future__ import annotations

import asyncio
import uuid
from typing import Annotated, Literal

from fastapi import APIRouter, Header, Query, Response
from wavepool.billing.v1 import billing_pb2, reports_pb2
from wavepool.billing.v1.identity_pb2 import ListNamesRequest
from wavepool.vmpool.v1.vmpool_pb2 import ListMachinesRequest

from gateway.dependencies import TheAccount, TheAdmin, TheGateway, TheOverseer
from gateway.http.json_route import JsonRoute
from gateway.http.route_docs import TEXT, Responses, problems
from gateway.money import schemas
from gateway.money.statement_page import statement_csv, statement_page
from gateway.money.views import budgets_of, proof_of, report_of, statement_of
from gateway.upstreams import CALL_TIMEOUT_SECONDS
from gateway.words.proto_time import RequestInstant, timestamp_of
from gateway.words.shown import shown
from vocabulary.money import micros_of

router = APIRouter(prefix="/billing", tags=["billing"], route_class=JsonRoute)

VERIFY_TIMEOUT_SECONDS = 300.0
STATEMENT_FORMS: Responses = {200: {"content": {"text/csv": TEXT, "text/html": TEXT}}}

Start = Annotated[RequestInstant | None, Query(alias="from", description="The first instant; none: the beginning.")]
End = Annotated[RequestInstant | None, Query(alias="to", description="The first instant after it; none: now.")]
AccountId = Annotated[str, Query(max_length=100, description="Your own account if empty.")]
IdempotencyKey = Annotated[
    str, Header(max_length=180, description="Repeat the same key to try again; the action is done once.")
]


@router.get("/report", responses=problems(403, 422))
async def get_cost_report(
    _: TheOverseer, gateway: TheGateway, start: Start = None, end: End = None
) -> schemas.CostReport:
    """Reconcile what machines cost in a period with what was charged, to the micro-dollar."""
    request = reports_pb2.GetCostReportRequest(start_time=timestamp_of(start), end_time=timestamp_of(end))
    reports = gateway.upstreams.reports
    report, credit, pool = await asyncio.gather(
        reports.GetCostReport(request, timeout=VERIFY_TIMEOUT_SECONDS),
        reports.GetOperatorCredit(reports_pb2.GetOperatorCreditRequest(), timeout=CALL_TIMEOUT_SECONDS),
        gateway.upstreams.vmpool.ListMachines(ListMachinesRequest(), timeout=CALL_TIMEOUT_SECONDS),
    )
    return report_of(report, credit, pool.machines)


@router.get("/verify", responses=problems(403))
async def verify_ledger(_: TheOverseer, gateway: TheGateway) -> schemas.LedgerProof:
    """Recompute the whole ledger, and check its hash chain."""
    request = reports_pb2.VerifyLedgerRequest()
    return proof_of(await gateway.upstreams.reports.VerifyLedger(request, timeout=VERIFY_TIMEOUT_SECONDS))


@router.get("/statement", responses=problems(403, 404, 422) | STATEMENT_FORMS, response_model=schemas.Statement)
async def get_statement(
    account: TheAccount,
    gateway: TheGateway,
    start: Start = None,
    end: End = None,
    account_id: AccountId = "",
    user_id: Annotated[str, Query(max_length=100, description="Only what was charged for this user.")] = "",
    form: Annotated[Literal["json", "csv", "html"], Query(alias="format")] = "json",
) -> schemas.Statement | Response:
    """Get an account's movements in a period, with the balance before and after, as JSON, CSV, or a printable page."""
    request = reports_pb2.GetStatementRequest(
        account_id=account.seen_account(account_id),
        user_id=user_id,
        start_time=timestamp_of(start),
        end_time=timestamp_of(end),
    )
    answer = await gateway.upstreams.reports.GetStatement(request, timeout=CALL_TIMEOUT_SECONDS)
    names = await gateway.upstreams.identity.ListNames(
        ListNamesRequest(user_ids=[usage.name for usage in answer.by_user if usage.name]), timeout=CALL_TIMEOUT_SECONDS
    )
    statement = statement_of(answer, start, end, names.names)
    match form:
        case "csv":
            return Response(statement_csv(statement), media_type="text/csv; charset=utf-8")
        case "html":
            headers = {"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'"}
            return Response(statement_page(statement), media_type="text/html; charset=utf-8", headers=headers)
        case "json":
            return statement


@router.get("/grants", responses=problems(403, 404))
async def list_grants(account: TheAccount, gateway: TheGateway, account_id: AccountId = "") -> schemas.GrantList:
    """List an account's grants with what is left of each, newest first."""
    request = billing_pb2.ListGrantsRequest(account_id=account.seen_account(account_id))
    return shown(schemas.GrantList, await gateway.upstreams.billing.ListGrants(request, timeout=CALL_TIMEOUT_SECONDS))


@router.post("/grants", status_code=201, responses=problems(403, 404, 409, 422))
async def grant_credit(
    body: schemas.GrantRequest, _: TheAdmin, gateway: TheGateway, idempotency_key: IdempotencyKey = ""
) -> schemas.Credit:
    """Grant credit to an account, which may expire."""
    request = billing_pb2.GrantCreditRequest(
        account_id=body.account_id,
        amount_micros=micros_of(body.amount_usd),
        idempotency_key=f"grant:{idempotency_key or uuid.uuid4()}",
        description=body.description,
        expire_time=timestamp_of(body.expire_time),
    )
    answer = await gateway.upstreams.billing.GrantCredit(request, timeout=CALL_TIMEOUT_SECONDS)
    return shown(schemas.Credit, answer)


@router.post("/revocations", status_code=201, responses=problems(403, 404, 409, 422))
async def revoke_credit(
    body: schemas.RevocationRequest, _: TheAdmin, gateway: TheGateway, idempotency_key: IdempotencyKey = ""
) -> schemas.Credit:
    """Take back credit that was granted by mistake, if it is neither spent nor on hold."""
    request = billing_pb2.RevokeCreditRequest(
        account_id=body.account_id,
        amount_micros=micros_of(body.amount_usd),
        idempotency_key=f"revoke:{idempotency_key or uuid.uuid4()}",
        description=body.description,
    )
    answer = await gateway.upstreams.billing.RevokeCredit(request, timeout=CALL_TIMEOUT_SECONDS)
    return shown(schemas.Credit, answer)


@router.post("/refunds", status_code=201, responses=problems(403, 404, 409, 422))
async def refund_charge(
    body: schemas.RefundRequest, _: TheAdmin, gateway: TheGateway, idempotency_key: IdempotencyKey = ""
) -> schemas.Credit:
    """Refund a charge, in whole or in part."""
    request = billing_pb2.RefundChargeRequest(
        hold_id=body.hold_id,
        amount_micros=micros_of(body.amount_usd),
        idempotency_key=f"refund:{idempotency_key or uuid.uuid4()}",
        description=body.description,
    )
    answer = await gateway.upstreams.billing.RefundCharge(request, timeout=CALL_TIMEOUT_SECONDS)
    return shown(schemas.Credit, answer)


@router.get("/budgets", responses=problems(403))
async def list_budgets(_: TheOverseer, gateway: TheGateway) -> schemas.BudgetList:
    """List all budgets with what is charged or on hold in their present periods."""
    request = billing_pb2.ListBudgetsRequest()
    return budgets_of(await gateway.upstreams.billing.ListBudgets(request, timeout=CALL_TIMEOUT_SECONDS))


@router.put("/budgets", responses=problems(403, 404, 422))
async def set_budget(body: schemas.BudgetRequest, _: TheAdmin, gateway: TheGateway) -> schemas.NewBudget:
    """Set a budget, in place of the one with the same scope, subject and period."""
    budget = billing_pb2.Budget(
        scope=billing_pb2.BudgetScope.Value(f"BUDGET_SCOPE_{body.scope}"),
        subject=body.subject,
        period=billing_pb2.BudgetPeriod.Value(f"BUDGET_PERIOD_{body.period}"),
        limit_micros=micros_of(body.limit_usd),
        hard=body.hard,
    )
    request = billing_pb2.SetBudgetRequest(budget=budget)
    answer = await gateway.upstreams.billing.SetBudget(request, timeout=CALL_TIMEOUT_SECONDS)
    return shown(schemas.NewBudget, answer)


@router.delete("/budgets/{budget_id}", status_code=204, responses=problems(403, 404))
async def remove_budget(budget_id: str, _: TheAdmin, gateway: TheGateway) -> Response:
    """Remove a budget."""
    request = billing_pb2.RemoveBudgetRequest(budget_id=budget_id)
    await gateway.upstreams.billing.RemoveBudget(request, timeout=CALL_TIMEOUT_SECONDS)
    return Response(status_code=204)
