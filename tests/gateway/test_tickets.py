"""Tickets on two real gateways with a real billing behind them, whose clock a test moves."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
import pytest_asyncio
import websockets

from gateway.http.address_limit import AddressLimit, AddressLimits
from gateway.routes.tickets import fault_of
from servicekit.clock import ManualClock, SystemClock, new_id
from servicekit.db.database import Database
from services.billing.config import BillingSettings
from services.billing.identity.rights import Role, Scope
from services.billing.server import build_alerting, build_server, build_stores
from services.billing.service.billing_service import Stores
from tests.gateway.running_gateway import RunningGateway, serve, settings_for
from tests.gateway.scripted_reservations import BANNER
from tests.gateway.scripted_services import ScriptedServices
from tests.schemas import migrate
from tests.service_token import SERVICE_TOKEN

pytestmark = pytest.mark.asyncio(loop_scope="module")

MOST_BAD = 20
ME = "/api/v1/me"
TUNNEL = "/api/v1/reservations/res_01J/tunnel"


@dataclass
class Bench:
    gateway: RunningGateway
    other: RunningGateway
    stores: Stores
    clock: ManualClock
    token_id: str
    secret: str

    async def answer(self, url: str, gateway: RunningGateway | None = None, method: str = "GET") -> httpx.Response:
        """Of a client that has no token."""
        async with httpx.AsyncClient(base_url=(gateway or self.gateway).url, trust_env=False) as http:
            return await http.request(method, url, json={} if method == "POST" else None)

    async def asked(self, path: Any, **options: Any) -> httpx.Response:
        headers = {"Authorization": f"Bearer {self.secret}"}
        return await self.gateway.http.post("/api/v1/tickets", json={"path": path}, headers=headers, **options)

    async def url(self, path: str) -> str:
        made = await self.asked(path)
        assert made.status_code == 201, made.text
        assert made.json()["url"].endswith(f"ticket={made.json()['ticket']}")
        return made.json()["url"]

    async def refusal(self, url: str) -> str:
        answer = await self.answer(url)
        assert (answer.status_code, answer.json()["errors"][0]["field"]) == (401, "ticket"), answer.text
        return answer.json()["detail"]


@dataclass
class Running:
    gateways: list[RunningGateway]
    stores: Stores
    clock: ManualClock


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def running_billing(
    scripted: ScriptedServices, tmp_path_factory: pytest.TempPathFactory
) -> AsyncGenerator[Running]:
    folder = tmp_path_factory.mktemp("billing")
    url = f"sqlite+aiosqlite:///{folder / 'billing.db'}"
    settings = BillingSettings(port=0, data_dir=folder, database_url=url, service_token_file=SERVICE_TOKEN.file)
    db, clock = Database(url), ManualClock(datetime(2026, 1, 1, tzinfo=UTC))
    await migrate(db, "services.billing:migrations")
    stores = build_stores(db, settings, clock)
    server = build_server(settings, stores, build_alerting(db, settings, SystemClock()))
    await server.start()
    changes: dict[str, Any] = {"billing_target": f"127.0.0.1:{server.port}", "bad_tokens_per_minute": MOST_BAD}
    own = settings_for(scripted, tunnel_check=timedelta(milliseconds=50), **changes)
    try:
        async with serve(scripted, own) as gateway, serve(scripted, own) as other:
            yield Running([gateway, other], stores, clock)
    finally:
        await server.stop()
        await db.close()


@pytest_asyncio.fixture(loop_scope="module")
async def bench(running_billing: Running, services: ScriptedServices) -> Bench:
    stores = running_billing.stores
    ada = await stores.users.create(new_id("ada").lower().replace("_", "-"), Role.USER)
    token, secret = await stores.tokens.create(ada.user_id, "t", scopes=frozenset({Scope.READ, Scope.SUBMIT}))
    for one in running_billing.gateways:
        state = one.app.state
        state.gateway = replace(state.gateway, address_limits=AddressLimits.of(one.settings))
    services.reservations.found.account_id = ada.account_id
    gateway, other = running_billing.gateways
    return Bench(gateway, other, stores, running_billing.clock, token.token_id, secret)


async def test_a_ticket_opens_its_address_once_with_the_rights_of_its_token(bench: Bench) -> None:
    url = await bench.url(ME)
    opened = await bench.answer(url)
    assert opened.status_code == 200, opened.text
    assert opened.json()["scopes"] == ["read", "submit"]
    assert "no-store" in opened.headers["Cache-Control"], "a proxy would take it for public"
    assert "used already" in await bench.refusal(url)
    assert (await bench.answer(await bench.url("/api/v1/tokens"))).status_code == 403, "the token has no such scope"


async def test_of_many_uses_at_two_gateways_exactly_one_wins(bench: Bench) -> None:
    url = await bench.url(ME)
    answers = await asyncio.gather(*(bench.answer(url, one) for one in (bench.gateway, bench.other) * 4))
    assert sorted(answer.status_code for answer in answers) == [200] + [401] * 7


async def test_a_late_ticket_says_so(bench: Bench) -> None:
    url = await bench.url(ME)
    bench.clock.advance(timedelta(seconds=30))
    assert "too old" in await bench.refusal(url)


async def test_another_address_leaves_a_ticket_usable(bench: Bench) -> None:
    url = await bench.url("/api/v1/submissions?page_size=3")
    for other in (url.replace("=3", "=4"), url.replace("page_size=3&", ""), url.replace("submissions", "rankings")):
        assert (await bench.answer(other)).status_code in {401, 422}
    assert "another address" in await bench.refusal(url.replace("=3", "=4"))
    assert (await bench.answer(url)).status_code == 200


async def test_tickets_end_with_their_token(bench: Bench) -> None:
    url = await bench.url(ME)
    await bench.stores.tokens.revoke(bench.token_id)
    assert "token that asked for it" in await bench.refusal(url)


async def test_a_ticket_opens_the_tunnel_and_a_revoked_token_cuts_it(bench: Bench) -> None:
    url = bench.gateway.url.replace("http", "ws", 1) + await bench.url(f"{TUNNEL}?node=0")
    async with websockets.connect(url, proxy=None) as tunnel:
        assert await tunnel.recv() == BANNER
        with pytest.raises(websockets.InvalidStatus) as refused:
            async with websockets.connect(url, proxy=None):
                pass
        assert refused.value.response.status_code == 401
        assert b"used already" in refused.value.response.body
        await bench.stores.tokens.revoke(bench.token_id)
        with pytest.raises(websockets.ConnectionClosed) as closed:
            await tunnel.recv()
    assert closed.value.rcvd
    assert closed.value.rcvd.code == 4401


async def test_a_ticket_changes_nothing_and_makes_no_tickets_and_no_tokens(bench: Bench) -> None:
    ticket = (await bench.url(ME)).partition("=")[2]
    for path in ("/api/v1/tickets", "/api/v1/tokens", "/api/v1/submissions"):
        answer = await bench.answer(f"{path}?ticket={ticket}", method="POST")
        assert (answer.status_code, "for a GET" in answer.json()["detail"]) == (401, True)
    assert (await bench.answer(f"{ME}?ticket={ticket}")).status_code == 200, "nothing used it up"
    unknown = await bench.answer("/api/v1/sign-in?ticket=x")
    assert (unknown.status_code, unknown.json()["errors"][0]["field"]) == (422, "ticket"), "it takes no token either"


async def test_tickets_that_do_not_work_count_as_tokens_that_do_not(bench: Bench) -> None:
    state = bench.gateway.app.state
    in_one_instant = AddressLimit(MOST_BAD, 60 / MOST_BAD, "Too many.", lambda: 0.0)
    limits = replace(state.gateway.address_limits, bad_tokens=in_one_instant)
    state.gateway = replace(state.gateway, address_limits=limits)
    answers = [(await bench.answer(f"{ME}?ticket=wpk_{number}")).status_code for number in range(MOST_BAD + 1)]
    assert answers == [401] * MOST_BAD + [429]


@pytest.mark.parametrize(
    "path",
    [
        *(
            "",
            "api/v1/me",
            "//host/api/v1/me",
            "http://host/api/v1/me",
            "/",
            "/healthz",
            "/api/v1",
            "/api/openapi.json",
        ),
        *(
            "/api/v1/me#x",
            "/api/v1/me?ticket=x",
            "/api/v1/m e",
            "/api/v1/nothing",
            "/api/v1/tickets",
            "/api/amd/submit",
        ),
        *("/api/v1/submissions/job_1/cancel", "\\\\host", f"/api/v1/{'x' * 2000}", "/api/v1/m\u00e4", 7, None),
    ],
)
async def test_a_path_that_no_ticket_can_be_for_is_named(gateway: RunningGateway, path: Any) -> None:
    answer = await gateway.http.post("/api/v1/tickets", json={"path": path})
    assert (answer.status_code, [error["field"] for error in answer.json()["errors"]]) == (422, ["path"])


async def test_a_path_with_its_query_is_free_of_faults() -> None:
    assert fault_of("/api/v1/submissions?since=2026-01-01T00:00:00Z&problem=a%20b") == ""


async def test_the_document_says_which_operations_take_a_ticket(bench: Bench) -> None:
    document = bench.gateway.app.openapi()
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            takes = {"ticket": []} in operation.get("security", [])
            assert takes == (method == "get" and path.startswith("/api/v1/") and "security" in operation), path
    assert document["components"]["securitySchemes"]["ticket"]["in"] == "query"
    assert json.dumps(document).count('{"ticket": []}') > 20
