"""Projections over HTTP."""

from __future__ import annotations

import pytest

from tests.gateway.running_gateway import RunningGateway
from tests.gateway.scripted_answers import MANY_DAYS
from tests.gateway.scripted_services import ADMIN_TOKEN

pytestmark = pytest.mark.asyncio(loop_scope="module")

ADMIN = {"Authorization": f"Bearer {ADMIN_TOKEN}"}
PATH = "/api/v1/billing/projections"


async def test_scenarios_stand_beside_the_figures_in_circulation(gateway: RunningGateway) -> None:
    found = (await gateway.http.get(PATH)).json()
    (scenario,) = found["scenarios"]
    assert [(case["reuse"], case["month_usd"], case["grant_months"]) for case in scenario["cases"]] == [
        ("NONE", 39.468334, 35.5),
        ("SITTINGS", 19.75, None),
    ]
    assert found["circulating"] == [
        {"tasks_per_day": 10, "month_low_usd": 15.0, "month_high_usd": 30.0, "grant_months": 8}
    ]
    assert (found["assumptions"]["cold_start_seconds"], found["assumptions"]["grant_usd"]) == (210, 1400)
    assert found["left_out"] == ["8 months at $30.00 are $240.00."]


async def test_the_gpu_type_is_passed_on(gateway: RunningGateway) -> None:
    assert (await gateway.http.get(f"{PATH}?gpu_type=MI210")).status_code == 200
    assert gateway.calls["ListScenarios"][-1].gpu_type == "MI210"


async def test_too_few_days_give_no_range(gateway: RunningGateway) -> None:
    history = (await gateway.http.get(PATH)).json()["history"]
    assert (history["month"], history["task_costs"], history["months_left_low"]) == (None, None, None)
    assert history["remaining_usd"] == 1000


async def test_the_days_that_were_give_a_range(gateway: RunningGateway) -> None:
    gateway.services.answers["ProjectCosts"] = MANY_DAYS
    history = (await gateway.http.get(PATH)).json()["history"]
    assert history["month"] == {"low_usd": 20, "middle_usd": 25, "high_usd": 30}
    assert (history["months_left_low"], history["months_left_high"]) == (2, 3)
    assert history["task_costs"]["cold_usd"] == pytest.approx(0.969858, abs=1e-6)


async def test_a_user_gets_the_own_days_and_only_an_administrator_the_operators(gateway: RunningGateway) -> None:
    await gateway.http.get(PATH)
    assert gateway.calls["ProjectCosts"][-1].account_id == "acc_user"
    asked = len(gateway.calls["ProjectCosts"])
    assert (await gateway.http.get(f"{PATH}?operator=true")).status_code == 403
    assert len(gateway.calls["ProjectCosts"]) == asked
    assert (await gateway.http.get(f"{PATH}?operator=true", headers=ADMIN)).status_code == 200
    assert gateway.calls["ProjectCosts"][-1].account_id == ""
