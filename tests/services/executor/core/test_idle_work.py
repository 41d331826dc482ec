from __future__ import annotations

import itertools
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from services.executor.core.benchmark_result import Timing
from services.executor.core.idle_work import LEAST_CPU_NS, IdleMeter, IdleTime, idle_doubt, works_when_idle
from services.executor.core.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from services.executor.core.events import Finished

SECOND_NS = 10**9


@pytest.mark.parametrize(
    ("idle", "works"),
    [
        (IdleTime(), False),
        (IdleTime(SECOND_NS, SECOND_NS // 100), False),
        (IdleTime(SECOND_NS, SECOND_NS // 100 + 1), True),
        (IdleTime(1000, LEAST_CPU_NS), False),
        (IdleTime(1000, LEAST_CPU_NS + 1), True),
    ],
)
def test_a_hundredth_of_a_core_is_allowed_and_what_cannot_be_told_from_falling_asleep(
    idle: IdleTime, works: bool
) -> None:
    assert works_when_idle(idle) is works
    assert bool(idle_doubt(idle)) is works


def test_only_what_is_used_while_no_order_is_open_counts() -> None:
    used = itertools.count(1)
    meter = IdleMeter(lambda: timedelta(milliseconds=next(used)))
    meter.order_begins()
    assert meter.total == IdleTime()
    meter.order_ended()
    meter.order_begins()
    meter.order_begins()
    assert meter.total.cpu_ns == 10**6
    assert meter.total.wall_ns > 0
    meter.order_ended()
    assert meter.total.cpu_ns == 10**6


async def test_forty_threads_that_spin_are_seen_and_named(submit: Callable[..., Awaitable[Finished]]) -> None:
    finished = await submit("spinning_threads")
    assert finished.verdict is Verdict.ACCEPTED, finished
    assert finished.benchmarked is not None
    for result in finished.benchmarked.results:
        assert result.timing is Timing.UNPROVEN
        assert "the program worked while nothing was asked of it" in result.unproven_because


async def test_an_honest_program_rests_between_its_calls(submit: Callable[..., Awaitable[Finished]]) -> None:
    finished = await submit("slow_addition")
    assert finished.benchmarked is not None, finished
    assert "nothing was asked of it" not in finished.benchmarked.unproven_because
