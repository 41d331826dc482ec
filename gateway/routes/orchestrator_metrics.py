"""Figures of credit, work and the pool: `GET /api/v1/metrics`, and the seed's `GET /api/amd/metrics`."""

from __future__ import annotations

import asyncio

from fastapi import APIRouter
from wavepool.billing.v1.billing_pb2 import GetBalanceRequest
from wavepool.billing.v1.reports_pb2 import GetOperatorCreditRequest
from wavepool.scheduler.v1.scheduler_pb2 import GetQueueMetricsRequest
from wavepool.vmpool.v1.vmpool_pb2 import GetPoolMetricsRequest, ListMachinesRequest

from gateway.auth import Caller
from gateway.dependencies import Gateway, TheAccount, TheGateway
from gateway.money.views import cost_note
from gateway.submissions.seed_schemas import OrchestratorMetrics, VmPoolEntry
from gateway.upstreams import CALL_TIMEOUT_SECONDS
from gateway.words.shown import shown
from vocabulary.money import dollars_of

router = APIRouter(tags=["metrics"])


@router.get("/api/amd/metrics", operation_id="get_amd_metrics")
@router.get("/api/v1/metrics")
async def get_metrics(account: TheAccount, gateway: TheGateway) -> OrchestratorMetrics:
    """Get figures of credit, the queue and the pool.

    For an operator's token the credit is the cloud's grant, and the cost is what machines took of it; for a user's they
    are the account's own. Prometheus reads the services' own metrics ports instead.
    """
    to, timeout = gateway.upstreams, CALL_TIMEOUT_SECONDS
    money, queue, pool, machines = await asyncio.gather(
        _money(account, gateway),
        to.scheduler.GetQueueMetrics(GetQueueMetricsRequest(), timeout=timeout),
        to.vmpool.GetPoolMetrics(GetPoolMetricsRequest(), timeout=timeout),
        to.vmpool.ListMachines(ListMachinesRequest(), timeout=timeout),
    )
    granted_micros, spent_micros, remaining_micros, charged_micros = money
    return shown(
        OrchestratorMetrics,
        pool,
        queue,
        total_cost_usd=dollars_of(spent_micros),
        charged_usd=dollars_of(charged_micros),
        cost_note=cost_note(spent_micros, charged_micros, machines.machines),
        remaining_credits_usd=dollars_of(remaining_micros),
        credits_used_pct=100 * spent_micros / granted_micros if granted_micros else 0.0,
        tasks_completed=queue.finished_jobs,
        total_vms=pool.total_machines,
        active_vms=pool.active_machines,
        busy_vms=pool.busy_machines,
        vm_cost_usd=dollars_of(pool.cost_micros),
        vm_pool=[shown(VmPoolEntry, machine) for machine in machines.machines],
    )


async def _money(account: Caller, gateway: Gateway) -> tuple[int, int, int, int]:
    """Micro-dollars granted, spent, left and charged: of the cloud's credit and all accounts for an operator.

    For others they are of the account's credit, which is spent by charges alone.
    """
    to, timeout = gateway.upstreams, CALL_TIMEOUT_SECONDS
    if account.oversees:
        credit = await to.reports.GetOperatorCredit(GetOperatorCreditRequest(), timeout=timeout)
        return credit.granted_micros, credit.cost_micros, credit.remaining_micros, credit.charged_micros
    balance = await to.billing.GetBalance(GetBalanceRequest(account_id=account.account_id), timeout=timeout)
    return balance.granted_micros, balance.charged_micros, balance.available_micros, balance.charged_micros
