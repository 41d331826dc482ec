"""Each page of the application, as axe judges it: in both themes, on a wide and on a narrow screen.

Pictures of all of them are left in `.cache/screenshots`, for people.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from wavepool.submission.v1 import submission_pb2

from tests.gateway.browser.browser_page import PROBLEM_PAGE, BrowserPage
from tests.gateway.running_gateway import RunningGateway

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
    "/sandbox": ("/sandbox", "#signature"),
    "/submissions": ("/submissions", ".page-head"),
    "/submissions/:id": ("/submissions/RUN", ".verdict"),
    "/users/:name": ("/users/ada", ".calendar"),
    "/compare": ("/compare?base=RUN&other=RUN", ".verdict"),
    "/api/docs": ("/api/docs", ".operation"),
}
PLACES = [*EXAMPLES.items(), ("unknown", ("/nowhere", "h1"))]


async def test_each_page_has_an_example_here() -> None:
    assert set(json.loads(ADDRESSES.read_text())) == set(EXAMPLES)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1440, 390])
@pytest.mark.parametrize(("page", "place"), PLACES, ids=[page for page, _ in PLACES])
async def test_axe_finds_nothing_and_nothing_is_too_wide(
    web: BrowserPage, gateway: RunningGateway, page: str, place: tuple[str, str], width: int, scheme: str
) -> None:
    await web.page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    await web.page.set_viewport_size({"width": width, "height": 900})
    await web.open()
    address, shown = place
    if "RUN" in address:
        web.script(submission_pb2.RUN_MODE_FULL)
        await web.submit()
        await web.page.wait_for_selector(shown)
        address = address.replace("RUN", web.page.url.rsplit("=")[-1])
    await web.page.goto(gateway.url + address)
    await web.page.wait_for_selector(shown, state="attached")
    PICTURES.mkdir(parents=True, exist_ok=True)
    name = page.strip("/").replace("/", "-").replace(":", "") or "home"
    await web.page.screenshot(path=PICTURES / f"{name}-{width}-{scheme}.png")
    assert await web.accessibility() == []
    assert await web.overflow_pixels() == 0
    if page == "unknown":
        # Chromium says of each page whose status is 404 that it is.
        web.complaints.clear()
