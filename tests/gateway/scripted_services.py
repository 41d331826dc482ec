"""The services behind the gateway, scripted: real gRPC servers whose answers the tests write."""

# ruff: noqa: N802, S106 - RPCs are VerbNoun, and no secret here opens anything

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, cast

import grpc
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from wavepool.billing.v1 import (
    alerts_pb2,
    alerts_pb2_grpc,
    billing_pb2,
    billing_pb2_grpc,
    identity_pb2,
    identity_pb2_grpc,
    prices_pb2_grpc,
    projections_pb2_grpc,
    reports_pb2,
    reports_pb2_grpc,
    sign_in_pb2,
    sign_in_pb2_grpc,
)
from wavepool.scheduler.v1 import (
    disks_pb2_grpc,
    metrics_pb2_grpc,
    queues_pb2_grpc,
    rankings_pb2_grpc,
    reservations_pb2_grpc,
    scheduler_pb2_grpc,
)
from wavepool.vmpool.v1 import vmpool_pb2, vmpool_pb2_grpc

from tests.gateway.job_events import CPU_MACHINE
from tests.gateway.refusals import Refusals
from tests.gateway.scripted_disks import ScriptedDisks
from tests.gateway.scripted_metrics import ScriptedMetrics
from tests.gateway.scripted_prices import ScriptedPrices
from tests.gateway.scripted_projections import ScriptedProjections
from tests.gateway.scripted_queues import ScriptedQueues
from tests.gateway.scripted_rankings import ScriptedRankings
from tests.gateway.scripted_reservations import ScriptedReservations, ScriptedSessions
from tests.gateway.scripted_scheduler import ScriptedScheduler

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

ADMIN_TOKEN, USER_TOKEN, OTHER_TOKEN, OPERATOR_TOKEN = "wp_admin", "wp_user", "wp_other", "wp_operator"
STOPPED = vmpool_pb2.StoppedSource(provider="dstack", backend="hotaisle", gpu_type="MI300X", message="three were unfit")
ACCOUNTS = {
    ADMIN_TOKEN: ("acc_admin", identity_pb2.ROLE_ADMIN),
    USER_TOKEN: ("acc_user", identity_pb2.ROLE_USER),
    OTHER_TOKEN: ("acc_other", identity_pb2.ROLE_USER),
    OPERATOR_TOKEN: ("acc_operator", identity_pb2.ROLE_OPERATOR),
}
TOKEN_IDS = {
    token: f"tok_{number}" for number, token in enumerate((USER_TOKEN, ADMIN_TOKEN, OTHER_TOKEN, OPERATOR_TOKEN), 1)
}
USER_SCOPES = ["read", "submit", "manage"]
ROLE_SCOPES = {
    identity_pb2.ROLE_USER: USER_SCOPES,
    identity_pb2.ROLE_OPERATOR: [*USER_SCOPES, "operate"],
    identity_pb2.ROLE_ADMIN: [*USER_SCOPES, "operate", "admin"],
}
TOKEN = identity_pb2.Token(token_id="tok_9", name="laptop", prefix="wp_us", user_id="user_user", account_id="acc_user")
KEY = identity_pb2.Key(
    key_id="key_1", user_id="user_user", name="laptop", type="ssh-ed25519", fingerprint="SHA256:ab/cd+ef"
)
RESOLVED = identity_pb2.ResolveKeysResponse(
    user="demo",
    keys=[
        identity_pb2.ResolvedKey(public_key="ssh-ed25519 AAAA", origin="wavepool"),
        identity_pb2.ResolvedKey(public_key="ssh-ed25519 CCCC", origin="github.com/demo"),
    ],
    notes=["github.com does not answer"],
)
USER = identity_pb2.User(user_id="user_user", name="ada", role=identity_pb2.ROLE_USER, account_id="acc_user")
MEMBER = identity_pb2.TeamMember(
    user_id="user_user", user_name="ada", level=identity_pb2.MEMBER_LEVEL_MANAGER, from_sign_in=True
)
TEAM = identity_pb2.Team(team_id="team_1", name="compilers", account_id="acc_team", members=[MEMBER])
ACCOUNT = identity_pb2.Account(
    account_id="acc_user",
    name="ada",
    owner=identity_pb2.ACCOUNT_OWNER_USER,
    owner_id="user_user",
    owner_name="ada",
)


class ScriptedVmPool(vmpool_pb2_grpc.VmPoolServiceServicer):
    def __init__(self, refusals: Refusals) -> None:
        self.refusals = refusals
        self.machine = vmpool_pb2.Machine()
        self.events: list[vmpool_pb2.MachineEvent] = []
        self.log = [b""]
        self.later_log: asyncio.Queue[bytes] | None = None
        self.holds_streams = False
        self.sessions = ScriptedSessions(refusals)
        self.streams_held, self.streams_ended = asyncio.Event(), asyncio.Event()
        self.forget()

    async def ListMachines(self, request: Any, context: Any) -> vmpool_pb2.ListMachinesResponse:
        await self.refusals.meet("ListMachines", request, context)
        refused = vmpool_pb2.ProviderFailure(provider="dstack", message="Access denied")
        return vmpool_pb2.ListMachinesResponse(
            machines=[self.machine], refused_providers=[refused], stopped_sources=[STOPPED]
        )

    async def ResumeRenting(self, request: Any, context: Any) -> vmpool_pb2.ResumeRentingResponse:
        await self.refusals.meet("ResumeRenting", request, context)
        return vmpool_pb2.ResumeRentingResponse(resumed_sources=[STOPPED])

    async def GetPoolMetrics(self, request: Any, context: Any) -> vmpool_pb2.GetPoolMetricsResponse:
        await self.refusals.meet("GetPoolMetrics", request, context)
        return vmpool_pb2.GetPoolMetricsResponse(
            total_machines=4,
            active_machines=1,
            busy_machines=1,
            cold_starts=3,
            warm_reuses=6,
            idle_seconds=90.5,
            cost_micros=2_500_000,
        )

    async def GetMachine(self, request: Any, context: Any) -> vmpool_pb2.GetMachineResponse:
        await self.refusals.meet("GetMachine", request, context)
        return vmpool_pb2.GetMachineResponse(machine=self.machine)

    async def RequestMachine(self, request: Any, context: Any) -> vmpool_pb2.RequestMachineResponse:
        await self.refusals.meet("RequestMachine", request, context)
        return vmpool_pb2.RequestMachineResponse(machine=self.machine, started=True)

    async def DrainMachine(self, request: Any, context: Any) -> vmpool_pb2.DrainMachineResponse:
        await self.refusals.meet("DrainMachine", request, context)
        return vmpool_pb2.DrainMachineResponse(machine=self.machine)

    async def StopMachine(self, request: Any, context: Any) -> vmpool_pb2.StopMachineResponse:
        await self.refusals.meet("StopMachine", request, context)
        return vmpool_pb2.StopMachineResponse(machine=self.machine)

    async def WatchMachines(self, request: Any, context: Any) -> AsyncIterator[vmpool_pb2.WatchMachinesResponse]:
        await self.refusals.meet("WatchMachines", request, context)
        for event in self.events:
            if event.seq > request.after_seq:
                yield vmpool_pb2.WatchMachinesResponse(event=event)
        await self.until_let_go()

    async def GetMachineLogs(self, request: Any, context: Any) -> AsyncIterator[vmpool_pb2.GetMachineLogsResponse]:
        await self.refusals.meet("GetMachineLogs", request, context)
        for piece in self.log:
            yield vmpool_pb2.GetMachineLogsResponse(data=piece)
        while self.later_log is not None:
            yield vmpool_pb2.GetMachineLogsResponse(data=await self.later_log.get())
        if request.follow:
            await self.until_let_go()

    async def OpenTunnel(self, request_iterator: Any, context: Any) -> AsyncIterator[vmpool_pb2.OpenTunnelResponse]:
        async for response in self.sessions.carry(request_iterator, context):
            yield response

    async def ListOffers(self, request: Any, context: Any) -> vmpool_pb2.ListOffersResponse:
        await self.refusals.meet("ListOffers", request, context)
        offer = vmpool_pb2.Offer(
            provider="dstack", backend="hotaisle", gpu_type="MI300X", gpu_count=1, price_micros_per_hour=1_990_000
        )
        offer.minimum_billed.FromSeconds(1800)
        failure = vmpool_pb2.ProviderFailure(provider="local", message="it is asleep")
        return vmpool_pb2.ListOffersResponse(offers=[offer], failures=[failure])

    async def DiagnoseProviders(self, request: Any, context: Any) -> vmpool_pb2.DiagnoseProvidersResponse:
        await self.refusals.meet("DiagnoseProviders", request, context)
        finding = vmpool_pb2.ProviderFinding(provider="dstack", check="token", message="it is empty", remedy="make one")
        return vmpool_pb2.DiagnoseProvidersResponse(findings=[finding])

    async def until_let_go(self) -> None:
        """Open streams stay open until their clients are gone."""
        if not self.holds_streams:
            return
        self.streams_ended.clear()
        self.streams_held.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.streams_ended.set()

    def forget(self) -> None:
        """Returns to the initial state."""
        self.machine.CopyFrom(CPU_MACHINE)
        self.machine.state = vmpool_pb2.MACHINE_STATE_WARM
        self.events.clear()
        self.log = [b""]
        self.later_log = None
        self.holds_streams = False
        self.sessions.forget()
        self.streams_held.clear()


class ScriptedBilling(billing_pb2_grpc.BillingServiceServicer):
    def __init__(self, refusals: Refusals) -> None:
        self.refusals = refusals

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


class ScriptedReports(reports_pb2_grpc.ReportServiceServicer):
    def __init__(self, refusals: Refusals) -> None:
        self.refusals = refusals

    async def GetWorkCost(self, request: Any, context: Any) -> reports_pb2.GetWorkCostResponse:
        await self.refusals.meet("GetWorkCost", request, context)
        return reports_pb2.GetWorkCostResponse(cost_micros=250_000, charged_micros=100_000, overhead_micros=150_000)


class ScriptedIdentity(identity_pb2_grpc.IdentityServiceServicer):
    """Knows an administrator and two users; `scopes` narrows what the next calls' tokens may do."""

    def __init__(self, refusals: Refusals) -> None:
        self.refusals = refusals
        self.forget()

    def forget(self) -> None:
        """Returns to the initial state."""
        self.scopes: dict[str, list[str]] = {}
        self.resolved: dict[str, identity_pb2.ResolveKeysResponse] = {}
        self.visible: dict[str, list[str]] = {}

    async def AuthenticateToken(self, request: Any, context: Any) -> identity_pb2.AuthenticateTokenResponse:
        await self.refusals.meet("AuthenticateToken", request, context)
        if request.token not in ACCOUNTS:
            await context.abort(grpc.StatusCode.NOT_FOUND, "unknown token")
        account_id, role = ACCOUNTS[request.token]
        scopes = self.scopes.get(request.token, ROLE_SCOPES[role])
        return identity_pb2.AuthenticateTokenResponse(
            user_id=account_id.replace("acc", "user"),
            user_name="demo",
            role=role,
            account_id=account_id,
            account_name="demo",
            token_id=TOKEN_IDS[request.token],
            admin="admin" in scopes,
            scopes=scopes,
            visible_account_ids=[account_id, *self.visible.get(request.token, ())],
        )

    async def ListNames(self, request: Any, context: Any) -> identity_pb2.ListNamesResponse:
        await self.refusals.meet("ListNames", request, context)
        return identity_pb2.ListNamesResponse(names={"user_ada": "ada"})

    async def CreateToken(self, request: Any, context: Any) -> identity_pb2.CreateTokenResponse:
        await self.refusals.meet("CreateToken", request, context)
        return identity_pb2.CreateTokenResponse(token=TOKEN, secret="wp_secret")

    async def ListTokens(self, request: Any, context: Any) -> identity_pb2.ListTokensResponse:
        await self.refusals.meet("ListTokens", request, context)
        return identity_pb2.ListTokensResponse(tokens=[TOKEN])

    async def RevokeToken(self, request: Any, context: Any) -> identity_pb2.RevokeTokenResponse:
        await self.refusals.meet("RevokeToken", request, context)
        return identity_pb2.RevokeTokenResponse()

    async def AddKey(self, request: Any, context: Any) -> identity_pb2.AddKeyResponse:
        await self.refusals.meet("AddKey", request, context)
        return identity_pb2.AddKeyResponse(key=KEY)

    async def ListKeys(self, request: Any, context: Any) -> identity_pb2.ListKeysResponse:
        await self.refusals.meet("ListKeys", request, context)
        return identity_pb2.ListKeysResponse(keys=[KEY])

    async def RemoveKey(self, request: Any, context: Any) -> identity_pb2.RemoveKeyResponse:
        await self.refusals.meet("RemoveKey", request, context)
        return identity_pb2.RemoveKeyResponse()

    async def ResolveKeys(self, request: Any, context: Any) -> identity_pb2.ResolveKeysResponse:
        await self.refusals.meet("ResolveKeys", request, context)
        return self.resolved.get(request.person, RESOLVED)

    async def BeginGithubClaim(self, request: Any, context: Any) -> identity_pb2.BeginGithubClaimResponse:
        await self.refusals.meet("BeginGithubClaim", request, context)
        return identity_pb2.BeginGithubClaimResponse(challenge="sign this", fingerprints=["SHA256:ab"])

    async def FinishGithubClaim(self, request: Any, context: Any) -> identity_pb2.FinishGithubClaimResponse:
        await self.refusals.meet("FinishGithubClaim", request, context)
        return identity_pb2.FinishGithubClaimResponse(user=identity_pb2.User(github_name="alice"))

    async def CreateUser(self, request: Any, context: Any) -> identity_pb2.CreateUserResponse:
        await self.refusals.meet("CreateUser", request, context)
        return identity_pb2.CreateUserResponse(user=USER)

    async def GetUser(self, request: Any, context: Any) -> identity_pb2.GetUserResponse:
        await self.refusals.meet("GetUser", request, context)
        return identity_pb2.GetUserResponse(user=USER)

    async def ListUsers(self, request: Any, context: Any) -> identity_pb2.ListUsersResponse:
        await self.refusals.meet("ListUsers", request, context)
        return identity_pb2.ListUsersResponse(users=[USER])

    async def UpdateUser(self, request: Any, context: Any) -> identity_pb2.UpdateUserResponse:
        await self.refusals.meet("UpdateUser", request, context)
        return identity_pb2.UpdateUserResponse(user=USER)

    async def CreateTeam(self, request: Any, context: Any) -> identity_pb2.CreateTeamResponse:
        await self.refusals.meet("CreateTeam", request, context)
        return identity_pb2.CreateTeamResponse(team=TEAM)

    async def GetTeam(self, request: Any, context: Any) -> identity_pb2.GetTeamResponse:
        await self.refusals.meet("GetTeam", request, context)
        return identity_pb2.GetTeamResponse(team=TEAM)

    async def ListTeams(self, request: Any, context: Any) -> identity_pb2.ListTeamsResponse:
        await self.refusals.meet("ListTeams", request, context)
        return identity_pb2.ListTeamsResponse(teams=[TEAM])

    async def AddTeamMember(self, request: Any, context: Any) -> identity_pb2.AddTeamMemberResponse:
        await self.refusals.meet("AddTeamMember", request, context)
        return identity_pb2.AddTeamMemberResponse(team=TEAM)

    async def RemoveTeamMember(self, request: Any, context: Any) -> identity_pb2.RemoveTeamMemberResponse:
        await self.refusals.meet("RemoveTeamMember", request, context)
        return identity_pb2.RemoveTeamMemberResponse(team=TEAM)

    async def ListAccounts(self, request: Any, context: Any) -> identity_pb2.ListAccountsResponse:
        await self.refusals.meet("ListAccounts", request, context)
        return identity_pb2.ListAccountsResponse(accounts=[ACCOUNT])

    async def GetAccount(self, request: Any, context: Any) -> identity_pb2.GetAccountResponse:
        await self.refusals.meet("GetAccount", request, context)
        return identity_pb2.GetAccountResponse(account=ACCOUNT)


class ScriptedSignIn(sign_in_pb2_grpc.SignInServiceServicer):
    def __init__(self, refusals: Refusals) -> None:
        self.refusals = refusals
        self.options = sign_in_pb2.GetSignInOptionsResponse()

    async def GetSignInOptions(self, request: Any, context: Any) -> sign_in_pb2.GetSignInOptionsResponse:
        await self.refusals.meet("GetSignInOptions", request, context)
        return self.options

    async def SignIn(self, request: Any, context: Any) -> sign_in_pb2.SignInResponse:
        await self.refusals.meet("SignIn", request, context)
        answer = sign_in_pb2.SignInResponse(token_id="tok_3", token=USER_TOKEN)
        answer.expire_time.FromJsonString("2026-11-26T12:00:00Z")
        return answer


class ScriptedAlerts(alerts_pb2_grpc.AlertServiceServicer):
    def __init__(self, refusals: Refusals) -> None:
        self.refusals = refusals

    async def ListAlerts(self, request: Any, context: Any) -> alerts_pb2.ListAlertsResponse:
        await self.refusals.meet("ListAlerts", request, context)
        alert = alerts_pb2.Alert(
            alert_id="alert_1",
            rule="account-credit-spent-80",
            severity=alerts_pb2.ALERT_SEVERITY_WARNING,
            phase=alerts_pb2.ALERT_PHASE_FIRING,
            labels={"account": "acc_user"},
            summary="demo has spent $8.00 of its credit of $10.00 (80.0%).",
            value=0.8,
        )
        return alerts_pb2.ListAlertsResponse(alerts=[alert])

    async def ListAlertHistory(self, request: Any, context: Any) -> alerts_pb2.ListAlertHistoryResponse:
        await self.refusals.meet("ListAlertHistory", request, context)
        sent = alerts_pb2.AlertDelivery(
            channel="ops", outcome=alerts_pb2.DELIVERY_OUTCOME_WAITING, attempts=2, failure="it answered HTTP 503"
        )
        transition = alerts_pb2.AlertTransition(
            transition_id="altr_1", alert_id="alert_1", event=alerts_pb2.ALERT_EVENT_FIRED, deliveries=[sent]
        )
        return alerts_pb2.ListAlertHistoryResponse(transitions=[transition], next_page_token="page-2")

    async def ListAlertRules(self, request: Any, context: Any) -> alerts_pb2.ListAlertRulesResponse:
        await self.refusals.meet("ListAlertRules", request, context)
        return alerts_pb2.ListAlertRulesResponse(
            rules=[
                alerts_pb2.AlertRule(name="operator-burn-rate", comparison=alerts_pb2.ALERT_COMPARISON_ABOVE),
                alerts_pb2.AlertRule(
                    name="account-credit-spent-80",
                    comparison=alerts_pb2.ALERT_COMPARISON_AT_LEAST,
                    threshold=0.8,
                    about_accounts=True,
                ),
            ],
            channels=[alerts_pb2.AlertChannel(name="ops", kind="slack")],
        )

    async def SendTestAlert(self, request: Any, context: Any) -> alerts_pb2.SendTestAlertResponse:
        await self.refusals.meet("SendTestAlert", request, context)
        return alerts_pb2.SendTestAlertResponse(
            deliveries=[alerts_pb2.TestDelivery(channel="ops", failure="it answered HTTP 503")]
        )


class ScriptedServices:
    """All scripted services on one port."""

    def __init__(self) -> None:
        self.refusals = Refusals()
        self.scheduler = ScriptedScheduler(self.refusals)
        self.vmpool = ScriptedVmPool(self.refusals)  # pyright: ignore[reportAbstractUsage] - the rest is not called
        self.billing = ScriptedBilling(self.refusals)  # pyright: ignore[reportAbstractUsage] - the rest is not called
        self.reports = ScriptedReports(self.refusals)  # pyright: ignore[reportAbstractUsage] - the rest is not called
        self.identity = ScriptedIdentity(self.refusals)  # pyright: ignore[reportAbstractUsage] - the rest is not called
        self.prices = ScriptedPrices(self.refusals)
        self.projections = ScriptedProjections(self.refusals)
        self.metrics = ScriptedMetrics(self.refusals)
        self.rankings = ScriptedRankings(self.refusals)
        self.queues = ScriptedQueues(self.refusals)
        self.reservations = ScriptedReservations(self.refusals)
        self.disks = ScriptedDisks(self.refusals)
        self.sign_in = ScriptedSignIn(self.refusals)
        self.alerts = ScriptedAlerts(self.refusals)  # pyright: ignore[reportAbstractUsage] - the rest is not called
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
        reports_pb2_grpc.add_ReportServiceServicer_to_server(self.reports, self.server)
        identity_pb2_grpc.add_IdentityServiceServicer_to_server(self.identity, self.server)
        prices_pb2_grpc.add_PriceServiceServicer_to_server(self.prices, self.server)
        projections_pb2_grpc.add_ProjectionServiceServicer_to_server(self.projections, self.server)
        metrics_pb2_grpc.add_MetricsServiceServicer_to_server(self.metrics, self.server)
        rankings_pb2_grpc.add_RankingServiceServicer_to_server(self.rankings, self.server)
        queues_pb2_grpc.add_QueueServiceServicer_to_server(self.queues, self.server)
        reservations_pb2_grpc.add_ReservationServiceServicer_to_server(self.reservations, self.server)
        disks_pb2_grpc.add_DiskServiceServicer_to_server(self.disks, self.server)
        sign_in_pb2_grpc.add_SignInServiceServicer_to_server(self.sign_in, self.server)
        alerts_pb2_grpc.add_AlertServiceServicer_to_server(self.alerts, self.server)
        cast("Any", health_pb2_grpc).add_HealthServicer_to_server(self.health, self.server)
        await self.health.set("", health_pb2.HealthCheckResponse.SERVING)
        self.port = self.server.add_insecure_port("127.0.0.1:0")
        await self.server.start()

    async def reset(self) -> None:
        """Forgets everything that a test did, once nobody is watching."""
        await self.scheduler.until_watched(0)
        self.refusals.by_method.clear()
        self.refusals.calls.clear()
        self.scheduler.forget()
        self.vmpool.forget()
        self.identity.forget()
        self.projections.forget()
        self.reservations.forget()
        self.sign_in.options.Clear()
        await self.health.set("", health_pb2.HealthCheckResponse.SERVING)

    async def stop(self) -> None:
        await self.server.stop(None)
