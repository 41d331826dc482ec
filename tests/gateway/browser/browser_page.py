"""A page in a real browser, with the checks that the tests make."""

from __future__ import annotations

from typing import Any

from axe_playwright_python.async_playwright import Axe
from playwright.async_api import Page
from wavepool.executor.v1.run_event_pb2 import Finished
from wavepool.submission.v1.submission_pb2 import RunMode

from tests.gateway.job_events import whole_run
from tests.gateway.running_gateway import RunningGateway
from tests.gateway.scripted_scheduler import PROBLEM

# WCAG 2.2 at level AA, and what axe's authors hold for good practice.
STANDARDS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
AXE: Any = Axe()

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
        """The source in the editor, which is there from when it has one."""
        editor = self.page.locator("#code")
        await editor.wait_for(state="attached")
        return "\n".join(await editor.locator(".cm-line").all_inner_texts()).replace("\n\n", "\n")

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

    async def accessibility(self, *left_out: str) -> list[str]:
        """What axe finds against it, but for the rules left out: the rule, what is wrong, and where."""
        rules = {rule: {"enabled": False} for rule in left_out}
        options: dict[str, Any] = {"runOnly": STANDARDS, "resultTypes": ["violations"], "rules": rules}
        found: Any = await AXE.run(self.page, options=options)
        violations: list[dict[str, Any]] = found.response["violations"]
        return [
            f"{violation['id']}: {node['failureSummary']} {node['html']}"
            for violation in violations
            for node in violation["nodes"]
        ]

    async def overflow_pixels(self) -> int:
        return await self.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
