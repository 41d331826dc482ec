"""The services behind the gateway, playing scripts: real gRPC servers whose answers the tests write."""

# ruff: noqa: N802, S106 - RPCs are VerbNoun, and no secret here opens anything

from __future__ import annotations

from typing import Any, cast

import grpc
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from wavepool.billing.v1 import billing_pb2, billing_pb2_grpc
from wavepool.scheduler.v1 import scheduler_pb2_grpc
from wavepool.vmpool.v1 import vmpool_pb2, vmpool_pb2_grpc

from tests.gateway.job_events import CPU_MACHINE
from tests.gateway.refusals import Refusals
from tests.gateway.scripted_scheduler import ScriptedScheduler

ADMIN_TOKEN, USER_TOKEN = "wp_admin", "wp_user"
ACCOUNTS = {ADMIN_TOKEN: ("acc_admin", True), USER_TOKEN: ("acc_user", False)}


class ScriptedVmPool(vmpool_pb2_grpc.VmPoolServiceServicer):
    def __init__(self, refusals: Refusals) -> None:
        self.refusals = refusals
        self.machine = vmpool_pb2.Machine()
        self.machine.CopyFrom(CPU_MACHINE)
        self.machine.state = vmpool_pb2.MACHINE_STATE_WARM

    async def ListMachines(self, request: Any, context: Any) -> vmpool_pb2.ListMachinesResponse:
        await self.refusals.meet("ListMachines", request, context)
        return vmpool_pb2.ListMachinesResponse(machines=[self.machine])

    async def GetPoolMetrics(self, request: Any, context: Any) -> vmpool_pb2.GetPoolMetricsResponse:
        await self.refusals.meet("GetPoolMetrics", request, context)
        return vmpool_pb2.GetPoolMetricsResponse(total_machines=4, active_machines=1, cold_starts=3, warm_reuses=6)


class ScriptedBilling(billing_pb2_grpc.BillingServiceServicer):
    def __init__(self, refusals: Refusals) -> None:
        self.refusals = refusals
        self.accounts = dict(ACCOUNTS)

    async def AuthenticateToken(self, request: Any, context: Any) -> billing_pb2.AuthenticateTokenResponse:
        await self.refusals.meet("AuthenticateToken", request, context)
        if request.token not in self.accounts:
            await context.abort(grpc.StatusCode.UNAUTHENTICATED, "unknown token")
        account_id, admin = self.accounts[request.token]
        return billing_pb2.AuthenticateTokenResponse(
            account_id=account_id, account_name="demo", token_id="tok_1", admin=admin
        )

    async def GetBalance(self, request: Any, context: Any) -> billing_pb2.GetBalanceResponse:
        await self.refusals.meet("GetBalance", request, context)
        return billing_pb2.GetBalanceResponse(
            account_id=request.account_id,
            account_name="demo",
            granted_micros=1_400_000_000,
            charged_micros=350_000_000,
            held_micros=50_000_000,
            available_micros=1_000_000_000,
            alert_threshold_permille=800,
        )

    async def ListPostings(self, request: Any, context: Any) -> billing_pb2.ListPostingsResponse:
        await self.refusals.meet("ListPostings", request, context)
        posting = billing_pb2.Posting(
            posting_id="p_1", kind=billing_pb2.POSTING_KIND_CHARGE, amount_micros=-1234, description="job_1"
        )
        return billing_pb2.ListPostingsResponse(postings=[posting], next_page_token="page-2")

    async def CreateToken(self, request: Any, context: Any) -> billing_pb2.CreateTokenResponse:
        await self.refusals.meet("CreateToken", request, context)
        return billing_pb2.CreateTokenResponse(token_id="tok_2", token="wp_secret")

    async def ListTokens(self, request: Any, context: Any) -> billing_pb2.ListTokensResponse:
        await self.refusals.meet("ListTokens", request, context)
        return billing_pb2.ListTokensResponse(
            tokens=[billing_pb2.Token(token_id="tok_1", name="laptop", prefix="wp_us")]
        )

    async def RevokeToken(self, request: Any, context: Any) -> billing_pb2.RevokeTokenResponse:
        await self.refusals.meet("RevokeToken", request, context)
        return billing_pb2.RevokeTokenResponse()


class ScriptedServices:
    """All of them on one port."""

    def __init__(self) -> None:
        self.refusals = Refusals()
        self.scheduler = ScriptedScheduler(self.refusals)
        self.vmpool = ScriptedVmPool(self.refusals)  # pyright: ignore[reportAbstractUsage] - the rest is not called
        self.billing = ScriptedBilling(self.refusals)  # pyright: ignore[reportAbstractUsage] - the rest is not called
        self.health: Any = cast("Any", health).aio.HealthServicer()
        self.server = grpc.aio.server()
        self.port = 0

    @property
    def target(self) -> str:
        return f"127.0.0.1:{self.port}"

    async def start(self) -> None:
        scheduler_pb2_grpc.add_SchedulerServiceServicer_to_server(self.scheduler, self.server)
        vmpool_pb2_grpc.add_VmPoolServiceServicer_to_server(self.vmpool, self.server)
        billing_pb2_grpc.add_BillingServiceServicer_to_server(self.billing, self.server)
        cast("Any", health_pb2_grpc).add_HealthServicer_to_server(self.health, self.server)
        await self.health.set("", health_pb2.HealthCheckResponse.SERVING)
        self.port = self.server.add_insecure_port("127.0.0.1:0")
        await self.server.start()

    async def reset(self) -> None:
        """Forget all that a test did, once nobody watches any more."""
        await self.scheduler.until_watched(0)
        self.refusals.by_method.clear()
        self.refusals.calls.clear()
        self.scheduler.forget()
        self.vmpool.machine.state = vmpool_pb2.MACHINE_STATE_WARM
        await self.health.set("", health_pb2.HealthCheckResponse.SERVING)

    async def stop(self) -> None:
        await self.server.stop(None)
