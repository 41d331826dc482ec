"""All submissions of a user, their names, and who sees them, in Chromium."""

from __future__ import annotations

import grpc
import pytest
from playwright.async_api import expect
from wavepool.submission.v1 import submission_pb2

from tests.gateway.browser.browser_page import BrowserPage
from tests.gateway.job_events import queued
from tests.gateway.refusals import refusal
from tests.gateway.running_gateway import RunningGateway
from tests.gateway.scripted_services import ScriptedServices
from tests.job_specs import job_spec

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]

SPEC = job_spec(problem="vector-addition", mode=submission_pb2.RUN_MODE_FULL)


async def test_filters_are_asked_of_the_gateway_and_kept_in_the_address(
    web: BrowserPage, gateway: RunningGateway, services: ScriptedServices
) -> None:
    services.scheduler.put_job(SPEC, job_id="job_1")
    await web.open()
    await web.page.goto(f"{gateway.url}/submissions")
    await expect(web.page.locator(".submissions tbody tr")).to_have_count(1)
    await web.page.get_by_label("Result").select_option("WRONG_ANSWER")
    await web.page.wait_for_url("**/submissions?status=WRONG_ANSWER")
    await web.page.get_by_label("Problem").select_option("vector-addition")
    await web.page.get_by_label("Order").select_option("fastest")
    await web.page.wait_for_url("**sort=fastest")
    await web.page.reload()
    await expect(web.page.get_by_label("Order")).to_have_value("fastest")
    asked = services.refusals.calls["ListJobs"][-1]
    assert (list(asked.statuses), asked.problem) == (["WRONG_ANSWER"], "vector-addition")
    assert asked.order != services.refusals.calls["ListJobs"][0].order


async def test_a_run_of_the_cpu_device_says_so_and_can_be_filtered_by(
    web: BrowserPage, gateway: RunningGateway, services: ScriptedServices
) -> None:
    services.scheduler.put_job(job_spec(problem="vector-addition", gpu_type="MI300X"), job_id="job_1")
    services.scheduler.put_job(job_spec(problem="vector-addition", gpu_type="MI300X"), job_id="job_2")
    services.scheduler.jobs["job_1"].hardware = "cpu"
    await web.open()
    await web.page.goto(f"{gateway.url}/submissions")
    rows = web.page.locator(".submissions tbody tr")
    await expect(rows.filter(has_text="job_1")).to_contain_text("cpu")
    await expect(rows.filter(has_text="job_1")).not_to_contain_text("MI300X")
    await expect(rows.filter(has_text="job_2")).to_contain_text("MI300X")
    await expect(web.page.locator("main [role=status]")).to_have_text("2 of more than 1,000")
    async with web.page.expect_response("**/submissions?*gpu_type=cpu*"):
        await web.page.get_by_label("GPU").select_option("cpu")
    await web.page.wait_for_url("**/submissions?gpu=cpu")
    assert services.refusals.calls["ListJobs"][-1].gpu_type == "cpu"
    await rows.filter(has_text="job_1").locator("a").click()
    await expect(web.page.locator(".facts")).to_contain_text("cpu (asked for MI300X)")


async def test_what_can_be_chosen_is_in_words(
    web: BrowserPage, gateway: RunningGateway, services: ScriptedServices
) -> None:
    services.scheduler.put_job(SPEC, job_id="job_1")
    await web.open()
    await web.page.goto(f"{gateway.url}/submissions?problem=vector-addition")
    await expect(web.page.locator(".submissions tbody tr")).to_have_count(1)
    shown = {
        name: await web.page.get_by_label(name).locator("option").all_inner_texts()
        for name in ("Result", "Mode", "GPU", "Order")
    }
    assert shown["Result"][:3] == ["Any", "Under way", "Accepted"]
    assert {"Wrong answer", "Time limit exceeded"} < set(shown["Result"])
    assert shown["Mode"][:3] == ["Any", "Full", "Check"]
    assert shown["GPU"][:2] == ["Any", "MI300X"]
    assert shown["Order"] == ["Newest first", "Fastest first"]
    assert (await web.texts(".submissions tbody td"))[2:5] == ["Full", "", "Queued"]


async def test_several_that_run_are_cancelled_together_if_they_are_meant(
    web: BrowserPage, gateway: RunningGateway, services: ScriptedServices
) -> None:
    for job_id in ("job_1", "job_2"):
        services.scheduler.put_job(SPEC, job_id=job_id)
        services.scheduler.log(job_id, [queued()])
    await web.open()
    await web.page.goto(f"{gateway.url}/submissions")
    await expect(web.page.get_by_role("checkbox")).to_have_count(2)
    for one in await web.page.get_by_role("checkbox").all():
        await one.check()
    web.page.once("dialog", lambda dialog: dialog.dismiss())
    await web.page.click("#cancel-chosen")
    assert "CancelJob" not in services.refusals.calls
    web.page.once("dialog", lambda dialog: dialog.accept())
    async with web.page.expect_response("**/cancel"):
        await web.page.click("#cancel-chosen")
    await expect(web.page.locator("#cancel-chosen")).to_be_hidden()
    assert {call.job_id for call in services.refusals.calls["CancelJob"]} == {"job_1", "job_2"}


async def test_a_submission_is_named_and_shared_and_a_refusal_keeps_what_was_typed(
    web: BrowserPage, gateway: RunningGateway, services: ScriptedServices
) -> None:
    services.scheduler.put_job(SPEC, job_id="job_1")
    await web.open()
    await web.page.goto(f"{gateway.url}/submissions")
    await web.page.click(".submissions tbody .link-button")
    await web.page.fill("#change-name", "<script>alert(1)</script>")
    # A choice stands before its words.
    assert (await web.page.locator("#change-form input[type=radio]").first.evaluate("(it) => it.offsetWidth")) < 30
    await web.page.check("input[value=public]")
    gateway.refusals["UpdateJob"] = refusal(grpc.StatusCode.UNAVAILABLE, "The scheduler is away.")
    await web.page.click("text=Save")
    await expect(web.page.locator("#change-form [role=alert]")).to_contain_text("Try again.")
    await expect(web.page.locator("#change-name")).to_have_value("<script>alert(1)</script>")
    assert await web.accessibility() == []
    del gateway.refusals["UpdateJob"]
    await web.page.click("text=Save")
    await expect(web.page.locator("#change-form")).to_be_hidden()
    row = web.page.locator(".submissions tbody tr")
    await expect(row).to_contain_text("<script>alert(1)</script>")
    await expect(row).to_contain_text("everybody")
    web.complaints.clear()  # the browser's own line for the 503


async def test_a_list_without_a_network_says_so_and_is_read_when_it_is_back(
    web: BrowserPage, gateway: RunningGateway, services: ScriptedServices
) -> None:
    # Playwright takes the network from pages, not from shared workers.
    await web.page.context.add_init_script("delete window.SharedWorker")
    services.scheduler.put_job(SPEC, job_id="job_1")
    await web.open()
    await web.page.goto(f"{gateway.url}/submissions")
    rows = web.page.locator(".submissions tbody tr")
    await expect(rows).to_have_count(1)
    await web.page.context.set_offline(True)
    await expect(web.page.locator("#offline")).to_contain_text("what you see may be old")
    services.scheduler.put_job(SPEC, job_id="job_2")
    await web.page.get_by_label("Mode").select_option("full")
    await web.page.wait_for_url("**/submissions?mode=full")
    await expect(rows).to_have_count(1)
    await web.page.context.set_offline(False)
    await expect(rows).to_have_count(2)
    await expect(web.page.locator("#offline")).to_be_hidden()
    await expect(web.page.locator("#alert")).to_be_hidden()
    web.complaints.clear()  # the browser's own lines for requests that failed


async def test_a_list_wider_than_a_phone_scrolls_without_the_page(
    web: BrowserPage, gateway: RunningGateway, services: ScriptedServices
) -> None:
    services.scheduler.put_job(SPEC, job_id="job_1")
    await web.page.set_viewport_size({"width": 390, "height": 844})
    await web.open()
    await web.page.goto(f"{gateway.url}/submissions")
    await expect(web.page.locator(".submissions tbody tr")).to_have_count(1)
    assert await web.overflow_pixels() == 0


async def test_nothing_yet_says_how_to_begin(web: BrowserPage, gateway: RunningGateway) -> None:
    await web.open()
    await web.page.goto(f"{gateway.url}/submissions")
    await expect(web.page.locator(".empty")).to_contain_text("You have submitted nothing yet.")
    await web.page.goto(f"{gateway.url}/submissions?mode=check")
    await web.page.click("text=Show all")
    await web.page.wait_for_url("**/submissions")
