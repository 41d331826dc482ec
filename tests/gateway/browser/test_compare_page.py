"""The page that compares two submissions, in Chromium."""

from __future__ import annotations

import zlib

import grpc
import pytest
from playwright.async_api import expect
from wavepool.executor.v1 import run_event_pb2
from wavepool.scheduler.v1 import scheduler_pb2
from wavepool.submission.v1 import submission_pb2

from tests.gateway.browser.browser_page import BrowserPage
from tests.gateway.job_events import whole_run
from tests.gateway.refusals import refusal
from tests.gateway.running_gateway import RunningGateway
from tests.gateway.scripted_services import ScriptedServices

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]

FULL = submission_pb2.RUN_MODE_FULL


def submitted(services: ScriptedServices, job_id: str, source: str, dtype: str = "float32") -> None:
    """A submission of this page's user that was timed."""
    submission = submission_pb2.Submission(problem="vector-addition", source=source, dtype=dtype, mode=FULL)
    services.scheduler.put_job(scheduler_pb2.JobSpec(submission=submission, gpu_type="MI300X"), job_id=job_id)
    services.scheduler.log(job_id, whole_run(FULL))


@pytest.fixture
def both(services: ScriptedServices) -> None:
    submitted(services, "job_1", "int same;\nint slow;\n")
    submitted(services, "job_2", "int same;\nint fast;\n")


async def open_comparison(web: BrowserPage, query: str = "base=job_1&other=job_2") -> None:
    await web.page.goto(f"{web.gateway.url}/compare?{query}#token=wp_user")
    await web.page.wait_for_selector("h1")


@pytest.mark.usefixtures("both")
async def test_the_faster_of_two_is_told_with_intervals_for_each_case(web: BrowserPage) -> None:
    await open_comparison(web)
    verdict = web.page.locator(".verdict.good")
    await expect(verdict).to_contain_text("The other is faster")
    await expect(verdict).to_contain_text("It is 1.500 times as fast.")
    cells = await web.texts(".cases tbody tr >> nth=0 >> td")
    assert cells == ["n = 2^20", "3 ms", "2 ms", "1.5", "1.4 to 1.6", "FASTER"]
    await expect(web.page.locator(".cases tbody tr")).to_have_count(2)
    assert await web.accessibility() == []


@pytest.mark.usefixtures("both")
async def test_a_difference_of_times_that_are_not_proven_is_not_green(
    web: BrowserPage, services: ScriptedServices
) -> None:
    services.scheduler.jobs["job_2"].result.benchmarked.timing = run_event_pb2.TIMING_UNSTABLE
    await open_comparison(web)
    doubted = web.page.locator(".verdict.warn")
    await expect(doubted).to_contain_text("The timing of the first is VALID, that of the other UNSTABLE.")
    await expect(web.page.locator(".verdict.good")).to_have_count(0)


@pytest.mark.usefixtures("both")
async def test_sources_are_shown_beside_each_other_with_what_differs(web: BrowserPage) -> None:
    await open_comparison(web)
    await expect(web.page.locator(".diff .cm-changedText")).to_have_text(["slow", "fast"])
    await expect(web.page.get_by_label("Base's source")).to_contain_text("int slow;")
    await expect(web.page.get_by_label("Other's source")).to_have_attribute("aria-readonly", "true")
    await web.page.set_viewport_size({"width": 390, "height": 844})
    await web.page.reload()
    await expect(web.page.get_by_label("Differences of the source")).to_contain_text("int fast;")
    await expect(web.page.locator(".diff .cm-deletedChunk")).to_contain_text("slow")
    assert await web.overflow_pixels() == 0


async def test_instructions_are_compared_when_they_are_opened(web: BrowserPage, services: ScriptedServices) -> None:
    for job_id, register in (("job_1", "v7"), ("job_2", "v9")):
        submitted(services, job_id, "int same;\n")
        compiled = next(one.run.compiled for one in services.scheduler.logs[job_id] if one.run.HasField("compiled"))
        compiled.isa_listing_zlib = zlib.compress(f"_Z8solutionv:\n    v_mov_b32_e32 {register}, 0\n".encode())
    await open_comparison(web)
    await expect(web.page.locator("[aria-labelledby=diff-heading]")).to_contain_text("Their sources are the same.")
    await web.page.click("text=MI300X instructions")
    await expect(web.page.get_by_label("Base's instructions")).to_contain_text("v_mov_b32_e32 v7, 0")
    await expect(web.page.get_by_label("Other's instructions")).to_contain_text("v_mov_b32_e32 v9, 0")
    await expect(web.page.locator(".diff .cm-changedText").first).to_contain_text("7")


@pytest.mark.usefixtures("both")
async def test_what_cannot_be_compared_says_why(web: BrowserPage, gateway: RunningGateway) -> None:
    reason = "job_1 has the timing mode cold, and job_2 has hot"
    gateway.refusals["CompareJobs"] = refusal(grpc.StatusCode.FAILED_PRECONDITION, reason)
    await open_comparison(web)
    await expect(web.page.locator(".verdict.warn")).to_contain_text(reason)
    await expect(web.page.locator("#alert")).to_be_hidden()
    await expect(web.page.locator(".diff")).to_be_visible()
    web.complaints.clear()  # the browser's own line for the 409


@pytest.mark.usefixtures("both")
async def test_the_second_one_is_chosen_from_those_that_were_timed_in_the_same_way(
    web: BrowserPage, services: ScriptedServices
) -> None:
    submitted(services, "job_3", "int half;", dtype="float16")
    await web.page.goto(f"{web.gateway.url}/submissions/job_1#token=wp_user")
    await web.page.click("text=Compare")
    await expect(web.page.locator("table a").first).to_be_visible()
    assert services.refusals.calls["ListJobs"][-1].comparable_to.job_id == "job_1"
    await web.page.click("text=job_2")
    await web.page.wait_for_url("**/compare?base=job_1&other=job_2")
    await expect(web.page.locator(".verdict")).to_be_visible()
    await web.page.click("text=Swap")
    await web.page.wait_for_url("**/compare?base=job_2&other=job_1")


@pytest.mark.usefixtures("both")
async def test_where_only_two_can_be_compared_no_third_is_missing(web: BrowserPage) -> None:
    await open_comparison(web)
    choice = web.page.locator("[aria-labelledby=choice-heading]")
    await expect(choice).to_contain_text("No third submission of yours was timed in the same way")


@pytest.mark.usefixtures("both")
async def test_a_submission_that_is_not_there_is_named_where_it_is_missing(web: BrowserPage) -> None:
    await open_comparison(web, "base=job_1&other=job_nobody")
    for part in ("diff-heading", "speed-heading"):
        section = web.page.locator(f"[aria-labelledby={part}]")
        await expect(section).to_contain_text("There is no submission job_nobody that you may see.")
        await expect(section).not_to_contain_text("Reading")
    web.complaints.clear()  # the browser's own lines for the 404s


async def test_an_address_without_submissions_leads_on(web: BrowserPage) -> None:
    await open_comparison(web, "")
    await expect(web.page.locator("main")).to_contain_text("names no submission to compare")
    await web.page.click("text=Go to the problems")
    await web.page.wait_for_url("**/problems")


@pytest.mark.usefixtures("both")
@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_a_comparison_fits_a_phone(web: BrowserPage, scheme: str) -> None:
    await web.page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    await web.page.set_viewport_size({"width": 390, "height": 844})
    await open_comparison(web)
    await web.page.wait_for_selector(".diff")
    # Ids of real submissions are longer than those here.
    await web.page.eval_on_selector("#speed-heading", "(it) => it.append(' job_01M8M3DVSH0N7JJZT30KXX9X0WMM')")
    assert await web.accessibility() == []
    assert await web.overflow_pixels() == 0
