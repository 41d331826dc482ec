"""The services behind the gateway, scripted: real gRPC servers whose answers the tests write."""

# pyright: basic
# ruff: noqa: N802 - RPCs are VerbNoun, and no secret here opens anything

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from inspect import isasyncgenfunction
from typing import Any, cast

import grpc
from google.protobuf import message_factory
from google.protobuf.message import Message
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from wavepool.audit.v1 import audit_pb2
from wavepool.billing.v1 import (
    alerts_pb2,
    billing_pb2,
    identity_pb2,
    prices_pb2,
    projections_pb2,
    reports_pb2,
    sign_in_pb2,
)
from wavepool.scheduler.v1 import disks_pb2, metrics_pb2, queues_pb2, rankings_pb2, reservations_pb2, scheduler_pb2
from wavepool.vmpool.v1 import vmpool_pb2

from tests.gateway.job_events import CPU_MACHINE
from tests.gateway.refusals import Refusals
from tests.gateway.scripted_answers import ANSWERS, RESOLVED, STOPPED, TOKEN
from tests.gateway.scripted_reservations import ScriptedReservations, ScriptedSessions
from tests.gateway.scripted_scheduler import ScriptedScheduler

PROTOS = (
    audit_pb2,
    *(alerts_pb2, billing_pb2, identity_pb2, prices_pb2, projections_pb2, reports_pb2, sign_in_pb2),
    *(disks_pb2, metrics_pb2, queues_pb2, rankings_pb2, reservations_pb2, scheduler_pb2, vmpool_pb2),
)
ADMIN_TOKEN, USER_TOKEN, OTHER_TOKEN, OPERATOR_TOKEN = "wp_admin", "wp_user", "wp_other", "wp_operator"
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


class ScriptedVmPool:
    def __init__(self, refusals: Refusals) -> None:
        self.machine = vmpool_pb2.Machine()
        self.events: list[vmpool_pb2.MachineEvent] = []
        self.log = [b""]
        self.later_log: asyncio.Queue[bytes] | None = None
        self.holds_streams = False
        self.sessions = ScriptedSessions(refusals)
        self.streams_held, self.streams_ended = asyncio.Event(), asyncio.Event()
        self.forget()

    @property
    def answers(self) -> dict[str, Any]:
        one = {rpc: {"machine": self.machine} for rpc in ("GetMachine", "DrainMachine", "StopMachine")}
        refused = [{"provider": "dstack", "message": "Access denied"}]
        every = {"machines": [self.machine], "refused_providers": refused, "stopped_sources": [STOPPED]}
        return {**one, "RequestMachine": {"machine": self.machine, "started": True}, "ListMachines": every}

    async def WatchMachines(self, request: Any, context: Any) -> AsyncIterator[vmpool_pb2.WatchMachinesResponse]:
        for event in self.events:
            if event.seq > request.after_seq:
                yield vmpool_pb2.WatchMachinesResponse(event=event)
        await self.until_let_go()

    async def GetMachineLogs(self, request: Any, context: Any) -> AsyncIterator[vmpool_pb2.GetMachineLogsResponse]:
        for piece in self.log:
            yield vmpool_pb2.GetMachineLogsResponse(data=piece)
        while self.later_log is not None:
            yield vmpool_pb2.GetMachineLogsResponse(data=await self.later_log.get())
        if request.follow:
            await self.until_let_go()

    async def OpenTunnel(self, request_iterator: Any, context: Any) -> AsyncIterator[vmpool_pb2.OpenTunnelResponse]:
        async for response in self.sessions.carry(request_iterator, context):
            yield response

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


class ScriptedIdentity:
    """Knows an administrator and two users; `scopes` narrows what the next calls' tokens may do."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Returns to the initial state."""
        self.names: dict[str, str] = {}
        self.scopes: dict[str, list[str]] = {}
        self.resolved: dict[str, identity_pb2.ResolveKeysResponse] = {}
        self.visible: dict[str, list[str]] = {}
        self.managed: dict[str, list[str]] = {}
        self.tickets: dict[str, identity_pb2.CreateTicketRequest] = {}
        self.makers: dict[str, str] = {}
        """The tokens that made others, by the secrets of these."""

    async def CreateToken(self, request: Any, context: Any) -> identity_pb2.CreateTokenResponse:
        secret = f"wp_secret_{request.caller_token_id}"
        self.makers[secret] = next(token for token, id_ in TOKEN_IDS.items() if id_ == request.caller_token_id)
        return identity_pb2.CreateTokenResponse(token=cast("Any", TOKEN), secret=secret)

    async def AuthenticateToken(
        self, request: identity_pb2.AuthenticateTokenRequest, context: Any
    ) -> identity_pb2.AuthenticateTokenResponse:
        token: str = self.makers.get(request.token, request.token)
        if token not in ACCOUNTS:
            await context.abort(grpc.StatusCode.NOT_FOUND, "unknown token")
        account_id, role = ACCOUNTS[token]
        scopes = self.scopes.get(token, ROLE_SCOPES[role])
        return identity_pb2.AuthenticateTokenResponse(
            user_id=account_id.replace("acc", "user"),
            user_name=self.names.get(token, "demo"),
            role=role,
            account_id=account_id,
            account_name=self.names.get(token, "demo"),
            token_id=TOKEN_IDS[token],
            admin="admin" in scopes,
            scopes=scopes,
            visible_account_ids=[account_id, *self.visible.get(token, ())],
            managed_account_ids=self.managed.get(token, ()),
        )

    async def GetCaller(self, request: Any, context: Any) -> identity_pb2.GetCallerResponse:
        token = next(token for token, id_ in TOKEN_IDS.items() if id_ == request.token_id)
        caller = await self.AuthenticateToken(identity_pb2.AuthenticateTokenRequest(token=token), context)
        return identity_pb2.GetCallerResponse(caller=caller)

    async def CreateTicket(self, request: Any, context: Any) -> identity_pb2.CreateTicketResponse:
        ticket = f"wpk_{len(self.tickets)}_ticket"
        self.tickets[ticket] = request
        return identity_pb2.CreateTicketResponse(ticket=ticket)

    async def UseTicket(self, request: Any, context: Any) -> identity_pb2.UseTicketResponse:
        made = self.tickets.pop(request.ticket)
        asked = identity_pb2.GetCallerRequest(token_id=made.caller_token_id)
        return identity_pb2.UseTicketResponse(caller=(await self.GetCaller(asked, context)).caller)

    async def ResolveKeys(self, request: Any, context: Any) -> identity_pb2.ResolveKeysResponse:
        return self.resolved.get(request.person, RESOLVED)


class ScriptedServices:
    """All scripted services on one port.

    An RPC is answered by the method of its name of one of `scripts`, or else by the fields in `answers`.
    """

    def __init__(self) -> None:
        self.refusals = Refusals()
        self.scheduler = ScriptedScheduler()
        self.vmpool = ScriptedVmPool(self.refusals)
        self.identity = ScriptedIdentity()
        self.reservations = ScriptedReservations()
        self.scripts = (self.scheduler, self.vmpool, self.identity, self.reservations)
        self.answers = dict(ANSWERS)
        self.health: Any = cast("Any", health).aio.HealthServicer()
        self.server = grpc.aio.server()
        self.port = 0

    @property
    def target(self) -> str:
        return f"127.0.0.1:{self.port}"

    async def start(self) -> None:
        services = [service for proto in PROTOS for service in proto.DESCRIPTOR.services_by_name.values()]
        self.server.add_generic_rpc_handlers(
            [
                grpc.method_handlers_generic_handler(service.full_name, dict(map(self._handler, service.methods)))
                for service in services
            ]
        )
        cast("Any", health_pb2_grpc).add_HealthServicer_to_server(self.health, self.server)
        await self.health.set("", health_pb2.HealthCheckResponse.SERVING)
        self.port = self.server.add_insecure_port("127.0.0.1:0")
        await self.server.start()

    def _handler(self, method: Any) -> tuple[str, grpc.RpcMethodHandler]:
        takes, gives = (message_factory.GetMessageClass(kind) for kind in (method.input_type, method.output_type))
        scripted: Any = next(
            (getattr(script, method.name) for script in self.scripts if hasattr(script, method.name)), None
        )

        async def answer(request: Any, context: Any) -> Message:
            await self.refusals.meet(method.name, request, context)
            if scripted:
                return await scripted(request, context)
            answers = self.answers | self.vmpool.answers | self.reservations.answers
            if method.name not in answers:
                await context.abort(grpc.StatusCode.UNIMPLEMENTED, f"no script answers {method.name}")
            fields = answers[method.name]
            fields = fields(request) if callable(fields) else fields
            return gives(**fields)

        async def stream(request: Any, context: Any) -> AsyncIterator[Message]:
            if not method.client_streaming:
                await self.refusals.meet(method.name, request, context)
            async for response in scripted(request, context):
                yield response

        names = {True: "stream", False: "unary"}
        shape = f"{names[method.client_streaming]}_{names[method.server_streaming]}_rpc_method_handler"
        behaviour = stream if isasyncgenfunction(scripted) else answer
        return method.name, getattr(grpc, shape)(behaviour, takes.FromString, gives.SerializeToString)

    async def reset(self) -> None:
        """Forgets everything that a test did, once nobody is watching."""
        await self.scheduler.until_watched(0)
        self.refusals.by_method.clear()
        self.refusals.calls.clear()
        self.answers = dict(ANSWERS)
        for script in self.scripts:
            script.forget()
        await self.health.set("", health_pb2.HealthCheckResponse.SERVING)

    async def stop(self) -> None:
        await self.server.stop(None)
