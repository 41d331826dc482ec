"""Measures the browser's page in Chromium.

    usable              from the address to an editor that takes text and a button that submits
    statement readable  the same, to the statement's first paragraph
    key                 script, style and layout for a key in a source of 2,000 lines
    samples             from a click to the plot of 10,000 samples

Each is the median of some rounds, with an empty cache, on loopback and with 150 ms and 1.6 Mbit/s between (Chromium's
own brake: the time is added to each request).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import httpx
from playwright.async_api import Browser, Page, async_playwright

from benchmarks.overhead import ROOT, running_wavepool

CHROMIUM = "/usr/bin/chromium"
SLUG = "softmax"
PROBLEM = f"/problems/{SLUG}"
LATENCY_MS = 150
BYTES_PER_SECOND = 1.6e6 / 8
LINES = 2000
KEYS = 60
LIMITS_MS = {"usable, loopback": 1000.0, "statement, 150 ms, 1.6 Mbit/s": 2000.0, "key": 16.0, "samples": 100.0}
SAMPLES = 10_000
# To the frame after the one that has the plot, so that it is on the screen.
DRAWN = """(summary) => new Promise((done) => {
  const begin = performance.now();
  summary.click();
  const look = () => document.querySelector(".samples")
    ? requestAnimationFrame(() => setTimeout(() => done(performance.now() - begin)))
    : requestAnimationFrame(look);
  look();
})"""
# What Chromium counts of a page's main thread; waiting for the screen, or for other programs' turn, is not the page's.
WORK = ("ScriptDuration", "LayoutDuration", "RecalcStyleDuration")


@asynccontextmanager
async def fresh_page(browser: Browser, token: str, *, is_slow: bool = False, draft: str = "") -> AsyncGenerator[Page]:
    """A tab with an empty cache, signed in."""
    context = await browser.new_context(viewport={"width": 1440, "height": 900})
    kept = {"wavepool.token": token, **({f"wavepool.draft.{SLUG}": draft} if draft else {})}
    for name, value in kept.items():
        await context.add_init_script(f"localStorage.setItem({json.dumps(name)}, {json.dumps(value)})")
    page = await context.new_page()
    if is_slow:
        session: Any = await context.new_cdp_session(page)
        brake = {"offline": False, "latency": LATENCY_MS, "downloadThroughput": BYTES_PER_SECOND}
        await session.send("Network.enable")
        await session.send("Network.emulateNetworkConditions", {**brake, "uploadThroughput": BYTES_PER_SECOND})
    yield page
    await context.close()


async def opening(browser: Browser, gateway: str, token: str, *, is_slow: bool) -> dict[str, float]:
    """Milliseconds until a problem can be read, and until its kernel can be written and submitted."""
    async with fresh_page(browser, token, is_slow=is_slow) as page:
        loop = asyncio.get_running_loop()
        begin = loop.time()
        await page.goto(gateway + PROBLEM, wait_until="commit")

        async def timed(shown: Callable[[Page], Awaitable[None]]) -> float:
            await shown(page)
            return (loop.time() - begin) * 1e3

        statement, usable = await asyncio.gather(timed(_readable), timed(_usable))
        return {"statement": statement, "usable": usable}


async def _readable(page: Page) -> None:
    await page.wait_for_selector("#statement p")


async def _usable(page: Page) -> None:
    await page.wait_for_selector("#submit-button:not([disabled])")
    await page.wait_for_selector("#code")


async def typing(browser: Browser, gateway: str, token: str) -> dict[str, float]:
    """Milliseconds of a key in the middle of a long source."""
    source = "\n".join(f"float value_{line} = {line} * scale + offset; // a line" for line in range(LINES))
    async with fresh_page(browser, token, draft=source) as page:
        await page.goto(gateway + PROBLEM)
        await _usable(page)
        await page.focus("#code")
        await page.keyboard.press("PageUp")
        session: Any = await page.context.new_cdp_session(page)
        await session.send("Performance.enable")
        before = await _work_ms(session)
        for _ in range(KEYS):
            await page.keyboard.press("x")
        return {"key": (await _work_ms(session) - before) / KEYS}


async def _work_ms(session: Any) -> float:  # noqa: ANN401 - a session of the browser's own protocol
    metrics = (await session.send("Performance.getMetrics"))["metrics"]
    return sum(one["value"] for one in metrics if one["name"] in WORK) * 1e3


async def drawing(browser: Browser, gateway: str, token: str, job_id: str) -> dict[str, float]:
    """Milliseconds from a click to the drawn samples of a case, which are here already."""
    count = SAMPLES // 4
    sessions: list[dict[str, Any]] = [
        {"session": number, "samples_ms": [0.05 + 0.00001 * (at % 997) for at in range(count)], "replaced": []}
        for number in range(1, 5)
    ]
    cases = [{"test_id": 1, "name": "made up", "sessions": sessions, "instruments": []}]
    async with fresh_page(browser, token) as page:
        await page.route("**/samples?*", lambda route: route.fulfill(json={"id": job_id, "cases": cases}))
        await page.goto(f"{gateway}/submissions/{job_id}")
        summary = page.locator(".distribution summary", has_text="All samples over time").first
        await summary.click()
        await page.wait_for_selector(".samples .dots")
        await summary.click()
        await page.wait_for_selector(".samples", state="detached")
        return {"samples": await summary.evaluate(DRAWN)}


async def submitted(gateway: str, token: str) -> str:
    """The id of a submission of its own that has times."""
    headers = {"Authorization": f"Bearer {token}"}
    source = (ROOT / "problems/catalogue/leaky-relu/solution.hip").read_text()
    async with httpx.AsyncClient(base_url=gateway, trust_env=False, timeout=120, headers=headers) as http:
        body = {"problem": "leaky-relu", "mode": "full", "code": source}
        job_id: str = (await http.post("/api/v1/submissions", json=body)).raise_for_status().json()["id"]
        # The stream ends with the run.
        (await http.get(f"/api/v1/submissions/{job_id}/events")).raise_for_status()
        return job_id


async def measured(gateway: str, token: str, rounds: int) -> None:
    """Prints a table: the times, and the limit."""
    found: dict[str, list[float]] = {}
    job_id = await submitted(gateway, token)
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        for _ in range(rounds):
            times = await typing(browser, gateway, token) | await drawing(browser, gateway, token, job_id)
            for network, is_slow in (("loopback", False), ("150 ms, 1.6 Mbit/s", True)):
                opened = await opening(browser, gateway, token, is_slow=is_slow)
                times |= {f"{what}, {network}": value for what, value in opened.items()}
            for what, value in times.items():
                found.setdefault(what, []).append(value)
        await browser.close()
    print(f"median of {rounds} rounds; milliseconds\n{'':34}{'time':>9}{'limit':>8}")
    for what, values in found.items():
        print(f"{what:34}{statistics.median(values):9.1f}{LIMITS_MS.get(what, '')!s:>8}")


def main() -> None:
    """Starts a Wavepool of its own, and measures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    with running_wavepool() as (client, data_dir):
        token = (data_dir / "token").read_text().strip()
        asyncio.run(measured(str(client.base_url).rstrip("/"), token, rounds))


if __name__ == "__main__":
    main()
