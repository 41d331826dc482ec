"""Problems that can be read without a token, if the operator allows it."""

from __future__ import annotations

import pytest

from tests.gateway.running_gateway import serve, settings_for
from tests.gateway.scripted_scheduler import PROBLEM
from tests.gateway.scripted_services import ScriptedServices

pytestmark = pytest.mark.asyncio(loop_scope="module")

PROBLEMS = ("/api/v1/problems", f"/api/v1/problems/{PROBLEM.slug}")


async def test_problems_need_a_token_unless_the_operator_makes_them_public(services: ScriptedServices) -> None:
    async with serve(services, settings_for(services)) as gateway:
        del gateway.http.headers["Authorization"]
        assert [(await gateway.http.get(path)).status_code for path in PROBLEMS] == [401, 401]
        assert not (await gateway.http.get("/api/v1/sign-in")).json()["public_problems"]
    async with serve(services, settings_for(services, public_problems=True)) as gateway:
        del gateway.http.headers["Authorization"]
        assert [(await gateway.http.get(path)).status_code for path in PROBLEMS] == [200, 200]
        assert services.refusals.calls["ListProgress"][-1].user_id == ""
        assert (await gateway.http.get("/api/v1/sign-in")).json()["public_problems"]


async def test_nothing_else_becomes_public_and_a_wrong_token_stays_wrong(services: ScriptedServices) -> None:
    async with serve(services, settings_for(services, public_problems=True)) as gateway:
        del gateway.http.headers["Authorization"]
        for path in ("/api/v1/submissions", "/api/v1/gpu-types", "/api/v1/rankings?problem=x", "/api/v1/me"):
            assert (await gateway.http.get(path)).status_code == 401, path
        for wrong in ("Bearer wp_nobody", "Basic abc", ""):
            for path in PROBLEMS:
                assert (await gateway.http.get(path, headers={"Authorization": wrong})).status_code == 401, wrong
