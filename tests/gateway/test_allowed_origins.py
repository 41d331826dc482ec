"""Pages of other origins, which a browser lets call only if the gateway says so."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from gateway.config import GatewaySettings
from tests.gateway.running_gateway import client_of, serve, settings_for
from tests.gateway.scripted_services import ScriptedServices

pytestmark = pytest.mark.asyncio(loop_scope="module")

OURS, OTHER = "http://localhost:3000", "https://elsewhere.example.com"
PREFLIGHT = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization,content-type"}


async def allowed(services: ScriptedServices, origin: str, **settings: str) -> tuple[str | None, str | None]:
    """The origin that a preflight without a token, and a refused call, say may read the answer."""
    async with serve(services, settings_for(services, **settings)) as gateway, client_of(gateway.url) as http:
        asked = await http.options("/api/v1/submissions", headers={"Origin": origin, "Authorization": "", **PREFLIGHT})
        called = await http.post("/api/v1/submissions", headers={"Origin": origin}, json={"mode": "none"})
    if "access-control-allow-origin" in asked.headers:
        assert (asked.status_code, "authorization" in asked.headers["access-control-allow-headers"].lower()) == (
            200,
            True,
        )
    assert called.status_code == 422
    return asked.headers.get("access-control-allow-origin"), called.headers.get("access-control-allow-origin")


async def test_only_pages_of_listed_origins_may_call_and_none_by_default(services: ScriptedServices) -> None:
    listed = {"allowed_origins": f"{OURS},https://kernels.example.com"}
    assert await allowed(services, OURS, **listed) == (OURS, OURS)
    assert await allowed(services, OTHER, **listed) == (None, None)
    assert await allowed(services, OURS) == (None, None)


@pytest.mark.parametrize("origin", ["*", "localhost:3000", "http://localhost:3000/", "http://a/path", "http://u@h"])
async def test_what_is_no_origin_is_refused_with_an_example(origin: str) -> None:
    with pytest.raises(ValidationError, match=r"is no origin: give scheme, host and port alone, such as http://local"):
        GatewaySettings.model_validate({"allowed_origins": origin})
