"""README's examples, as they stand there, against a Wavepool with default settings.

Only its ports differ: it takes free ones, so the usual ones in the examples are replaced. `make` commands are not run.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from playwright.async_api import Browser

from tests.end_to_end.wavepool_processes import ROOT, Wavepool, reference, until
from vocabulary.ports import USUAL_PORTS

README = (ROOT / "README.md").read_text(encoding="utf-8")
PROGRAMS = {"sh": ["sh", "-eu"], "python": [".venv/bin/python", "-"]}
PRINTS = {
    "Command": "ACCEPTED.*verdict ACCEPTED.*CHARGE",
    "Python": r"COMPILING.*\nACCEPTED [0-9.]+ ms",
    "HTTP": "event: COMPILING.*event: ACCEPTED",
    "gRPC": 'SubmitJob.*"gpuType": "MI300X"',
}
"""What the block below each heading prints, as a regular expression."""


def examples() -> dict[str, tuple[str, str]]:
    """Language and text of the block below each heading that has one to run."""
    sections = re.split(r"^#+ (.*)\n", README, flags=re.MULTILINE)[1:]
    found: dict[str, tuple[str, str]] = {}
    for heading, section in zip(sections[::2], sections[1::2], strict=True):
        for language, text in re.findall(r"^```(sh|python)\n(.*?)^```", section, re.MULTILINE | re.DOTALL):
            if all(line.startswith("make ") for line in text.splitlines()):
                continue
            assert heading not in found, f"two blocks to run below {heading}"
            found[heading] = (language, text)
    return found


def announced(wavepool: Wavepool) -> str:
    """What `wavepool up` printed once all was ready."""

    def printed() -> str:
        text = (wavepool.data_dir / "up.log").read_text(encoding="utf-8")
        return text if "\nstop " in text else ""

    return until(printed, "the announcement of `wavepool up`")


@pytest.fixture
def clone(wavepool: Wavepool, tmp_path: Path) -> Path:
    """A folder like a clone in which `make up` runs."""
    (tmp_path / ".wavepool").symlink_to(wavepool.data_dir)
    (tmp_path / ".venv").symlink_to(sys.prefix)
    (tmp_path / "problems").symlink_to(ROOT / "problems")
    return tmp_path


def test_every_example_has_its_test() -> None:
    assert examples().keys() == PRINTS.keys()
    assert len(README.splitlines()) <= 120


@pytest.mark.parametrize("heading", PRINTS)
def test_an_example_ends_and_prints_its_result(wavepool: Wavepool, clone: Path, heading: str) -> None:
    language, text = examples()[heading]
    for name, address in re.findall(r"^(\w+) +(?:http://)?(127\.0\.0\.1:\d+) ", announced(wavepool), re.MULTILINE):
        text = text.replace(f"127.0.0.1:{USUAL_PORTS[name]}", address)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("WAVEPOOL_")}
    run = subprocess.run(
        PROGRAMS[language],
        input=text,
        capture_output=True,
        text=True,
        cwd=clone,
        env=environment,
        timeout=100,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert re.search(PRINTS[heading], run.stderr + run.stdout, re.DOTALL), run.stdout + run.stderr


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.asyncio(loop_scope="module")
async def test_the_printed_address_leads_from_a_solution_to_its_verdict(wavepool: Wavepool, browser: Browser) -> None:
    address = re.search(r"^open +(\S+)", announced(wavepool), re.MULTILINE)
    assert address
    page = await browser.new_page()
    await page.goto(address[1])
    await page.get_by_role("link", name="All problems").click()
    await page.get_by_role("link", name="Leaky ReLU", exact=True).click()
    await page.get_by_role("heading", name="Leaky ReLU", exact=True).wait_for()
    await page.get_by_role("textbox", name="HIP source").fill(reference("leaky-relu"))
    await page.get_by_role("button", name="Run full check").click()
    assert "Accepted" in await page.locator(".verdict").inner_text(timeout=60_000)
    await page.close()
