from __future__ import annotations

from datetime import UTC, datetime, timedelta

import time_machine

from servicekit.clock import ManualClock, SystemClock, new_id


def test_ids_sort_by_creation_time() -> None:
    with time_machine.travel(datetime(2026, 1, 1, tzinfo=UTC), tick=False) as traveller:
        ids: list[str] = []
        for _ in range(5):
            ids.append(new_id("job"))
            traveller.shift(timedelta(milliseconds=1))
    assert ids == sorted(ids)


def test_ids_of_one_instant_differ() -> None:
    assert len({new_id("job") for _ in range(1000)}) == 1000


def test_the_system_clock_is_aware() -> None:
    assert SystemClock().now().tzinfo is UTC


def test_a_manual_clock_moves_only_when_moved(free_clock: ManualClock) -> None:
    before = free_clock.now()
    free_clock.advance(timedelta(minutes=1))
    assert free_clock.now() - before == timedelta(minutes=1)
