"""The page's main flows in Chromium, against real processes: each from its first click to what is kept of it."""

from __future__ import annotations

import re
import time
from collections.abc import AsyncGenerator

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, expect

from tests.end_to_end.wavepool_processes import Wavepool, kernel, reference

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.asyncio(loop_scope="module")]

PROBLEM = "leaky-relu"
LONGEST_MS = 90_000
"""Of a run, on a machine that is busy with other tests."""
BROKEN = reference(PROBLEM).replace("alpha * x", "alpha * y")
BROKEN_LINE = next(number for number, line in enumerate(BROKEN.splitlines(), 1) if "* y" in line)


async def visit(browser: Browser, wavepool: Wavepool, user: str = "") -> Page:
    """A browser of its own, in which the first user is signed in, or the one named."""
    context = await browser.new_context(viewport={"width": 1280, "height": 900}, reduced_motion="reduce")
    page = await context.new_page()
    page.set_default_timeout(LONGEST_MS)
    # Links are for the user who makes them.
    kind = "token" if user else "link"
    made = wavepool.http.post("/api/v1/tokens", json={"name": "page", "link": not user, "user_id": user})
    assert made.status_code == 201, made.text
    await page.goto(f"{wavepool.endpoint}/#{kind}={made.json()['token']}")
    await page.wait_for_selector("#who")
    return page


@pytest_asyncio.fixture(loop_scope="module")
async def page(browser: Browser, wavepool: Wavepool) -> AsyncGenerator[Page]:
    """The page of the first user; what breaks in it fails the test."""
    broken: list[str] = []
    shown = await visit(browser, wavepool)
    shown.on("pageerror", lambda error: broken.append(str(error)))
    yield shown
    await shown.context.close()
    assert broken == []


async def open_problem(page: Page, wavepool: Wavepool) -> None:
    await page.goto(f"{wavepool.endpoint}/problems/{PROBLEM}")
    await page.wait_for_selector("#signature")


async def run_kernel(page: Page, source: str, mode: str) -> str:
    """Submits a source for the problem that is open; gives the id."""
    if not await page.locator(".modes").is_visible():
        await page.click("#extras summary")
    await page.click(f".modes label:has(input[value={mode}])")
    return await run(page, source)


async def run(page: Page, source: str) -> str:
    """Submits a source as it is asked for; gives the id."""
    before = page.url
    await page.fill("#code", source)
    await page.click("#submit-button")
    await page.wait_for_url(lambda url: "submission=" in url and url != before)
    return page.url.rpartition("=")[2]


async def ends_as(page: Page, title: str) -> None:
    await expect(page.locator(".verdict")).to_contain_text(title, timeout=LONGEST_MS)


async def test_a_link_leaves_this_browser_a_token_of_its_own(page: Page, wavepool: Wavepool) -> None:
    token = await page.evaluate("localStorage.getItem('wavepool.token')")
    own = wavepool.http.get("/api/v1/me", headers={"Authorization": f"Bearer {token}"}).json()
    listed = {one["id"]: one["name"] for one in wavepool.http.get("/api/v1/tokens").json()["tokens"]}
    assert listed[own["token_id"]] == "Chrome on Linux"
    await page.reload()
    await expect(page.locator("#who")).to_have_text(own["user_name"])


async def test_a_kernel_is_mended_where_the_compiler_points_and_solves_its_problem(
    page: Page, wavepool: Wavepool
) -> None:
    await open_problem(page, wavepool)
    await run_kernel(page, BROKEN, "full")
    await ends_as(page, "Compile error")
    await page.focus("#code")
    await page.keyboard.press("F8")
    await expect(page.locator(".cm-tooltip-lint")).to_contain_text("undeclared identifier 'y'")
    await expect(page.locator(".cm-activeLine")).to_contain_text("alpha * y")
    solved = await run_kernel(page, reference(PROBLEM), "full")
    await page.wait_for_selector(".stage.active >> text=/Compile|Check|Benchmark/")
    await page.reload()
    await expect(page).to_have_url(f"{wavepool.endpoint}/problems/{PROBLEM}?submission={solved}")
    await ends_as(page, "Accepted")
    await expect(page.locator("#code")).to_contain_text("alpha * x")
    await page.click("#result-link")
    await page.click(".distribution summary >> text=All samples over time >> nth=0")
    await expect(page.locator(".samples .dots").first).to_have_attribute("d", re.compile("M"))
    await page.goto(f"{wavepool.endpoint}/problems?q=leaky&gpu=cpu&status=solved")
    await expect(page.locator(".problems tbody tr")).to_contain_text(["Solved"])


async def test_a_wrong_kernel_shows_where_its_output_is_wrong(page: Page, wavepool: Wavepool) -> None:
    await open_problem(page, wavepool)
    await run_kernel(page, kernel("wrong_leaky_relu"), "check")
    await ends_as(page, "Wrong answer")
    expected = await page.locator("[aria-label=Expected] mark").all_inner_texts()
    actual = await page.locator("[aria-label=Yours] mark").all_inner_texts()
    assert expected
    assert [-float(value) for value in actual] == pytest.approx([float(value) for value in expected], rel=1e-4)
    await expect(page.locator(".map rect").first).to_be_attached()


async def test_two_times_are_listed_and_compared(page: Page, wavepool: Wavepool) -> None:
    sources = (reference(PROBLEM), reference(PROBLEM).replace("threads = 256", "threads = 128"))
    base, other = [wavepool.submit(source) for source in sources]
    for submission in (base, other):
        assert wavepool.ended(submission)["status"] == "ACCEPTED"
    await page.goto(f"{wavepool.endpoint}/submissions/{base}")
    await page.click("text=Compare")
    await page.click(f"a[href*='other={other}']")
    await expect(page.locator(".verdict")).to_contain_text(" ")
    cases = wavepool.job(base)["result"]["benchmark_results"]
    await expect(page.locator(".cases tbody tr")).to_have_count(len(cases) + 1)
    await expect(page.locator(".diff .cm-changedText")).to_have_text(["256", "128"])
    # On `cpu` no time ranks; one that was too unsteady is not even listed.
    ranking = wavepool.http.get("/api/v1/rankings", params={"problem": PROBLEM, "gpu_type": "cpu"}).json()
    await page.goto(f"{wavepool.endpoint}/problems/{PROBLEM}/leaderboard?gpu=cpu")
    await expect(page.locator("main")).to_contain_text("These times do not rank")
    await expect(page.locator(".ranking tbody tr")).to_have_count(len(ranking["rankings"]))


async def test_a_submission_is_shared_as_a_link_and_another_user_reads_it(
    page: Page, browser: Browser, wavepool: Wavepool
) -> None:
    name = f"ada-{time.time_ns()}"
    assert wavepool.http.post("/api/v1/users", json={"name": name}).status_code == 201
    await open_problem(page, wavepool)
    submission = await run_kernel(page, reference(PROBLEM), "check")
    await ends_as(page, "All tests passed")
    reader = await visit(browser, wavepool, name)
    await expect(reader.locator("#who")).to_have_text(name)
    await reader.goto(f"{wavepool.endpoint}/submissions/{submission}")
    await expect(reader.locator("main")).to_contain_text("There is no submission")
    await page.goto(f"{wavepool.endpoint}/submissions")
    await page.click(f"tr:has(a[href$='{submission}']) .link-button")
    await page.fill("#change-name", "for Ada")
    await page.check("input[value=link]")
    await page.click("#change-form button[type=submit]")
    await expect(page.locator(f"tr:has(a[href$='{submission}'])")).to_contain_text("who has the link")
    await reader.reload()
    await ends_as(reader, "All tests passed")
    await expect(reader.locator("h1")).to_have_text("Result of for Ada")
    await expect(reader.locator("#source")).to_contain_text("alpha * x")
    await expect(reader.locator(".facts")).not_to_contain_text("Cost")
    await expect(reader.locator("#change-button")).to_have_count(0)
    await reader.context.close()


async def test_a_program_prints_as_it_goes_and_is_cancelled(page: Page, wavepool: Wavepool) -> None:
    await page.goto(f"{wavepool.endpoint}/sandbox")
    await run(page, kernel("hello"))
    await ends_as(page, "Program failed")
    await expect(page.locator("#outcome")).to_contain_text("1 4 9 16")
    await expect(page.locator(".figures")).to_contain_text("Exit code3")
    endless = await run(page, kernel("counts_slowly"))
    await expect(page.locator("#outcome")).to_contain_text("tick 1", timeout=LONGEST_MS)
    await page.click("#cancel-button")
    await page.click("#cancel-confirm")
    await ends_as(page, "Cancelled")
    assert wavepool.ended(endless)["state"] == "CANCELLED"
