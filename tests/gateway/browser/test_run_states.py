"""What the page shows beside the Run button and while a run waits, in Chromium."""

from __future__ import annotations

from datetime import timedelta

import grpc
import pytest
from google.protobuf.duration_pb2 import Duration
from playwright.async_api import Page, Route, expect
from wavepool.scheduler.v1 import scheduler_pb2
from wavepool.submission.v1 import submission_pb2
from wavepool.vmpool.v1 import vmpool_pb2

from servicekit.rpc.errors import RpcFailure
from tests.gateway.browser.browser_page import PROBLEM_PAGE, BrowserPage
from tests.gateway.job_events import CPU_MACHINE, event, queued
from tests.gateway.refusals import refusal
from tests.gateway.running_gateway import RunningGateway
from tests.gateway.scripted_services import ScriptedServices

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]

FULL = submission_pb2.RUN_MODE_FULL
WAITING = event(
    1,
    queued=scheduler_pb2.Queued(
        position=3, eta_p50=Duration(seconds=40), eta_p90=Duration(seconds=120), message="Waiting for a machine."
    ),
)
STARTING = event(
    2,
    provisioning=scheduler_pb2.Provisioning(
        start_kind=vmpool_pb2.START_KIND_COLD_START,
        stage="booting",
        elapsed=Duration(seconds=2),
        estimate=Duration(seconds=40),
        estimate_p90=Duration(seconds=90),
        machine=CPU_MACHINE,
        message="Starting a machine.",
    ),
)


async def looks_right(web: BrowserPage) -> None:
    assert await web.accessibility() == []


async def test_a_run_in_the_queue_says_when_it_starts_and_after_a_while_why_not_yet(
    web: BrowserPage, services: ScriptedServices
) -> None:
    services.scheduler.script_of_next_job = [WAITING]
    await web.page.clock.install()
    await web.open()
    asked_at_once: list[str] = []
    web.page.on("request", lambda it: asked_at_once.append(it.url) if "/why" in it.url else None)
    await web.submit()
    await expect(web.page.locator("#starts")).to_have_text("Starts likely within 40 s, at worst 2 min.")
    assert asked_at_once == []
    await web.page.clock.fast_forward(6000)
    await expect(web.page.locator("#why")).to_have_text(
        "2 jobs are ahead of it, (of another account) among them. To free it: A run that ends."
    )
    # The newer estimate counts, and what has passed since.
    await expect(web.page.locator("#starts")).to_contain_text("Starts likely within 2 min")
    await looks_right(web)
    asked = len(services.refusals.calls["ExplainJob"])
    await services.scheduler.add(STARTING)
    await expect(web.page.locator("#waiting")).to_have_count(0)
    await web.page.clock.fast_forward(30_000)
    assert len(services.refusals.calls["ExplainJob"]) == asked


async def test_a_wait_that_cannot_be_explained_is_no_failure(web: BrowserPage, services: ScriptedServices) -> None:
    services.refusals.by_method["ExplainJob"] = refusal(grpc.StatusCode.NOT_FOUND, "It has begun.")
    services.scheduler.script_of_next_job = [WAITING]
    await web.page.clock.install()
    await web.open()
    await web.submit()
    await web.page.wait_for_selector("#starts")
    async with web.page.expect_response("**/why?*"):
        await web.page.clock.fast_forward(6000)
    await expect(web.page.locator("#starts")).to_be_visible()
    await expect(web.page.locator("#alert")).to_be_hidden()
    web.complaints.clear()  # the browser's own lines for the 404s


async def test_a_machine_that_starts_has_its_price_and_the_time_that_such_starts_take(
    web: BrowserPage, services: ScriptedServices
) -> None:
    services.scheduler.script_of_next_job = [queued(), STARTING]
    await web.page.clock.install()
    await web.open()
    await web.submit()
    card = web.page.locator("#machine-start")
    await expect(card).to_contain_text("Cold start · booting · AMD EPYC 9354P (23 GB, $1.99/h)")
    await expect(web.page.locator("#machine-time")).to_contain_text("so far; usually 40 s, at worst 2 min.")
    await web.page.clock.fast_forward(100_000)
    await expect(web.page.locator("#machine-time")).to_contain_text("longer than nine in ten")
    await looks_right(web)


async def test_the_first_start_of_a_kind_says_that_it_has_no_estimate(
    web: BrowserPage, services: ScriptedServices
) -> None:
    first = scheduler_pb2.JobEvent()
    first.CopyFrom(STARTING)
    first.provisioning.ClearField("estimate")
    first.provisioning.ClearField("estimate_p90")
    first.provisioning.start_limit.FromSeconds(1200)
    services.scheduler.script_of_next_job = [queued(), first]
    await web.open()
    await web.submit()
    await expect(web.page.locator("#machine-time")).to_contain_text(
        "No estimate yet: first start of this kind; given up after 20 min."
    )


async def test_cancel_asks_and_says_what_is_charged_so_far(web: BrowserPage, services: ScriptedServices) -> None:
    services.scheduler.script_of_next_job = [queued(), STARTING]
    await web.open()
    await web.submit()
    await web.page.wait_for_selector("#machine-start")
    await web.page.click("#cancel-button")
    await expect(web.page.locator("#cancel-dialog")).to_contain_text("$0.000002 is charged so far")
    await looks_right(web)
    await web.page.click("#cancel-dialog button:text-is('Let it run')")
    await expect(web.page.locator("#cancel-dialog")).to_be_hidden()
    assert services.scheduler.cancelled == []
    await web.page.click("#cancel-button")
    await web.page.click("#cancel-confirm")
    await web.page.wait_for_selector(".verdict.warn >> text=Cancelled")
    assert services.scheduler.cancelled == ["job_1"]


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (
            refusal(grpc.StatusCode.FAILED_PRECONDITION, "This needs $0.50, and $0.10 is available: $0.40 is missing."),
            "$0.40 is missing. Whoever runs this service can give you credit",
        ),
        (
            refusal(grpc.StatusCode.RESOURCE_EXHAUSTED, "20 jobs are in flight.", retry_after=timedelta(seconds=40)),
            "20 jobs are in flight. Possible again at ",
        ),
        (refusal(grpc.StatusCode.PERMISSION_DENIED, "You may not submit here."), "You may not submit here."),
        (refusal(grpc.StatusCode.INVALID_ARGUMENT, "", (("spec.gpu_type", "is no type"),)), "gpu_type: is no type"),
    ],
)
async def test_a_refusal_stands_beside_the_button_says_what_to_do_and_keeps_the_text(
    web: BrowserPage, gateway: RunningGateway, answer: RpcFailure, words: str
) -> None:
    gateway.refusals["SubmitJob"] = answer
    await web.open()
    await web.page.fill("#code", "int mine;")
    await web.submit()
    await expect(web.page.locator("#refusal")).to_contain_text(words)
    await expect(web.page.locator("#submit-button")).to_be_enabled()
    assert await web.code() == "int mine;"
    assert len(gateway.services.refusals.calls["SubmitJob"]) == 1
    await looks_right(web)
    assert len(web.complaints) == 1  # the browser's own line
    web.complaints.clear()


async def test_a_service_that_is_away_for_a_moment_is_asked_again_and_the_submission_runs_once(
    web: BrowserPage, gateway: RunningGateway, services: ScriptedServices
) -> None:
    web.script(FULL)
    gateway.refusals["SubmitJob"] = refusal(grpc.StatusCode.UNAVAILABLE)
    await web.open()
    await web.submit()
    await expect(web.page.locator("#trying")).to_contain_text("Trying again")
    await expect(web.page.locator("#submit-button")).to_be_disabled()
    del gateway.refusals["SubmitJob"]
    await web.page.wait_for_selector(".verdict.good")
    await expect(web.page.locator("#trying")).to_be_hidden()
    assert len({request.idempotency_key for request in services.refusals.calls["SubmitJob"]}) == 1
    web.complaints.clear()  # the browser's own line for the 503


async def test_a_service_that_stays_away_is_given_up_and_run_sends_the_same_again(
    web: BrowserPage, gateway: RunningGateway, services: ScriptedServices
) -> None:
    web.script(FULL)
    gateway.refusals["SubmitJob"] = refusal(grpc.StatusCode.UNAVAILABLE)
    await web.page.clock.install()
    await web.open()
    sent: list[str] = []
    web.page.on("request", lambda it: sent.append(it.method) if it.url.endswith("/api/v1/submissions") else None)
    async with web.page.expect_response("**/api/v1/submissions"):
        await web.submit()
    for _ in range(3):
        await expect(web.page.locator("#trying")).to_be_visible()
        async with web.page.expect_response("**/api/v1/submissions"):
            await web.page.clock.fast_forward(5000)
    await expect(web.page.locator("#refusal")).to_contain_text("Run sends the same again, and it runs once.")
    del gateway.refusals["SubmitJob"]
    await web.submit()
    await web.page.wait_for_selector(".verdict.good")
    assert sent == ["POST"] * 5
    assert len({request.idempotency_key for request in services.refusals.calls["SubmitJob"]}) == 1
    web.complaints.clear()  # the browser's own lines for the 503s


async def test_a_session_that_has_ended_comes_back_to_the_same_text(
    web: BrowserPage, services: ScriptedServices
) -> None:
    async def refuse(route: Route) -> None:
        await route.fulfill(status=401, content_type="application/problem+json", body='{"detail": "No token."}')

    web.script(FULL)
    await web.open()
    await web.choose("benchmark")
    await web.page.fill("#launch-plan", '{"launches": []}')
    await web.page.fill("#code", "int mine;")
    await web.page.route("**/api/v1/submissions", refuse, times=1)
    await web.submit()
    await expect(web.page.locator("#token-dialog")).to_be_visible()
    # As after the way to an identity provider and back.
    await web.page.reload()
    await web.is_ready()
    assert await web.code() == "int mine;"
    await expect(web.page.locator("#launch-plan")).to_have_value('{"launches": []}')
    await web.submit()
    await web.page.wait_for_selector(".verdict.good")
    sent = services.refusals.calls["SubmitJob"][-1].spec.submission
    assert (sent.source, sent.mode) == ("int mine;", submission_pb2.RUN_MODE_BENCHMARK)
    web.complaints.clear()  # the browser's own line for the 401


async def test_one_line_says_what_is_chosen_and_a_new_tab_begins_with_it(web: BrowserPage) -> None:
    await web.open()
    await expect(web.page.locator("#chosen")).to_have_text("Full · MI300X")
    await web.choose("benchmark")
    await web.page.select_option("#timing-select", "cold")
    await web.page.check("#profile-asked")
    await web.page.fill("#launch-plan", "{}")
    await expect(web.page.locator("#chosen")).to_have_text("Benchmark · MI300X · cold caches · profile · launch plan")
    await expect(web.page.locator("#submit-button")).to_have_text("Run benchmark")
    tab: Page = await web.page.context.new_page()
    await tab.goto(f"{web.gateway.url}{PROBLEM_PAGE}")
    # A plan belongs to what it was written for.
    await expect(tab.locator("#chosen")).to_have_text("Benchmark · MI300X · cold caches · profile")


async def test_the_open_options_leave_the_editor_most_of_the_height(web: BrowserPage) -> None:
    await web.page.set_viewport_size({"width": 1440, "height": 900})
    await web.open()
    await web.open_options()
    sizes = [await web.page.locator(place).bounding_box() or {} for place in ("#editor", "#extras", "#code-pane")]
    editor, options, pane = (size["height"] for size in sizes)
    assert editor > 0.45 * pane
    assert editor > 1.5 * options
    assert await web.page.locator("#code-pane").evaluate("(it) => it.scrollHeight - it.clientHeight") == 0
    await web.page.fill("#problem-def", "class mine: ...")
    assert await web.accessibility() == []


async def test_credit_that_does_not_cover_a_run_is_said_to_before_it_is_sent(
    web: BrowserPage, gateway: RunningGateway
) -> None:
    answers = gateway.services.answers
    await web.open()
    await expect(web.page.locator("#quote")).to_contain_text("at most $0.50")
    await expect(web.page.locator("#missing-credit")).to_be_hidden()
    answers["GetBalance"] = {"account_id": "acc_user", "account_name": "demo", "available_micros": 0}
    await web.page.reload()
    await expect(web.page.locator("#missing-credit")).to_contain_text(
        "Your credit of $0.00 does not cover the $0.50 that it puts on hold, so it would be refused."
    )
    await looks_right(web)


async def test_types_that_the_pool_neither_has_nor_can_start_are_marked(web: BrowserPage) -> None:
    await web.open()
    await web.open_options()
    options = web.page.locator("#gpu-select option")
    await expect(options.nth(1)).to_have_text("MI300A (none here, and no provider has it)")
    await expect(options.nth(0)).to_have_text("MI300X")
    await looks_right(web)


async def test_what_nobody_knows_of_price_and_pool_is_not_said(web: BrowserPage, services: ScriptedServices) -> None:
    for method in ("GetQuote", "GetAvailability"):
        services.refusals.by_method[method] = refusal(grpc.StatusCode.UNAVAILABLE)
    web.script(FULL)
    await web.page.goto(f"{web.gateway.url}/#token=wp_user")
    async with web.page.expect_response("**/quote?*"), web.page.expect_response("**/availability"):
        await web.open()
    await web.open_options()
    await expect(web.page.locator("#quote")).to_be_empty()
    await expect(web.page.locator("#gpu-select option").nth(1)).to_have_text("MI300A")
    await expect(web.page.locator("#alert")).to_be_hidden()
    await web.submit()
    await web.page.wait_for_selector(".verdict.good")
    web.complaints.clear()  # the browser's own lines for the 503s


async def test_a_stage_moves_unless_people_want_no_motion(web: BrowserPage, services: ScriptedServices) -> None:
    services.scheduler.script_of_next_job = [WAITING]
    await web.open()
    await web.submit()
    await web.page.wait_for_selector(".stage.active")
    moving = "document.getAnimations().length"
    assert await web.page.evaluate(moving) == 0
    await web.page.emulate_media(reduced_motion="no-preference")
    await web.page.wait_for_function(f"{moving} > 0")


async def test_a_submission_without_a_network_is_kept_and_runs_once_when_it_is_back(
    web: BrowserPage, services: ScriptedServices
) -> None:
    web.script(FULL)
    await web.page.clock.install()
    await web.open()
    await web.page.fill("#code", "int mine;")
    await web.page.context.set_offline(True)
    await expect(web.page.locator("#offline")).to_contain_text("no network")
    await web.submit()
    await expect(web.page.locator("#trying")).to_contain_text("Trying again")
    assert await web.accessibility() == []
    # A minute passes.
    while not await web.page.locator("#refusal").is_visible():
        await web.page.clock.fast_forward(5000)
    await web.page.clock.fast_forward(60_000)
    await expect(web.page.locator("#refusal")).to_contain_text("Run sends the same again, and it runs once.")
    assert await web.code() == "int mine;"
    await web.page.context.set_offline(False)
    await expect(web.page.locator("#offline")).to_be_hidden()
    await web.submit()
    await web.page.wait_for_selector(".verdict.good")
    (sent,) = services.refusals.calls["SubmitJob"]
    assert sent.spec.submission.source == "int mine;"
    web.complaints.clear()  # the browser's own lines for requests that failed


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_a_waiting_run_fits_a_phone(web: BrowserPage, services: ScriptedServices, scheme: str) -> None:
    await web.page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    await web.page.set_viewport_size({"width": 390, "height": 844})
    services.scheduler.script_of_next_job = [WAITING]
    await web.open()
    await web.open_options()
    assert await web.overflow_pixels() == 0
    await looks_right(web)
    await web.submit()
    await web.page.wait_for_selector("#starts")
    assert await web.overflow_pixels() == 0
    await services.scheduler.add(STARTING)
    await web.page.wait_for_selector("#machine-start")
    assert await web.overflow_pixels() == 0
    await looks_right(web)
