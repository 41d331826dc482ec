"""Typed clients of the services behind the gateway."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from grpc_health.v1 import health_pb2_grpc
from wavepool.audit.v1.audit_pb2_grpc import AuditServiceStub
from wavepool.billing.v1.alerts_pb2_grpc import AlertServiceStub
from wavepool.billing.v1.billing_pb2_grpc import BillingServiceStub
from wavepool.billing.v1.identity_pb2_grpc import IdentityServiceStub
from wavepool.billing.v1.prices_pb2_grpc import PriceServiceStub
from wavepool.billing.v1.projections_pb2_grpc import ProjectionServiceStub
from wavepool.billing.v1.reports_pb2_grpc import ReportServiceStub
from wavepool.billing.v1.sign_in_pb2_grpc import SignInServiceStub
from wavepool.scheduler.v1.disks_pb2_grpc import DiskServiceStub
from wavepool.scheduler.v1.metrics_pb2_grpc import MetricsServiceStub
from wavepool.scheduler.v1.queues_pb2_grpc import QueueServiceStub
from wavepool.scheduler.v1.rankings_pb2_grpc import RankingServiceStub
from wavepool.scheduler.v1.reservations_pb2_grpc import ReservationServiceStub
from wavepool.scheduler.v1.scheduler_pb2_grpc import SchedulerServiceStub
from wavepool.vmpool.v1.vmpool_pb2_grpc import VmPoolServiceStub

from gateway.config import GatewaySettings
from servicekit.rpc.channels import open_channel
from servicekit.rpc.credentials import credentials_of

if TYPE_CHECKING:
    from wavepool.audit.v1.audit_pb2_grpc import AuditServiceAsyncStub
    from wavepool.billing.v1.alerts_pb2_grpc import AlertServiceAsyncStub
    from wavepool.billing.v1.billing_pb2_grpc import BillingServiceAsyncStub
    from wavepool.billing.v1.identity_pb2_grpc import IdentityServiceAsyncStub
    from wavepool.billing.v1.prices_pb2_grpc import PriceServiceAsyncStub
    from wavepool.billing.v1.projections_pb2_grpc import ProjectionServiceAsyncStub
    from wavepool.billing.v1.reports_pb2_grpc import ReportServiceAsyncStub
    from wavepool.billing.v1.sign_in_pb2_grpc import SignInServiceAsyncStub
    from wavepool.scheduler.v1.disks_pb2_grpc import DiskServiceAsyncStub
    from wavepool.scheduler.v1.metrics_pb2_grpc import MetricsServiceAsyncStub
    from wavepool.scheduler.v1.queues_pb2_grpc import QueueServiceAsyncStub
    from wavepool.scheduler.v1.rankings_pb2_grpc import RankingServiceAsyncStub
    from wavepool.scheduler.v1.reservations_pb2_grpc import ReservationServiceAsyncStub
    from wavepool.scheduler.v1.scheduler_pb2_grpc import SchedulerServiceAsyncStub
    from wavepool.vmpool.v1.vmpool_pb2_grpc import VmPoolServiceAsyncStub

CALL_TIMEOUT_SECONDS = 10.0
"""Deadline of every unary call; people wait for the answer."""


@dataclass(frozen=True)
class Upstreams:
    """One client for each gRPC service; for those that every process has, one of each by name."""

    scheduler: SchedulerServiceAsyncStub
    rankings: RankingServiceAsyncStub
    metrics: MetricsServiceAsyncStub
    queues: QueueServiceAsyncStub
    reservations: ReservationServiceAsyncStub
    disks: DiskServiceAsyncStub
    vmpool: VmPoolServiceAsyncStub
    billing: BillingServiceAsyncStub
    reports: ReportServiceAsyncStub
    identity: IdentityServiceAsyncStub
    prices: PriceServiceAsyncStub
    projections: ProjectionServiceAsyncStub
    sign_in: SignInServiceAsyncStub
    alerts: AlertServiceAsyncStub
    audits: Mapping[str, AuditServiceAsyncStub]
    """The audit log of each service, by its name."""
    health: Mapping[str, Any]


@asynccontextmanager
async def open_upstreams(settings: GatewaySettings) -> AsyncGenerator[Upstreams]:
    """Opens the channels, which connect when they are first used, and closes them at the end."""
    targets = {
        "scheduler": settings.scheduler_target,
        "vmpool": settings.vmpool_target,
        "billing": settings.billing_target,
    }
    async with AsyncExitStack() as stack:
        credentials = credentials_of(settings, "gateway")
        channels = {
            name: await stack.enter_async_context(open_channel(target, credentials, name))
            for name, target in targets.items()
        }
        health_stub = cast("Any", health_pb2_grpc).HealthStub
        yield Upstreams(
            scheduler=SchedulerServiceStub(channels["scheduler"]),
            rankings=RankingServiceStub(channels["scheduler"]),
            metrics=MetricsServiceStub(channels["scheduler"]),
            queues=QueueServiceStub(channels["scheduler"]),
            reservations=ReservationServiceStub(channels["scheduler"]),
            disks=DiskServiceStub(channels["scheduler"]),
            vmpool=VmPoolServiceStub(channels["vmpool"]),
            billing=BillingServiceStub(channels["billing"]),
            reports=ReportServiceStub(channels["billing"]),
            identity=IdentityServiceStub(channels["billing"]),
            prices=PriceServiceStub(channels["billing"]),
            projections=ProjectionServiceStub(channels["billing"]),
            sign_in=SignInServiceStub(channels["billing"]),
            alerts=AlertServiceStub(channels["billing"]),
            audits={name: AuditServiceStub(channel) for name, channel in channels.items()},
            health={name: health_stub(channel) for name, channel in channels.items()},
        )
