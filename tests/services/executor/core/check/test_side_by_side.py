"""Several threads do pieces of the judge's work at once."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.executor.core.check.side_by_side import (
    MOST_BYTES,
    MOST_THREADS,
    at_once,
    groups,
    share_machine,
    share_of,
    side_by_side,
)


async def test_pieces_are_worked_on_at_once_and_found_in_order() -> None:
    # Each waits for the others: one after the other they would never end.
    together = threading.Barrier(3, timeout=60)

    def met(name: str) -> str:
        together.wait()
        return name

    assert await side_by_side([partial(met, name) for name in "abc"]) == ["a", "b", "c"]


async def test_what_the_first_piece_raises_is_raised_once_all_have_ended() -> None:
    ended: list[str] = []
    others_ended = threading.Event()

    def fails(name: str) -> None:
        if name == "first":
            others_ended.wait(60)
        raise ValueError(name)

    def ends() -> None:
        ended.append("last")
        others_ended.set()

    work: list[Callable[[], None]] = [partial(fails, "first"), partial(fails, "second"), ends]
    with pytest.raises(ValueError, match="first"):
        await side_by_side(work)
    assert ended == ["last"]


@pytest.mark.parametrize("work", [[], [lambda: 1]])
async def test_a_single_piece_needs_no_thread(work: list[Callable[[], int]]) -> None:
    assert await side_by_side(work) == [1] * len(work)


@given(st.integers(0, 8 << 30), st.integers(1, 256), st.integers(1, 16))
def test_at_least_one_is_worked_on_and_all_runs_together_take_no_more_than_the_machine_has(
    size_bytes: int, cores: int, runs: int
) -> None:
    most = share_of(size_bytes, cores, runs)
    assert 1 <= most <= MOST_THREADS
    assert most == 1 or runs * most <= cores
    assert most == 1 or runs * most * size_bytes <= MOST_BYTES


def test_a_process_takes_its_share_of_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(12)))
    assert at_once(0) == MOST_THREADS
    try:
        share_machine(3)
        assert at_once(0) == 4
    finally:
        share_machine(1)


@given(st.lists(st.integers(), max_size=50), st.integers(1, 60))
def test_groups_have_everything_in_order(things: list[int], size: int) -> None:
    parts = list(groups(things, size))
    assert [one for part in parts for one in part] == things
    assert all(len(part) == size for part in parts[:-1])
    assert all(1 <= len(part) <= size for part in parts)
