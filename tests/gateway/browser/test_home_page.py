"""The first page and the leaderboard, in Chromium."""

from __future__ import annotations

import grpc
import pytest
from playwright.async_api import Browser, expect
from wavepool.submission.v1 import submission_pb2

from tests.gateway.browser.browser_page import PROBLEM_PAGE, BrowserPage
from tests.gateway.refusals import refusal
from tests.gateway.running_gateway import RunningGateway, serve, settings_for
from tests.gateway.scripted_services import ScriptedServices

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]


async def test_whoever_is_not_signed_in_is_told_what_this_is_and_the_way_in(
    web: BrowserPage, gateway: RunningGateway
) -> None:
    await web.page.goto(gateway.url)
    await expect(web.page.locator("main")).to_contain_text("Write HIP kernels here")
    assert await web.accessibility() == []
    await web.page.click("#welcome-sign-in")
    await web.page.fill("#token-input", "wp_user")
    await web.page.keyboard.press("Enter")
    await expect(web.page.locator("h1")).to_have_text("Your work")


async def test_whoever_is_not_signed_in_sees_a_real_result_and_reads_where_it_ran(
    web: BrowserPage, gateway: RunningGateway
) -> None:
    await web.page.goto(gateway.url)
    sample = web.page.locator(".sample-result")
    await expect(sample.locator(".verdict")).to_contain_text("Accepted")
    await expect(sample).to_contain_text("It ran on a CPU (AMD EPYC)")
    await expect(sample.locator("[aria-label='The kernel']")).to_contain_text("sum[i] = a[i] + b[i]")
    assert await web.texts(".sample-result .stage.done .stage-name") == [
        *("Queue", "Machine", "Compile", "Check", "Benchmark", "Done")
    ]
    await expect(sample.locator(".distribution")).to_have_count(4)
    # Nothing that only its owner can do or read.
    for control in ("#cancel-button", "#report-button", "#result-link", ".instructions"):
        await expect(sample.locator(control)).to_have_count(0)
    await expect(sample.get_by_text("All samples over time")).to_have_count(0)
    # The way in is before it.
    tops = [(await web.page.locator(it).bounding_box() or {})["y"] for it in ("#welcome-sign-in", ".sample-result")]
    assert tops == sorted(tops)
    await expect(web.page.locator("#token-input")).to_be_hidden()
    loaded: dict[str, int] = await web.page.evaluate(
        "Object.fromEntries(['resource', 'navigation'].flatMap((kind) => performance.getEntriesByType(kind))"
        ".filter(({name}) => !new URL(name).pathname.startsWith('/api/'))"
        ".map(({name, encodedBodySize}) => [name, encodedBodySize]))"
    )
    assert sum(loaded.values()) <= 110_000, loaded


async def test_the_way_in_says_so_and_is_the_persons_name_after_it(web: BrowserPage, gateway: RunningGateway) -> None:
    await web.page.goto(gateway.url)
    button = web.page.locator("#token-button")
    await expect(button).to_have_text("Sign in")
    await web.open()
    await expect(button).to_have_text("demo")
    await button.click()
    await expect(web.page.locator("#token-heading")).to_have_text("Signed in as demo")
    await expect(web.page.locator("#token-input")).to_be_hidden()
    assert await web.accessibility() == []
    await web.page.click("text=Your profile")
    await web.page.wait_for_url("**/users/demo")
    await expect(web.page.locator("#token-dialog")).to_be_hidden()


async def test_without_scripts_the_page_says_what_to_do(browser: Browser, gateway: RunningGateway) -> None:
    context = await browser.new_context(java_script_enabled=False)
    page = await context.new_page()
    await page.goto(f"{gateway.url}/problems")
    said = page.locator("noscript p")
    await expect(said).to_be_visible()
    await expect(said).to_contain_text("This page needs JavaScript: allow it for this site")
    await said.locator("a").click()
    assert page.url == f"{gateway.url}/api/openapi.json"
    await context.close()


async def test_the_first_page_leads_on_to_the_problem_and_the_runs_of_before(
    web: BrowserPage, gateway: RunningGateway
) -> None:
    await web.page.goto(f"{gateway.url}/#token=wp_user")
    await expect(web.page.locator("#go-on")).to_be_hidden()
    await web.open()
    web.script(submission_pb2.RUN_MODE_FULL)
    await web.submit()
    await web.page.wait_for_selector(".verdict.good")
    await web.page.click(".brand")
    await expect(web.page.locator("main")).to_contain_text("To spend")
    # A number stands beside what it is of.
    tops = await web.page.locator(".sums >> nth=0").evaluate("(it) => [...it.children].map((one) => one.offsetTop)")
    assert tops[0] == tops[1] < tops[2]
    await expect(web.page.locator("main")).to_contain_text("More submissions now")
    await expect(web.page.locator("tbody tr").first).to_contain_text("Full")
    await web.page.click("#go-on")
    await web.is_ready()
    assert web.page.url == gateway.url + PROBLEM_PAGE


async def test_a_leaderboard_ranks_times_and_shows_ones_own_place_further_down(
    web: BrowserPage, gateway: RunningGateway
) -> None:
    await web.open()
    await web.page.goto(f"{gateway.url}{PROBLEM_PAGE}/leaderboard?gpu=MI210&timing=hot")
    rows = web.page.locator(".ranking tbody tr")
    await expect(rows).to_have_count(3)
    assert (await web.texts(".ranking tbody tr:last-child td"))[:2] == ["9", "demo (you)"]
    asked = gateway.calls["ListRankings"][-1]
    assert (asked.gpu_type, asked.timing_mode) == ("MI210", submission_pb2.TIMING_MODE_HOT)
    await web.page.get_by_label("Timing").select_option("cold")
    await web.page.wait_for_url("**/leaderboard?gpu=MI210&timing=cold")
    links = [await link.get_attribute("href") for link in await rows.last.locator("a").all()]
    assert links == ["/users/demo", "/submissions/job_user_user"]


async def test_a_ranking_leads_to_users_and_to_submissions_that_are_public(
    web: BrowserPage, gateway: RunningGateway
) -> None:
    answers = gateway.services.answers
    first, gone = answers["ListRankings"]["rankings"]
    answers["ListRankings"] = {**answers["ListRankings"], "rankings": [{**first, "is_public": True}, gone]}
    await web.open()
    await web.page.goto(f"{gateway.url}{PROBLEM_PAGE}/leaderboard")
    rows = web.page.locator(".ranking tbody tr")
    await expect(rows.nth(0).locator("a[href='/submissions/job_user_ada']")).to_have_text("1.50 ± 0.38 ms")
    await expect(rows.nth(1)).to_contain_text("(unknown)")
    assert await rows.nth(1).locator("a").count() == 0
    await rows.nth(0).locator("a").first.click()
    await web.page.wait_for_url("**/users/ada")


async def test_a_leaderboard_draws_the_record_over_time_with_its_numbers(
    web: BrowserPage, gateway: RunningGateway
) -> None:
    await web.open()
    await web.page.goto(f"{gateway.url}{PROBLEM_PAGE}/leaderboard?gpu=MI210&timing=hot")
    await expect(web.page.locator(".records path")).to_have_count(2)
    asked = gateway.calls["ListRecords"][-1]
    assert (asked.gpu_type, asked.timing_mode) == ("MI210", submission_pb2.TIMING_MODE_HOT)
    await web.page.click(".records summary")
    records = web.page.locator(".records table").first.locator("tbody tr")
    await expect(web.page.locator(".records .hint").first).to_contain_text("From 3 ms above to 2 ms below")
    await expect(records).to_contain_text(["2.00 ± 0.50 ms", "3.00 ± 0.75 ms"])
    await expect(records.first.locator("a")).to_have_text(["demo", "2.00 ± 0.50 ms"])
    assert await web.accessibility() == []
    answers = gateway.services.answers
    answers["ListRecords"] = {**answers["ListRecords"], "records": [], "own": []}
    await web.page.reload()
    await web.page.wait_for_selector(".ranking")
    await expect(web.page.locator(".records")).to_be_hidden()


async def test_a_leaderboard_of_no_problem_is_not_found_and_one_that_cannot_be_read_says_why(
    web: BrowserPage, gateway: RunningGateway
) -> None:
    gateway.refusals["ListRankings"] = refusal(grpc.StatusCode.NOT_FOUND, "there is no problem `nothing`")
    await web.open()
    await web.page.goto(f"{gateway.url}/problems/nothing/leaderboard")
    await expect(web.page.locator("main")).to_contain_text("There is no problem nothing.")
    await expect(web.page.locator("#alert")).to_be_hidden()
    await web.page.click("text=Go to the problems")
    await web.page.wait_for_url("**/problems")
    gateway.refusals["ListRankings"] = refusal(grpc.StatusCode.UNAVAILABLE, "The scheduler is away.")
    await web.page.goto(f"{gateway.url}{PROBLEM_PAGE}/leaderboard")
    await expect(web.page.locator(".card").first).to_contain_text("The times could not be read: A service")
    await expect(web.page.locator("main")).not_to_contain_text("Reading the times")
    web.complaints.clear()  # the browser's own lines for the refusals


async def test_times_that_do_not_rank_are_said_to(web: BrowserPage, gateway: RunningGateway) -> None:
    await web.open()
    answers = gateway.services.answers
    answers["ListRankings"] = {**answers["ListRankings"], "ranked": False}
    await web.page.goto(f"{gateway.url}/leaderboard?gpu=cpu")
    await expect(web.page.locator("main")).to_contain_text("These times do not rank")


async def test_the_problem_page_has_the_leaderboard_of_what_is_chosen(web: BrowserPage) -> None:
    await web.open()
    await web.page.click("role=tab[name=Leaderboard]")
    await expect(web.page.locator(".ranking tbody tr")).to_have_count(3)
    assert await web.accessibility() == []


async def test_public_problems_are_read_without_an_account_and_lead_to_sign_in(
    web: BrowserPage, services: ScriptedServices
) -> None:
    async with serve(services, settings_for(services, public_problems=True)) as public:
        web.gateway = public
        await web.page.goto(public.url)
        await web.page.click("text=Read the problems")
        await web.page.click(".problems tbody a")
        await expect(web.page.locator("#signature")).to_contain_text("void solution")
        await expect(web.page.locator("#token-dialog")).to_be_hidden()
        assert await web.accessibility() == []
        await web.page.click("#read-sign-in")
        await web.page.fill("#token-input", "wp_user")
        await web.page.keyboard.press("Enter")
        await web.page.wait_for_selector("#submit-button")
        await web.page.goto("about:blank")
