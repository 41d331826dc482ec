"""Submissions may use the libraries of headers that ROCm ships, by its own headers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from services.executor.core.model.job import CoreJob
from services.executor.core.model.limits import StageLimits
from services.executor.core.model.verdict import Verdict
from services.executor.core.run.context import RunContext
from services.executor.core.run.one_run import run
from submissions.modes import Mode

SOURCES = sorted((Path(__file__).parent / "rocm_libraries").glob("*.hip"))


@pytest.mark.rocm_libraries
@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.stem)
async def test_a_kernel_with_one_of_rocm_s_libraries_is_right(context: RunContext, source: Path) -> None:
    text = source.read_text("utf-8")
    job = CoreJob(text, Mode.CHECK, text.partition("\n")[0].removeprefix("// problem: "))

    finished = await run(job, replace(context, limits=StageLimits()), lambda _: None)

    assert finished.verdict is Verdict.ACCEPTED, finished.message
