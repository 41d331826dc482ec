"""`wavepool core profile`, on the cpu device, whose runtime traces launches."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from services.executor.core.commands.bench import profile_text
from services.executor.core.commands.profile import profile
from services.executor.core.model.events import Profile, ProfileOutcome
from services.executor.core.model.job import CoreJob
from services.executor.core.run.context import RunContext
from services.executor.devices.profiling import ProfileClock, ProfiledKernel
from services.executor.devices.sim.sim_device import SimulatedGpu
from submissions.modes import Mode
from tests.services.executor.core.run.test_profile_stage import UnderScript

REPOSITORY = Path(__file__).parents[5]
SOURCE = (REPOSITORY / "problems/catalogue/relu/solution.hip").read_text()


async def test_a_profile_shows_the_kernels_of_a_checked_run(
    context: RunContext, capsys: pytest.CaptureFixture[str]
) -> None:
    status = await profile(CoreJob(SOURCE, Mode.CHECK, "relu"), context)
    out = capsys.readouterr().out
    assert status == 0, out
    assert "by wavepool cpu runtime (the host's clock, not GPU times)" in out
    assert "\nrelu " in out
    assert "100.0%" in out


async def test_a_profiler_that_fails_is_no_fault_of_the_submission(
    context: RunContext, capsys: pytest.CaptureFixture[str]
) -> None:
    failing = replace(context, device=UnderScript("exit 1"))
    assert await profile(CoreJob(SOURCE, Mode.CHECK, "relu"), failing) == 3
    out = capsys.readouterr().out
    assert "ACCEPTED" in out
    assert "profile: failed: " in out


async def test_a_device_without_a_profiler_is_refused_by_name(
    context: RunContext, capsys: pytest.CaptureFixture[str]
) -> None:
    simulated = replace(context, device=SimulatedGpu())
    assert await profile(CoreJob(SOURCE, Mode.CHECK, "relu"), simulated) == 2
    assert "--device: sim: its times are made up" in capsys.readouterr().err


def test_the_table_says_whose_clock_it_was_and_what_is_left_out() -> None:
    kernel = ProfiledKernel("scale", calls=10, total_ns=20_000, mean_ns=2000.0, min_ns=1500, max_ns=2500, share=1.0)
    made = Profile(
        ProfileOutcome.MADE,
        tool="rocprofv3",
        tool_version="1.1.0",
        clock=ProfileClock.GPU,
        name="n = 8",
        solution_calls=10,
        kernels=(kernel,),
        kernels_left_out=3,
    )
    head, _, row, more = profile_text(made).splitlines()
    assert head == "kernels of 10 calls of n = 8, by rocprofv3 1.1.0 (the GPU's clock)"
    assert row.split() == ["scale", "10", "2.000", "1.500", "2.500", "100.0%"]
    assert more == "and 3 more"
