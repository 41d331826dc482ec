from __future__ import annotations

import itertools
from dataclasses import replace
from datetime import timedelta

import pytest

from services.executor.core.call.idle_work import LEAST_CPU_NS, IdleMeter, IdleTime, idle_doubt, works_when_idle
from services.executor.core.model.events import Benchmarked
from services.executor.core.model.job import CoreJob
from services.executor.core.model.verdict import Verdict
from services.executor.core.run.context import RunContext
from services.executor.core.run.one_run import run
from services.executor.core.timing.benchmark_result import Timing
from services.executor.core.timing.session_rule import SessionRule
from submissions.modes import Mode
from tests.services.executor.core.conftest import SUBMISSIONS

SECOND_NS = 10**9
HONEST = (SUBMISSIONS / "call_counter.hip").read_text().replace("if (++calls > 10) return;", "")


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
def test_a_hundredth_of_a_core_is_allowed_and_what_cannot_be_distinguished_from_falling_asleep(
    idle: IdleTime, works: bool
) -> None:
    assert works_when_idle(idle) is works
    assert bool(idle_doubt(idle)) is works


async def test_only_what_is_used_while_no_order_is_open_counts() -> None:
    used = itertools.count(1)

    async def cpu_time() -> timedelta:
        return timedelta(milliseconds=next(used))

    meter = IdleMeter(cpu_time)
    await meter.order_begins()
    assert meter.total == IdleTime()
    await meter.order_ended()
    await meter.order_begins()
    await meter.order_begins()
    assert meter.total.cpu_ns == 10**6
    assert meter.total.wall_ns > 0
    await meter.order_ended()
    assert meter.total.cpu_ns == 10**6


async def _timed_once(context: RunContext, source: str) -> Benchmarked:
    """Measures one session of only a few samples, since the test's threads take all processors."""
    assert context.profile is not None
    once = SessionRule(sessions=1, more_sessions=0, tolerance=None)
    hurried = replace(context, profile=replace(context.profile, max_samples=3, fewest_samples=1, sessions=once))
    finished = await run(CoreJob(source, Mode.BENCHMARK, "vector-addition"), hurried, lambda _: None)
    assert finished.verdict is Verdict.ACCEPTED, finished
    assert finished.benchmarked is not None
    return finished.benchmarked


async def test_forty_threads_that_spin_are_seen_and_named(context: RunContext) -> None:
    benchmarked = await _timed_once(context, (SUBMISSIONS / "spinning_threads.hip").read_text())
    for result in benchmarked.results:
        assert result.timing is Timing.UNPROVEN
        assert "the program worked while nothing was asked of it" in result.unproven_because


async def test_an_honest_program_rests_between_its_calls(context: RunContext) -> None:
    benchmarked = await _timed_once(context, HONEST)
    assert "nothing was asked of it" not in benchmarked.unproven_because
