from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import func, select
from wavepool.billing.v1 import identity_pb2 as pb

from servicekit.clock import ManualClock
from servicekit.db.database import Database
from services.billing.config import BillingSettings
from services.billing.errors import InvalidFieldError, InvalidTicketError
from services.billing.identity.rights import Role, Scope
from services.billing.identity.ticket import LIFETIME, check_address
from services.billing.server import build_stores
from services.billing.service.billing_service import Stores
from services.billing.store.tables import tickets
from services.billing.store.ticket_store import KEPT
from tests.services.billing.test_identity_service import MISSING, WRONG, failure

if TYPE_CHECKING:
    from wavepool.billing.v1.identity_pb2_grpc import IdentityServiceAsyncStub

ADDRESS = "/api/v1/submissions/job_1/report?a=1"
MOMENT = timedelta(microseconds=1)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(datetime(2026, 1, 1, tzinfo=UTC))


@pytest.fixture
def stores(db: Database, settings: BillingSettings, clock: ManualClock) -> Stores:
    return build_stores(db, settings, clock)


@pytest.fixture
async def token_id(stores: Stores) -> str:
    user = await stores.users.create("ada", Role.OPERATOR)
    return (await stores.tokens.create(user.user_id, "t", scopes=frozenset({Scope.READ})))[0].token_id


async def refused(stores: Stores, secret: str, address: str = ADDRESS) -> str:
    with pytest.raises(InvalidTicketError) as error:
        await stores.tickets.use(secret, address)
    return str(error.value)


async def test_a_ticket_is_used_once(stores: Stores, token_id: str) -> None:
    secret, _ = await stores.tickets.create(token_id, ADDRESS)
    assert (secret[:4], len(secret)) == ("wpk_", 47)
    assert await stores.tickets.use(secret, ADDRESS) == token_id
    assert "used already" in await refused(stores, secret)
    assert "used already" in await refused(stores, secret, "/other"), "whatever it is used for"


async def test_of_many_uses_at_once_one_succeeds(stores: Stores, token_id: str) -> None:
    secret, _ = await stores.tickets.create(token_id, ADDRESS)
    uses = await asyncio.gather(*(stores.tickets.use(secret, ADDRESS) for _ in range(8)), return_exceptions=True)
    assert [use for use in uses if use == token_id] == [token_id]
    assert sum(isinstance(use, InvalidTicketError) for use in uses) == 7


async def test_a_ticket_works_until_its_end_and_then_says_that_it_is_too_old(
    stores: Stores, token_id: str, clock: ManualClock
) -> None:
    (first, expire_time), (second, _) = [await stores.tickets.create(token_id, ADDRESS) for _ in range(2)]
    assert expire_time == clock.now() + timedelta(seconds=30)
    clock.advance(LIFETIME - MOMENT)
    assert await stores.tickets.use(first, ADDRESS) == token_id
    clock.advance(MOMENT)
    assert "too old" in await refused(stores, second)


@pytest.mark.parametrize("other", ["/api/v1/submissions/job_1/report", "/api/v1/submissions/job_2/report?a=1", ""])
async def test_a_wrong_address_leaves_a_ticket_usable(stores: Stores, token_id: str, other: str) -> None:
    secret, _ = await stores.tickets.create(token_id, ADDRESS)
    assert "another address" in await refused(stores, secret, other)
    assert await stores.tickets.use(secret, ADDRESS) == token_id


async def test_only_the_hash_is_kept_and_only_for_a_while(
    db: Database, stores: Stores, token_id: str, clock: ManualClock
) -> None:
    secret, _ = await stores.tickets.create(token_id, ADDRESS)
    async with db.reading() as connection:
        assert secret[4:] not in repr((await connection.execute(select(tickets))).all())
    clock.advance(LIFETIME + KEPT)
    await stores.tickets.run_once()
    assert "too old" in await refused(stores, secret)
    clock.advance(MOMENT)
    await stores.tickets.run_once()
    assert "unknown" in await refused(stores, secret)
    async with db.reading() as connection:
        assert (await connection.execute(select(func.count()).select_from(tickets))).scalar_one() == 0


@pytest.mark.parametrize(
    "address", ["", "api/v1/me", "//host/x", "http://host/x", "/x y", "/x\n", "/ä", f"/{'x' * 2048}"]
)
def test_what_is_no_address_is_refused(address: str) -> None:
    with pytest.raises(InvalidFieldError, match="address"):
        check_address(address)
    assert check_address(ADDRESS) == ADDRESS


async def test_a_ticket_has_the_rights_that_its_token_has_when_it_is_used(
    identity: IdentityServiceAsyncStub, stores: Stores, token_id: str
) -> None:
    made = await identity.CreateTicket(pb.CreateTicketRequest(caller_token_id=token_id, address=ADDRESS))
    assert made.expire_time.ToDatetime(UTC) == datetime(2026, 1, 1, 0, 0, 30, tzinfo=UTC)
    used = await identity.UseTicket(pb.UseTicketRequest(ticket=made.ticket, address=ADDRESS))
    assert (used.caller.user_name, used.caller.token_id, used.caller.scopes) == ("ada", token_id, ["read"])
    assert (await identity.GetCaller(pb.GetCallerRequest(token_id=token_id))).caller == used.caller


async def test_tickets_end_with_their_token(identity: IdentityServiceAsyncStub, stores: Stores, token_id: str) -> None:
    made = await identity.CreateTicket(pb.CreateTicketRequest(caller_token_id=token_id, address=ADDRESS))
    await stores.tokens.revoke(token_id)
    refusal = await failure(identity.UseTicket(pb.UseTicketRequest(ticket=made.ticket, address=ADDRESS)))
    assert refusal.code is MISSING
    assert "token that asked for it does not work" in refusal.message
    assert (await failure(identity.GetCaller(pb.GetCallerRequest(token_id=token_id)))).code is MISSING


async def test_an_address_that_is_none_names_the_field(identity: IdentityServiceAsyncStub, token_id: str) -> None:
    refusal = await failure(identity.CreateTicket(pb.CreateTicketRequest(caller_token_id=token_id, address="me")))
    assert (refusal.code, refusal.violations[0][0]) == (WRONG, "address")
