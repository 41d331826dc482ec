"""`profile`: one checked run with a profile, and a table of its kernels."""

from __future__ import annotations

import sys
from dataclasses import replace

from services.executor.core.commands.bench import ACCEPTED, BAD_USAGE, INFRASTRUCTURE, bench
from services.executor.core.model.events import Event, Finished, ProfileOutcome
from services.executor.core.model.job import CoreJob
from services.executor.core.run.context import RunContext
from services.executor.devices.profiling import Profiled, profiler_or_reason


async def profile(job: CoreJob, context: RunContext) -> int:
    """Checks `job` and prints a table of its kernels; returns the exit status."""
    if isinstance(reason := profiler_or_reason(context.device), str):
        sys.stderr.write(f"--device: {reason}\n")
        return INFRASTRUCTURE if isinstance(context.device, Profiled) else BAD_USAGE
    made: list[bool] = []

    def note(event: Event) -> None:
        if isinstance(event, Finished):
            made.append(event.profile is not None and event.profile.outcome is ProfileOutcome.MADE)

    status = await bench(replace(job, profile=True), context, as_json=False, also=note)
    return INFRASTRUCTURE if status == ACCEPTED and made != [True] else status
