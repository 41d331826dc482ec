"""The audit log behind a real server, on both databases: vmpool's proto, served by functions of the test."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import grpc
import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError
from wavepool.audit.v1 import audit_pb2, audit_pb2_grpc
from wavepool.billing.v1 import billing_pb2, billing_pb2_grpc, identity_pb2, identity_pb2_grpc
from wavepool.scheduler.v1 import scheduler_pb2, scheduler_pb2_grpc
from wavepool.vmpool.v1 import vmpool_pb2, vmpool_pb2_grpc

from servicekit.actor import Actor, note_before
from servicekit.clock import ManualClock, new_id
from servicekit.db.act_store import ActStore
from servicekit.db.database import Database
from servicekit.rpc.audit import Audit
from servicekit.rpc.callers import Callers
from servicekit.rpc.channels import open_channel
from servicekit.rpc.credentials import ServiceCredentials
from servicekit.rpc.server import ServiceServer
from servicekit.settings.config import ServiceSettings
from tests.refused_calls import refused
from tests.schemas import migrate
from tests.service_token import SERVICE_TOKEN

OPERATOR = "wpt_operator"
USER = "wpt_user"
PERSON = Actor("user_1", "ann", "token_1", "192.0.2.7")
DRAIN = vmpool_pb2.DrainMachineRequest(machine_id="m-1", reason="old")


class BrokenError(Exception):
    """Mapped to FAILED_PRECONDITION."""


ERROR_MAP: dict[type[Exception], grpc.StatusCode] = {BrokenError: grpc.StatusCode.FAILED_PRECONDITION}


class Owner:
    def __init__(self, name: str, *scopes: str) -> None:
        self.user_id, self.user_name, self.token_id, self.scopes = f"user_{name}", name, f"token_{name}", scopes


OWNERS = {OPERATOR: Owner("olga", "operate"), USER: Owner("ute", "submit")}


class Bench(
    vmpool_pb2_grpc.VmPoolServiceServicer,
    identity_pb2_grpc.IdentityServiceServicer,
    scheduler_pb2_grpc.SchedulerServiceServicer,
    billing_pb2_grpc.BillingServiceServicer,
):
    """A service with the audit log, and its callers."""

    def __init__(self, db: Database, clock: ManualClock) -> None:
        self.db, self.clock = db, clock
        self.drain: Callable[[], Awaitable[Any]] = self._drained
        self.reached = 0

    async def DrainMachine(self, request: Any, context: Any) -> Any:  # noqa: N802 - grpc's own
        self.reached += 1
        note_before({"state": "WARM"})
        return await self.drain()

    async def GetMachine(self, request: Any, context: Any) -> Any:  # noqa: N802 - grpc's own
        return vmpool_pb2.GetMachineResponse()

    async def CreateToken(self, request: Any, context: Any) -> Any:  # noqa: N802 - grpc's own
        return identity_pb2.CreateTokenResponse(token={"token_id": "token_2"}, secret="wpt_secret")  # noqa: S106 - none

    async def CancelJob(self, request: Any, context: Any) -> Any:  # noqa: N802 - grpc's own
        return scheduler_pb2.CancelJobResponse()

    async def RefundCharge(self, request: Any, context: Any) -> Any:  # noqa: N802 - grpc's own
        return billing_pb2.RefundChargeResponse()

    async def _drained(self) -> Any:
        return vmpool_pb2.DrainMachineResponse(machine={"machine_id": "m-1", "state": "MACHINE_STATE_DRAINING"})

    async def acts(self, **wanted: Any) -> list[Any]:
        return list((await self.audits.ListActs(audit_pb2.ListActsRequest(**wanted))).acts)

    async def by_gateway(self, method: str, request: Any, actor: Actor | None = PERSON) -> Any:
        return await getattr(self.stub, method)(request, metadata=[actor.metadata()] if actor else None)

    async def serve(self, folder: Path) -> ServiceServer:
        async def owner(token: str) -> Any:
            return OWNERS.get(token)

        identify = Callers(ServiceCredentials("vmpool", SERVICE_TOKEN), owner).identify
        audit = Audit(ActStore(self.db, self.clock, new_id), ERROR_MAP)
        server = ServiceServer("vmpool", ServiceSettings(port=0, data_dir=folder), ERROR_MAP, identify, audit=audit)
        vmpool_pb2_grpc.add_VmPoolServiceServicer_to_server(self, server.grpc)
        identity_pb2_grpc.add_IdentityServiceServicer_to_server(self, server.grpc)
        scheduler_pb2_grpc.add_SchedulerServiceServicer_to_server(self, server.grpc)
        billing_pb2_grpc.add_BillingServiceServicer_to_server(self, server.grpc)
        await server.start()
        self.target = f"127.0.0.1:{server.port}"
        self.channel = open_channel(self.target, ServiceCredentials("gateway", SERVICE_TOKEN))
        self.plain = grpc.aio.insecure_channel(self.target)
        self.stub: Any = vmpool_pb2_grpc.VmPoolServiceStub(self.channel)
        self.person: Any = vmpool_pb2_grpc.VmPoolServiceStub(self.plain)
        self.audits: Any = audit_pb2_grpc.AuditServiceStub(self.channel)
        return server


@pytest.fixture
def schema() -> str:
    return "services.vmpool:migrations"


@pytest.fixture
async def bench(database_url: str, free_clock: ManualClock, tmp_path: Path) -> AsyncIterator[Bench]:
    db = Database(database_url)
    await migrate(db, "services.vmpool:migrations")
    bench = Bench(db, free_clock)
    server = await bench.serve(tmp_path)
    yield bench
    await bench.channel.close()
    await bench.plain.close()
    await server.stop()
    await db.close()


def token(secret: str) -> list[tuple[str, str]]:
    return [("authorization", f"Bearer {secret}")]


async def test_an_act_has_who_did_what_and_when_with_what_was_before_and_after(bench: Bench) -> None:
    await bench.by_gateway("DrainMachine", DRAIN)
    await bench.by_gateway("GetMachine", vmpool_pb2.GetMachineRequest(machine_id="m-1"))
    (act,) = await bench.acts()
    assert (act.kind, act.user_id, act.user_name, act.token_id) == ("drain_machine", "user_1", "ann", "token_1")
    assert (act.address, act.outcome, act.message) == ("192.0.2.7", "OK", "")
    assert act.time.ToDatetime(bench.clock.now().tzinfo) == bench.clock.now()
    assert json.loads(act.request) == {"machine_id": "m-1", "reason": "old"}
    assert json.loads(act.before) == {"state": "WARM"}
    assert json.loads(act.after)["machine"]["state"] == "MACHINE_STATE_DRAINING"
    assert re.fullmatch(r"[0-9a-f]{16}", act.request_id)


async def test_a_person_who_calls_the_service_itself_is_known_by_the_token(bench: Bench) -> None:
    await bench.person.DrainMachine(DRAIN, metadata=[*token(OPERATOR), PERSON.metadata()])
    (act,) = await bench.acts()
    assert (act.user_name, act.token_id) == ("olga", "token_olga")
    assert "127.0.0.1" in act.address


async def test_what_is_done_with_the_services_token_alone_is_there_without_a_name(bench: Bench) -> None:
    await bench.by_gateway("DrainMachine", DRAIN, None)
    (act,) = await bench.acts()
    assert (act.user_id, act.user_name) == ("", "the service gateway")


async def test_refused_attempts_are_there_with_their_refusal(bench: Bench) -> None:
    await refused(bench.person.DrainMachine(DRAIN, metadata=token(USER)), grpc.StatusCode.PERMISSION_DENIED)
    assert bench.reached == 0

    async def broken() -> Any:
        raise BrokenError("it is reserved")

    bench.drain = broken
    await refused(bench.by_gateway("DrainMachine", DRAIN), grpc.StatusCode.FAILED_PRECONDITION)
    await bench.audits.RecordRefusal(
        audit_pb2.RecordRefusalRequest(kind="stop_machine", request='{"machine_id":"m-2"}', message="needs operate"),
        metadata=[PERSON.metadata()],
    )
    acts = {(act.kind, act.user_name, act.outcome): act.message for act in await bench.acts()}
    assert acts.pop(("drain_machine", "ute", "PERMISSION_DENIED")).endswith("you call as a user")
    assert acts == {
        ("drain_machine", "ann", "FAILED_PRECONDITION"): "it is reserved",
        ("stop_machine", "ann", "PERMISSION_DENIED"): "needs operate",
    }


async def test_a_token_that_does_not_work_writes_nothing(bench: Bench) -> None:
    unknown = [*token("wpt_none"), PERSON.metadata()]
    await refused(bench.person.DrainMachine(DRAIN, metadata=unknown), grpc.StatusCode.UNAUTHENTICATED)
    assert await bench.acts() == []


async def test_secrets_of_an_answer_are_left_out(bench: Bench) -> None:
    identity: Any = identity_pb2_grpc.IdentityServiceStub(bench.channel)
    made = await identity.CreateToken(identity_pb2.CreateTokenRequest(name="ci"), metadata=[PERSON.metadata()])
    assert made.secret
    (act,) = await bench.acts()
    assert json.loads(act.after) == {"token": {"token_id": "token_2"}}


async def test_an_act_that_cannot_be_written_down_is_not_done(bench: Bench) -> None:
    async with bench.db.transaction() as connection:
        await connection.execute(text("ALTER TABLE acts RENAME TO acts_away"))
    await refused(bench.by_gateway("DrainMachine", DRAIN), grpc.StatusCode.INTERNAL)
    assert bench.reached == 0


async def test_an_act_whose_outcome_cannot_be_written_down_is_done_and_listed_as_unknown(bench: Bench) -> None:
    async def taken_away() -> Any:
        async with bench.db.transaction() as connection:
            await connection.execute(text("ALTER TABLE act_outcomes RENAME TO outcomes_away"))
        return vmpool_pb2.DrainMachineResponse(machine={"machine_id": "m-1"})

    bench.drain = taken_away
    answer = await bench.by_gateway("DrainMachine", DRAIN)
    assert answer.machine.machine_id == "m-1"
    async with bench.db.transaction() as connection:
        await connection.execute(text("ALTER TABLE outcomes_away RENAME TO act_outcomes"))
    (act,) = await bench.acts()
    assert (act.outcome, act.after) == ("UNKNOWN", "")


@pytest.mark.parametrize("table", ["acts", "act_outcomes"])
@pytest.mark.parametrize("change", ["DELETE FROM {}", "UPDATE {} SET act_id = 'none'"])
async def test_the_database_refuses_to_change_what_was_written(bench: Bench, table: str, change: str) -> None:
    await bench.by_gateway("DrainMachine", DRAIN)
    with pytest.raises(DBAPIError, match="append-only"):
        async with bench.db.transaction() as connection:
            await connection.execute(text(change.format(table)))


async def test_acts_are_found_by_person_kind_and_time_in_pages_from_the_newest_on(bench: Bench) -> None:
    moments: list[Any] = []
    for name in ("ann", "bob", "ann"):
        moments.append(bench.clock.now())
        await bench.by_gateway("DrainMachine", DRAIN, Actor(f"user_{name}", name, "token", "there"))
        bench.clock.advance(timedelta(minutes=1))
    assert [act.user_name for act in await bench.acts()] == ["ann", "bob", "ann"]
    assert len(await bench.acts(user="ann")) == len(await bench.acts(user="user_ann")) == 2
    assert (len(await bench.acts(kind="drain_machine")), len(await bench.acts(kind="set_price"))) == (3, 0)
    assert [act.user_name for act in await bench.acts(from_time=moments[1], to_time=moments[2])] == ["bob"]
    seen: list[str] = []
    page = await bench.audits.ListActs(audit_pb2.ListActsRequest(page_size=2))
    seen += [act.user_name for act in page.acts]
    page = await bench.audits.ListActs(audit_pb2.ListActsRequest(page_size=2, page_token=page.next_page_token))
    assert ([*seen, *(act.user_name for act in page.acts)], page.next_page_token) == (["ann", "bob", "ann"], "")
    await refused(bench.acts(page_token="yesterday"), grpc.StatusCode.INVALID_ARGUMENT)  # noqa: S106 - no secret


@pytest.mark.parametrize(("account_ids", "written"), [([], 1), (["acc_1"], 0)])
async def test_what_is_done_to_others_is_written_and_what_is_ones_own_is_not(
    bench: Bench, account_ids: list[str], written: int
) -> None:
    jobs: Any = scheduler_pb2_grpc.SchedulerServiceStub(bench.channel)
    request = scheduler_pb2.CancelJobRequest(account_ids=account_ids, job_id="job_1")
    await jobs.CancelJob(request, metadata=[PERSON.metadata()])
    assert len(await bench.acts(kind="cancel_job")) == written


async def test_what_another_service_does_of_itself_is_no_act(bench: Bench) -> None:
    async with open_channel(bench.target, ServiceCredentials("scheduler", SERVICE_TOKEN)) as channel:
        billing: Any = billing_pb2_grpc.BillingServiceStub(channel)
        await billing.RefundCharge(billing_pb2.RefundChargeRequest(hold_id="hold_1"))
    assert await bench.acts() == []
