"""The web page in Chromium, over a real gateway."""

from __future__ import annotations

import asyncio
import json
import math
import re
from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qs, urlsplit

import grpc
import pytest
from playwright.async_api import Dialog, Route, expect
from wavepool.executor.v1 import run_event_pb2
from wavepool.scheduler.v1 import scheduler_pb2
from wavepool.submission.v1 import submission_pb2

from tests.gateway.browser.browser_page import PROBLEM_PAGE, BrowserPage
from tests.gateway.job_events import ACCEPTED, COMPILE_ERROR, PROFILE, WRONG, event, whole_run
from tests.gateway.refusals import refusal
from tests.gateway.running_gateway import RunningGateway
from tests.gateway.scripted_scheduler import ALIAS, PROBLEM
from tests.gateway.scripted_services import ScriptedServices

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]

FULL = submission_pb2.RUN_MODE_FULL
TO_COMPILER = ("compiling",)
TO_CHECKER = ("compiling", "compiled", "checking")
SHOUT = "<img src=x onerror=\"document.title='owned'\"><b>bold</b>"


async def test_kernel_is_submitted_followed_live_and_its_result_shown(
    web: BrowserPage, services: ScriptedServices
) -> None:
    events = whole_run(FULL)
    services.scheduler.script_of_next_job = events[:9]
    await web.open()
    await web.page.fill("#code", "int mine;")
    await web.submit()
    await web.page.wait_for_selector(".stage.active >> text=Benchmark")
    assert await web.texts(".stage.done .stage-name") == ["Queue", "Machine", "Compile", "Check"]
    assert await web.texts(".stage.done .stage-time") == ["0.5 s", "0.5 s", "1.0 s", "1.5 s"]
    await services.scheduler.add(*events[9:])
    await web.page.wait_for_selector(".verdict.good")
    cells = await web.texts(".benchmarks tbody td")
    assert cells[:3] == ["n = 1024", "2.50 ± 0.10 ms", "± 4 %"]
    assert "1.5" in cells
    assert "rank beside no GPU's" in await web.page.locator("#outcome").inner_text()
    assert await web.page.locator("#live-status").inner_text() == "Accepted · VALID."
    assert "$0.001234" in await web.page.locator(".figures").inner_text()
    assert services.refusals.calls["SubmitJob"][0].spec.submission.source == "int mine;"


async def test_a_benchmark_says_in_the_page_how_far_it_has_come(web: BrowserPage, services: ScriptedServices) -> None:
    events = whole_run(FULL)[:9]
    measuring = run_event_pb2.BENCHMARK_STAGE_MEASURING
    progress = run_event_pb2.BenchmarkProgress(
        stage=measuring, session=2, sessions=3, test_id=1, total_tests=1, samples=7
    )
    far = event(events[-1].seq + 1, run=run_event_pb2.RunEvent(benchmark_progress=progress))
    services.scheduler.script_of_next_job = [*events, far]
    await web.open()
    await web.submit()
    await expect(web.page.locator("#run-line")).to_have_text(
        "Measuring test case 1 of 1, session 2 of 3, 7 samples so far"
    )


async def test_an_alias_in_the_address_shows_its_problem_under_its_own_slug(
    web: BrowserPage, services: ScriptedServices
) -> None:
    await web.open(f"token=wp_user&problem={ALIAS}")
    await web.page.wait_for_url(f"**/problems/{PROBLEM.slug}")
    assert services.refusals.calls["GetProblem"][0].slug == ALIAS


async def test_an_address_that_names_nothing_says_so_and_leads_on(web: BrowserPage, gateway: RunningGateway) -> None:
    await web.open()
    for address, words, leads_to in (
        ("problems/nothing", "There is no problem nothing.", "/problems"),
        ("submissions/nothing", "There is no submission nothing that you may see.", "/problems"),
        ("nothing/at/all", "There is no page at this address.", "/"),
    ):
        await web.page.goto(f"{gateway.url}/{address}")
        await expect(web.page.locator("main")).to_contain_text(words)
        assert await web.accessibility() == []
        await web.page.click("main a")
        await web.page.wait_for_url(f"{gateway.url}{leads_to}")
    # The browser's own words on the answers.
    assert [complaint for complaint in web.complaints if "404" not in complaint] == []
    web.complaints.clear()


async def test_going_back_from_an_address_that_names_nothing_shows_the_problem_and_what_was_typed(
    web: BrowserPage,
) -> None:
    await web.open()
    await web.page.fill("#code", "int mine;")
    await web.page.evaluate("history.pushState(null, '', '/problems/nothing')")
    await expect(web.page.locator("main")).to_contain_text("There is no problem nothing.")
    await web.page.go_back()
    await web.is_ready()
    assert await web.code() == "int mine;"
    web.complaints.clear()  # the browser's own line for the 404


@pytest.mark.parametrize("old", ["problem={slug}", "problem={slug}&job={job}", "job={job}"])
async def test_links_of_before_lead_to_the_same_place(web: BrowserPage, old: str) -> None:
    web.script(FULL)
    await web.open()
    await web.submit()
    await web.page.wait_for_selector(".verdict.good")
    job = parse_qs(urlsplit(web.page.url).query)["submission"][0]
    await web.page.goto("about:blank")
    if old.startswith("job"):
        await web.page.goto(f"{web.gateway.url}/#{old.format(job=job)}")
        await web.page.wait_for_selector(".verdict.good")
        assert web.page.url.endswith(f"/submissions/{job}")
        return
    await web.open(old.format(slug=PROBLEM.slug, job=job))
    if "job" in old:
        await web.page.wait_for_selector(".verdict.good")
        await web.page.wait_for_url(f"**/problems/{PROBLEM.slug}?submission={job}")
    else:
        await web.page.wait_for_url(f"**/problems/{PROBLEM.slug}")


async def test_what_a_change_of_the_network_drops_is_read_again(web: BrowserPage) -> None:
    dropped: set[str] = set()

    async def drop_once(route: Route) -> None:
        if route.request.method == "GET" and route.request.url not in dropped:
            dropped.add(route.request.url)
            await route.abort("connectionreset")
        else:
            await route.continue_()

    await web.page.route("**/api/v1/problems**", drop_once)
    await web.open()
    await expect(web.page.locator("#statement")).not_to_be_empty()
    assert dropped
    # The browser's own line for each.
    assert len(web.complaints) == len(dropped)
    web.complaints.clear()


@pytest.mark.parametrize(
    ("timing", "shown_interval", "word"),
    [
        (run_event_pb2.TIMING_VALID, 0.0, "VALID"),
        (run_event_pb2.TIMING_UNSTABLE, 0.213, "UNSTABLE ± 21 %"),
        (run_event_pb2.TIMING_UNSTABLE, 0.0, "UNSTABLE"),
        (run_event_pb2.TIMING_UNPROVEN, 0.213, "UNPROVEN"),
    ],
)
async def test_whether_the_time_ranks_stands_beside_the_verdict_in_letters_as_large(
    web: BrowserPage, timing: run_event_pb2.Timing.ValueType, shown_interval: float, word: str
) -> None:
    finished = run_event_pb2.Finished()
    finished.CopyFrom(ACCEPTED)
    finished.message = "The time is what it is: send a launch plan."
    for timed in (finished.benchmarked, finished.benchmarked.results[0]):
        timed.timing, timed.shown_interval = timing, shown_interval
    web.script(FULL, finished)
    await web.open()
    await web.submit()
    verdict, beside = web.page.locator(".verdict strong").all, web.page.locator(".verdict .timing")
    await expect(beside).to_have_text(f"Timing {word}")
    sizes = {await strong.evaluate("it => getComputedStyle(it).fontSize") for strong in await verdict()}
    tops = {(await strong.bounding_box() or {}).get("y") for strong in await verdict()}
    assert (len(await verdict()), len(sizes), len(tops)) == (2, 1, 1)
    await expect(web.page.locator("#run-status")).to_have_text(f"Accepted · {word}")
    await expect(web.page.locator("#outcome")).to_contain_text("send a launch plan")
    await expect(web.page.locator(".benchmarks .trust")).to_contain_text(word)
    is_shown = word.startswith(("VALID", "UNSTABLE"))
    assert (" " in await web.page.locator(".benchmarks strong").inner_text()) == is_shown
    assert ("Mean runtime" in await web.page.locator("#outcome").inner_text()) == is_shown
    if word != "VALID":
        assert "valid" not in (await web.page.locator("#outcome").inner_text()).lower()
    assert await web.accessibility() == []


async def test_a_timing_that_the_page_does_not_know_is_not_shown_as_good(web: BrowserPage) -> None:
    newer = run_event_pb2.Finished()
    newer.CopyFrom(ACCEPTED)
    newer.benchmarked.ClearField("timing")
    newer.benchmarked.MergeFromString(bytes([4 << 3, 99]))
    web.script(FULL, newer)
    await web.open()
    await web.submit()
    await expect(web.page.locator(".verdict .timing.warn")).to_have_text("Timing UNKNOWN_99")


async def test_a_launch_plan_and_a_definition_are_submitted_and_shown_again(
    web: BrowserPage, services: ScriptedServices
) -> None:
    web.script(FULL, None, TO_CHECKER)
    await web.open()
    await web.open_options()
    await web.page.fill("#launch-plan", '{"launches": ')
    await web.submit()
    await expect(web.page.locator("#refusal")).to_contain_text("The launch plan is not JSON")
    await web.page.fill("#launch-plan", '{"launches": []}')
    await web.page.fill("#problem-def", "class mine: ...")
    await web.submit()
    await web.page.wait_for_selector(".verdict")
    sent = services.refusals.calls["SubmitJob"][0].spec.submission
    assert (json.loads(sent.launch_plan), sent.problem_definition) == ({"launches": []}, "class mine: ...")
    await web.page.reload()
    await expect(web.page.locator("#problem-def")).to_have_value("class mine: ...")
    assert await web.accessibility() == []


async def test_calls_are_timed_as_chosen_and_the_table_says_how(web: BrowserPage, services: ScriptedServices) -> None:
    web.script(FULL)
    await web.open()
    await web.open_options()
    chosen = web.page.locator("#timing-select")
    await expect(chosen).to_have_value("")
    await chosen.select_option("hot")
    await web.submit()
    await expect(web.page.locator("#outcome")).to_contain_text("Hot times: the caches were as the new inputs")
    assert services.refusals.calls["SubmitJob"][0].spec.submission.timing_mode == submission_pb2.TIMING_MODE_HOT
    await web.page.reload()
    await expect(chosen).to_have_value("hot")
    assert await web.accessibility() == []


async def test_cold_times_of_caches_that_may_be_warm_say_so(web: BrowserPage) -> None:
    doubtful = run_event_pb2.Finished()
    doubtful.CopyFrom(ACCEPTED)
    doubtful.benchmarked.timing_mode = "cold"
    doubtful.benchmarked.flush_verified = False
    web.script(FULL, doubtful)
    await web.open()
    await web.submit()
    await expect(web.page.locator("#outcome")).to_contain_text("before each call. That was not seen to empty them")


async def test_a_profile_is_asked_for_with_a_tick_and_its_kernels_are_shown(
    web: BrowserPage, services: ScriptedServices
) -> None:
    profiled = run_event_pb2.Finished()
    profiled.CopyFrom(ACCEPTED)
    profiled.profile.CopyFrom(PROFILE)
    web.script(FULL, profiled)
    await web.open()
    await web.open_options()
    asked = web.page.locator("#profile-asked")
    await expect(asked).not_to_be_checked()
    await asked.check()
    await web.submit()
    await web.page.wait_for_selector(".verdict.good")
    assert services.refusals.calls["SubmitJob"][0].spec.submission.profile
    cells = await web.texts(".profile tbody td")
    assert cells[:5] == ["void add<float>(float*, float const*, int)", "10", "3.404 µs", "3 µs", "4 µs"]
    assert cells[5:] == ["100.0 %", "16 \u00d7 1024", "64", "8", "0", "16"]
    await expect(web.page.locator(".profile")).to_contain_text("10 calls of n = 1024, by rocprofv3 1.1.0.")
    await expect(web.page.locator(".profile")).to_contain_text("and 2 more")
    assert "Profile" in await web.texts(".stage .stage-name")
    await web.page.reload()
    await expect(asked).to_be_checked()
    assert await web.accessibility() == []
    await web.choose("sample")
    await expect(web.page.locator("#profile")).to_be_hidden()


async def test_what_is_not_measured_has_no_timing_to_choose(web: BrowserPage, services: ScriptedServices) -> None:
    web.script(submission_pb2.RUN_MODE_CHECK)
    await web.open()
    await web.open_options()
    await web.page.select_option("#timing-select", "cold")
    await web.choose("check")
    await expect(web.page.locator("#timing")).to_be_hidden()
    await web.submit()
    await web.page.wait_for_selector(".verdict")
    assert services.refusals.calls["SubmitJob"][0].spec.submission.timing_mode == submission_pb2.TIMING_MODE_UNSPECIFIED
    await web.choose("benchmark")
    await expect(web.page.locator("#timing")).to_be_visible()


async def test_another_element_type_has_its_own_starter_and_draft_and_is_submitted(
    web: BrowserPage, services: ScriptedServices
) -> None:
    web.script(FULL, None, TO_CHECKER)
    await web.open()
    await web.page.fill("#code", "int in_float32;")
    await web.page.select_option("#dtype-select", "float16")
    await expect(web.page.locator("#code")).to_contain_text("// float16")
    await web.submit()
    await web.page.wait_for_selector(".verdict")
    assert services.refusals.calls["SubmitJob"][0].spec.submission.dtype == "float16"
    await web.page.select_option("#dtype-select", "float32")
    await expect(web.page.locator("#code")).to_have_text("int in_float32;")


async def test_a_signed_report_is_downloaded_as_it_was_signed(web: BrowserPage, services: ScriptedServices) -> None:
    report = '{"payload": "e30="}'
    web.script(FULL, run_event_pb2.Finished(verdict=run_event_pb2.VERDICT_ACCEPTED, signed_report=report), TO_CHECKER)
    await web.open()
    await web.submit()
    async with web.page.expect_download() as download:
        await web.page.click("#report-button")
    assert (await download.value).suggested_filename == "job_1.json"
    assert (await (await download.value).path()).read_text() == report, "to the byte, which a signature needs"
    (used,) = services.refusals.calls["UseTicket"]
    assert used.address == "/api/v1/submissions/job_1/report"
    assert services.identity.tickets == {}


async def test_wrong_answer_shows_the_first_mismatches(web: BrowserPage) -> None:
    web.script(FULL, WRONG, TO_CHECKER)
    await web.open()
    await web.submit()
    assert "Wrong answer" in await web.verdict()
    table = web.page.locator("section:has(> h3:text('First mismatches')) tbody td")
    assert await table.all_inner_texts() == ["(3, 17)", "output", "1", "0.5", "0.5"]
    assert await web.texts(".stage.failed .stage-name") == ["Check"]


async def test_values_far_beyond_any_answer_are_shown_in_short_on_a_phone_too(web: BrowserPage) -> None:
    garbage = run_event_pb2.Finished()
    garbage.CopyFrom(WRONG)
    garbage.wrong_answer.max_difference = 3.361274e38
    garbage.wrong_answer.first_mismatches[0].actual = math.nan
    garbage.wrong_answer.first_mismatches[0].difference = math.inf
    await web.page.set_viewport_size({"width": 360, "height": 800})
    web.script(FULL, garbage, TO_CHECKER)
    await web.open()
    await web.submit()
    await expect(web.page.locator("#outcome")).to_contain_text(
        "1 of 1,024 elements differ; largest difference 3.361e+38"
    )
    table = web.page.locator("section:has(> h3:text('First mismatches')) tbody td")
    assert await table.all_inner_texts() == ["(3, 17)", "output", "1", "NaN or inf", "NaN or inf"]
    assert await web.overflow_pixels() == 0


async def test_the_most_that_a_submission_can_cost_stands_beside_the_button(
    web: BrowserPage, services: ScriptedServices
) -> None:
    await web.open()
    await expect(web.page.locator("#quote")).to_have_text("at most $0.50 on an MI300X at $1.99/h")
    await web.open_options()
    async with web.page.expect_response("**/quote?*MI250X*"):
        await web.page.select_option("#gpu-select", "MI250X")
    assert list(services.refusals.calls["GetQuote"][-1].gpu_types) == ["MI250X"]


async def test_the_quote_of_a_choice_that_was_changed_meanwhile_is_not_shown(web: BrowserPage) -> None:
    late = asyncio.Event()

    async def hold_back(route: Route) -> None:
        answer = await route.fetch()
        if "gpus=4" in route.request.url:
            await late.wait()
        hold = {"gpus=4": 7, "gpus=2": 3}.get(route.request.url.rpartition("&")[2], 1)
        await route.fulfill(response=answer, json=await answer.json() | {"hold_usd": hold})

    await web.page.route("**/quote?*", hold_back)
    await web.open()
    await web.open_options()
    async with web.page.expect_request("**/quote?*gpus=4"):
        await web.page.select_option("#gpu-size", label="4 GPUs")
    async with web.page.expect_response("**/quote?*gpus=8"):
        await web.page.select_option("#gpu-size", label="8 GPUs")
    await expect(web.page.locator("#quote")).to_contain_text("at most $1.00")
    await web.page.evaluate(
        "window.quotes = [];"
        "new MutationObserver(() => quotes.push(quote.textContent))"
        ".observe(quote, {childList: true, characterData: true, subtree: true})"
    )
    async with web.page.expect_response("**/quote?*gpus=4") as answered:
        late.set()
    await (await answered.value).finished()
    await web.page.select_option("#gpu-size", label="2 GPUs")
    await expect(web.page.locator("#quote")).to_contain_text("at most $3.00")
    assert [quote[:13] for quote in await web.page.evaluate("quotes")] == ["", "at most $3.00"]


@pytest.mark.parametrize(
    ("chosen", "asked", "quoted"),
    [
        ("1/4 of a GPU", scheduler_pb2.Resources(fraction=0.25), (2, 1)),
        ("4 GPUs", scheduler_pb2.Resources(gpus=4), (8, 4)),
    ],
)
async def test_another_size_is_quoted_submitted_and_shown_again(
    web: BrowserPage,
    services: ScriptedServices,
    chosen: str,
    asked: scheduler_pb2.Resources,
    quoted: tuple[int, int],
) -> None:
    web.script(FULL)
    await web.open()
    await web.open_options()
    async with web.page.expect_response("**/quote?*&eighths={}&gpus={}".format(*quoted)):
        await web.page.select_option("#gpu-size", label=chosen)
    quotes = [(quote.eighths, quote.gpu_count) for quote in services.refusals.calls["GetQuote"]]
    assert quoted in quotes
    await web.submit()
    await web.page.wait_for_selector(".verdict")
    assert services.refusals.calls["SubmitJob"][0].spec.resources == asked
    await web.page.reload()
    await expect(web.page.locator("#gpu-size option:checked")).to_have_text(chosen)
    await expect(web.page.locator("#gpu-size")).to_be_visible()
    assert await web.accessibility() == []


async def test_other_gpus_that_will_do_are_submitted_and_shown_again(
    web: BrowserPage, services: ScriptedServices
) -> None:
    web.script(FULL)
    await web.open()
    await web.open_options()
    offered = await web.page.locator("#gpu-select option").evaluate_all("options => options.map(({value}) => value)")
    assert offered == ["MI300X", "MI300A", "MI250X", "MI210", "MI325X"]
    await web.page.select_option("#gpu-select", "MI250X")
    checkbox = web.page.get_by_role("checkbox", name="MI210")
    await expect(web.page.get_by_role("checkbox", name="MI250X")).to_be_disabled()
    await checkbox.check()
    await web.submit()
    await web.page.wait_for_selector(".verdict")
    spec = services.refusals.calls["SubmitJob"][0].spec
    assert (spec.gpu_type, list(spec.fallback_gpu_types)) == ("MI250X", ["MI210"])
    await web.page.reload()
    await expect(checkbox).to_be_checked()
    await expect(web.page.locator("#gpu-select")).to_have_value("MI250X")
    assert await web.accessibility() == []


async def test_compile_error_leads_to_its_line(web: BrowserPage) -> None:
    web.script(FULL, COMPILE_ERROR, TO_COMPILER)
    await web.open()
    await web.page.fill("#code", "one\ntwo\nthree\n    oops;\nfive")
    await web.submit()
    await web.page.click("text=use of undeclared identifier")
    selected = "document.querySelector('#editor').shadowRoot.getSelection().toString()"
    assert await web.page.evaluate(selected) == "oops;"
    assert await web.texts(".cm-lintRange-error") == ["oops;"]
    marked = web.page.locator(".cm-lint-marker-error")
    number = web.page.locator(".cm-lineNumbers .cm-gutterElement", has_text=re.compile("^4$"))
    assert await marked.count() == 1
    assert (await marked.bounding_box() or {})["y"] == pytest.approx((await number.bounding_box() or {})["y"], abs=10)
    await marked.hover()
    await expect(web.page.locator(".cm-tooltip-lint")).to_have_text("use of undeclared identifier 'oops'")


async def test_reload_shows_the_same_run_with_its_code(web: BrowserPage, services: ScriptedServices) -> None:
    services.scheduler.script_of_next_job = whole_run(FULL)[:5]
    await web.open()
    await web.page.fill("#code", "int mine;")
    await web.submit()
    await web.page.wait_for_selector(".stage.active >> text=Check")
    await web.page.reload()
    await web.page.wait_for_selector(".stage.active >> text=Check")
    assert await web.code() == "int mine;"
    await services.scheduler.add(*whole_run(FULL)[5:])
    await web.page.wait_for_selector(".verdict.good")


async def test_cancel_button_ends_the_run(web: BrowserPage, services: ScriptedServices) -> None:
    services.scheduler.script_of_next_job = whole_run(FULL)[:2]
    await web.open()
    await web.submit()
    await web.page.click("#cancel-button")
    await web.page.click("#cancel-confirm")
    await web.page.wait_for_selector(".verdict.warn >> text=Cancelled")
    assert services.scheduler.cancelled == ["job_1"]
    await expect(web.page.locator("#cancel-button")).to_be_hidden()
    # Nothing failed, so nothing is red.
    assert await web.texts(".stage.stopped .stage-name") == ["Machine"]
    await expect(web.page.locator(".stage.failed")).to_have_count(0)


async def test_a_sample_shows_what_came_out(web: BrowserPage, services: ScriptedServices) -> None:
    web.script(submission_pb2.RUN_MODE_SAMPLE)
    await web.open()
    await web.choose("sample")
    await web.submit()
    await web.page.wait_for_selector(".verdict.good")
    assert "1  -0.2" in await web.page.locator("#outcome").inner_text()
    assert services.refusals.calls["SubmitJob"][0].spec.submission.mode == submission_pb2.RUN_MODE_SAMPLE


async def test_text_of_others_is_never_read_as_markup(web: BrowserPage, services: ScriptedServices) -> None:
    machine = run_event_pb2.Compiling(toolchain=SHOUT)
    hostile = run_event_pb2.Finished(
        verdict=run_event_pb2.VERDICT_COMPILE_ERROR, message=SHOUT, details=f"a.hip:1:1: error: {SHOUT}", stdout=SHOUT
    )
    events = whole_run(FULL, hostile, TO_COMPILER)
    events[2] = event(3, run=run_event_pb2.RunEvent(compiling=machine))
    services.scheduler.script_of_next_job = events
    await web.open()
    await web.submit()
    assert SHOUT in await web.verdict()
    assert await web.page.locator("#outcome b, #outcome img").count() == 0
    assert await web.page.title() == "✗ Compile error · vector-addition"


async def test_refusal_is_shown_with_its_fields(web: BrowserPage) -> None:
    await web.open()
    await web.page.fill("#code", "")
    await web.submit()
    await expect(web.page.locator("#refusal")).to_contain_text("code: is required")
    assert len(web.complaints) == 1  # the browser's own line for the 422
    web.complaints.clear()


async def test_token_is_asked_for_checked_and_remembered(web: BrowserPage, gateway: RunningGateway) -> None:
    await web.page.goto(gateway.url + PROBLEM_PAGE)
    await web.page.fill("#token-input", "wp_nobody")
    await web.page.keyboard.press("Enter")
    await expect(web.page.locator("#token-error")).to_contain_text("unknown, revoked or expired")
    web.complaints.clear()  # the browser's own line for the 401
    await web.page.fill("#token-input", "wp_user")
    await web.page.keyboard.press("Enter")
    await web.is_ready()
    await web.page.reload()
    await web.is_ready()


@pytest.mark.parametrize(
    ("scopes", "kept"), [(["read", "submit", "manage"], "wp_secret_tok_1"), (["read", "submit"], "wp_user")]
)
async def test_a_token_is_exchanged_for_one_of_this_browsers_own_if_it_may_make_tokens(
    web: BrowserPage, services: ScriptedServices, scopes: list[str], kept: str
) -> None:
    services.identity.scopes["wp_user"] = scopes
    await web.open()
    assert await web.page.evaluate("localStorage.getItem('wavepool.token')") == kept
    if kept != "wp_user":
        (made,) = services.refusals.calls["CreateToken"]
        assert (made.caller_token_id, made.name, list(made.scopes)) == ("tok_1", "Chrome on Linux", [])
        lifetime = made.expire_time.ToDatetime(tzinfo=UTC) - datetime.now(UTC)
        assert timedelta(days=29) < lifetime < timedelta(days=31)
    # Another link to the same account brings nothing new.
    await web.page.goto("about:blank")
    await web.open()
    assert len(services.refusals.calls["CreateToken"]) == (kept != "wp_user")


async def test_a_submission_whose_answer_was_lost_is_sent_again_as_the_same(
    web: BrowserPage, services: ScriptedServices
) -> None:
    async def lose_the_answer(route: Route) -> None:
        await route.fetch()
        await route.abort("connectionreset")

    web.script(FULL)
    await web.open()
    await web.page.route("**/api/v1/submissions", lose_the_answer, times=1)
    await web.submit()
    await web.page.wait_for_selector(".verdict.good")
    await web.page.fill("#code", "int other;")
    async with web.page.expect_response("**/api/v1/submissions"):
        await web.submit()
    first, again, other = (request.idempotency_key for request in services.refusals.calls["SubmitJob"])
    assert first == again != other
    web.complaints.clear()  # the browser's own line for the request that failed


async def test_the_page_of_a_problem_loads_within_its_budget(web: BrowserPage) -> None:
    await web.open()
    loaded: dict[str, int] = await web.page.evaluate(
        "Object.fromEntries(['resource', 'navigation'].flatMap((kind) => performance.getEntriesByType(kind))"
        ".filter(({name}) => !new URL(name).pathname.startsWith('/api/'))"
        ".map(({name, encodedBodySize}) => [name, encodedBodySize]))"
    )
    assert sum(loaded.values()) <= 330_000, loaded
    assert all(loaded.values()), loaded


async def test_without_an_identity_provider_no_sign_in_is_offered(web: BrowserPage, gateway: RunningGateway) -> None:
    async with web.page.expect_response("**/api/v1/sign-in"):
        await web.page.goto(gateway.url + PROBLEM_PAGE)
    await expect(web.page.locator("#token-input")).to_be_visible()
    await expect(web.page.locator("#sign-in-button")).to_be_hidden()


async def test_an_identity_provider_that_is_down_is_named_and_tokens_still_work(
    web: BrowserPage, gateway: RunningGateway
) -> None:
    down = refusal(grpc.StatusCode.UNAVAILABLE, "The provider is down.", retry_after=timedelta(seconds=5))
    gateway.refusals["GetSignInOptions"] = down
    await web.page.goto(gateway.url + PROBLEM_PAGE)
    await expect(web.page.locator("#sign-in-hint")).to_have_text("Nobody can sign in now: The provider is down.")
    await expect(web.page.locator("#sign-in-button")).to_be_hidden()
    await web.page.fill("#token-input", "wp_user")
    await web.page.keyboard.press("Enter")
    await web.is_ready()
    # The browser's own lines: the dialog asks, and so does what may be read without a token.
    assert {"503" in complaint for complaint in web.complaints} == {True}
    web.complaints.clear()


async def test_token_of_the_link_leaves_the_address(web: BrowserPage) -> None:
    await web.open()
    assert "wp_user" not in web.page.url
    await expect(web.page.locator("#who")).to_have_text("demo")


@pytest.mark.parametrize("answer", [True, False])
async def test_a_link_asks_before_it_changes_the_account_of_the_page(
    web: BrowserPage, services: ScriptedServices, answer: bool
) -> None:
    questions: list[str] = []

    async def decide(dialog: Dialog) -> None:
        questions.append(dialog.message)
        await (dialog.accept() if answer else dialog.dismiss())

    services.identity.names["wp_other"] = "mallory"
    await web.open()
    web.page.on("dialog", decide)
    # Of the page as it is open, with a token, and anew, with a link (which gives this gateway's wp_user).
    async with web.page.expect_event("dialog"):
        await web.page.evaluate("location.hash = 'token=wp_other'")
    await expect(web.page.locator("#who")).to_have_text("mallory" if answer else "demo")
    (question,) = questions
    assert "from demo to mallory. What you submit then belongs to mallory" in question
    await web.page.goto("about:blank")
    await web.open("link=wpl_once")
    await expect(web.page.locator("#who")).to_have_text("demo")
    assert len(questions) == (2 if answer else 1)


async def test_another_tab_follows_the_account_and_a_used_link_changes_nothing(
    web: BrowserPage, gateway: RunningGateway, services: ScriptedServices
) -> None:
    services.identity.names["wp_other"] = "mallory"
    await web.open()
    tab = await web.page.context.new_page()
    await tab.goto(gateway.url)
    await tab.evaluate("localStorage.setItem('wavepool.token', 'wp_other')")
    await expect(web.page.locator("#who")).to_have_text("mallory")
    gateway.refusals["SignIn"] = refusal(grpc.StatusCode.INVALID_ARGUMENT, "Invalid.", (("link", "works once"),))
    await web.page.goto("about:blank")
    await web.open("link=wpl_used")
    await expect(web.page.locator("#alert")).to_contain_text("works once")
    await expect(web.page.locator("#who")).to_have_text("mallory")
    await web.page.evaluate("localStorage.clear()")
    await web.page.goto("about:blank")
    await web.page.goto(f"{gateway.url}/#link=wpl_used")
    await expect(web.page.locator("#token-error")).to_have_text("link: works once")
    web.complaints.clear()  # the browser's own lines for the 422s


async def test_keyboard_alone_is_enough(web: BrowserPage, services: ScriptedServices) -> None:
    web.script(FULL)
    await web.open()
    await web.page.focus("#code")
    await web.page.keyboard.press("Control+A")
    await web.page.keyboard.type("int f() {\nreturn 1;")
    assert await web.code() == "int f() {\n    return 1;\n}"
    await web.page.keyboard.press("Home")
    await web.page.keyboard.press("Tab")
    assert "        return" in await web.code()
    await web.page.keyboard.press("Control+Enter")
    await web.page.wait_for_selector(".verdict.good")
    await web.page.focus("#code")
    await web.page.keyboard.press("Escape")
    await web.page.keyboard.press("Tab")
    assert await web.page.evaluate("document.activeElement.id") == "submit-button"


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_page_is_accessible_and_fits_a_phone(web: BrowserPage, scheme: str) -> None:
    await web.page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    await web.page.set_viewport_size({"width": 390, "height": 844})
    await web.open()
    for result, steps in ((None, None), (WRONG, TO_CHECKER), (COMPILE_ERROR, TO_COMPILER)):
        web.script(FULL, result, steps)
        previous = web.page.url
        await web.submit()
        await web.page.wait_for_url(lambda url, before=previous: url != before)
        await web.page.wait_for_selector(".verdict")
        assert await web.accessibility() == []
        assert await web.overflow_pixels() == 0
