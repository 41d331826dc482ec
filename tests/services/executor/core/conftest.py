"""The core's real parts: the cpu device, the best sandbox of this machine, a cache that all test sessions share."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import settings

from hipcpu.build_folder import ToolchainError
from services.executor.core.check.case_judge import LargeCaseRule
from services.executor.core.compile.cache import CompileCache
from services.executor.core.model.events import Event, Finished
from services.executor.core.model.job import CoreJob
from services.executor.core.model.limits import StageLimits
from services.executor.core.run.context import RunContext
from services.executor.core.run.installation import find_problem
from services.executor.core.run.one_run import run
from services.executor.core.timing.stopping import CPU_PROFILE
from services.executor.devices.cpu.cpu_device import CpuDevice
from services.executor.sandboxes.choice import choose_sandbox
from submissions.modes import Mode
from tests.kept_builds import LIMIT_BYTES, kept_folder

# Time on a shared machine says nothing about an invariant.
settings.register_profile("core", deadline=None)
settings.load_profile("core")

SUBMISSIONS = Path(__file__).parent / "submissions"
ALL_LARGE = LargeCaseRule(large_bytes=0)
"""Treats cases of any size as large, as at GPU sizes."""
# Long enough for honest calls on a busy machine, short enough for a test that waits for a hang.
CALL_SECONDS = 3.0


@pytest.fixture(scope="session")
def cpu_device() -> CpuDevice:
    device = CpuDevice()
    try:
        device.toolchain()
    except ToolchainError as error:
        if os.environ.get("REQUIRE_ALL") == "1":
            pytest.fail(f"REQUIRE_ALL=1, but {error}", pytrace=False)
        pytest.skip(str(error))
    return device


@pytest.fixture(scope="session")
def builds_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Kept and shared by all tests, so that nothing is compiled twice."""
    return kept_folder("builds") or tmp_path_factory.mktemp("builds")


@pytest.fixture(scope="session")
def builds(builds_folder: Path) -> CompileCache:
    return CompileCache(builds_folder, LIMIT_BYTES)


@pytest.fixture
def limits() -> StageLimits:
    default = StageLimits()
    return replace(
        default,
        runner=replace(default.runner, memory_mib=256),
        start_seconds=CALL_SECONDS,
        call_seconds=CALL_SECONDS,
    )


@pytest.fixture
async def context(cpu_device: CpuDevice, builds: CompileCache, limits: StageLimits, tmp_path: Path) -> RunContext:
    """Measures for only a fifth of a second: tests that use this do not test the time itself."""
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    return RunContext(
        device=cpu_device,
        sandbox=await choose_sandbox("auto"),
        cache=builds,
        find_problem=find_problem,
        limits=limits,
        profile=replace(CPU_PROFILE, max_wall_seconds=0.07),
        scratch_parent=scratch,
    )


@pytest.fixture
def reported() -> list[Event]:
    return []


@pytest.fixture
def submit(context: RunContext, reported: list[Event]) -> Callable[[str, Mode], object]:
    """Runs a named submission against vector-addition; its events are in `reported`."""

    async def run_submission(name: str, mode: Mode = Mode.BENCHMARK) -> Finished:
        source = (SUBMISSIONS / f"{name}.hip").read_text()
        return await run(CoreJob(source, mode, "vector-addition"), context, reported.append)

    return run_submission
