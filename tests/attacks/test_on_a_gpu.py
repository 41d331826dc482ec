"""The attacks on a real GPU."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from services.executor.core.installation import Options, open_equipment
from services.executor.core.run import run
from services.executor.core.verdict import Verdict
from tests.attacks.manifest import Attempt, Outcome, attempt_named, attempts

if TYPE_CHECKING:
    from pathlib import Path

    from services.executor.core.equipment import Equipment

# These need something beside the submission (test_staged.py).
_STAGED = {11, 28, 30}
_ON_A_GPU = [attempt for attempt in attempts() if attempt.attack not in _STAGED]


def _device_name() -> str:
    return "rocm" if os.path.exists("/dev/kfd") else "nvidia"  # noqa: PTH110 - a device


@pytest.fixture
async def gpu(tmp_path: Path) -> Equipment:
    return await open_equipment(Options(_device_name(), "auto", tmp_path / "cache", 1024))


@pytest.mark.gpu
@pytest.mark.parametrize("attempt", _ON_A_GPU, ids=lambda attempt: attempt.name)
async def test_an_attack_gets_its_verdict_on_a_real_gpu(gpu: Equipment, attempt: Attempt) -> None:
    finished = await run(attempt.job(), gpu, lambda _: None)
    assert Outcome.reached(finished) in attempt.outcomes[_device_name()], finished


@pytest.mark.gpu
async def test_memory_of_a_real_gpu_holds_nothing_of_the_submission_before(gpu: Equipment) -> None:
    for name in ("leaves_marks", "looks_for_marks"):
        attempt = attempt_named(f"28_residue/{name}")
        finished = await run(attempt.job(), gpu, lambda _: None)
        assert finished.verdict is Verdict.ACCEPTED, finished
    assert finished.stdout.startswith("0 hits")
