"""One browser for all tests of a module, on one event loop with their fixtures."""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator, Generator

import pytest
import pytest_asyncio
from playwright.async_api import Browser, async_playwright

from tests.gateway.browser.browser_page import BrowserPage
from tests.gateway.browser.chromium import launcher
from tests.gateway.running_gateway import RunningGateway

# One renderer process for all pages, and no imitation of a graphics processor.
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--renderer-process-limit=1"]
FAILED = pytest.StashKey[bool]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    item.stash[FAILED] = item.stash.get(FAILED, False) or report.failed
    return report


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Browser]:
    program = launcher(tmp_path_factory.mktemp("chromium"))
    async with async_playwright() as playwright:
        launched = await playwright.chromium.launch(executable_path=program, args=ARGUMENTS)
        yield launched
        await launched.close()


@pytest_asyncio.fixture(loop_scope="module")
async def web(request: pytest.FixtureRequest, browser: Browser, gateway: RunningGateway) -> AsyncGenerator[BrowserPage]:
    """A page without stored state; anything it reports on its console fails the test.

    If the test fails, its report says what the page showed.
    """
    context = await browser.new_context(viewport={"width": 1280, "height": 900}, reduced_motion="reduce")
    page = await context.new_page()
    page.set_default_timeout(30_000)
    shown = BrowserPage(page, gateway)
    yield shown
    if request.node.stash.get(FAILED, False):
        text = await page.evaluate("document.body.innerText")
        sys.stdout.write(f"{page.url}\n{text}\n{shown.complaints}\n")
    await context.close()
    assert shown.complaints == []
