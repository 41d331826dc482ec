"""The page of a user, in Chromium."""

from __future__ import annotations

from datetime import UTC, datetime

import grpc
import pytest
from playwright.async_api import expect
from wavepool.billing.v1 import identity_pb2
from wavepool.executor.v1 import run_event_pb2
from wavepool.scheduler.v1.scheduler_pb2 import VISIBILITY_PUBLIC
from wavepool.submission.v1 import submission_pb2

from tests.gateway.browser.browser_page import BrowserPage
from tests.gateway.job_events import whole_run
from tests.gateway.refusals import refusal
from tests.gateway.running_gateway import RunningGateway
from tests.job_specs import job_spec

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]

SPEC = job_spec(problem="vector-addition", mode=submission_pb2.RUN_MODE_FULL, name="<script>alert(1)</script>")


async def test_a_profile_shows_what_was_solved_when_and_what_is_public(
    web: BrowserPage, gateway: RunningGateway
) -> None:
    today = datetime.now(UTC).date().isoformat()
    answers = gateway.services.answers
    answers["GetUserProgress"] = {
        **answers["GetUserProgress"],
        "days": [{"date": "2001-01-01", "submissions": 1}, {"date": today, "submissions": 4}],
    }
    gateway.services.scheduler.put_job(SPEC, "acc_other", "job_1")
    gateway.services.scheduler.log("job_1", whole_run(submission_pb2.RUN_MODE_FULL))
    gateway.services.scheduler.jobs["job_1"].visibility = VISIBILITY_PUBLIC
    gateway.services.scheduler.put_job(SPEC, "acc_other", "job_2")
    await web.open()
    await web.page.goto(f"{gateway.url}/users/ada")
    await expect(web.page.locator("h1")).to_have_text("ada")
    solved = web.page.get_by_role("table", name="Solved problems by difficulty").locator("tbody tr")
    await expect(solved).to_have_text(["Easy230", "Hard09"])
    await expect(web.page.get_by_role("img", name="5 submissions on 2 days of the last year")).to_be_visible()
    assert (await web.page.locator(".calendar .level-2").get_attribute("d") or "").count("M") == 1
    await web.page.click("summary")
    days = web.page.get_by_role("table", name="Days with submissions").locator("tbody tr")
    await expect(days).to_have_text([f"{today}4", "2001-01-011"])
    public = web.page.get_by_role("table", name="Public submissions").locator("tbody tr")
    await expect(public).to_have_count(1)
    await expect(public).to_contain_text("<script>alert(1)</script>")
    await expect(public.locator(".badge.good")).to_have_text("Accepted · VALID")
    await expect(web.page.locator("#profile-switch")).to_have_count(0)
    await public.locator("a").click()
    await web.page.wait_for_url("**/submissions/job_1")


async def test_a_time_that_is_not_proven_is_not_green_in_a_profile(web: BrowserPage, gateway: RunningGateway) -> None:
    gateway.services.scheduler.put_job(SPEC, job_id="job_1")
    gateway.services.scheduler.log("job_1", whole_run(submission_pb2.RUN_MODE_FULL))
    job = gateway.services.scheduler.jobs["job_1"]
    job.visibility = VISIBILITY_PUBLIC
    job.result.benchmarked.timing = run_event_pb2.TIMING_UNSTABLE
    await web.open()
    await web.page.goto(f"{gateway.url}/users/ada")
    await expect(web.page.locator(".badge.warn")).to_have_count(1)
    await expect(web.page.locator(".badge.good")).to_have_count(0)


async def test_a_user_that_is_unknown_or_hidden_is_not_found_and_there_is_a_way_on(
    web: BrowserPage, gateway: RunningGateway
) -> None:
    gateway.refusals["GetProfile"] = refusal(grpc.StatusCode.NOT_FOUND, "There is no user 'a/b'.")
    await web.open()
    await web.page.goto(f"{gateway.url}/users/a%3Cb%3E")
    await expect(web.page.locator("main")).to_contain_text("There is no user a<b>")
    await expect(web.page.locator("#alert")).to_be_hidden()
    await web.page.click("text=Go to the leaderboard")
    await web.page.wait_for_url("**/leaderboard")
    web.complaints.clear()  # the browser's own line for the 404


async def test_ones_own_profile_is_reached_from_every_page_and_switched_off_there(
    web: BrowserPage, gateway: RunningGateway
) -> None:
    own = {"user_id": "user_user", "name": "demo", "visibility": "PROFILE_VISIBILITY_PUBLIC"}
    gateway.services.answers["GetProfile"] = {"profile": own}
    await web.open()
    await web.page.click("#token-button")
    await web.page.click("text=Your profile")
    await web.page.wait_for_url("**/users/demo")
    switch = web.page.locator("#profile-switch")
    await expect(switch).to_be_checked()
    await expect(web.page.locator(".empty")).to_contain_text("You have made nothing public.")
    gateway.refusals["SetProfile"] = refusal(grpc.StatusCode.UNAVAILABLE, "Billing is away.")
    for _ in range(2):
        async with web.page.expect_response("**/me/profile"):
            await switch.click()
        await expect(web.page.locator(".profile-page [role=alert]")).to_contain_text("Try again.")
        await expect(switch).to_be_checked()
    assert await web.accessibility() == []
    del gateway.refusals["SetProfile"]
    await switch.click()
    await expect(switch).not_to_be_checked()
    assert gateway.calls["SetProfile"][-1].visibility == identity_pb2.PROFILE_VISIBILITY_OFF
    await expect(web.page.locator(".profile-page [role=status]")).to_contain_text("Only you see it.")
    await expect(web.page.locator(".profile-page [role=alert]")).to_be_hidden()
    web.complaints.clear()  # the browser's own line for the 503
