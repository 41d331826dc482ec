"""Attacks run through the real core: the cpu device, the best sandbox of this machine, the real clock.

The rules and budgets are those that the product ships with. Only the time and memory limits are smaller, so that hangs
end soon.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from functools import cache, partial
from pathlib import Path

import psutil
import pytest

from problems.kit.definition import Problem
from problems.library.catalogue import load_problem
from services.executor.core.certify.kernel_runs import FEW_CALLS
from services.executor.core.certify.known_times import smallest_case_of
from services.executor.core.model.events import Finished
from services.executor.core.run.context import RunContext
from services.executor.core.run.one_run import run
from services.executor.devices.sim.sim_device import SimulatedGpu
from tests.attacks.manifest import Attempt
from tests.services.executor.core.conftest import (  # noqa: F401 - fixtures, found by their names
    builds,
    builds_folder,
    context,
    cpu_device,
    limits,
)

Attack = Callable[..., Awaitable[Finished]]

PROBLEMS = Path(__file__).parents[2] / "problems" / "catalogue"


@pytest.fixture(scope="session", autouse=True)
def _busy_machine() -> Iterator[None]:
    """Keeps as many processes busy computing as BUSY_PROCESSES says while the attacks run (`make soak`)."""
    is_first = os.environ.get("PYTEST_XDIST_WORKER", "gw0") == "gw0"
    wanted = int(os.environ.get("BUSY_PROCESSES", "0")) if is_first else 0
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(wanted)]
    yield
    for process in busy:
        process.kill()
        process.wait()


@cache
def problem_named(slug: str) -> Problem:
    return load_problem(PROBLEMS / slug).problem


@pytest.fixture
def judged(context: RunContext) -> RunContext:  # noqa: F811 - the fixture of this name
    return replace(context, find_problem=problem_named, profile=None)


@pytest.fixture
def attack(judged: RunContext) -> Attack:
    """Runs an attempt, and fails the test if it gained anything or left anything behind."""
    return partial(_attack, judged)


@pytest.fixture
def attack_simulated(judged: RunContext) -> Attack:
    """Runs an attempt on the simulated GPU, by a GPU's rules: one case and few calls, since calls take host time."""
    few = replace(judged, device=SimulatedGpu(), profile=FEW_CALLS, find_problem=smallest_case_of)
    return partial(_attack, few)


async def _attack(judged: RunContext, attempt: Attempt, seed: str = "", **replacements: str) -> Finished:
    job = replace(attempt.job(**replacements), seed=seed)
    finished = await run(job, attempt.fitted(judged), lambda _: None)
    assert sandboxed_processes() == []
    assert list(judged.scratch_parent.iterdir()) == []
    assert await attempt.unfair_gain(finished, judged) == "", attempt.name
    return finished


def sandboxed_processes() -> list[psutil.Process]:
    """Runners and compilers among our own descendants; other tests may have some of their own."""
    found: list[psutil.Process] = []
    for process in psutil.Process().children(recursive=True):
        try:
            if process.name() in {"runner", "program"}:
                found.append(process)
        except psutil.NoSuchProcess:
            continue
    return found
