"""Figures of credit, work and the pool: `GET /api/v1/metrics`, and the seed's `GET /api/amd/metrics`."""

from __future__ import annotations

import asyncio

from fastapi import APIRouter
from wavepool.billing.v1.billing_pb2 import GetBalanceRequest
from wavepool.scheduler.v1.scheduler_pb2 import GetQueueMetricsRequest
from wavepool.vmpool.v1.vmpool_pb2 import GetPoolMetricsRequest, ListMachinesRequest

from gateway.dependencies import TheAccount, TheGateway
from gateway.machines.views import machine_of
from gateway.submissions.seed_schemas import OrchestratorMetrics, VmPoolEntry
from gateway.upstreams import CALL_TIMEOUT_SECONDS
from vocabulary.money import dollars_of

router = APIRouter(tags=["metrics"])


@router.get("/api/amd/metrics")
@router.get("/api/v1/metrics")
async def get_metrics(account: TheAccount, gateway: TheGateway) -> OrchestratorMetrics:
    """Get figures of your credit, the queue and the pool. Prometheus reads the services' own metrics ports instead."""
    to, timeout = gateway.upstreams, CALL_TIMEOUT_SECONDS
    balance, queue, pool, machines = await asyncio.gather(
        to.billing.GetBalance(GetBalanceRequest(account_id=account.account_id), timeout=timeout),
        to.scheduler.GetQueueMetrics(GetQueueMetricsRequest(), timeout=timeout),
        to.vmpool.GetPoolMetrics(GetPoolMetricsRequest(), timeout=timeout),
        to.vmpool.ListMachines(ListMachinesRequest(), timeout=timeout),
    )
    granted = balance.granted_micros
    return OrchestratorMetrics(
        total_cost_usd=dollars_of(balance.charged_micros),
        remaining_credits_usd=dollars_of(balance.available_micros),
        credits_used_pct=100 * balance.charged_micros / granted if granted else 0.0,
        tasks_completed=queue.finished_jobs,
        cold_starts=pool.cold_starts,
        warm_reuses=pool.warm_reuses,
        total_vms=pool.total_machines,
        active_vms=pool.active_machines,
        busy_vms=pool.busy_machines,
        idle_seconds=pool.idle_seconds,
        vm_cost_usd=dollars_of(pool.cost_micros),
        vm_pool=[VmPoolEntry(**machine_of(machine).model_dump()) for machine in machines.machines],
        queued_jobs=queue.queued_jobs,
        running_jobs=queue.running_jobs,
    )
