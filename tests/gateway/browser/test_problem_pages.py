"""The list of problems, and the parts of a problem's page, in Chromium."""

from __future__ import annotations

import pytest
from playwright.async_api import expect
from wavepool.scheduler.v1 import scheduler_pb2
from wavepool.submission.v1 import submission_pb2

from tests.gateway.browser.browser_page import PROBLEM_PAGE, BrowserPage
from tests.gateway.running_gateway import RunningGateway
from tests.gateway.scripted_services import ScriptedServices

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]


NO_TIME = "\N{EN DASH}"


async def pane_widths(web: BrowserPage) -> list[float]:
    places = [await web.page.locator(f"#{name}-pane").bounding_box() for name in ("statement", "code", "result")]
    return [place["width"] if place else 0 for place in places]


async def test_the_list_of_problems_is_searched_and_the_address_holds_the_search(
    web: BrowserPage, gateway: RunningGateway
) -> None:
    await web.open()
    await web.page.goto(f"{gateway.url}/problems")
    rows = web.page.locator(".problems tbody tr")
    await expect(rows).to_have_count(1)
    await web.page.keyboard.press("/")
    await web.page.keyboard.type("nothing like it")
    await expect(web.page.locator("main")).to_contain_text("No problem is like that.")
    await web.page.wait_for_url("**/problems?q=nothing+like+it")
    await web.page.reload()
    await expect(web.page.locator("#search")).to_have_value("nothing like it")
    await web.page.click("text=Show all")
    await expect(rows).to_have_count(1)
    await web.page.click("th >> text=Difficulty")
    await expect(web.page.locator("th[aria-sort=ascending]")).to_have_text("Difficulty")
    assert await web.accessibility() == []
    await rows.first.locator("a").click()
    await web.is_ready()
    assert web.page.url == web.gateway.url + PROBLEM_PAGE


PROBLEMS = [
    scheduler_pb2.ProblemSummary(slug=slug, title=slug.title(), difficulty="EASY", dtypes=["float32"])
    for slug in ("relu", "softmax", "vector-addition")
]


@pytest.fixture
def three_problems(services: ScriptedServices) -> None:
    """Of three problems one is solved, one was tried, and nobody has tried the last."""
    services.scheduler.problems = PROBLEMS
    solved = {"slug": "softmax", "attempts": 3, "solved": True, "users": 9}
    times = {"best_runtime_ns": 2e6, "record_runtime_ns": 1.5e6}
    tried = {"slug": "vector-addition", "attempts": 1, "users": 4, "record_runtime_ns": 9e3}
    services.answers["ListProgress"] = services.answers["ListProgress"] | {"problems": [solved | times, tried]}


@pytest.mark.usefixtures("three_problems")
async def test_the_list_shows_what_was_reached_and_is_filtered_and_sorted_by_it(
    web: BrowserPage, gateway: RunningGateway
) -> None:
    await web.open()
    await web.page.goto(f"{gateway.url}/problems")
    rows = web.page.locator(".problems tbody tr")
    await expect(rows).to_have_count(3)
    cells = [await row.locator("td").all_inner_texts() for row in await rows.all()]
    assert [row[:6] for row in cells] == [
        ["Relu", "Easy", "", NO_TIME, NO_TIME, "0"],
        ["Softmax", "Easy", "Solved", "2 ms", "1.5 ms", "9"],
        ["Vector-Addition", "Easy", "Tried", NO_TIME, "9 µs", "4"],
    ]
    await expect(web.page.locator("#times")).to_have_text("Times: float32, MI300X, cold.")
    await expect(web.page.locator(".badge.good")).to_have_text("Solved")
    await web.page.get_by_role("button", name="Record").click()
    await expect(rows.locator("a")).to_have_text(["Vector-Addition", "Softmax", "Relu"])
    await web.page.get_by_label("Status").select_option("tried")
    await web.page.wait_for_url("**/problems?status=tried&sort=record")
    await expect(rows.locator("a")).to_have_text(["Vector-Addition"])
    assert await web.accessibility() == []


@pytest.mark.usefixtures("three_problems")
async def test_the_times_of_the_list_are_of_the_chosen_hardware(
    web: BrowserPage, gateway: RunningGateway, services: ScriptedServices
) -> None:
    await web.open()
    await web.page.goto(f"{gateway.url}/problems")
    await expect(web.page.get_by_label("GPU").locator("option").first).to_have_text("MI300X")
    services.answers["ListProgress"] = {"gpu_type": "cpu", "dtype": "float32", "timing_mode": "TIMING_MODE_HOT"}
    await web.page.get_by_label("GPU").select_option("cpu")
    await expect(web.page.locator("#times")).to_contain_text("Times: float32, cpu, hot. These do not rank")
    await expect(web.page.locator(".problems .badge.good")).to_have_count(0)
    await web.page.wait_for_url("**/problems?gpu=cpu")
    assert services.refusals.calls["ListProgress"][-1].gpu_type == "cpu"
    await web.page.reload()
    await expect(web.page.get_by_label("GPU")).to_have_value("cpu")


async def test_a_statement_has_its_parameters_and_what_the_hardware_allows(
    web: BrowserPage, services: ScriptedServices
) -> None:
    await web.open()
    parameters = web.page.locator("#parameters tbody tr")
    await expect(parameters).to_have_count(4)
    await expect(parameters.first.locator("td")).to_have_text(["a", "const float*", "device, n floats"])
    cases = web.page.locator("#cases tbody tr")
    await expect(cases.first.locator("td")).to_have_text(["n = 2^26", "151.9 µs", "memory", "805.3", "0.06711"])
    await expect(cases.nth(1).locator("td").nth(1)).to_have_text(NO_TIME)
    assert services.refusals.calls["GetProblem"]
    assert await web.accessibility() == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_the_list_of_problems_fits_a_phone(web: BrowserPage, gateway: RunningGateway, scheme: str) -> None:
    await web.page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    await web.page.set_viewport_size({"width": 390, "height": 844})
    await web.open()
    await web.page.goto(f"{gateway.url}/problems")
    await expect(web.page.locator(".problems tbody tr")).to_have_count(1)
    assert await web.accessibility() == []
    assert await web.overflow_pixels() == 0


async def test_a_result_needs_no_scrolling_of_the_page(web: BrowserPage) -> None:
    web.script(submission_pb2.RUN_MODE_FULL)
    await web.open()
    await web.submit()
    await web.page.wait_for_selector(".verdict.good")
    height = "document.documentElement.scrollHeight - document.documentElement.clientHeight"
    assert await web.page.evaluate(height) == 0
    await expect(web.page.locator(".verdict")).to_be_in_viewport()
    await expect(web.page.locator("#signature")).to_be_in_viewport()
    await expect(web.page.locator("#submit-button")).to_be_in_viewport()


async def test_borders_of_panes_move_by_pointer_and_keyboard_fold_and_stay(web: BrowserPage) -> None:
    await web.open()
    before = await pane_widths(web)
    first, second = (web.page.get_by_role("separator").nth(number) for number in (0, 1))
    await first.focus()
    await web.page.keyboard.press("ArrowRight")
    wider = await pane_widths(web)
    assert wider[0] > before[0]
    assert wider[1] < before[1]
    assert wider[2] == pytest.approx(before[2], abs=1)
    place = await second.bounding_box()
    assert place
    await web.page.mouse.move(place["x"] + 7, place["y"] + 200)
    await web.page.mouse.down()
    await web.page.mouse.move(place["x"] - 73, place["y"] + 200)
    await web.page.mouse.up()
    dragged = await pane_widths(web)
    assert dragged[2] - wider[2] == pytest.approx(80, abs=8)
    await first.focus()
    await web.page.keyboard.press("Enter")
    assert (await pane_widths(web))[0] == 0
    await web.page.reload()
    await web.page.wait_for_selector("#signature", state="attached")
    assert (await pane_widths(web))[0] == 0
    await web.page.get_by_role("separator").nth(0).dblclick()
    assert await pane_widths(web) == pytest.approx(dragged, abs=1)
    assert await web.accessibility() == []


async def test_options_scroll_their_pane_and_not_the_page(web: BrowserPage) -> None:
    await web.page.set_viewport_size({"width": 1440, "height": 900})
    await web.open()
    await web.open_options()
    assert await web.page.evaluate("document.documentElement.scrollHeight") == 900


@pytest.mark.parametrize("width", [1200, 1280, 1440])
async def test_the_tabs_of_a_problem_fit_its_pane(web: BrowserPage, width: int) -> None:
    await web.page.set_viewport_size({"width": width, "height": 900})
    await web.open()
    pane = web.page.locator("#statement-pane")
    assert await pane.evaluate("(it) => it.scrollWidth - it.clientWidth") == 0
    await web.page.get_by_role("tab", name="Leaderboard").click()
    assert await pane.evaluate("(it) => it.scrollLeft") == 0


async def test_a_phone_shows_one_part_at_a_time_and_the_result_of_a_run_by_itself(web: BrowserPage) -> None:
    web.script(submission_pb2.RUN_MODE_FULL)
    await web.page.set_viewport_size({"width": 390, "height": 844})
    await web.open()
    await expect(web.page.locator("#submit-button")).to_be_visible()
    await expect(web.page.locator("#signature")).to_be_hidden()
    await web.page.click("#statement-pane-tab")
    await expect(web.page.locator("#signature")).to_be_visible()
    await web.submit()
    await web.page.wait_for_selector(".verdict.good")
    await expect(web.page.get_by_role("tab", name="Result")).to_have_attribute("aria-selected", "true")


async def test_the_submissions_to_a_problem_are_beside_its_statement(
    web: BrowserPage, services: ScriptedServices
) -> None:
    web.script(submission_pb2.RUN_MODE_FULL)
    await web.open()
    await web.page.get_by_role("tab", name="Submissions").click()
    await expect(web.page.locator("#history")).to_have_text("You have submitted nothing for this problem yet.")
    await web.submit()
    await web.page.wait_for_selector(".verdict.good")
    await expect(web.page.locator("#history .badge")).to_have_text("Accepted · VALID")
    assert services.refusals.calls["ListJobs"][-1].problem
    await web.page.click("#history a")
    await web.page.wait_for_url("**/problems/*?submission=job_1")


async def test_keys_go_to_pages_run_the_sample_and_are_listed(web: BrowserPage, services: ScriptedServices) -> None:
    web.script(submission_pb2.RUN_MODE_SAMPLE)
    await web.open()
    await web.page.focus("#code")
    await web.page.keyboard.press("Control+'")
    await web.page.wait_for_selector(".verdict.good")
    sent = services.refusals.calls["SubmitJob"][0].spec.submission
    assert sent.mode == submission_pb2.RUN_MODE_SAMPLE
    await web.page.keyboard.type("?")
    await expect(web.page.locator("#keys-heading")).to_be_hidden()
    await web.page.focus("#starter-button")
    await web.page.keyboard.press("?")
    await expect(web.page.locator("#keys-heading")).to_be_visible()
    assert await web.accessibility() == []
    await web.page.keyboard.press("Escape")
    await web.page.keyboard.type("gp")
    await web.page.wait_for_url("**/problems")
