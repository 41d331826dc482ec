"""What needs a real GPU: `make test-gpu`. Needs the core's packages alone, no service's."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from problems.definition import SizeSet
from services.executor.core.canary import canary_job
from services.executor.core.installation import Options, catalogue, open_equipment
from services.executor.core.job import CoreJob, Mode
from services.executor.core.run import run
from services.executor.core.verdict import Verdict
from tests.attacks.manifest import Attempt, Outcome, attempt_named, attempts

if TYPE_CHECKING:
    from pathlib import Path

    from services.executor.core.equipment import Equipment

# What a run may take, and a little.
pytestmark = [pytest.mark.gpu, pytest.mark.timeout(1800)]
# These need something beside the submission (test_staged.py).
_STAGED = {11, 28, 30}
_ON_A_GPU = [attempt for attempt in attempts() if attempt.attack not in _STAGED]


def _device_name() -> str:
    return "rocm" if os.path.exists("/dev/kfd") else "nvidia"  # noqa: PTH110 - a device


@pytest.fixture
async def gpu(tmp_path: Path) -> Equipment:
    return await open_equipment(Options(_device_name(), "auto", tmp_path / "cache", 1024))


async def test_the_canary_finds_it_well(gpu: Equipment) -> None:
    finished = await run(canary_job(gpu.device.describe()), gpu, lambda _: None)
    assert finished.verdict is Verdict.ACCEPTED, finished


@pytest.mark.parametrize("sizes", [SizeSet.CPU, SizeSet.GPU])
@pytest.mark.parametrize("slug", sorted(catalogue().problems))
async def test_every_honest_solution_is_right(gpu: Equipment, slug: str, sizes: SizeSet) -> None:
    job = CoreJob(catalogue().get(slug).solution, Mode.CHECK, slug, size_set=sizes)
    finished = await run(job, gpu, lambda _: None)
    assert finished.verdict is Verdict.ACCEPTED, finished


@pytest.mark.parametrize("attempt", _ON_A_GPU, ids=lambda attempt: attempt.name)
async def test_an_attack_gets_its_verdict(gpu: Equipment, attempt: Attempt) -> None:
    finished = await run(attempt.job(), gpu, lambda _: None)
    assert Outcome.reached(finished) in attempt.outcomes[_device_name()], finished


async def test_its_memory_holds_nothing_of_the_submission_before(gpu: Equipment) -> None:
    for name in ("leaves_marks", "looks_for_marks"):
        attempt = attempt_named(f"28_residue/{name}")
        finished = await run(attempt.job(), gpu, lambda _: None)
        assert finished.verdict is Verdict.ACCEPTED, finished
    assert finished.stdout.startswith("0 hits")
