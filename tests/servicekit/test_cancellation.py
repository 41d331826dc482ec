"""What a cancellation does to work that must not be cut off, and to work that ends once something else has happened."""

from __future__ import annotations

import asyncio

import pytest

from servicekit.cancellation import uncut, unless


class Work:
    """Work that goes on until the test lets it end."""

    def __init__(self, fault: Exception | None = None) -> None:
        self.begun, self.may_end = asyncio.Event(), asyncio.Event()
        self.is_done = False
        self._fault = fault

    async def run(self) -> str:
        self.begun.set()
        await self.may_end.wait()
        self.is_done = True
        if self._fault:
            raise self._fault
        return "made"


async def turn_over() -> None:
    """Lets everything act that can."""
    for _ in range(5):
        await asyncio.sleep(0)


async def test_work_gives_its_result_and_its_fault() -> None:
    work, broken = Work(), Work(ValueError("broken"))
    work.may_end.set()
    broken.may_end.set()
    assert await uncut(work.run()) == "made"
    with pytest.raises(ValueError, match="broken"):
        await uncut(broken.run())


@pytest.mark.parametrize("fault", [None, ValueError("broken")])
async def test_who_is_cancelled_again_and_again_waits_for_work_that_must_not_be_cut(fault: Exception | None) -> None:
    work = Work(fault)
    task = asyncio.create_task(uncut(work.run()))
    await work.begun.wait()
    for _ in range(3):
        task.cancel()
        await turn_over()
        assert not task.done()
    work.may_end.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert work.is_done


async def test_what_was_made_for_who_is_gone_is_undone_and_that_is_not_cut_either() -> None:
    work, undoing = Work(), Work()
    undone: list[str] = []

    async def undo(made: str) -> None:
        await undoing.run()
        undone.append(made)

    task = asyncio.create_task(uncut(work.run(), undo))
    await work.begun.wait()
    task.cancel()
    work.may_end.set()
    await undoing.begun.wait()
    task.cancel()
    await turn_over()
    assert not task.done()
    undoing.may_end.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert undone == ["made"]


async def test_nothing_is_undone_for_who_got_it_or_if_nothing_was_made() -> None:
    undone: list[str] = []

    async def undo(made: str) -> None:
        undone.append(made)

    work, broken = Work(), Work(ValueError("broken"))
    work.may_end.set()
    assert await uncut(work.run(), undo) == "made"
    task = asyncio.create_task(uncut(broken.run(), undo))
    await broken.begun.wait()
    task.cancel()
    broken.may_end.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not undone


async def test_work_is_cut_off_once_it_is_to_stop() -> None:
    work, stopped = Work(), asyncio.Event()
    waiting = asyncio.create_task(unless(stopped, work.run()))
    await work.begun.wait()
    stopped.set()
    assert await waiting is None
    assert not work.is_done


async def test_work_that_ends_before_it_is_to_stop_gives_its_result_and_its_fault() -> None:
    work, broken = Work(), Work(ValueError("broken"))
    work.may_end.set()
    broken.may_end.set()
    assert await unless(asyncio.Event(), work.run()) == "made"
    with pytest.raises(ValueError, match="broken"):
        await unless(asyncio.Event(), broken.run())


async def test_what_work_makes_although_it_was_cut_off_is_not_lost() -> None:
    stopped = asyncio.Event()

    async def stubborn() -> str:
        stopped.set()
        try:
            await asyncio.Future()
        except asyncio.CancelledError:
            return "made"
        raise AssertionError

    assert await unless(stopped, stubborn()) == "made"
