"""Each page of the application, as axe judges it: in both themes and with forced colours, on screens of all widths.

Most of the processor time of a view is the browser's, two seconds of it. So each commit draws one theme and width for
each page, half of the pages at 400 %, and a tenth with forced colours; `make soak` looks at all. Pictures of what was
seen are left in `.cache/screenshots`, for people.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncGenerator
from itertools import product
from pathlib import Path
from typing import NamedTuple

import pytest
import pytest_asyncio
from playwright.async_api import ViewportSize, expect
from wavepool.submission.v1 import submission_pb2

from tests.gateway.browser.browser_page import PROBLEM_PAGE, BrowserPage
from tests.gateway.running_gateway import RunningGateway
from tests.tiers import Tier, one_of_each, rotating

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]

# Those that the gateway answers with the application.
ADDRESSES = Path("web/dist/pages.json")
PICTURES = Path(".cache/screenshots")
# An address for each page of the application, and what is on it as soon as it is all there; RUN is a submission that is
# over.
EXAMPLES = {
    "/": ("/", "#go-on"),
    "/problems": ("/problems", ".problems tbody tr"),
    "/problems/:slug": (PROBLEM_PAGE, "#signature"),
    "/problems/:slug/leaderboard": (f"{PROBLEM_PAGE}/leaderboard", ".ranking tbody tr"),
    "/leaderboard": ("/leaderboard", ".ranking tbody tr"),
    "/sandbox": ("/sandbox", "#programs .empty"),
    "/submissions": ("/submissions", ".page-head"),
    "/submissions/:id": ("/submissions/RUN", ".verdict"),
    "/users/:name": ("/users/ada", ".calendar"),
    "/compare": ("/compare?base=RUN&other=RUN", ".verdict"),
    "/api/docs": ("/api/docs", ".operation"),
}
SIGNED_OUT = "signed-out"
PLACES = {**EXAMPLES, "unknown": ("/nowhere", "h1"), SIGNED_OUT: ("/", ".sample-result .verdict")}
PAGES = [*PLACES]


class View(NamedTuple):
    """A page in one theme on a screen of one width."""

    page: str
    width: int
    scheme: str

    def __str__(self) -> str:
        return f"{self.page}-{self.width}-{self.scheme}"


LOOKS = [*product([1440, 390], ["light", "dark"])]
# Pages begin with different looks, so that each commit sees all looks of what the pages share.
VIEWS = [
    View(page, *LOOKS[(number + turn) % len(LOOKS)]) for number, page in enumerate(PAGES) for turn in range(len(LOOKS))
]


async def test_each_page_has_an_example_here() -> None:
    assert set(json.loads(ADDRESSES.read_text())) == set(EXAMPLES)


# Of a screen of 1280 x 1024 pixels, what is left at 400 %.
ZOOMED = ViewportSize(width=320, height=256)
# All that is written where somebody can read it. Plots have a table behind them, and the editor scrolls by itself.
READABLE = """() => {
    const texts = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
        const { parentElement: parent, textContent: text } = walker.currentNode;
        const isSeen = parent.checkVisibility({ visibilityProperty: true, opacityProperty: true });
        if (isSeen && text.trim() && !parent.closest(".visually-hidden, svg, script, style")) texts.push(text.trim());
    }
    return texts;
}"""


@pytest_asyncio.fixture(loop_scope="module")
async def shown(request: pytest.FixtureRequest, web: BrowserPage, gateway: RunningGateway) -> AsyncGenerator[None]:
    """The page that the test's parameter names, once it is all there."""
    parameters = request.node.callspec.params
    page = parameters["view"].page if "view" in parameters else parameters["page"]
    if page != SIGNED_OUT:
        await web.open()
    address, content = PLACES[page]
    if "RUN" in address:
        web.script(submission_pb2.RUN_MODE_FULL)
        await web.submit()
        await web.page.wait_for_selector(content)
        address = address.replace("RUN", web.page.url.rsplit("=")[-1])
    await web.page.goto(gateway.url + address)
    await web.page.wait_for_selector(content, state="attached")
    await expect(web.page.locator(".empty", has_text=re.compile("^Reading"))).to_have_count(0)
    yield
    if page == "unknown":
        # Chromium says of each page whose status is 404 that it is.
        web.complaints.clear()


async def readable(web: BrowserPage) -> set[str]:
    """All texts; of parts that stand behind tabs, those of each."""
    texts: set[str] = set(await web.page.evaluate(READABLE))
    for tab in await web.page.locator(".pane-tabs [role=tab]:visible").all():
        await tab.click()
        texts |= set(await web.page.evaluate(READABLE))
    return texts


async def picture(web: BrowserPage, page: str, look: str) -> None:
    name = page.strip("/").replace("/", "-").replace(":", "") or "home"
    await web.page.screenshot(path=PICTURES / f"{name}-{look}.png")


@pytest.mark.usefixtures("shown")
@pytest.mark.parametrize("view", one_of_each(VIEWS, lambda view: view.page, Tier.SOAK), ids=str)
async def test_axe_finds_nothing_and_nothing_is_too_wide(web: BrowserPage, view: View) -> None:
    await web.page.emulate_media(color_scheme="dark" if view.scheme == "dark" else "light")
    await web.page.set_viewport_size({"width": view.width, "height": 900})
    await picture(web, view.page, f"{view.width}-{view.scheme}")
    assert await web.accessibility() == []
    assert await web.overflow_pixels() == 0


@pytest.mark.usefixtures("shown")
@pytest.mark.parametrize("page", one_of_each(PAGES, lambda page: PAGES.index(page) // 2, Tier.SOAK))
async def test_at_400_percent_all_can_be_read_and_only_tables_scroll_to_the_side(web: BrowserPage, page: str) -> None:
    before = await readable(web)
    await web.page.set_viewport_size(ZOOMED)
    assert before - await readable(web) == set()
    assert await web.overflow_pixels() == 0
    assert await web.accessibility() == []


@pytest.mark.usefixtures("shown")
@pytest.mark.parametrize("page", rotating(PAGES))
async def test_axe_finds_nothing_with_forced_colours(web: BrowserPage, page: str) -> None:
    await web.page.emulate_media(forced_colors="active", color_scheme="dark")
    await picture(web, page, "forced-colours")
    # It reads the page's own colours, which are not those that are seen; test_forced_colours.py looks at these.
    assert await web.accessibility("color-contrast") == []
