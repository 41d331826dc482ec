"""What the gateway refuses, at each action: what was typed stays, and the refusal stands beside what was pressed."""

from __future__ import annotations

import json
from typing import Any

import pytest
from playwright.async_api import Locator, Route, expect
from wavepool.executor.v1 import run_event_pb2
from wavepool.submission.v1 import submission_pb2

from tests.gateway.browser.browser_page import PROBLEM_PAGE, BrowserPage
from tests.gateway.job_events import queued, whole_run
from tests.gateway.running_gateway import RunningGateway
from tests.gateway.scripted_services import ScriptedServices
from tests.job_specs import job_spec

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]

SPEC = job_spec(problem="vector-addition", mode=submission_pb2.RUN_MODE_FULL)
MEBIBYTE = 1 << 20
# What the gateway says, and what the page makes of it.
REFUSALS: dict[int, tuple[dict[str, Any], str]] = {
    402: ({"detail": "$0.40 is missing. Add credit."}, "$0.40 is missing. Add credit."),
    403: ({"detail": "Your token has no scope `submit`; make another."}, "no scope `submit`; make another."),
    409: ({"detail": "It is over already. Read it again."}, "It is over already. Read it again."),
    422: ({"detail": "Wrong.", "errors": [{"field": "name", "message": "is too long"}]}, "name: is too long"),
    429: ({"detail": "20 are in flight."}, "20 are in flight. Possible again at "),
    503: ({"detail": "The scheduler is away. Try again."}, "The scheduler is away. Try again."),
}
# To filter by, one for each.
RESULTS = [
    "WRONG_ANSWER",
    "COMPILE_ERROR",
    "RUNTIME_ERROR",
    "CANCELLED",
    "TIME_LIMIT_EXCEEDED",
    "MEMORY_LIMIT_EXCEEDED",
]


async def refuse(web: BrowserPage, address: str, status: int, method: str) -> None:
    """Refuses a call from now on."""
    body, _ = REFUSALS[status]

    async def answer(route: Route) -> None:
        if route.request.method != method:
            await route.fallback()
            return
        headers = {"Content-Type": "application/problem+json"} | ({"Retry-After": "40"} if status == 429 else {})
        await route.fulfill(status=status, headers=headers, body=json.dumps(body))

    await web.page.unroute(address)
    await web.page.route(address, answer)


async def is_said(web: BrowserPage, refusal: Locator, status: int, pressed: Locator) -> None:
    """Whether the refusal is in view, near what was pressed, and read to those who do not see it."""
    await expect(refusal).to_contain_text(REFUSALS[status][1])
    await expect(refusal).to_have_attribute("role", "alert")
    await expect(refusal).to_be_in_viewport()
    here, there = await refusal.bounding_box(), await pressed.bounding_box()
    assert here
    assert there
    assert abs(here["y"] - there["y"]) < 200
    await expect(web.page.locator("#alert")).to_be_hidden()
    web.complaints.clear()  # the browser's own line


async def open_list(web: BrowserPage, services: ScriptedServices) -> None:
    services.scheduler.put_job(SPEC, job_id="job_1")
    services.scheduler.log("job_1", [queued()])
    await web.open()
    await web.page.goto(f"{web.gateway.url}/submissions")
    await expect(web.page.locator(".submissions tbody tr")).to_have_count(1)


async def test_a_run_that_is_refused_keeps_the_text(web: BrowserPage) -> None:
    await web.page.clock.install()
    await web.open()
    await web.page.fill("#code", "int mine;")
    for status in REFUSALS:
        await refuse(web, "**/api/v1/submissions", status, "POST")
        await web.submit()
        while status == 503 and not await web.page.locator("#refusal").is_visible():
            # It is sent again by itself first.
            await web.page.clock.fast_forward(5000)
        await is_said(web, web.page.locator("#refusal"), status, web.page.locator("#submit-button"))
        await expect(web.page.locator("#submit-button")).to_be_enabled()
    assert await web.code() == "int mine;"


@pytest.mark.parametrize("page", [f"{PROBLEM_PAGE}?submission=job_1", "/submissions/job_1"])
async def test_a_cancellation_that_is_refused_leaves_the_run_as_it_is(
    web: BrowserPage, services: ScriptedServices, page: str
) -> None:
    async def cancel() -> None:
        await web.page.click("#cancel-button")
        await web.page.click("#cancel-confirm")

    services.scheduler.put_job(SPEC)
    services.scheduler.log("job_1", [queued()])
    await web.page.goto(f"{web.gateway.url}{page}#token=wp_user")
    for status in REFUSALS:
        await refuse(web, "**/cancel", status, "POST")
        await cancel()
        await is_said(web, web.page.locator("#run-refusal"), status, web.page.locator("#cancel-button"))
    await expect(web.page.locator("#run-status")).to_have_text("Running")
    assert await web.accessibility() == []
    await web.page.unroute("**/cancel")
    await cancel()
    await web.page.wait_for_selector(".verdict.warn >> text=Cancelled")
    await expect(web.page.locator("#run-refusal")).to_be_hidden()


async def test_a_report_that_is_refused_says_why_beside_its_button(
    web: BrowserPage, services: ScriptedServices
) -> None:
    signed = run_event_pb2.Finished(verdict=run_event_pb2.VERDICT_ACCEPTED, signed_report="{}")
    services.scheduler.put_job(SPEC)
    services.scheduler.log("job_1", whole_run(submission_pb2.RUN_MODE_FULL, signed, ("compiling",)))
    await web.page.goto(f"{web.gateway.url}/submissions/job_1#token=wp_user")
    button = web.page.locator("#report-button")
    for status in REFUSALS:
        await refuse(web, "**/api/v1/tickets", status, "POST")
        await button.click()
        await is_said(web, web.page.locator("#run-refusal"), status, button)


async def test_a_cancellation_of_several_that_is_refused_keeps_what_was_chosen(
    web: BrowserPage, services: ScriptedServices
) -> None:
    await open_list(web, services)
    await web.page.get_by_role("checkbox").check()
    web.page.on("dialog", lambda dialog: dialog.accept())
    for status in REFUSALS:
        await refuse(web, "**/cancel", status, "POST")
        await web.page.click("#cancel-chosen")
        await is_said(web, web.page.locator(".page-head [role=alert]"), status, web.page.locator("#cancel-chosen"))
    await expect(web.page.get_by_role("checkbox")).to_be_checked()
    assert await web.accessibility() == []


async def test_a_name_and_a_choice_of_who_sees_it_stay_if_they_are_refused(
    web: BrowserPage, services: ScriptedServices
) -> None:
    await open_list(web, services)
    await web.page.click(".submissions tbody .link-button")
    await web.page.fill("#change-name", "typed")
    await web.page.check("input[value=link]")
    save = web.page.locator("#change-form button[type=submit]")
    for status in REFUSALS:
        await refuse(web, "**/api/v1/submissions/job_1", status, "PATCH")
        await save.click()
        await is_said(web, web.page.locator("#change-form [role=alert]"), status, save)
        await expect(web.page.locator("#change-name")).to_have_value("typed")
        await expect(web.page.locator("input[value=link]")).to_be_checked()
    assert await web.accessibility() == []
    # Whoever asks for something else begins anew.
    await web.page.click("#change-form >> text=Close")
    await web.page.click(".submissions tbody .link-button")
    await expect(web.page.locator("#change-form [role=alert]")).to_be_hidden()


async def test_a_list_that_is_refused_says_why_until_another_is_read(
    web: BrowserPage, services: ScriptedServices
) -> None:
    await open_list(web, services)
    chosen, alert = web.page.get_by_label("Result"), web.page.locator("#alert")
    for status, result in zip(REFUSALS, RESULTS, strict=True):
        await refuse(web, f"**/api/v1/submissions?*status={result}*", status, "GET")
        await chosen.select_option(result)
        await expect(alert).to_contain_text(REFUSALS[status][1])
        await expect(alert).to_be_in_viewport()
        await expect(chosen).to_have_value(result)
        await chosen.select_option("Any")
        await expect(web.page.locator(".submissions tbody tr")).to_have_count(1)
        await expect(alert).to_be_hidden()
    web.complaints.clear()  # the browser's own lines


async def test_a_comparison_that_is_refused_says_why_and_leaves_the_choice(
    web: BrowserPage, services: ScriptedServices
) -> None:
    for job_id in ("job_1", "job_2"):
        services.scheduler.put_job(SPEC, job_id=job_id)
    await web.open()
    for status, (body, _) in REFUSALS.items():
        await refuse(web, "**/api/v1/comparisons?*", status, "GET")
        await web.page.goto(f"{web.gateway.url}/compare?base=job_1&other=job_2")
        await expect(web.page.locator("[aria-labelledby=speed-heading]")).to_contain_text(body["detail"])
        await expect(web.page.locator("[aria-labelledby=choice-heading]")).to_be_visible()
        await expect(web.page.locator("[aria-labelledby=speed-heading]")).not_to_contain_text("Reading")
    assert await web.accessibility() == []
    web.complaints.clear()  # the browser's own lines


async def test_a_source_that_is_too_large_is_named_with_its_limit_and_stays(
    web: BrowserPage, gateway: RunningGateway
) -> None:
    await web.open()
    await web.page.fill("#code", f"int mine;\n// {'x' * MEBIBYTE}")
    await web.submit()
    await expect(web.page.locator("#refusal")).to_contain_text("code: ")
    await expect(web.page.locator("#refusal")).to_contain_text("at most")
    assert (await web.code()).startswith("int mine;")
    assert "SubmitJob" not in gateway.calls
    web.complaints.clear()  # the browser's own line
