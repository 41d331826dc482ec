"""A page in a real browser, with the checks that the tests make."""

# ruff: noqa: E501 - the scripts are JavaScript

from __future__ import annotations

from typing import Any

from playwright.async_api import Page
from wavepool.executor.v1.run_event_pb2 import Finished
from wavepool.submission.v1.submission_pb2 import RunMode

from tests.gateway.job_events import whole_run
from tests.gateway.running_gateway import RunningGateway
from tests.gateway.scripted_scheduler import PROBLEM

ACCESSIBILITY = """() => {
  const name = (node) => (node.getAttribute("aria-label") || node.labels?.[0]?.textContent || node.textContent || node.alt || node.title || "").trim();
  const shown = (node) => node.getClientRects().length > 0;
  const all = (selector) => [...document.querySelectorAll(selector)].filter(shown);
  const complaints = [];
  for (const node of all("button, a[href], input, select, textarea")) if (!name(node)) complaints.push(`no name: ${node.outerHTML}`);
  for (const node of all("img")) if (!node.hasAttribute("alt")) complaints.push(`no alt: ${node.outerHTML}`);
  const ids = [...document.querySelectorAll("[id]")].map((node) => node.id);
  if (new Set(ids).size !== ids.length) complaints.push("an id is used twice");
  for (const node of document.querySelectorAll("[aria-labelledby], [aria-describedby], label[for]"))
    for (const attribute of ["aria-labelledby", "aria-describedby", "for"])
      if (node.hasAttribute(attribute) && !document.getElementById(node.getAttribute(attribute))) complaints.push(`${attribute} leads nowhere: ${node.outerHTML}`);
  if (all("h1").length !== 1) complaints.push("a page has one h1");
  if (!document.documentElement.lang) complaints.push("no language");
  if (all("main").length !== 1) complaints.push("a page has one main");
  for (const node of all("table")) if (!node.caption && !node.closest("article")) complaints.push("a table has no caption");
  return complaints;
}"""

CONTRAST = """() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgba = (colour) => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1); return [...canvas.getImageData(0, 0, 1, 1).data]; };
  const luminance = ([r, g, b]) => [r, g, b].map((v) => v / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)).reduce((sum, v, at) => sum + v * [0.2126, 0.7152, 0.0722][at], 0);
  const backdrop = (node) => { for (let at = node; at; at = at.parentElement) { const colour = rgba(getComputedStyle(at).backgroundColor); if (colour[3] === 255) return colour; } return [255, 255, 255]; };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const poor = [];
  while (walker.nextNode()) {
    const node = walker.currentNode.parentElement;
    if (!walker.currentNode.textContent.trim() || !node.getClientRects().length || node.closest(":disabled, noscript, textarea, .visually-hidden")) continue;
    const [light, dark] = [luminance(rgba(getComputedStyle(node).color)), luminance(backdrop(node))].sort((a, b) => b - a);
    const ratio = (light + 0.05) / (dark + 0.05);
    if (ratio < 4.5) poor.push(`${ratio.toFixed(2)} ${node.className} ${node.textContent.slice(0, 40)}`);
  }
  return poor;
}"""

PROBLEM_PAGE = f"/problems/{PROBLEM.slug}"


class BrowserPage:
    """The web page of one gateway, as one user sees it."""

    def __init__(self, page: Page, gateway: RunningGateway) -> None:
        self.page = page
        self.gateway = gateway
        self.complaints: list[str] = []
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("console", self._note)

    def _note(self, message: Any) -> None:
        place = message.location["url"]
        of_another_site = place.startswith("http") and not place.startswith(f"{self.gateway.url}/")
        if message.type in {"error", "warning"} and not of_another_site:
            self.complaints.append(message.text)

    async def open(self, fragment: str = "token=wp_user") -> None:
        """Opens a problem, or what the fragment names as links of before did."""
        is_old_link = "problem=" in fragment or "job=" in fragment
        await self.page.goto(f"{self.gateway.url}{'/' if is_old_link else PROBLEM_PAGE}#{fragment}")
        await self.is_ready()

    async def is_ready(self) -> None:
        """Waits until a problem is shown."""
        await self.page.wait_for_selector("#signature", state="attached")

    async def code(self) -> str:
        """The source in the editor."""
        return "\n".join(await self.page.locator("#code .cm-line").all_inner_texts()).replace("\n\n", "\n")

    async def open_options(self) -> None:
        """Shows all that can be chosen beside the source."""
        if not await self.page.locator("#gpu-select").is_visible():
            await self.page.click("#extras summary")

    async def choose(self, mode: str) -> None:
        await self.open_options()
        await self.page.click(f".modes label:has(input[value={mode}])")

    async def submit(self) -> None:
        """Submits; on a narrow screen from its tab."""
        if await self.page.locator("#code-pane-tab").is_visible():
            await self.page.click("#code-pane-tab")
        await self.page.click("#submit-button")

    async def verdict(self) -> str:
        return await self.page.locator(".verdict").inner_text()

    async def texts(self, selector: str) -> list[str]:
        """The visible texts."""
        script = """(nodes) => nodes.map((node) => {
            const seen = node.cloneNode(true);
            for (const hidden of seen.querySelectorAll(".visually-hidden, [aria-hidden]")) hidden.remove();
            return seen.textContent.trim();
        })"""
        return await self.page.locator(selector).evaluate_all(script)

    def script(self, mode: RunMode.ValueType, result: Finished | None = None, steps: Any = None) -> None:
        self.gateway.services.scheduler.script_of_next_job = whole_run(mode, result, steps)

    async def accessibility(self) -> list[str]:
        return await self.page.evaluate(ACCESSIBILITY)

    async def poor_contrast(self) -> list[str]:
        return await self.page.evaluate(CONTRAST)

    async def overflow_pixels(self) -> int:
        return await self.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
