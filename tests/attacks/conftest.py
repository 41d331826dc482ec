"""Attacks run through the real core: the cpu device, the best box of this machine, and the clock as it is."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import pytest

from problems.catalogue import load_problem
from services.executor.core import benchmarking
from services.executor.core.job import CoreJob
from services.executor.core.run import run
from services.executor.core.sessions import GPU_SESSIONS
from tests.services.executor.core.conftest import (  # noqa: F401 - fixtures, found by their names
    builds,
    builds_folder,
    cpu_device,
    equipment,
    limits,
)

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from problems.definition import Problem
    from services.executor.core.equipment import Equipment
    from services.executor.core.events import Finished
    from services.executor.core.limits import StageLimits
    from tests.attacks.manifest import Attempt

    Attack = Callable[..., Awaitable[Finished]]

PROBLEMS = Path(__file__).parents[2] / "problems"


@cache
def problem_named(slug: str) -> Problem:
    return load_problem(PROBLEMS / slug).problem


@pytest.fixture
def judged(equipment: Equipment) -> Equipment:  # noqa: F811 - the fixture of this name
    return replace(equipment, find_problem=problem_named)


@pytest.fixture
def attack(judged: Equipment, monkeypatch: pytest.MonkeyPatch) -> Attack:
    """Runs an attempt, and sees to it that nothing of it is left."""

    async def run_attempt(attempt: Attempt, **replacements: str) -> Finished:
        job = CoreJob(attempt.source(**replacements), attempt.mode, attempt.problem)
        fitted = replace(judged, limits=_limits_for(attempt, judged.limits))
        if attempt.undisturbed:
            _undisturbed(monkeypatch)
        if attempt.sessions_agree:
            assert fitted.profile is not None
            sessions = replace(GPU_SESSIONS, more_sessions=0)
            fitted = replace(fitted, profile=replace(fitted.profile, sessions=sessions))
        finished = await run(job, fitted, lambda _: None)
        assert boxed_processes() == []
        assert list(judged.scratch_parent.iterdir()) == []
        return finished

    return run_attempt


def _undisturbed(monkeypatch: pytest.MonkeyPatch) -> None:
    chain_rule = replace(benchmarking.CPU_CHAIN_RULE, fewest_chains=1, busy_factor=math.inf, waits_excuse=False)
    monkeypatch.setattr(benchmarking, "CPU_CHAIN_RULE", chain_rule)
    audit_rule = replace(benchmarking.CPU_RULE, busy_factor=math.inf, waits_excuse=False)
    monkeypatch.setattr(benchmarking, "CPU_RULE", audit_rule)


def boxed_processes() -> list[psutil.Process]:
    """Runners and compilers among our own descendants; other tests may have theirs."""
    found: list[psutil.Process] = []
    for process in psutil.Process().children(recursive=True):
        try:
            if process.name() in {"runner", "program"}:
                found.append(process)
        except psutil.NoSuchProcess:
            continue
    return found


def _limits_for(attempt: Attempt, limits: StageLimits) -> StageLimits:  # noqa: F811 - what the fixture gives
    builder, runner = limits.builder, limits.runner
    if attempt.builder_seconds:
        builder = replace(builder, cpu=timedelta(seconds=attempt.builder_seconds))
    if attempt.builder_mib:
        builder = replace(builder, memory_mib=attempt.builder_mib)
    if attempt.runner_mib:
        runner = replace(runner, memory_mib=attempt.runner_mib)
    call_seconds = attempt.call_seconds or limits.call_seconds
    return replace(limits, builder=builder, runner=runner, call_seconds=call_seconds)
