"""The pages and the interface's description, as files and headers."""

from __future__ import annotations

import re

import pytest

from tests.gateway.running_gateway import RunningGateway

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.mark.parametrize("path", ["/", "/api/docs"])
async def test_page_forbids_scripts_of_others_and_inline_ones(gateway: RunningGateway, path: str) -> None:
    response = await gateway.http.get(path)
    policy = response.headers["content-security-policy"]
    assert response.headers["content-type"].startswith("text/html")
    assert "default-src 'none'; script-src 'self'; style-src 'self'" in policy
    assert "unsafe" not in policy
    assert response.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("path", ["/", "/api/docs", "/healthz", "/readyz"])
async def test_what_probes_ask_for_may_be_asked_for_by_head(gateway: RunningGateway, path: str) -> None:
    response = await gateway.http.head(path)
    assert (response.status_code, response.content) == (200, b"")


async def test_all_that_a_page_loads_is_there(gateway: RunningGateway) -> None:
    for path in ("/", "/api/docs"):
        loaded = re.findall(r'(?:src|href)="(/[^"]*)"', (await gateway.http.get(path)).text)
        assert loaded
        for asset in loaded:
            assert (await gateway.http.get(asset)).status_code == 200


async def test_assets_are_asked_about_again_and_not_sent_twice(gateway: RunningGateway) -> None:
    first = await gateway.http.get("/assets/main.js")
    again = await gateway.http.get("/assets/main.js", headers={"If-None-Match": first.headers["etag"]})
    assert (first.headers["cache-control"], again.status_code) == ("no-cache", 304)


@pytest.mark.parametrize("path", ["/assets/../gateway/app.py", "/assets/%2e%2e/pyproject.toml", "/assets/nothing.js"])
async def test_nothing_outside_the_folder_is_served(gateway: RunningGateway, path: str) -> None:
    assert (await gateway.http.get(path)).status_code == 404


async def test_description_covers_every_route_and_tells_failures_as_they_are(gateway: RunningGateway) -> None:
    document = (await gateway.http.get("/api/openapi.json")).json()
    assert {
        "/api/v1/submissions",
        "/api/v1/submissions/{submission_id}/events",
        "/api/v1/tokens",
        "/api/amd/submit",
        "/api/submissions/cancel",
        "/readyz",
    } <= set(document["paths"])
    assert "HTTPValidationError" not in str(document)
    refused = document["paths"]["/api/v1/submissions"]["post"]["responses"]["422"]
    assert refused["content"]["application/problem+json"]["schema"]["$ref"].endswith("/ProblemDocument")
    schemas = document["components"]["schemas"]
    assert schemas["SubmissionRequest"]["examples"]
    timing = schemas["SubmissionRequest"]["properties"]["timing"]
    assert timing["anyOf"][0]["$ref"].endswith("/TimingMode")
    assert schemas["TimingMode"]["enum"] == ["cold", "hot", "first-call"]
