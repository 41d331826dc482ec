"""Alerts: each account its own, administrators all."""

from __future__ import annotations

from typing import TYPE_CHECKING

import grpc
import pytest

from tests.gateway.refusals import refusal
from tests.gateway.scripted_services import ADMIN_TOKEN

if TYPE_CHECKING:
    from tests.gateway.running_gateway import RunningGateway

pytestmark = pytest.mark.asyncio(loop_scope="module")

ADMIN = {"Authorization": f"Bearer {ADMIN_TOKEN}"}


async def test_an_alert_has_its_words_and_figures(gateway: RunningGateway) -> None:
    (alert,) = (await gateway.http.get("/api/v1/alerts")).json()["alerts"]
    assert (alert["id"], alert["severity"], alert["phase"]) == ("alert_1", "WARNING", "FIRING")
    assert (alert["labels"], alert["value"], alert["since"]) == ({"account": "acc_user"}, 0.8, None)


@pytest.mark.parametrize(("path", "method"), [("alerts", "ListAlerts"), ("alerts/history", "ListAlertHistory")])
async def test_a_user_is_shown_its_own_alerts_and_no_others(gateway: RunningGateway, path: str, method: str) -> None:
    for query in ("", "?account_id=acc_user", "?account_id="):
        await gateway.http.get(f"/api/v1/{path}{query}")
        assert gateway.calls[method][-1].account_id == "acc_user"
    asked = len(gateway.calls[method])
    refused = await gateway.http.get(f"/api/v1/{path}?account_id=acc_other")
    assert (refused.status_code, len(gateway.calls[method])) == (404, asked)


@pytest.mark.parametrize(("path", "method"), [("alerts", "ListAlerts"), ("alerts/history", "ListAlertHistory")])
async def test_an_administrator_is_shown_everybodys_or_those_of_one_account(
    gateway: RunningGateway, path: str, method: str
) -> None:
    await gateway.http.get(f"/api/v1/{path}", headers=ADMIN)
    assert not gateway.calls[method][-1].HasField("account_id")
    await gateway.http.get(f"/api/v1/{path}?account_id=acc_other", headers=ADMIN)
    assert gateway.calls[method][-1].account_id == "acc_other"


async def test_the_history_comes_in_pages_and_its_deliveries_are_for_administrators(gateway: RunningGateway) -> None:
    page = (await gateway.http.get("/api/v1/alerts/history?page_size=3&page_token=page-1", headers=ADMIN)).json()
    request = gateway.calls["ListAlertHistory"][-1]
    assert (request.page_size, request.page_token, page["next_page_token"]) == (3, "page-1", "page-2")
    (transition,) = page["transitions"]
    assert (transition["event"], transition["deliveries"][0]["outcome"]) == ("FIRED", "WAITING")
    (own,) = (await gateway.http.get("/api/v1/alerts/history")).json()["transitions"]
    assert own["deliveries"] == []


async def test_the_operators_rules_and_channels_are_for_administrators(gateway: RunningGateway) -> None:
    own = (await gateway.http.get("/api/v1/alerts/rules")).json()
    everything = (await gateway.http.get("/api/v1/alerts/rules", headers=ADMIN)).json()
    assert [(rule["name"], rule["comparison"]) for rule in own["rules"]] == [("account-credit-spent-80", ">=")]
    assert own["channels"] == []
    assert [rule["name"] for rule in everything["rules"]] == ["operator-burn-rate", "account-credit-spent-80"]
    assert [channel["kind"] for channel in everything["channels"]] == ["slack"]


async def test_an_administrator_tries_a_channel_and_reads_what_became_of_it(gateway: RunningGateway) -> None:
    answer = await gateway.http.post("/api/v1/alerts/test", json={"channel": "ops"}, headers=ADMIN)
    assert answer.json() == {"deliveries": [{"channel": "ops", "delivered": False, "failure": "it answered HTTP 503"}]}
    assert gateway.calls["SendTestAlert"][-1].channel == "ops"
    gateway.refusals["SendTestAlert"] = refusal(grpc.StatusCode.NOT_FOUND, "There is no alert channel 'x'")
    assert (await gateway.http.post("/api/v1/alerts/test", json={"channel": "x"}, headers=ADMIN)).status_code == 404


async def test_nobody_else_sends_messages_by_the_operators_channels(gateway: RunningGateway) -> None:
    assert (await gateway.http.post("/api/v1/alerts/test", json={})).status_code == 403
    assert "SendTestAlert" not in gateway.calls


async def test_alerts_need_a_token(gateway: RunningGateway) -> None:
    for path in ("alerts", "alerts/history", "alerts/rules"):
        answer = await gateway.http.get(f"/api/v1/{path}", headers={"Authorization": ""})
        assert answer.status_code == 401
