"""The one event stream of all tabs of a browser, in Chromium."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from urllib.parse import urlsplit

import grpc
import pytest
from playwright.async_api import Page, Route, expect
from wavepool.submission.v1 import submission_pb2

from gateway.submissions.hub import Hub
from tests.gateway.browser.browser_page import PROBLEM_PAGE, BrowserPage
from tests.gateway.job_events import whole_run
from tests.gateway.refusals import refusal
from tests.gateway.running_gateway import DEADLINE_SECONDS, serve
from tests.gateway.scripted_services import ScriptedServices
from tests.job_specs import job_spec

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]

SPEC = job_spec(problem="vector-addition", source="x", mode=submission_pb2.RUN_MODE_FULL)
EVENTS = whole_run(submission_pb2.RUN_MODE_FULL)
NOTIFICATIONS = """
window.told = [];
window.Notification = class {
  static permission = "default";
  static async requestPermission() { return (this.permission = "granted"); }
  constructor(title) { told.push(title); }
};
"""
WITHOUT_WORKERS = "delete window.SharedWorker"


@dataclass
class Streams:
    """How many streams the gateway has open, and had at most."""

    open: int = 0
    most: int = 0
    opened: int = 0


@pytest.fixture
def streams(monkeypatch: pytest.MonkeyPatch) -> Streams:
    seen = Streams()
    counted = Hub.counted

    async def observed(self: Hub, frames: AsyncGenerator[bytes]) -> AsyncGenerator[bytes]:
        seen.open += 1
        seen.opened += 1
        seen.most = max(seen.most, seen.open)
        try:
            async with aclosing(counted(self, frames)) as counting:
                async for data in counting:
                    yield data
        finally:
            seen.open -= 1

    monkeypatch.setattr(Hub, "counted", observed)
    return seen


def begin(services: ScriptedServices, job_id: str = "job_1", count: int = 5) -> None:
    """A run that is in its stage Check, unless `count` says otherwise."""
    services.scheduler.put_job(SPEC, job_id=job_id)
    services.scheduler.log(job_id, EVENTS[:count])


async def tab_on(web: BrowserPage, job_id: str = "job_1") -> Page:
    tab = await web.page.context.new_page()
    tab.set_default_timeout(30_000)
    await tab.goto(f"{web.gateway.url}{PROBLEM_PAGE}?submission={job_id}")
    return tab


async def is_checking(tab: Page) -> None:
    await tab.wait_for_selector(".stage.active >> text=Check", timeout=30_000)


async def test_twenty_tabs_follow_twenty_runs_live_over_one_stream(
    web: BrowserPage, services: ScriptedServices, streams: Streams
) -> None:
    jobs = [f"job_{number}" for number in range(1, 21)]
    for job in jobs:
        begin(services, job)
    await web.open()
    tabs = [await tab_on(web, job) for job in jobs]
    for tab in tabs:
        await is_checking(tab)
    for job in jobs:
        await services.scheduler.add(*EVENTS[5:], job_id=job)
    for tab in tabs:
        await tab.wait_for_selector(".verdict.good", state="attached")
    assert streams.most <= 2
    assert streams.open == 1


async def test_two_tabs_on_one_run_have_all_its_frames_once(
    web: BrowserPage, services: ScriptedServices, streams: Streams
) -> None:
    begin(services, count=6)
    await web.open()
    first = await tab_on(web)
    await expect(first.locator(".tests li")).to_have_count(1)
    opened = streams.opened
    second = await tab_on(web)
    await expect(second.locator(".tests li")).to_have_count(1)
    assert streams.opened == opened, "what the first tab heard is kept for the second"
    await services.scheduler.add(*EVENTS[6:])
    for tab in (first, second):
        await tab.wait_for_selector(".verdict.good", state="attached")
        assert await tab.locator(".tests li").count() == 1
        assert await tab.locator(".benchmarks tbody tr").count() == 1


async def test_a_run_leaves_the_stream_with_its_last_tab(web: BrowserPage, services: ScriptedServices) -> None:
    begin(services)
    await web.open()
    tab = await tab_on(web)
    await is_checking(tab)
    assert web.gateway.hub.jobs_followed == 1
    await tab.close(run_before_unload=False)
    async with asyncio.timeout(DEADLINE_SECONDS):
        await services.scheduler.until_watched(1)  # that of the list
    assert web.gateway.hub.jobs_followed == 0


@pytest.mark.parametrize("has_workers", [True, False])
async def test_a_run_goes_on_after_the_gateway_was_killed(
    web: BrowserPage, services: ScriptedServices, has_workers: bool
) -> None:
    begin(services)
    if not has_workers:
        await web.page.context.add_init_script(WITHOUT_WORKERS)
    settings = web.gateway.settings
    async with serve(services, settings) as gateway:
        port = urlsplit(gateway.url).port or 0
        await web.page.goto(f"{gateway.url}{PROBLEM_PAGE}?submission=job_1#token=wp_user")
        await is_checking(web.page)
    await services.scheduler.add(*EVENTS[5:7])
    async with serve(services, settings, port):
        await services.scheduler.add(*EVENTS[7:])
        await web.page.wait_for_selector(".verdict.good")
        await expect(web.page.locator(".tests li")).to_have_count(1)
        await web.page.goto("about:blank")
    web.complaints.clear()  # the browser's own lines for a gateway that is away


async def test_a_network_that_was_off_loses_nothing(web: BrowserPage, services: ScriptedServices) -> None:
    # Playwright takes the network from pages, not from shared workers.
    await web.page.context.add_init_script(WITHOUT_WORKERS)
    begin(services)
    await web.open()
    await web.page.goto(f"{web.gateway.url}{PROBLEM_PAGE}?submission=job_1")
    await is_checking(web.page)
    await web.page.context.set_offline(True)
    await services.scheduler.until_watched(0)
    await services.scheduler.add(*EVENTS[5:])
    await expect(web.page.locator(".verdict")).to_be_hidden()
    await web.page.context.set_offline(False)
    await web.page.wait_for_selector(".verdict.good")
    assert await web.texts(".tests li") == ["n = 1024"]
    web.complaints.clear()  # the browser's own lines for requests that failed


async def test_the_list_moves_on_by_itself_with_runs_of_other_places(
    web: BrowserPage, services: ScriptedServices
) -> None:
    await web.open()
    await web.page.get_by_role("tab", name="Submissions").click()
    await expect(web.page.locator("#history")).to_have_text("You have submitted nothing for this problem yet.")
    await services.scheduler.until_watched(1)
    begin(services)
    await services.scheduler.add(EVENTS[5])
    await expect(web.page.locator("#history .badge")).to_have_text("Queued")
    await services.scheduler.add(*EVENTS[6:])
    await expect(web.page.locator("#history .badge")).to_have_text("Accepted · VALID")


async def test_a_token_that_stops_working_is_said_and_the_run_goes_on_with_another(
    web: BrowserPage, services: ScriptedServices
) -> None:
    begin(services)
    await web.open()
    await web.page.goto(f"{web.gateway.url}{PROBLEM_PAGE}?submission=job_1")
    await is_checking(web.page)
    for method in ("GetCaller", "AuthenticateToken"):
        web.gateway.refusals[method] = refusal(grpc.StatusCode.NOT_FOUND, "unknown token")
    await services.scheduler.add(EVENTS[5])
    await expect(web.page.locator("#token-error")).to_have_text("Your sign-in has ended; sign in again.")
    web.gateway.refusals.clear()
    await web.page.fill("#token-input", "wp_user")
    await web.page.keyboard.press("Enter")
    await services.scheduler.add(*EVENTS[6:])
    await web.page.wait_for_selector(".verdict.good")
    await expect(web.page.locator(".tests li")).to_have_count(1)
    web.complaints.clear()  # the browser's own lines for the 401s


async def test_a_frame_of_an_unknown_kind_is_shown_as_it_is_and_is_no_end(
    web: BrowserPage, services: ScriptedServices
) -> None:
    await web.page.context.add_init_script(WITHOUT_WORKERS)
    begin(services, count=2)
    frame = {"status": "A_LATER_KIND", "timestamp": 1_800_000_001_000, "submission_id": "job_1", "cost_usd": 0}
    event = {"topic": "submission:job_1", "event_id": 9, "frame": frame}

    async def say(route: Route) -> None:
        text = f"id: s=,:job_1=9\ndata: {json.dumps(event)}\n\n"
        await route.fulfill(body=text, content_type="text/event-stream")

    await web.page.route("**/api/v1/events?*", say)
    await web.open()
    await web.page.goto(f"{web.gateway.url}{PROBLEM_PAGE}?submission=job_1")
    await expect(web.page.locator("#run-line")).to_have_text("A_LATER_KIND")
    await expect(web.page.locator("#run-status")).to_have_text("Running")


async def test_signing_out_ends_the_stream_of_every_tab(
    web: BrowserPage, services: ScriptedServices, streams: Streams
) -> None:
    begin(services)
    await web.open()
    tab = await tab_on(web)
    await is_checking(tab)
    await web.page.click("#token-button")
    await web.page.click("#token-forget")
    await web.page.wait_for_selector("h1 >> text=Wavepool")
    await tab.wait_for_selector("h1 >> text=Wavepool")
    async with asyncio.timeout(DEADLINE_SECONDS):
        await services.scheduler.until_watched(0)
    assert streams.open == 0
    web.complaints.clear()


async def test_title_icon_and_a_notification_tell_a_hidden_tab_that_its_run_ended(
    web: BrowserPage, services: ScriptedServices
) -> None:
    begin(services)
    await web.page.context.add_init_script(NOTIFICATIONS)
    await web.page.clock.install()
    await web.open()
    await expect(web.page).to_have_title("Wavepool")
    await web.page.goto(f"{web.gateway.url}{PROBLEM_PAGE}?submission=job_1")
    await is_checking(web.page)
    await expect(web.page).to_have_title("… Running · vector-addition")
    button = web.page.locator("#notify-button")
    await expect(button).to_be_hidden()
    await web.page.clock.fast_forward(31_000)
    await button.click()
    await expect(button).to_be_hidden()
    await web.page.evaluate("Object.defineProperty(document, 'hidden', {get: () => true})")
    await services.scheduler.add(*EVENTS[5:])
    await expect(web.page).to_have_title("✓ Accepted · VALID · vector-addition")
    await expect(web.page.locator("link[rel=icon]")).to_have_attribute("href", re.compile("icon_good"))
    await web.page.wait_for_function("told.length")
    assert await web.page.evaluate("told") == ["✓ Accepted · VALID · vector-addition"]
