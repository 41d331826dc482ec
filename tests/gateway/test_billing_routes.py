"""Statements, grants, budgets and reports over HTTP, with a real billing service behind."""

from __future__ import annotations

import csv
import io
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
import pytest_asyncio
from wavepool.vmpool.v1.vmpool_pb2 import Machine

from gateway.money.views import cost_note
from servicekit.clock import SystemClock
from servicekit.db.database import Database
from services.billing.config import BillingSettings
from services.billing.ledger.holds import Purpose
from services.billing.ledger.machine_usage import MachineUsage
from services.billing.server import build_alerting, build_server, build_stores, prepare
from services.billing.service.billing_service import Stores
from tests.gateway.running_gateway import serve, settings_for
from tests.gateway.scripted_services import ScriptedServices
from tests.service_token import SERVICE_TOKEN

pytestmark = pytest.mark.asyncio(loop_scope="module")

START = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass
class Money:
    http: httpx.AsyncClient
    stores: Stores
    admin: dict[str, str]
    user: dict[str, str]
    user_account: str


@pytest_asyncio.fixture(loop_scope="module")
async def money(services: ScriptedServices, tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Money]:
    folder = tmp_path_factory.mktemp("billing")
    settings = BillingSettings(port=0, data_dir=folder, service_token_file=SERVICE_TOKEN.file)
    db = Database(f"sqlite+aiosqlite:///{folder / 'billing.db'}")
    stores = build_stores(db, settings)
    await prepare(db, stores, settings)
    server = build_server(settings, stores, build_alerting(db, settings, SystemClock()))
    await server.start()
    user = await stores.users.create("ada")
    _, secret = await stores.tokens.create(user.user_id, "test")
    changes = {"billing_target": f"127.0.0.1:{server.port}"}
    async with serve(services, settings_for(services, **changes)) as gateway:
        headers = [{"Authorization": f"Bearer {one}"} for one in ((folder / "token").read_text().strip(), secret)]
        yield Money(gateway.http, stores, headers[0], headers[1], user.account_id)
    await server.stop()
    await db.close()


async def test_an_administrator_grants_takes_back_and_refunds_and_the_statement_shows_it(money: Money) -> None:
    grant = {"account_id": money.user_account, "amount_usd": 5, "description": "welcome"}
    headers = money.admin | {"Idempotency-Key": "one"}
    for _ in range(2):
        answer = await money.http.post("/api/v1/billing/grants", json=grant, headers=headers)
        assert (answer.status_code, answer.json()) == (201, {"available_usd": 5.0})
    user_id = (await money.stores.users.get("ada")).user_id
    purpose = Purpose(subject="job_1", user_id=user_id, problem="softmax", gpu_type="MI300X")
    held = await money.stores.ledger.hold(money.user_account, 2_000_000, "job:1", "", purpose=purpose)
    await money.stores.ledger.settle(held.hold_id, 500_000, "job:1:part:1", "job 1", final=False)
    await money.stores.ledger.settle(held.hold_id, 1_000_000, "job:1:1", "job 1")

    statement = (await money.http.get("/api/v1/billing/statement", headers=money.user)).json()
    charge = statement["lines"][1]
    assert (charge["hold_id"], charge["start_time"] < charge["time"]) == (held.hold_id, True)
    refund = {"hold_id": charge["hold_id"], "amount_usd": "0.5", "description": "machine lost"}
    answer = await money.http.post("/api/v1/billing/refunds", json=refund, headers=money.admin)
    assert answer.json() == {"available_usd": 4.0}
    revocation = {"account_id": money.user_account, "amount_usd": 1}
    answer = await money.http.post("/api/v1/billing/revocations", json=revocation, headers=money.admin)
    assert answer.json() == {"available_usd": 3.0}

    statement = (await money.http.get("/api/v1/billing/statement", headers=money.user)).json()
    assert (statement["opening_usd"], statement["closing_usd"]) == (0, 3)
    assert [(line["kind"], line["amount_usd"]) for line in statement["lines"]] == [
        ("GRANT", 5),
        ("CHARGE", -1.5),
        ("REFUND", 0.5),
        ("REVOCATION", -1),
    ]
    softmax = {"name": "softmax", "label": "softmax", "charged_usd": 1.0, "works": 1}
    assert statement["by_problem"] == [softmax]
    assert statement["by_user"] == [softmax | {"name": user_id, "label": "ada"}]
    grants = (await money.http.get("/api/v1/billing/grants", headers=money.user)).json()["grants"]
    assert sum(grant["remaining_usd"] for grant in grants) == 3


async def test_a_statement_comes_for_any_period_as_a_table_and_as_a_page(money: Money) -> None:
    await money.stores.ledger.grant(money.user_account, 1_500_000, "a grant", "")
    of_a_day = await money.http.get("/api/v1/billing/statement?from=2000-01-01&to=2000-01-02", headers=money.user)
    assert of_a_day.json()["end_time"] == "2000-01-02T00:00:00Z"
    table = await money.http.get("/api/v1/billing/statement?format=csv", headers=money.user)
    assert table.headers["content-type"] == "text/csv; charset=utf-8"
    assert [row["amount_usd"] for row in csv.DictReader(io.StringIO(table.text))][-1] == "1.500000"
    page = await money.http.get("/api/v1/billing/statement?format=html", headers=money.user)
    assert "Statement of ada" in page.text
    assert "default-src 'none'" in page.headers["content-security-policy"]


async def test_another_accounts_money_is_an_administrators_to_see(money: Money) -> None:
    for path in ("statement", "grants"):
        url = f"/api/v1/billing/{path}?account_id={money.user_account}"
        assert (await money.http.get(url, headers=money.admin)).status_code == 200
        other = await money.stores.accounts.create(f"other-{path}")
        refused = await money.http.get(f"/api/v1/billing/{path}?account_id={other.account_id}", headers=money.user)
        assert refused.status_code == 404
    for method, path in (
        ("GET", "report"),
        ("GET", "verify"),
        ("GET", "budgets"),
        ("POST", "grants"),
        ("POST", "revocations"),
        ("POST", "refunds"),
        ("PUT", "budgets"),
        ("DELETE", "budgets/budget_1"),
    ):
        body: dict[str, Any] = {} if method in {"GET", "DELETE"} else {"json": {}}
        answer = await money.http.request(method, f"/api/v1/billing/{path}", headers=money.user, **body)
        assert answer.status_code == 403, (method, path, answer.text)


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        ("grants", {"amount_usd": 0}, "amount_usd"),
        ("grants", {"amount_usd": -1}, "amount_usd"),
        ("grants", {"amount_usd": "0.0000001"}, "amount_usd"),
        ("grants", {"amount_usd": 1e12}, "amount_usd"),
        ("grants", {"amount_usd": "5 EUR"}, "amount_usd"),
        ("grants", {"amount_usd": 5, "currency": "EUR"}, "currency"),
        ("grants", {"amount_usd": 5, "expire_time": "2020-01-01T00:00:00Z"}, "expire_time"),
        ("revocations", {"amount_usd": "nan"}, "amount_usd"),
    ],
)
async def test_bad_amounts_and_times_name_their_field_and_change_nothing(
    money: Money, path: str, body: dict[str, Any], field: str
) -> None:
    before = await money.stores.postings.prove()
    answer = await money.http.post(
        f"/api/v1/billing/{path}", json={"account_id": money.user_account, **body}, headers=money.admin
    )
    assert answer.status_code == 422
    assert field in [error["field"] for error in answer.json()["errors"]], answer.text
    assert await money.stores.postings.prove() == before


async def test_an_account_may_be_named_wherever_money_is_moved_or_shown(money: Money) -> None:
    for path in ("grants", "revocations"):
        body = {"account_id": "ada", "amount_usd": 1}
        answer = await money.http.post(f"/api/v1/billing/{path}", json=body, headers=money.admin)
        assert answer.is_success, answer.text
        unknown = {**body, "account_id": "nobody"}
        assert (await money.http.post(f"/api/v1/billing/{path}", json=unknown, headers=money.admin)).status_code == 404
    for path in ("grants", "statement"):
        answer = await money.http.get(f"/api/v1/billing/{path}?account_id=ada", headers=money.admin)
        assert answer.status_code == 200, answer.text
    assert (await money.http.get("/api/v1/billing/statement?account_id=ada", headers=money.admin)).json()[
        "account_id"
    ] == money.user_account


async def test_a_budget_is_set_shown_enforced_and_removed(money: Money) -> None:
    await money.stores.ledger.grant(money.user_account, 10_000_000, "grant", "")
    budget = {"scope": "ACCOUNT", "subject": money.user_account, "period": "MONTH", "limit_usd": 1.5, "hard": True}
    budget_id = (await money.http.put("/api/v1/billing/budgets", json=budget, headers=money.admin)).json()["id"]
    await money.stores.ledger.hold(money.user_account, 1_000_000, "job:1", "")
    listed = (await money.http.get("/api/v1/billing/budgets", headers=money.admin)).json()["budgets"]
    assert listed == [{**budget, "id": budget_id, "subject_name": "ada", "spent_usd": 1.0}]
    for status in (204, 404):
        gone = await money.http.delete(f"/api/v1/billing/budgets/{budget_id}", headers=money.admin)
        assert gone.status_code == status
    wrong = await money.http.put("/api/v1/billing/budgets", json={**budget, "period": "YEAR"}, headers=money.admin)
    assert [error["field"] for error in wrong.json()["errors"]] == ["period"]


async def test_a_budgets_account_may_be_named_and_must_exist(money: Money) -> None:
    budget = {"scope": "ACCOUNT", "subject": "ada", "period": "DAY", "limit_usd": 1}
    await money.http.put("/api/v1/billing/budgets", json=budget, headers=money.admin)
    (listed,) = (await money.http.get("/api/v1/billing/budgets", headers=money.admin)).json()["budgets"]
    assert listed["subject"] == money.user_account
    for scope in ("ACCOUNT", "USER"):
        wrong = {**budget, "scope": scope, "subject": "nobody"}
        answer = await money.http.put("/api/v1/billing/budgets", json=wrong, headers=money.admin)
        assert answer.status_code == 404, answer.text


@pytest.mark.parametrize("instant", ["0001-01-01T00:00:00%2B01:00", "9999-12-31T23:59:59-01:00", "1969-12-31"])
async def test_no_date_of_the_calendar_is_an_error(money: Money, instant: str) -> None:
    for path in (f"statement?from={instant}", f"statement?from=1970-01-01&to={instant}", f"statement?to={instant}"):
        answer = await money.http.get(f"/api/v1/billing/{path}", headers=money.user)
        assert answer.status_code in {200, 422}, answer.text


async def test_charges_for_machines_that_cost_nothing_are_no_overhead_and_explained(
    money: Money, services: ScriptedServices
) -> None:
    services.vmpool.machine.price_micros_per_hour = 0
    await money.stores.ledger.grant(money.user_account, 4_000_000, "grant", "")
    held = await money.stores.ledger.hold(money.user_account, 1_000_000, "job:1", "")
    await money.stores.ledger.settle(held.hold_id, 1_000_000, "job:1:1", "")
    report = (await money.http.get("/api/v1/billing/report", headers=money.admin)).json()
    assert (report["cost_usd"], report["overhead_usd"], report["surplus_usd"]) == (0, 0, 1.0)
    theirs, own = [(await money.http.get("/api/v1/metrics", headers=one)).json() for one in (money.admin, money.user)]
    assert (theirs["total_cost_usd"], theirs["charged_usd"]) == (0, 1.0)
    note = "priced as an MI300X; this machine costs nothing"
    assert (report["cost_note"], theirs["cost_note"], own["cost_note"]) == (note, note, "")


@pytest.mark.parametrize(
    ("machines", "note"),
    [
        ([], "users pay the price of a GPU type; machines cost nothing"),
        ([("T4", 0)], "priced as a T4; this machine costs nothing"),
        ([("T4", 0), ("MI300X", 0)], "priced as an MI300X or a T4; these machines cost nothing"),
        ([("T4", 0), ("MI300X", 1)], ""),
    ],
)
async def test_why_nothing_was_paid_for_machines_is_said_in_words(machines: list[tuple[str, int]], note: str) -> None:
    known = [Machine(gpu_type=name, price_micros_per_hour=price) for name, price in machines]
    assert cost_note(0, 1, known) == note
    assert cost_note(1, 1, known) == cost_note(0, 0, known) == ""


async def test_an_operator_sees_what_the_cloud_takes_and_a_user_what_they_were_charged(money: Money) -> None:
    """The example that people know: 5.25 of 1,400 dollars taken, 1,394.75 left."""
    await money.stores.usage.record(
        MachineUsage("m1", 1, "p", "MI300X", 1, START, START + timedelta(hours=5.25), 1_000_000, True, START)
    )
    await money.stores.ledger.grant(money.user_account, 4_000_000, "grant", "")
    held = await money.stores.ledger.hold(money.user_account, 1_000_000, "job:1", "")
    await money.stores.ledger.settle(held.hold_id, 1_000_000, "job:1:1", "")
    names = ("total_cost_usd", "remaining_credits_usd", "credits_used_pct")
    theirs = (await money.http.get("/api/amd/metrics", headers=money.admin)).json()
    assert [theirs[name] for name in names] == [5.25, 1394.75, 0.375]
    own = (await money.http.get("/api/amd/metrics", headers=money.user)).json()
    assert [own[name] for name in names] == [1.0, 3.0, 25.0]
    report = (await money.http.get("/api/v1/billing/report", headers=money.admin)).json()
    assert (report["cost_usd"], report["charged_usd"], report["overhead_usd"]) == (5.25, 1.0, 4.25)
    assert (report["surplus_usd"], report["cost_note"], theirs["charged_usd"], own["charged_usd"]) == (0, "", 1.0, 1.0)
    assert (report["cloud_granted_usd"], report["cloud_remaining_usd"]) == (1400.0, 1394.75)
    later = (await money.http.get("/api/v1/billing/report?from=2999-01-01", headers=money.admin)).json()
    assert later["detail"].startswith("end_time") or later["cost_usd"] == 0
    proof = (await money.http.get("/api/v1/billing/verify", headers=money.admin)).json()
    assert (proof["right"], proof["faults"]) == (True, [])
