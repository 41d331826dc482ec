"""Pages with the colours that people force on them: backgrounds and the colours of borders are lost then.

What is not said in words must still be seen, so these tests look at pixels: what a style asks for is not what is drawn.
"""

from __future__ import annotations

import base64

import pytest
import pytest_asyncio
from playwright.async_api import Locator, expect
from wavepool.executor.v1 import run_event_pb2

from tests.gateway.browser.browser_page import BrowserPage
from tests.gateway.browser.test_compare_page import open_comparison
from tests.gateway.browser.test_compare_page import submitted as timed_submission
from tests.gateway.browser.test_result_page import (
    FULL,
    chosen,
    compiled,
    open_instructions,
    open_result,
    submitted,
    timed,
    wrong_at,
)
from tests.gateway.job_events import whole_run
from tests.gateway.scripted_services import ScriptedServices

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]

TO_CHECKER = ("compiling", "compiled", "checking")
FIRST_PIXEL = """async (png) => {
    const bytes = Uint8Array.from(atob(png), (letter) => letter.charCodeAt(0));
    const picture = await createImageBitmap(new Blob([bytes], { type: "image/png" }));
    const canvas = new OffscreenCanvas(1, 1).getContext("2d");
    canvas.drawImage(picture, 0, 0);
    return [...canvas.getImageData(0, 0, 1, 1).data].join(" ");
}"""


@pytest_asyncio.fixture(autouse=True, loop_scope="module")
async def forced(web: BrowserPage) -> None:
    await web.page.emulate_media(forced_colors="active", color_scheme="dark")


async def colour(web: BrowserPage, place: Locator, right: float = 3, down: float = 3) -> str:
    """The colour of a pixel, which is so far from the element's left and upper edge; if negative, from the others."""
    await place.scroll_into_view_if_needed()
    bounds = await place.bounding_box()
    assert bounds
    x = bounds["x"] + right + (bounds["width"] if right < 0 else 0)
    y = bounds["y"] + down + (bounds["height"] if down < 0 else 0)
    png = await web.page.screenshot(clip={"x": x, "y": y, "width": 1, "height": 1})
    return await web.page.evaluate(FIRST_PIXEL, base64.b64encode(png).decode())


async def test_stages_are_told_apart_by_their_shapes(web: BrowserPage, services: ScriptedServices) -> None:
    submitted(services, whole_run(FULL, wrong_at(), TO_CHECKER))
    await open_result(web)
    await web.page.wait_for_selector(".stage.failed")

    async def mark(state: str) -> tuple[bool, bool]:
        """Whether the mark of a stage is filled, and whether it has corners."""
        stage = web.page.locator(f".stage.{state}").first
        middle = ((await stage.bounding_box()) or {"width": 0})["width"] / 2
        ground = await colour(web, web.page.locator("#stages"), 1, -1)
        return await colour(web, stage, middle, 9) != ground, await colour(web, stage, middle - 8, 1.5) != ground

    assert [await mark(state) for state in ("done", "failed", "waiting")] == [
        (True, False),
        (True, True),
        (False, False),
    ]


async def test_a_stage_under_way_is_not_like_those_before_and_after(
    web: BrowserPage, services: ScriptedServices
) -> None:
    submitted(services, whole_run(FULL)[:5])
    await open_result(web)
    await web.page.wait_for_selector(".stage.active >> text=Check")
    seen: set[str] = set()
    for state in ("done", "active", "waiting"):
        stage = web.page.locator(f".stage.{state}").first
        seen.add(await colour(web, stage, ((await stage.bounding_box()) or {"width": 0})["width"] / 2, 9))
    assert len(seen) == 3


async def test_the_chosen_tab_and_mode_are_seen(web: BrowserPage) -> None:
    await web.open()
    await web.open_options()
    tabs = web.page.locator("#statement-pane [role=tab]")
    assert await colour(web, tabs.nth(0), 20, -2) != await colour(web, tabs.nth(1), 20, -2)
    modes = web.page.locator(".modes span")
    assert await colour(web, modes.nth(0)) != await colour(web, modes.nth(1))


async def test_chosen_and_linked_lines_of_source_and_instructions_are_seen(
    web: BrowserPage, services: ScriptedServices
) -> None:
    submitted(services, compiled())
    await open_instructions(web)
    await web.page.click(".line-list[aria-label=Source] >> text=extern")
    assert await chosen(web, "Instructions") == "s_load_dword s4, s[0:1], 0x1c"
    lines = web.page.locator(".line-list[aria-label=Instructions] .line")
    kinds = {"chosen": lines.nth(1), "linked": lines.nth(2), "other": lines.nth(3)}
    assert "linked" in (await kinds["linked"].get_attribute("class") or "")
    ground = await colour(web, kinds["other"])
    assert await colour(web, kinds["chosen"]) != ground
    # A dashed line around it: one of its first pixels is drawn.
    around = {await colour(web, kinds["linked"], right, 0.5) for right in range(2, 9)}
    assert around - {ground}
    toggle = web.page.get_by_role("button", name="Interleaved")
    before = await colour(web, toggle, 6, 6)
    await toggle.click()
    await web.page.mouse.move(0, 0)
    assert await colour(web, toggle, 6, 6) != before


async def test_wrong_cells_of_the_window_and_of_the_map_are_seen(web: BrowserPage, services: ScriptedServices) -> None:
    submitted(services, whole_run(FULL, wrong_at(), TO_CHECKER))
    await open_result(web)
    cells = web.page.locator("[aria-label=Yours] td")
    assert await colour(web, cells.nth(1).locator("mark"), 1, 1) != await colour(web, cells.nth(0), 1, 5)
    whole = web.page.locator(".map rect").nth(1)
    assert await colour(web, whole, 20, 20) != await colour(web, web.page.locator(".map"), 5, 5)


async def test_plots_keep_what_they_draw(web: BrowserPage, services: ScriptedServices) -> None:
    submitted(services, whole_run(FULL, timed()))
    await open_result(web)
    for drawn in (".case", ".session", ".middle"):
        plot = web.page.locator(f"svg.plot:has({drawn})").first
        assert await colour(web, plot.locator(drawn).first, 4, 4) != await colour(web, plot, 3, 3), drawn


async def test_differences_of_two_sources_are_seen(web: BrowserPage, services: ScriptedServices) -> None:
    timed_submission(services, "job_1", "int same;\nint slow;\n")
    timed_submission(services, "job_2", "int same;\nint fast;\n")
    await open_comparison(web)
    changed = web.page.locator(".diff .cm-changedText").first
    await expect(changed).to_have_text("slow")
    same = web.page.locator(".diff .cm-line", has_text="same").first
    assert await colour(web, changed, 0.5, 0.5) != await colour(web, same, 1, 1)


async def test_errors_and_warnings_of_the_compiler_have_marks_of_different_shape(web: BrowserPage) -> None:
    details = "solution.hip:1:5: error: first\nsolution.hip:3:1: warning: second"
    finished = run_event_pb2.Finished(verdict=run_event_pb2.VERDICT_COMPILE_ERROR, details=details)
    web.script(FULL, finished, ("compiling",))
    await web.open()
    await web.page.fill("#code", "int one;\nint two;\nint three;")
    await web.submit()
    mark = "(it) => getComputedStyle(it, '::before').content"
    error = await web.page.locator(".cm-lint-marker-error").evaluate(mark)
    assert error != await web.page.locator(".cm-lint-marker-warning").evaluate(mark)


async def test_the_chosen_word_of_a_completion_is_seen(web: BrowserPage) -> None:
    await web.open()
    await web.page.fill("#code", "")
    await web.page.focus("#code")
    await web.page.keyboard.type("hip")
    words = web.page.locator(".cm-tooltip-autocomplete li")
    await expect(words.first).to_have_attribute("aria-selected", "true")
    assert await colour(web, words.nth(0), -3, 3) != await colour(web, words.nth(1), -3, 3)
