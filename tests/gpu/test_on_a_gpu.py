"""Tests that need a real GPU: `make test-gpu`. They need only the core's packages, no service's."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from problems.kit.definition import SizeSet
from services.executor.core.certify import kernel_runs, sources
from services.executor.core.certify.results import Outcome
from services.executor.core.model.events import Finished
from services.executor.core.model.job import CoreJob
from services.executor.core.model.verdict import Verdict
from services.executor.core.run.context import RunContext
from services.executor.core.run.installation import Options, catalogue, open_context
from services.executor.core.run.one_run import run
from services.executor.core.sandbox.canary import canary_job
from submissions.modes import Mode
from tests.attacks.manifest import PARTS_OF_STAGED, Attempt, attempts
from tests.attacks.staged import STAGED

# A run's limit, and a little more.
pytestmark = [pytest.mark.gpu, pytest.mark.timeout(1800)]
_ON_A_GPU = [attempt for attempt in attempts() if attempt.name not in PARTS_OF_STAGED]


def _device_name() -> str:
    return "rocm" if os.path.exists("/dev/kfd") else "nvidia"  # noqa: PTH110 - a device


@pytest.fixture
async def gpu(tmp_path: Path) -> RunContext:
    return await open_context(Options(_device_name(), "auto", tmp_path / "cache", 1024))


async def test_the_canary_finds_it_well(gpu: RunContext) -> None:
    finished = await run(canary_job(gpu.device.describe()), gpu, lambda _: None)
    assert finished.verdict is Verdict.ACCEPTED, finished


@pytest.mark.parametrize("sizes", [SizeSet.CPU, SizeSet.GPU])
@pytest.mark.parametrize("slug", sorted(catalogue().problems))
async def test_every_honest_solution_is_right(gpu: RunContext, slug: str, sizes: SizeSet) -> None:
    job = CoreJob(catalogue().get(slug).solution, Mode.CHECK, slug, size_set=sizes)
    finished = await run(job, gpu, lambda _: None)
    assert finished.verdict is Verdict.ACCEPTED, finished


@pytest.mark.parametrize("name", sources.sources_for(_device_name(), simulated=False).honest)
async def test_a_kernel_as_people_write_it_is_right_or_refused_as_documented(gpu: RunContext, name: str) -> None:
    assert (await kernel_runs.honest(name, name, gpu)).outcome is not Outcome.FAILED


@pytest.mark.parametrize("attempt", _ON_A_GPU, ids=lambda attempt: attempt.name)
async def test_an_attack_gets_its_verdict(gpu: RunContext, attempt: Attempt) -> None:
    finished = await run(attempt.job(), attempt.fitted(gpu), lambda _: None)
    assert attempt.shortcoming(finished, _device_name()) == "", finished
    assert await attempt.unfair_gain(finished, gpu) == "", finished


@pytest.mark.parametrize("name", sorted(STAGED))
async def test_a_staged_attack_finds_and_reaches_nothing(gpu: RunContext, name: str) -> None:
    async def submit(attempt: Attempt, seed: str, replacements: Mapping[str, str]) -> Finished:
        return await run(replace(attempt.job(**replacements), seed=seed), attempt.fitted(gpu), lambda _: None)

    assert await STAGED[name](submit) == ""
