from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vocabulary.backoff import Backoff, Retries, again_and_again, until

SECOND = timedelta(seconds=1)
START = datetime(2026, 1, 1, tzinfo=UTC)
BACKOFF = Backoff(first=SECOND / 20, longest=SECOND)


def test_the_pause_doubles_up_to_the_longest() -> None:
    backoff = Backoff(first=SECOND, longest=5 * SECOND)
    assert [backoff.pause(failures) for failures in range(1, 6)] == [SECOND, 2 * SECOND, 4 * SECOND, *[5 * SECOND] * 2]


@given(st.timedeltas(SECOND / 20, timedelta(hours=1)), st.timedeltas(SECOND, timedelta(hours=6)), st.integers(1, 10**9))
def test_no_number_of_failures_ends_in_an_overflow_or_a_shorter_pause(
    first: timedelta, longest: timedelta, failures: int
) -> None:
    backoff = Backoff(first, longest)
    assert backoff.pause(failures) <= backoff.pause(failures + 1) <= longest
    assert backoff.pause(10**9) == longest


def test_pauses_between_retries_grow_until_the_window_is_over() -> None:
    retries = Retries(BACKOFF, 10 * SECOND)
    pauses = [retries.pause(START + n * SECOND) for n in range(11)]
    assert pauses[:10] == sorted(pause for pause in pauses if pause is not None)
    assert pauses[0] == SECOND / 20
    assert pauses[10] is None


@pytest.fixture
def waited(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    seconds: list[float] = []

    async def sleep(pause: float) -> None:
        seconds.append(pause)

    monkeypatch.setattr(asyncio, "sleep", sleep)
    return seconds


async def test_it_waits_longer_after_each_failure_in_a_row(waited: list[float]) -> None:
    retries = Retries(BACKOFF)
    for is_success in (False, False, True, False):
        if is_success:
            retries.reset()
        await retries.wait()
    assert waited == [0.05, 0.1, 0.05, 0.1]


async def test_what_is_tried_until_it_is_done_is_not_tried_again(waited: list[float]) -> None:
    answers = iter([False, False, True])

    async def is_done() -> bool:
        return next(answers)

    await until(is_done, BACKOFF)
    assert waited == [0.05, 0.1]


async def test_work_goes_on_after_its_own_pause_or_after_a_longer_one_each_time_it_fails(waited: list[float]) -> None:
    pauses: list[float | None] = [None, None, 7.0, None]

    async def work() -> float | None:
        return pauses.pop(0)

    with pytest.raises(IndexError):
        await again_and_again(work, BACKOFF)
    assert waited == [0.05, 0.1, 7.0, 0.05]


def test_a_success_begins_the_window_again() -> None:
    retries = Retries(BACKOFF, 2 * SECOND)
    assert retries.pause(START) is not None
    retries.reset()
    assert retries.pause(START + 3 * SECOND) == SECOND / 20
    assert retries.pause(START + 4 * SECOND) is not None
    assert retries.pause(START + 5 * SECOND) is None
