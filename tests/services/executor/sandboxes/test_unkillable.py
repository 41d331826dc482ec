"""A sandbox whose processes SIGKILL does not end: it is given up and reported as left behind."""

from __future__ import annotations

import asyncio
import signal

import pytest

from services.executor.sandboxes import running_sandbox
from tests.freezer import frozen
from tests.services.executor.sandboxes.shell import GENEROUS, SandboxedShell, processes_with, until

pytestmark = pytest.mark.freezer
TIMEOUT_SECONDS = 30


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running_sandbox, "DEATH_SECONDS", 0.5)


def is_cleaned_up() -> bool:
    """True if all work in the background is over."""
    return asyncio.all_tasks() == {asyncio.current_task()}


async def test_a_sandbox_that_does_not_die_is_given_up_and_goes_when_it_can(shell: SandboxedShell, marker: str) -> None:
    running = await shell.start(f"exec sleep {marker}")
    await until(lambda: bool(processes_with(f"sleep\0{marker}")))
    with frozen(processes_with(f"sleep\0{marker}")):
        async with asyncio.timeout(TIMEOUT_SECONDS):
            await running.kill()
            end = await running.wait()
        assert processes_with(marker), "it is frozen and not dead, or this proves nothing"
    assert (end.unkillable, end.code, end.signal) == (True, None, signal.SIGKILL)
    await until(is_cleaned_up)
    assert not processes_with(marker)


async def test_the_limit_that_it_went_over_is_reported_all_the_same(shell: SandboxedShell, marker: str) -> None:
    running = await shell.start(f"exec sleep {marker}")
    await until(lambda: bool(processes_with(f"sleep\0{marker}")))
    with frozen(processes_with(f"sleep\0{marker}")):
        # Its time is up now, and not before it is frozen, however busy the machine is.
        running._parts.watchdog._begun -= GENEROUS.wall.total_seconds()
        async with asyncio.timeout(TIMEOUT_SECONDS):
            end = await running.wait()
    assert (end.unkillable, end.wall_exceeded) == (True, True)
    await until(is_cleaned_up)
    assert not processes_with(marker)


async def test_what_a_program_leaves_is_found_though_the_program_has_ended_and_its_outputs_are_closed(
    shell: SandboxedShell, marker: str
) -> None:
    closed = "</dev/null >/dev/null 2>&1"
    running = await shell.start(f"sleep {marker} {closed} & until [ -e go ]; do /bin/sleep 0.01; done; exit 3")
    await until(lambda: bool(processes_with(f"sleep\0{marker}")))
    with frozen(processes_with(f"sleep\0{marker}")):
        (shell.folder / "go").touch()
        async with asyncio.timeout(TIMEOUT_SECONDS):
            end = await running.wait()
    assert (end.unkillable, end.code) == (True, 3)
    await until(is_cleaned_up)
    assert not processes_with(marker)


async def test_an_ordinary_end_leaves_nothing(shell: SandboxedShell) -> None:
    assert not (await shell.run("exit 0")).unkillable
