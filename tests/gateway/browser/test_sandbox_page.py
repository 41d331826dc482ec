"""The sandbox, where whole programs are written and run, in Chromium."""

from __future__ import annotations

import pytest
from playwright.async_api import expect
from wavepool.executor.v1 import run_event_pb2
from wavepool.scheduler.v1 import scheduler_pb2
from wavepool.submission.v1 import submission_pb2

from tests.gateway.browser.browser_page import PROBLEM_PAGE, BrowserPage
from tests.gateway.job_events import COMPILE_ERROR, event, whole_run
from tests.gateway.running_gateway import RunningGateway
from tests.gateway.scripted_services import ScriptedServices

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]

SANDBOX = submission_pb2.RUN_MODE_SANDBOX
STEPS = ("compiling", "compiled", "program_started")
# Up to the program's first line.
BEGUN = whole_run(SANDBOX, steps=STEPS)[:-1]


def printed(seq: int, line: str, stream: str = "stdout") -> scheduler_pb2.JobEvent:
    output = run_event_pb2.ProgramOutput(stream=stream, line=line)
    return event(seq, run=run_event_pb2.RunEvent(program_output=output))


async def open_sandbox(web: BrowserPage) -> None:
    await web.page.goto(f"{web.gateway.url}/sandbox#token=wp_user")
    await web.page.wait_for_selector("#code")


async def test_a_program_is_run_and_what_it_prints_comes_line_by_line(
    web: BrowserPage, services: ScriptedServices
) -> None:
    services.scheduler.script_of_next_job = BEGUN
    await open_sandbox(web)
    assert "int main()" in await web.code()
    await expect(web.page.locator("#quote")).to_contain_text("at most $0.50 on an MI300X")
    await web.page.fill("#code", "int main() {}")
    await web.submit()
    await web.page.wait_for_url("**/sandbox?submission=job_1")
    await web.page.wait_for_selector(".stage.active >> text=Run")
    assert await web.texts(".stage .stage-name") == ["Queue", "Machine", "Compile", "Run", "Done"]
    sent = services.refusals.calls["SubmitJob"][0].spec.submission
    assert (sent.mode, sent.problem, sent.source) == (SANDBOX, "", "int main() {}")
    last = BEGUN[-1].seq
    await services.scheduler.add(printed(last + 1, "one"))
    await expect(web.page.locator("#output span")).to_have_text(["one\n"])
    await services.scheduler.add(printed(last + 2, "two", "stderr"))
    await expect(web.page.locator("#output span.stderr")).to_have_text(["two\n"])
    # Beside a verdict, the output is the first thing that is seen.
    end = whole_run(SANDBOX)[-1]
    end.seq = last + 3
    await services.scheduler.add(end)
    await web.page.wait_for_selector(".verdict.good >> text=Program ran")
    assert await web.texts("#output span") == ["one", "two"]
    assert await web.accessibility() == []


async def test_nothing_that_was_written_is_lost_and_a_kernel_has_its_own_draft(
    web: BrowserPage, gateway: RunningGateway
) -> None:
    await open_sandbox(web)
    await web.page.fill("#code", "int mine;")
    await web.page.reload()
    assert await web.code() == "int mine;"
    await web.page.click("#starter-button")
    assert "int main()" in await web.code()
    await web.page.click("#replaced >> text=Undo")
    assert await web.code() == "int mine;"
    await web.page.goto(gateway.url + PROBLEM_PAGE)
    await expect(web.page.locator("#submit-button")).to_have_text("Run full check")
    assert "solution" in await web.code()
    await web.page.click("text=Sandbox")
    await expect(web.page.locator("#submit-button")).to_have_text("Run program")
    assert await web.code() == "int mine;"


async def test_a_program_outlives_a_reload_and_is_cancelled(web: BrowserPage, services: ScriptedServices) -> None:
    services.scheduler.script_of_next_job = [*BEGUN, printed(BEGUN[-1].seq + 1, "one")]
    await open_sandbox(web)
    await web.submit()
    await expect(web.page.locator("#output")).to_have_text("one\n")
    await web.page.reload()
    await expect(web.page.locator("#output")).to_have_text("one\n")
    await expect(web.page.locator("#programs a")).to_have_count(1)
    await web.page.click("#cancel-button")
    await web.page.click("#cancel-confirm")
    await web.page.wait_for_selector(".verdict.warn >> text=Cancelled")
    assert services.scheduler.cancelled == ["job_1"]


async def test_what_the_compiler_says_leads_to_its_line(web: BrowserPage) -> None:
    web.script(SANDBOX, COMPILE_ERROR, ("compiling",))
    await open_sandbox(web)
    await web.page.fill("#code", "one\ntwo\nthree\n    oops;\nfive")
    await web.submit()
    await web.page.click("text=use of undeclared identifier")
    assert await web.texts(".cm-lintRange-error") == ["oops;"]
    selected = "document.querySelector('#editor').shadowRoot.getSelection().toString()"
    assert await web.page.evaluate(selected) == "oops;"


async def test_a_long_output_is_followed_to_its_end_unless_somebody_reads_above(
    web: BrowserPage, services: ScriptedServices
) -> None:
    first = BEGUN[-1].seq + 1
    services.scheduler.script_of_next_job = [*BEGUN, *(printed(first + at, f"line {at}") for at in range(1003))]
    await open_sandbox(web)
    await web.submit()
    await expect(web.page.locator("#output span").last).to_have_text("line 1002\n", timeout=15_000)
    await expect(web.page.locator("#outcome")).to_contain_text("3 lines before these are not shown.")
    below = "(it) => it.scrollHeight - it.scrollTop - it.clientHeight"
    assert await web.page.locator("#output").evaluate(below) < 8
    await web.page.locator("#output").evaluate("(it) => new Promise((r) => { it.onscroll = r; it.scrollTop = 0; })")
    await services.scheduler.add(printed(first + 1003, "the last"))
    await expect(web.page.locator("#output span").last).to_have_text("the last\n")
    assert await web.page.locator("#output").evaluate("(it) => it.scrollTop") == 0


async def test_each_submission_opens_in_the_workbench_that_it_is_of(
    web: BrowserPage, gateway: RunningGateway, services: ScriptedServices
) -> None:
    web.script(SANDBOX)
    await open_sandbox(web)
    await web.submit()
    await web.page.wait_for_selector(".verdict.good")
    # As links of before had it.
    await web.page.goto(f"{gateway.url}{PROBLEM_PAGE}?submission=job_1")
    await web.page.wait_for_url("**/sandbox?submission=job_1")
    await web.page.wait_for_selector("#output")
    web.script(submission_pb2.RUN_MODE_CHECK)
    await web.page.goto(gateway.url + PROBLEM_PAGE)
    await web.choose("check")
    await web.submit()
    await web.page.wait_for_selector(".verdict.good")
    await web.page.goto(f"{gateway.url}/sandbox?submission=job_2")
    await web.page.wait_for_url(f"**{PROBLEM_PAGE}?submission=job_2")
    await expect(web.page.locator("#submit-button")).to_have_text("Run check")


async def test_a_program_that_is_not_there_says_so_and_leads_to_the_sandbox(web: BrowserPage) -> None:
    await web.page.goto(f"{web.gateway.url}/sandbox?submission=nothing#token=wp_user")
    await expect(web.page.locator("main")).to_contain_text("There is no submission nothing that you may see.")
    await web.page.click("text=Go to the sandbox")
    assert "int main()" in await web.code()
    web.complaints.clear()  # the browser's own line for the 404


async def test_a_program_has_only_the_options_that_it_takes(web: BrowserPage, services: ScriptedServices) -> None:
    web.script(SANDBOX)
    await open_sandbox(web)
    await web.open_options()
    for unused in ("#timing", "#profile", "#launch-plan", "#problem-def", ".modes", "#dtype"):
        await expect(web.page.locator(unused)).to_have_count(0)
    await web.page.select_option("#gpu-select", "MI250X")
    await expect(web.page.locator("#chosen")).to_have_text("Sandbox · MI250X")
    await web.page.focus("#code")
    # There is no sample to run.
    await web.page.keyboard.press("Control+'")
    await web.page.keyboard.press("Control+Enter")
    await web.page.wait_for_selector(".verdict.good")
    (sent,) = services.refusals.calls["SubmitJob"]
    assert (sent.spec.gpu_type, sent.spec.submission.mode) == ("MI250X", SANDBOX)


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_the_sandbox_fits_a_phone(web: BrowserPage, scheme: str) -> None:
    await web.page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    await web.page.set_viewport_size({"width": 390, "height": 844})
    web.script(SANDBOX)
    await open_sandbox(web)
    assert await web.overflow_pixels() == 0
    await web.submit()
    await web.page.wait_for_selector(".verdict.good")
    assert await web.accessibility() == []
    assert await web.overflow_pixels() == 0
    await web.page.click("text=About")
    await expect(web.page.locator("#programs a")).to_have_count(1)
    assert await web.overflow_pixels() == 0
