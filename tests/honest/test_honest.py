"""Kernels as people write them are accepted: none is suspected, and none fails because of its style."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from services.executor.core.model.job import CoreJob
from services.executor.core.model.verdict import Verdict
from services.executor.core.run.one_run import run
from services.executor.core.timing.benchmark_result import Timing
from services.executor.core.timing.case_timing import BUSY
from submissions.modes import Mode
from tests.tiers import one_of_each

if TYPE_CHECKING:
    from services.executor.core.run.context import RunContext

KERNELS = sorted(Path(__file__).parent.glob("*.hip"))
MEASURED = KERNELS[::8]
NOT_RECORDABLE: dict[str, str] = tomllib.loads(Path(__file__).with_name("not_recordable.toml").read_text("utf-8"))
CHECKED = [kernel for kernel in KERNELS if kernel not in MEASURED]


def _job(kernel: Path, mode: Mode) -> CoreJob:
    source = kernel.read_text("utf-8")
    problem = source.partition("\n")[0].removeprefix("// problem: ")
    return CoreJob(source, mode, problem)


def test_there_are_kernels_of_many_styles_for_many_problems() -> None:
    assert len(KERNELS) >= 50
    assert len({_job(kernel, Mode.CHECK).problem for kernel in KERNELS}) >= 40


# Full runs check every case before they measure.
@pytest.mark.parametrize(
    "kernel", one_of_each(CHECKED, lambda kernel: CHECKED.index(kernel) % 9), ids=lambda kernel: kernel.stem
)
async def test_a_kernel_is_right(fair: RunContext, kernel: Path) -> None:
    finished = await run(_job(kernel, Mode.CHECK), fair, lambda _: None)
    assert finished.verdict is Verdict.ACCEPTED, f"{finished.message}\n{finished}"


@pytest.mark.parametrize(
    "kernel",
    [
        *one_of_each(MEASURED, lambda kernel: "measured"),
        *(pytest.param(kernel, marks=pytest.mark.soak) for kernel in CHECKED),
    ],
    ids=lambda kernel: kernel.stem,
)
async def test_a_kernel_is_right_and_its_times_are_believed(fair: RunContext, kernel: Path) -> None:
    finished = await run(_job(kernel, Mode.FULL), fair, lambda _: None)
    assert finished.verdict is Verdict.ACCEPTED, f"{finished.message}\n{finished}"
    assert finished.benchmarked is not None
    for result in finished.benchmarked.results:
        assert result.timing is not Timing.INVALID, result
        if reason := NOT_RECORDABLE.get(kernel.stem):
            assert (result.timing, reason in result.unproven_because) == (Timing.UNPROVEN, True), result
        else:
            assert _is_machines(result.unproven_because), result.unproven_because


def _is_machines(unproven_because: str) -> bool:
    """True if nothing but a busy machine keeps the time from being proven."""
    return all(reason.startswith(BUSY) for reason in unproven_because.split("; ") if reason)
