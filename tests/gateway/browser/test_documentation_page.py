"""The interface's documentation, in Chromium."""

from __future__ import annotations

import pytest
from playwright.async_api import expect

from tests.gateway.browser.browser_page import BrowserPage
from tests.gateway.running_gateway import RunningGateway

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]


async def test_interface_is_documented_offline(web: BrowserPage, gateway: RunningGateway) -> None:
    hosts: set[str] = set()
    web.page.on("request", lambda request: hosts.add(request.url.split("/")[2]))
    await web.page.goto(f"{gateway.url}/api/docs")
    await web.page.click("#create_submission summary")
    await web.page.wait_for_selector("text=curl -X POST")
    await expect(web.page.locator("#create_submission .rights")).to_have_text("scope submit")
    assert hosts == {gateway.url.removeprefix("http://")}
    assert await web.accessibility() == []
    assert await web.overflow_pixels() == 0


async def test_a_search_finds_routes_and_schemas_and_the_address_holds_it(
    web: BrowserPage, gateway: RunningGateway
) -> None:
    await web.page.goto(f"{gateway.url}/api/docs")
    await web.page.wait_for_selector("#create_submission")
    await web.page.keyboard.press("/")
    await web.page.keyboard.type("post operator drain")
    await expect(web.page.locator(".operation")).to_have_count(1)
    await web.page.reload()
    await expect(web.page.locator("#search")).to_have_value("post operator drain")
    await web.page.click("#drain_machine summary")
    await expect(web.page.locator("#drain_machine .rights")).to_contain_text("role operator or admin")
    # Its answer is a schema that the search did not find.
    await web.page.click("#drain_machine a >> text=Machine")
    await expect(web.page.locator("#schema-Machine .body")).to_contain_text("Fields")


async def test_a_stream_lists_its_frames_which_lead_to_their_fields(web: BrowserPage, gateway: RunningGateway) -> None:
    await web.page.goto(f"{gateway.url}/api/docs#stream_submission_events")
    await web.page.click("#stream_submission_events a >> text=/^CompiledEvent$/")
    await expect(web.page.locator("#schema-CompiledEvent .body")).to_contain_text("isa_toolchain")
    await expect(web.page.locator("#schema-CompiledEvent")).to_be_in_viewport()
    await web.page.click("#schema-CompiledEvent a >> nth=0")
    assert "#schema-" in web.page.url
