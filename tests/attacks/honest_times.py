"""Times of attacks beside those of honest kernels that do the same work, on any device."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from services.executor.core.model.job import CoreJob
from services.executor.core.run.one_run import run

if TYPE_CHECKING:
    from services.executor.core.model.events import Finished
    from services.executor.core.run.context import RunContext
    from services.executor.core.timing.benchmark_result import BenchmarkResult
    from tests.attacks.manifest import Attempt

PROBLEMS = Path(__file__).parents[2] / "problems" / "catalogue"
MOST_GAIN = 0.95
"""A VALID time below this share of the honest one is a hole."""


async def require_no_gain(finished: Finished, judged: RunContext, attempt: Attempt) -> None:
    """A time that is VALID must be no more than 5 % under the honest one of the same work, measured the same way."""
    for result, same_work in await beside_honest(finished, judged, attempt):
        assert result.runtime_ns >= MOST_GAIN * same_work.runtime_ns, (attempt.name, result.name)


async def beside_honest(
    finished: Finished, judged: RunContext, attempt: Attempt
) -> list[tuple[BenchmarkResult, BenchmarkResult]]:
    """Its results, each with that of the honest kernel; runs the latter."""
    honest_file = (
        attempt.file.with_name(attempt.honest) if attempt.honest else PROBLEMS / attempt.problem / "solution.hip"
    )
    honest_source = honest_file.read_text("utf-8")
    honest = await run(CoreJob(honest_source, attempt.mode, attempt.problem), judged, lambda _: None)
    assert finished.benchmarked is not None
    assert honest.benchmarked is not None, honest
    return list(zip(finished.benchmarked.results, honest.benchmarked.results, strict=True))
