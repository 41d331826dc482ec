"""The audit log over HTTP: one list of three services', for administrators; and what the gateway refuses itself."""

from __future__ import annotations

import json

import grpc
import pytest

from tests.gateway.refusals import refusal
from tests.gateway.running_gateway import RunningGateway
from tests.gateway.scripted_services import ADMIN_TOKEN, OPERATOR_TOKEN

pytestmark = pytest.mark.asyncio(loop_scope="module")

ADMIN, OPERATOR = ({"Authorization": f"Bearer {token}"} for token in (ADMIN_TOKEN, OPERATOR_TOKEN))


async def test_the_logs_of_the_services_are_one_list_in_pages(gateway: RunningGateway) -> None:
    query = {"user": "ann", "kind": "drain_machine", "since": "2026-01-01T00:00:00Z", "page_size": 2}
    page = (await gateway.http.get("/api/v1/audit", params=query, headers=ADMIN)).json()
    asked = gateway.calls["ListActs"]
    assert [(one.user, one.kind, one.from_time.seconds, one.page_size) for one in asked] == [
        ("ann", "drain_machine", 1767225600, 2)
    ] * 3
    first = page["acts"][0]
    assert len(page["acts"]) == 2
    assert (first["id"], first["user"], first["outcome"], first["service"] != "") == ("act_1", "ann", "OK", True)
    assert (first["request"], first["before"], first["after"]) == ({"machine_id": "m-1"}, {"state": "WARM"}, None)
    assert page["next_page_token"] == "100000000_act_1"  # noqa: S105 - no secret


async def test_a_service_that_does_not_answer_leaves_no_list_with_a_gap(gateway: RunningGateway) -> None:
    gateway.services.refusals.by_method["ListActs"] = refusal(grpc.StatusCode.UNAVAILABLE, "away")
    assert (await gateway.http.get("/api/v1/audit", headers=ADMIN)).status_code == 503


async def test_only_administrators_read_it(gateway: RunningGateway) -> None:
    for headers in ({}, OPERATOR):
        assert (await gateway.http.get("/api/v1/audit", headers=headers)).status_code == 403
    assert gateway.calls["ListActs"] == []


async def test_an_act_that_the_gateway_refuses_is_written_down_and_a_look_is_not(gateway: RunningGateway) -> None:
    refused = await gateway.http.post("/api/v1/machines/m-1/drain", params={"reason": "old"})
    assert refused.status_code == 403
    (record,) = gateway.calls["RecordRefusal"]
    assert (record.kind, json.loads(record.request)) == ("drain_machine", {"machine_id": "m-1", "reason": "old"})
    assert record.message == refused.json()["detail"]
    await gateway.http.get("/api/v1/machines/m-1/logs")
    assert len(gateway.calls["RecordRefusal"]) == 1


async def test_a_refusal_does_not_wait_for_a_log_that_is_away(gateway: RunningGateway) -> None:
    gateway.services.refusals.by_method["RecordRefusal"] = refusal(grpc.StatusCode.UNAVAILABLE, "away")
    assert (await gateway.http.post("/api/v1/machines/m-1/drain")).status_code == 403
