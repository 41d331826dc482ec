"""The pages and the interface's description, as files and headers."""

from __future__ import annotations

import gzip
import re

import pytest
from wavepool.submission.v1 import submission_pb2

from gateway.app import COMPRESSED_BYTES
from tests.gateway.job_events import whole_run
from tests.gateway.running_gateway import RunningGateway
from tests.gateway.scripted_scheduler import PROBLEM

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.mark.parametrize("path", ["/", "/api/docs"])
async def test_page_forbids_scripts_of_others_and_inline_ones(gateway: RunningGateway, path: str) -> None:
    response = await gateway.http.get(path)
    policy = response.headers["content-security-policy"]
    assert response.headers["content-type"].startswith("text/html")
    assert "default-src 'none'; script-src 'self'; worker-src 'self'; style-src 'self'" in policy
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


async def test_pages_are_asked_about_again_and_their_files_never(gateway: RunningGateway) -> None:
    page = await gateway.http.get("/")
    again = await gateway.http.get("/", headers={"If-None-Match": page.headers["etag"]})
    assert (page.headers["cache-control"], again.status_code) == ("no-cache", 304)
    for asset in re.findall(r'"(/assets/[^"]*)"', page.text):
        assert "immutable" in (await gateway.http.get(asset)).headers["cache-control"]


@pytest.mark.parametrize(
    ("accepted", "encoding"),
    [
        ("gzip, deflate, br, zstd", "br"),
        ("gzip", "gzip"),
        ("br;q=0, gzip;q=0.5", "gzip"),
        ("identity", None),
        ("", None),
    ],
)
async def test_a_file_comes_in_the_smallest_encoding_that_the_browser_takes(
    gateway: RunningGateway, accepted: str, encoding: str | None
) -> None:
    [script] = re.findall(r'src="(/assets/[^"]*)"', (await gateway.http.get("/")).text)
    plain = await gateway.http.get(script, headers={"Accept-Encoding": "identity"})
    async with gateway.http.stream("GET", script, headers={"Accept-Encoding": accepted}) as response:
        sent = b"".join([piece async for piece in response.aiter_raw()])
    assert response.headers.get("content-encoding") == encoding
    assert response.headers["content-type"].startswith("text/javascript")
    assert response.headers["vary"] == "Accept-Encoding"
    assert (len(sent) < len(plain.content)) == (encoding is not None)
    if encoding == "gzip":
        assert gzip.decompress(sent) == plain.content


@pytest.mark.parametrize("path", ["/problems/softmax?submission=job_1", "/submissions/job_1", "/?code=1&state=2"])
async def test_each_address_of_a_page_gives_the_application(gateway: RunningGateway, path: str) -> None:
    page = await gateway.http.get(path)
    assert (page.status_code, page.text) == (200, (await gateway.http.get("/")).text)


async def test_a_browser_gets_the_applications_own_page_for_an_address_that_is_none(gateway: RunningGateway) -> None:
    asked = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
    page = await gateway.http.get("/problems/softmax/nothing", headers=asked)
    assert (page.status_code, page.text) == (404, (await gateway.http.get("/")).text)
    # Programs are told so in their own way.
    for path, headers in (("/nothing", {}), ("/api/nothing", asked), ("/api/v1/nothing", asked)):
        refused = await gateway.http.get(path, headers=headers)
        assert (refused.status_code, refused.headers["content-type"]) == (404, "application/problem+json")
    assert (await gateway.http.post("/nothing", headers=asked)).status_code == 404


async def test_long_json_is_compressed_and_an_event_stream_never(gateway: RunningGateway) -> None:
    asked = {"Accept-Encoding": "gzip"}
    assert (await gateway.http.get("/api/openapi.json", headers=asked)).headers["content-encoding"] == "gzip"
    assert "content-encoding" not in (await gateway.http.get("/healthz", headers=asked)).headers
    gateway.services.scheduler.script_of_next_job = whole_run(submission_pb2.RUN_MODE_FULL)
    made = await gateway.http.post("/api/v1/submissions", json={"problem": PROBLEM.slug, "code": "int f;"})
    stream = await gateway.http.get(made.json()["events_url"], headers=asked)
    assert stream.headers["content-type"].startswith("text/event-stream")
    assert len(stream.content) > COMPRESSED_BYTES
    assert "content-encoding" not in stream.headers


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
