"""Measures the browser's page beside the page of before, in Chromium, each on the same running Wavepool.

    usable              from the address to an editor that takes text and a button that submits
    statement readable  the same, to the statement's first paragraph
    key                 script, style and layout for a key in a source of 2,000 lines
    samples             from a click to the plot of 10,000 samples, which the page of before did not have

Each is the median of some rounds, with an empty cache, on loopback and with 150 ms and 1.6 Mbit/s between (Chromium's
own brake: the time is added to each request). The page of before is taken out of the history and served as its
gateway did: without compression, and asked for again each time.
"""

from __future__ import annotations

import argparse
import asyncio
import io
import json
import math
import socket
import statistics
import subprocess
import tarfile
import tempfile
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import uvicorn
from playwright.async_api import Browser, Page, async_playwright
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from benchmarks.overhead import ROOT, running_wavepool

# The last commit with the page that needed no build.
BEFORE = "b2e1e521~1"
CHROMIUM = "/usr/bin/chromium"
SLUG = "softmax"
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


@dataclass(frozen=True)
class Site:
    """A page's address, and how it is asked for a problem."""

    name: str
    url: str
    problem: str


def files_of_before(folder: Path) -> Path:
    """The files of the page of before, below `folder`."""
    archive = subprocess.run(
        ["/usr/bin/git", "archive", BEFORE, "web"], cwd=ROOT, capture_output=True, check=True
    ).stdout
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        tar.extractall(folder, filter="data")
    return folder / "web"


@asynccontextmanager
async def served_before(files: Path, gateway: str) -> AsyncGenerator[str]:
    """The page of before on a port of its own; what it asks of the interface goes to the gateway."""
    async with httpx.AsyncClient(base_url=gateway, trust_env=False, timeout=30) as http:

        async def passed_on(request: Request) -> Response:
            headers = {
                name: request.headers[name] for name in ("authorization", "content-type") if name in request.headers
            }
            answer = await http.request(
                request.method,
                str(request.url.path),
                params=request.query_params,
                content=await request.body(),
                headers=headers,
            )
            return Response(answer.content, answer.status_code, media_type=answer.headers.get("content-type"))

        async def page(_: Request) -> Response:
            return FileResponse(files / "index.html", headers={"Cache-Control": "no-cache"})

        routes = [
            Route("/", page),
            Mount("/assets", StaticFiles(directory=files)),
            Route("/{path:path}", passed_on, methods=["GET", "POST", "DELETE", "PATCH"]),
        ]
        # Whoever connects before it serves waits in the socket's queue.
        listener = socket.create_server(("127.0.0.1", 0))
        server = uvicorn.Server(uvicorn.Config(Starlette(routes=routes), log_level="warning"))
        serving = asyncio.create_task(server.serve([listener]))
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        server.should_exit = True
        await serving


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


async def opening(browser: Browser, site: Site, token: str, *, is_slow: bool) -> dict[str, float]:
    """Milliseconds until a problem can be read, and until its kernel can be written and submitted."""
    async with fresh_page(browser, token, is_slow=is_slow) as page:
        loop = asyncio.get_running_loop()
        begin = loop.time()
        await page.goto(site.url + site.problem, wait_until="commit")

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


async def typing(browser: Browser, site: Site, token: str) -> dict[str, float]:
    """Milliseconds of a key in the middle of a long source."""
    source = "\n".join(f"float value_{line} = {line} * scale + offset; // a line" for line in range(LINES))
    async with fresh_page(browser, token, draft=source) as page:
        await page.goto(site.url + site.problem)
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


async def drawing(browser: Browser, site: Site, token: str, job_id: str) -> dict[str, float]:
    """Milliseconds from a click to the drawn samples of a case, which are here already."""
    count = SAMPLES // 4
    sessions: list[dict[str, Any]] = [
        {"session": number, "samples_ms": [0.05 + 0.00001 * (at % 997) for at in range(count)], "replaced": []}
        for number in range(1, 5)
    ]
    cases = [{"test_id": 1, "name": "made up", "sessions": sessions, "instruments": []}]
    async with fresh_page(browser, token) as page:
        await page.route("**/samples?*", lambda route: route.fulfill(json={"id": job_id, "cases": cases}))
        await page.goto(f"{site.url}/submissions/{job_id}")
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
    """Prints a table: both pages, their ratio, and the limit."""
    with tempfile.TemporaryDirectory() as folder:
        async with served_before(files_of_before(Path(folder)), gateway) as before, async_playwright() as playwright:
            sites = [Site("now", gateway, f"/problems/{SLUG}"), Site("before", before, f"/#problem={SLUG}")]
            browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
            found: dict[str, dict[str, list[float]]] = {}
            job_id = await submitted(gateway, token)
            # In turn, so that what else the machine does falls on both.
            for _ in range(rounds):
                for site in sites:
                    for network, is_slow in (("loopback", False), ("150 ms, 1.6 Mbit/s", True)):
                        for what, value in (await opening(browser, site, token, is_slow=is_slow)).items():
                            found.setdefault(f"{what}, {network}", {}).setdefault(site.name, []).append(value)
                    for what, value in (await typing(browser, site, token)).items():
                        found.setdefault(what, {}).setdefault(site.name, []).append(value)
                drawn = await drawing(browser, sites[0], token, job_id)
                found.setdefault("samples", {}).setdefault("now", []).append(drawn["samples"])
            await browser.close()
    print(f"median of {rounds} rounds; milliseconds\n{'':34}{'now':>9}{'before':>9}{'ratio':>7}{'limit':>8}")
    for what, by_site in found.items():
        now, then = (statistics.median(by_site[name]) if name in by_site else math.nan for name in ("now", "before"))
        limit = LIMITS_MS.get(what, "")
        print(f"{what:34}{now:9.1f}{then:9.1f}{now / then:7.2f}{limit!s:>8}")


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
