"""The page of a submission in Chromium: its result, its plots and its code."""

from __future__ import annotations

import math
import zlib

import pytest
from playwright.async_api import expect
from wavepool.executor.v1 import run_event_pb2
from wavepool.scheduler.v1 import scheduler_pb2
from wavepool.submission.v1 import submission_pb2

from tests.gateway.browser.browser_page import BrowserPage
from tests.gateway.job_events import ACCEPTED, COMPILE_ERROR, WRONG, whole_run
from tests.gateway.running_gateway import RunningGateway
from tests.gateway.scripted_services import ScriptedServices

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]

FULL = submission_pb2.RUN_MODE_FULL
CODE = '#include <hip/hip_runtime.h>\n\nextern "C" void solution() {\n    oops;\n}\n'


def submitted(
    services: ScriptedServices, events: list[scheduler_pb2.JobEvent], problem: str = "vector-addition"
) -> None:
    """A submission of this page's user that is as far as its events."""
    submission = submission_pb2.Submission(problem=problem, source=CODE, dtype="float32", mode=FULL)
    services.scheduler.put_job(scheduler_pb2.JobSpec(submission=submission, gpu_type="MI300X"))
    services.scheduler.log("job_1", events)


def timed(timing: run_event_pb2.Timing.ValueType = run_event_pb2.TIMING_VALID) -> run_event_pb2.Finished:
    """An accepted submission with two cases, one at each roof of its GPU."""
    finished = run_event_pb2.Finished()
    finished.CopyFrom(ACCEPTED)
    finished.benchmarked.timing = timing
    (first,) = finished.benchmarked.results
    first.timing, first.bound, first.percent_of_roof = timing, run_event_pb2.BOUND_MEMORY, 24.5
    first.runtime_ns, first.ci_low_ns, first.ci_high_ns = 53_450, 11_000, 95_000
    first.p25_ns, first.p75_ns, first.session_median_ns[:] = 48_000, 61_000, [50_000, 53_450, 58_000]
    first.min_ns, first.p5_ns, first.p95_ns, first.max_ns = 40_000, 42_000, 80_000, 99_000
    second = finished.benchmarked.results.add()
    second.CopyFrom(first)
    second.test_id, second.name, second.bound, second.gflops = 2, "n = 2048", run_event_pb2.BOUND_COMPUTE, 900.0
    return finished


def wrong_at() -> run_event_pb2.Finished:
    """A wrong answer with the elements around the first wrong one, and a map of two cells."""
    wrong = run_event_pb2.Finished()
    wrong.CopyFrom(WRONG)
    wrong.wrong_answer.window.CopyFrom(
        run_event_pb2.ErrorWindow(
            output="output",
            origin=[3, 16],
            rows=2,
            columns=2,
            expected=[1.0, 2.0, 0.0, 3.0],
            actual=[1.0, 0.5, 0.0, math.nan],
            wrong=[False, True, False, True],
            compared=[True, True, False, True],
        )
    )
    wrong.wrong_answer.error_map.CopyFrom(
        run_event_pb2.ErrorMap(
            output="output",
            output_rows=64,
            output_columns=64,
            cell_rows=2,
            cell_columns=2,
            rows=2,
            columns=2,
            wrong=[0, 1, 0, 4],
            compared=[4, 4, 0, 4],
        )
    )
    return wrong


LISTING = """_Z8solutionv:
  ; 3: extern "C" void solution() {
    s_load_dword s4, s[0:1], 0x1c
    v_mov_b32_e32 v1, 0
  ; 4: oops;
.LBB0_2:
    v_add_u32_e32 v0, v0, s4
  ; 3: extern "C" void solution() {
    s_endpgm
"""


def compiled(listing: str = LISTING) -> list[scheduler_pb2.JobEvent]:
    """A run whose compiler reported on one kernel, with a hint for a line."""
    events = whole_run(FULL)
    (report,) = (event.run.compiled for event in events if event.run.HasField("compiled"))
    report.isa_listing_zlib = zlib.compress(listing.encode())
    (kernel,) = report.isa.kernels
    kernel.symbol, kernel.occupancy, kernel.limited_by, kernel.next_step_saving = "_Z8solutionv", 7, "lds", 64
    del kernel.hints[:]
    kernel.hints.add(subject="spills", line=4, what="it spills", why="registers are few", advice="use fewer")
    return events


async def open_instructions(web: BrowserPage) -> None:
    await open_result(web)
    await web.page.click("text=Source and MI300X instructions")
    await web.page.wait_for_selector("#isa-source-0")


async def chosen(web: BrowserPage, name: str) -> str:
    (text,) = await web.texts(f".line-list[aria-label={name}] .chosen .line-text")
    return text


async def open_result(web: BrowserPage) -> None:
    await web.page.goto(f"{web.gateway.url}/submissions/job_1#token=wp_user")
    await web.page.wait_for_selector("h1")


async def test_a_submission_has_a_page_with_its_verdict_and_what_to_do_next(
    web: BrowserPage, services: ScriptedServices
) -> None:
    submitted(services, whole_run(FULL, timed()))
    await open_result(web)
    await expect(web.page.locator("h1")).to_have_text("Result of vector-addition")
    await expect(web.page.locator(".verdict.good")).to_contain_text("Look at the roofline and at the instructions")
    await expect(web.page.locator(".facts")).to_contain_text("MI300X")
    assert web.page.url == f"{web.gateway.url}/submissions/job_1"
    assert await web.accessibility() == []
    await web.page.click("text=Use this code")
    await web.is_ready()
    assert "    oops;" in await web.code()


async def test_digits_follow_the_uncertainty_and_one_unit_is_used(web: BrowserPage, services: ScriptedServices) -> None:
    submitted(services, whole_run(FULL, timed()))
    await open_result(web)
    await web.page.wait_for_selector(".verdict")
    assert await web.texts(".benchmarks strong") == ["53 ± 42 µs", "53 ± 42 µs"]
    shown = await web.page.locator("main").inner_text()
    assert "53.4" not in shown
    await web.page.click(".distribution summary >> nth=0")
    rows = await web.texts(".distribution >> nth=0 >> td")
    assert dict(zip(rows[::2], rows[1::2], strict=True)) | {"Session 1": "50 µs", "Longest": "99 µs"} == dict(
        zip(rows[::2], rows[1::2], strict=True)
    )


async def test_each_case_has_a_distribution_with_its_samples_and_sessions(
    web: BrowserPage, services: ScriptedServices
) -> None:
    events = whole_run(FULL, timed())
    (measured,) = (event.run.benchmark_result for event in events if event.run.HasField("benchmark_result"))
    measured.sample_ns[:] = [44_000, 53_000, 80_000]
    submitted(services, events)
    await open_result(web)
    await expect(web.page.locator(".distribution")).to_have_count(2)
    first = web.page.locator(".distribution").first
    await expect(first.locator(".dot")).to_have_count(3)
    await expect(first.locator(".session")).to_have_count(3)
    for drawn in (".dot", ".session", ".interval, .middle, .median"):
        places = [(await one.bounding_box() or {})["x"] for one in await first.locator(drawn).all()]
        assert places == sorted(set(places)), f"{drawn} from the shortest to the longest"


async def test_the_roofline_shows_each_case_against_the_peaks_with_a_table(
    web: BrowserPage, services: ScriptedServices
) -> None:
    submitted(services, whole_run(FULL, timed()))
    await open_result(web)
    roofline = web.page.locator(".roofline")
    cases = roofline.locator(".case")
    await expect(cases).to_have_count(2)
    # The second does more arithmetic for each byte, and more of it in a second.
    one, other = [await case.bounding_box() or {} for case in await cases.all()]
    assert one["x"] < other["x"]
    assert one["y"] > other["y"]
    await expect(roofline).to_contain_text("n = 1024 is bound by moving bytes to and from memory, at 20 % of the roof.")
    await expect(roofline).to_contain_text("slope: 50 GB/s, flat: 3,670 GFLOP/s")
    await roofline.locator("summary").click()
    assert (await web.texts(".roofline td"))[:2] == ["n = 1024", "0.122"]
    assert await web.accessibility() == []


async def test_without_a_roof_there_is_no_roofline(web: BrowserPage, services: ScriptedServices) -> None:
    submitted(services, whole_run(FULL))
    await open_result(web)
    await web.page.wait_for_selector(".distribution")
    await expect(web.page.locator(".roofline")).to_have_count(0)


@pytest.mark.parametrize("timing", ["UNPROVEN", "UNSTABLE", "INVALID"])
async def test_green_is_for_what_is_proven_only(web: BrowserPage, services: ScriptedServices, timing: str) -> None:
    finished = timed(run_event_pb2.Timing.Value(f"TIMING_{timing}"))
    if timing == "UNPROVEN":
        finished.benchmarked.results[0].unproven_because = "Its launches were not seen."
    submitted(services, whole_run(FULL, finished))
    await open_result(web)
    await expect(web.page.locator(".verdict .timing")).to_have_text(f"Timing {timing}")
    await expect(web.page.locator(".good:not(li)")).to_have_count(0)
    await expect(web.page.locator(".next-step")).not_to_be_empty()
    if timing == "UNPROVEN":
        await expect(web.page.locator(".doubts")).to_contain_text("n = 1024 is not proven: Its launches were not seen.")


async def test_tests_that_were_not_run_are_counted(web: BrowserPage, services: ScriptedServices) -> None:
    wrong = run_event_pb2.Finished()
    wrong.CopyFrom(WRONG)
    wrong.total_tests = 3
    submitted(services, whole_run(FULL, wrong, ("compiling", "compiled", "checking")))
    await open_result(web)
    await expect(web.page.locator("#outcome")).to_contain_text("2 tests were not run.")
    await expect(web.page.locator("#outcome")).to_contain_text("(3, 17)")


async def test_a_diagnostic_leads_to_its_line_of_the_code(web: BrowserPage, services: ScriptedServices) -> None:
    submitted(services, whole_run(FULL, COMPILE_ERROR, ("compiling",)))
    await open_result(web)
    await web.page.click("text=use of undeclared identifier")
    await expect(web.page.locator("#source .line.chosen .line-text")).to_have_text("    oops;")
    await web.page.focus("#source .line-list")
    await web.page.keyboard.press("ArrowUp")
    await expect(web.page.locator("#source .line.chosen .line-text")).to_have_text('extern "C" void solution() {')


async def test_the_code_is_copied_or_why_not_is_said(web: BrowserPage, services: ScriptedServices) -> None:
    submitted(services, whole_run(FULL))
    await web.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    await open_result(web)
    await web.page.click("#source >> text=Copy")
    await expect(web.page.locator("#source [role=status]")).to_have_text("Copied.")
    assert await web.page.evaluate("navigator.clipboard.readText()") == CODE
    # As on a page that is neither https nor on this machine.
    await web.page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    await web.page.click("#source >> text=Copy")
    await expect(web.page.locator("#source [role=status]")).to_contain_text("select the text and copy it")


async def test_a_run_is_followed_and_cancelled_on_its_page(web: BrowserPage, services: ScriptedServices) -> None:
    submitted(services, whole_run(FULL)[:5])
    await open_result(web)
    await web.page.wait_for_selector(".stage.active >> text=Check")
    await web.page.click("#cancel-button")
    await web.page.click("#cancel-confirm")
    await web.page.wait_for_selector(".verdict.warn >> text=Cancelled")
    await expect(web.page.locator(".facts")).not_to_contain_text("so far")


async def test_the_result_on_a_problems_page_leads_to_its_own_page(web: BrowserPage) -> None:
    web.script(FULL)
    await web.open()
    await web.submit()
    await web.page.click("#result-link")
    await expect(web.page.locator("h1")).to_have_text("Result of vector-addition")


async def test_a_program_of_its_own_has_a_page_too(
    web: BrowserPage, services: ScriptedServices, gateway: RunningGateway
) -> None:
    submitted(services, whole_run(submission_pb2.RUN_MODE_SANDBOX), problem="")
    services.scheduler.jobs["job_1"].spec.submission.mode = submission_pb2.RUN_MODE_SANDBOX
    await open_result(web)
    await expect(web.page.locator("#outcome")).to_contain_text("hello")
    await expect(web.page.get_by_text("Use this code")).to_have_attribute("href", "/sandbox?submission=job_1")
    await web.page.click("text=Use this code")
    await web.page.wait_for_url(f"{gateway.url}/sandbox?submission=job_1")
    assert await web.code() == CODE


async def test_source_and_instructions_are_linked_both_ways_by_keyboard(
    web: BrowserPage, services: ScriptedServices
) -> None:
    submitted(services, compiled())
    await open_instructions(web)
    await web.page.focus(".line-list[aria-label=Source]")
    await web.page.keyboard.press("End")
    for _ in range(2):
        await web.page.keyboard.press("ArrowUp")
    assert (await chosen(web, "Source"), await chosen(web, "Instructions")) == ("oops;", "v_add_u32_e32 v0, v0, s4")
    await expect(web.page.locator(".isa-hints")).to_contain_text("Line 4, add: it spills. registers are few.")
    await web.page.keyboard.press("ArrowUp")
    assert await chosen(web, "Source") == 'extern "C" void solution() {'
    await expect(web.page.locator(".line-list[aria-label=Instructions] .linked")).to_have_count(3)
    await web.page.focus(".line-list[aria-label=Instructions]")
    await web.page.keyboard.press("Home")
    assert await chosen(web, "Instructions") == "add"
    for _ in range(4):
        await web.page.keyboard.press("ArrowDown")
    assert (await chosen(web, "Instructions"), await chosen(web, "Source")) == ("v_add_u32_e32 v0, v0, s4", "oops;")
    assert await web.accessibility() == []


async def test_source_and_instructions_are_linked_by_pointer(web: BrowserPage, services: ScriptedServices) -> None:
    submitted(services, compiled())
    await open_instructions(web)
    await web.page.hover("text=v_add_u32_e32")
    await expect(web.page.locator(".line-list[aria-label=Source] .linked .line-text")).to_contain_text("oops;")
    await web.page.click(".line-list[aria-label=Source] >> text=oops;")
    assert await chosen(web, "Instructions") == "v_add_u32_e32 v0, v0, s4"
    await web.page.click(".line-list[aria-label=Instructions] >> text=s_endpgm")
    assert await chosen(web, "Source") == 'extern "C" void solution() {'


async def test_instructions_are_interleaved_with_their_source_and_searched(
    web: BrowserPage, services: ScriptedServices
) -> None:
    submitted(services, compiled())
    await open_instructions(web)
    await web.page.click("text=Interleaved")
    rows = [row.strip() for row in await web.texts(".isa-mixed .line-text")]
    assert rows[:3] == ["add", 'extern "C" void solution() {', "s_load_dword s4, s[0:1], 0x1c"]
    await web.page.fill("#search", "V_ADD")
    await web.page.keyboard.press("Enter")
    await expect(web.page.locator(".isa-mixed .chosen")).to_contain_text("v_add_u32_e32")
    await web.page.fill("#search", "nothing")
    await web.page.keyboard.press("Enter")
    await expect(web.page.locator(".isa-search")).to_contain_text("Not found")


async def test_the_table_of_kernels_says_what_one_wavefront_more_needs(
    web: BrowserPage, services: ScriptedServices
) -> None:
    submitted(services, compiled())
    await open_result(web)
    await expect(web.page.locator(".kernels")).to_contain_text("64 B of LDS less")


async def test_a_long_listing_has_only_what_is_in_view_in_the_page(
    web: BrowserPage, services: ScriptedServices
) -> None:
    body = "".join(f"  ; {number % 5 + 1}: x\n    v_add_u32_e32 v0, v0, s{number}\n" for number in range(6000))
    submitted(services, compiled(f"_Z8solutionv:\n{body}"))
    await open_instructions(web)
    assert await web.page.locator(".line-list[aria-label=Instructions] .line").count() < 200
    await web.page.fill("#search", "s5999")
    await web.page.keyboard.press("Enter")
    found = web.page.locator(".line-list[aria-label=Instructions] .chosen")
    await expect(found).to_contain_text("s5999")
    places = [await one.bounding_box() or {} for one in (web.page.locator("[aria-label=Instructions]"), found)]
    assert places[0]["y"] <= places[1]["y"] < places[0]["y"] + places[0]["height"]


async def test_without_instructions_the_page_says_so(web: BrowserPage, services: ScriptedServices) -> None:
    submitted(services, whole_run(FULL))
    await open_result(web)
    await web.page.click("text=Source and MI300X instructions")
    await expect(web.page.locator(".instructions")).to_contain_text("There are no instructions.")


async def test_the_window_around_the_first_wrong_element_has_its_cells_marked_beside_a_map(
    web: BrowserPage, services: ScriptedServices
) -> None:
    submitted(services, whole_run(FULL, wrong_at(), ("compiling", "compiled", "checking")))
    await open_result(web)
    await expect(web.page.locator("[aria-label=Yours] mark")).to_have_text(["0.5", "NaN"])
    await expect(web.page.locator("[aria-label=Yours] th[scope=row]")).to_have_text(["3", "4"])
    await expect(web.page.locator("[aria-label=Expected] td")).to_have_text(["1", "2", "", "3"])
    await expect(web.page.locator("[aria-label=Yours] thead th.number")).to_have_text(["16", "17"])
    cells = web.page.locator(".map rect")
    await expect(cells).to_have_count(2)
    # Half of the first row's last cell, and all of the second row's last.
    first, second = [await cell.bounding_box() or {} for cell in await cells.all()]
    assert second["x"] < first["x"] < first["x"] + first["width"] < second["x"] + second["width"]
    assert first["y"] + first["height"] < second["y"]
    assert first["width"] == pytest.approx(second["width"] / 2, abs=1)
    await web.page.click(".error-map summary")
    assert await web.texts(".error-map td") == ["0 to 1", "2 to 3", "25 %", "2 to 3", "2 to 3", "100 %"]
    assert await web.accessibility() == []


async def test_all_samples_are_drawn_over_time(web: BrowserPage, services: ScriptedServices) -> None:
    sessions = [
        {"session": number, "samples_ms": [0.05 + 0.00001 * (at % 997) for at in range(2500)], "replaced": [{"at": 7}]}
        for number in range(1, 5)
    ]
    instruments = [
        {"sample": at, "time_ms": at, "clock_mhz": 2100 - at, "temperature_celsius": 40 + at, "power_watts": 700}
        for at in range(50)
    ]
    cases = [{"test_id": 1, "name": "n = 1024", "sessions": sessions, "instruments": instruments}]
    submitted(services, whole_run(FULL, timed()))
    await web.page.route("**/samples?test_id=1", lambda route: route.fulfill(json={"id": "job_1", "cases": cases}))
    await open_result(web)
    await web.page.click(".distribution summary >> text=All samples over time >> nth=0")
    await expect(web.page.locator(".samples .dots")).to_have_count(4)
    assert (await web.page.locator(".samples .dots").first.get_attribute("d") or "").count("h0") == 2500
    names = await web.texts(".samples text")
    assert names == ["50 µs", "55 µs", "60 µs", "session 1", "session 2", "session 3", "session 4"]
    begins = [(await one.bounding_box() or {})["x"] for one in await web.page.locator(".samples .dots").all()]
    assert begins == sorted(set(begins)), "each session beside the one before"
    await expect(web.page.locator(".trace")).to_have_count(3)
    await expect(web.page.locator(".trace").first).to_contain_text("Clock: 2,051 to 2,100 MHz")
    assert (await web.texts(".distribution >> nth=0 >> [open] td"))[:3] == ["1", "2500", "1"]
    assert await web.accessibility() == []


async def test_one_slow_call_does_not_squeeze_the_samples_and_is_said_to_be_cut(
    web: BrowserPage, services: ScriptedServices
) -> None:
    samples = [0.05 + 0.001 * (at % 7) for at in range(20)]
    sessions = [{"session": 1, "samples_ms": [*samples, 3.0], "replaced": []}]
    cases = [{"test_id": 1, "name": "n = 1024", "sessions": sessions, "instruments": []}]
    submitted(services, whole_run(FULL, timed()))
    await web.page.route("**/samples?test_id=1", lambda route: route.fulfill(json={"id": "job_1", "cases": cases}))
    await open_result(web)
    await web.page.click(".distribution summary >> text=All samples over time >> nth=0")
    plot = web.page.locator(".distribution").first
    await expect(plot).to_contain_text("Of 21, 1 is slower and drawn at the upper edge; the slowest took 3,000 µs.")
    # All but that one use the height.
    heights = await web.page.locator(".samples .dots").evaluate(
        "(it) => it.getAttribute('d').split('M').slice(1).map((dot) => Number(dot.split(' ')[1].replace('h0', '')))"
    )
    assert max(heights) - sorted(heights)[1] > 50
    assert (await web.texts(".distribution >> nth=0 >> [open] td"))[-1] == "3,000 µs"


async def test_samples_that_are_not_kept_are_said_to_be_missing(web: BrowserPage, services: ScriptedServices) -> None:
    submitted(services, whole_run(FULL, timed()))
    await web.page.route("**/samples?test_id=1", lambda route: route.fulfill(status=404, json={"detail": "None."}))
    await open_result(web)
    await web.page.click("text=All samples over time >> nth=0")
    await expect(web.page.locator(".distribution").first).to_contain_text("The samples of this run are not kept.")
    web.complaints.clear()  # the browser's own line for the 404


async def test_a_sample_that_failed_marks_what_is_not_equal(web: BrowserPage, services: ScriptedServices) -> None:
    sample = run_event_pb2.Sample(
        input_json='{"input":[1.0,-2.0]}',
        output_json='{"output":[1.0,-0.25]}',
        expected_output_json='{"output":[1.0,-0.2]}',
    )
    failed = run_event_pb2.Finished(verdict=run_event_pb2.VERDICT_WRONG_ANSWER, sample=sample)
    submitted(services, whole_run(submission_pb2.RUN_MODE_SAMPLE, failed))
    services.scheduler.jobs["job_1"].spec.submission.mode = submission_pb2.RUN_MODE_SAMPLE
    await open_result(web)
    await expect(web.page.locator("#outcome mark")).to_have_text(["-0.25"])


@pytest.mark.parametrize("width", [390, 1440])
async def test_the_same_element_of_yours_and_of_the_expected_output_is_at_the_same_place(
    web: BrowserPage, services: ScriptedServices, width: int
) -> None:
    values = ",".join(str(at / 7) for at in range(200))
    sample = run_event_pb2.Sample(
        input_json='{"input":[1.0,-2.0],"alpha":0.1}',
        output_json=f'{{"output":[{values},-3.5]}}',
        expected_output_json=f'{{"output":[{values},-123.25]}}',
    )
    failed = run_event_pb2.Finished(verdict=run_event_pb2.VERDICT_WRONG_ANSWER, sample=sample)
    submitted(services, whole_run(submission_pb2.RUN_MODE_SAMPLE, failed))
    services.scheduler.jobs["job_1"].spec.submission.mode = submission_pb2.RUN_MODE_SAMPLE
    await web.page.set_viewport_size({"width": width, "height": 900})
    await open_result(web)
    logs = web.page.locator(".sample .log")
    await expect(logs).to_have_count(3)
    given, yours, expected = [await log.bounding_box() or {} for log in await logs.all()]
    assert given["x"] == yours["x"] == expected["x"]
    assert given["width"] == yours["width"] == expected["width"]
    assert given["y"] < yours["y"] < expected["y"]
    # Whoever scrolls one scrolls all.
    shown = await web.page.locator(".sample").evaluate("(it) => it.scrollWidth - it.clientWidth")
    assert shown > 300
    assert set(await logs.evaluate_all("(logs) => logs.map((it) => it.scrollWidth - it.clientWidth)")) == {0}
    assert await web.overflow_pixels() == 0
    assert await web.accessibility() == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_a_result_fits_a_phone(web: BrowserPage, services: ScriptedServices, scheme: str) -> None:
    submitted(services, whole_run(FULL, timed()))
    await web.page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    await web.page.set_viewport_size({"width": 390, "height": 844})
    await open_result(web)
    await web.page.wait_for_selector(".roofline")
    assert await web.accessibility() == []
    assert await web.overflow_pixels() == 0
