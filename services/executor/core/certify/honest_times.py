"""Tests whether a ranked time gained anything: an attack's VALID time is compared with the honest one of the same work.

The honest source is measured in the same way, right after the attack. On a GPU, real or simulated, no case may be more
than 5 % faster. On `cpu` the times of one source differ by more than that from run to run, so a comparison is repeated
before it counts.
"""

from __future__ import annotations

from dataclasses import dataclass

from services.executor.core.model.events import Finished
from services.executor.core.model.job import CoreJob
from services.executor.core.model.verdict import Verdict
from services.executor.core.run.context import RunContext
from services.executor.core.run.one_run import run
from services.executor.core.timing.benchmark_result import BenchmarkResult, Timing
from services.executor.core.timing.statistics import geometric_mean

LEAST_SHARE = 0.95
"""A VALID time below this share of the honest one is a hole."""
LEAST_SHARE_ON_CPU = 2 / 3
"""On `cpu` the times of one source differ by 13 % from run to run (sd of the geometric mean of the cases, measured)."""
_COMPARISONS_ON_CPU = 5
"""The machine does other things too: an attack that is faster by chance once is not faster each time."""


@dataclass(frozen=True)
class Contest:
    """An attack, the honest source of the same work, and the context in which both run."""

    attack: CoreJob
    honest: CoreJob
    context: RunContext

    async def unfair_gain(self, finished: Finished) -> str:
        """Says how the attack's run gained by cheating; empty if its time is not VALID, or is not too short."""
        if not _is_valid(finished):
            return ""
        if not self.attack.launch_plan and not finished.report["replayer_sha256"]:
            return "the time is VALID, though host code of the submission launched the calls"
        return await (self._gain_on_gpu if self.context.device.describe().is_gpu else self._gain_on_cpu)(finished)

    async def _gain_on_gpu(self, finished: Finished) -> str:
        for result, honest in await self._beside_honest(finished):
            share = result.runtime_ns / honest.runtime_ns
            if share < LEAST_SHARE:
                return (
                    f"case `{result.name}` has a VALID time of {result.runtime_ns / 1e3:.2f} us, "
                    f"{100 * (1 - share):.1f} % under the honest {honest.runtime_ns / 1e3:.2f} us"
                )
        return ""

    async def _gain_on_cpu(self, finished: Finished) -> str:
        shares: list[float] = []
        while _is_valid(finished):
            pairs = await self._beside_honest(finished)
            # Other work on the machine only makes calls longer, so the shortest call of each case counts.
            shares.append(geometric_mean([result.min_ns / honest.min_ns for result, honest in pairs]))
            if shares[-1] >= LEAST_SHARE_ON_CPU:
                return ""
            if len(shares) == _COMPARISONS_ON_CPU:
                seen = ", ".join(f"{share:.2f}" for share in shares)
                return f"its VALID times are {seen} of the honest ones, in {len(shares)} comparisons"
            finished = await run(self.attack, self.context, lambda _: None)
        return ""

    async def _beside_honest(self, finished: Finished) -> list[tuple[BenchmarkResult, BenchmarkResult]]:
        honest = await run(self.honest, self.context, lambda _: None)
        if finished.benchmarked is None or honest.benchmarked is None:
            raise NoHonestTimeError(honest)
        return list(zip(finished.benchmarked.results, honest.benchmarked.results, strict=True))


class NoHonestTimeError(Exception):
    """The honest source has no time to compare with; the message has its verdict and reason."""

    def __init__(self, finished: Finished) -> None:
        super().__init__(f"the honest source has no time: {finished.verdict}: {finished.message} {finished.details}")


def _is_valid(finished: Finished) -> bool:
    """True if the time is VALID, or on `cpu` uncertain alone, as the processors are shared."""
    timed = finished.benchmarked
    if finished.verdict is not Verdict.ACCEPTED or timed is None:
        return False
    is_wide = timed.timing is Timing.UNSTABLE and timed.shown_interval > 0 and not timed.unproven_because
    return timed.timing is Timing.VALID or is_wide
