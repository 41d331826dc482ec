"""The warm-up does the work that judges would repeat, and needs nothing that may be missing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from hipcpu.build_folder import ToolchainError
from services.executor.core.compile import forbidden
from services.executor.core.compile.cache import CompileCache
from services.executor.core.compile.source import admit
from services.executor.core.launching.contract import unit_of
from services.executor.core.process.warm_up import warm_up
from services.executor.core.run.context import RunContext
from services.executor.core.run.installation import catalogue, find_problem
from services.executor.devices.cpu.cpu_device import CpuDevice
from services.executor.devices.device import Toolchain


class WithoutCompiler(CpuDevice):
    def toolchain(self) -> Toolchain:
        raise ToolchainError("it is not installed")


@pytest.fixture
def bare_context(builds: CompileCache, tmp_path: Path) -> RunContext:
    """A context without a real sandbox: any use of one fails."""
    no_sandbox = object()
    return RunContext(WithoutCompiler(), no_sandbox, builds, find_problem, scratch_parent=tmp_path)  # pyright: ignore[reportArgumentType]


def test_it_needs_no_compiler_and_no_sandbox_and_leaves_no_file(bare_context: RunContext) -> None:
    warm_up(catalogue().problems.values(), bare_context)

    assert not list(bare_context.scratch_parent.iterdir())


def test_an_empty_catalogue_and_rules_against_our_own_solutions_stop_nobody(bare_context: RunContext) -> None:
    warm_up([], bare_context)

    entry = catalogue().get("vector-addition")
    everything = replace(forbidden.rules()[0], names=("*",), headers=("*",))
    warm_up([entry], replace(bare_context, forbidden=(everything,)))


def test_after_it_no_rule_is_compiled_again(bare_context: RunContext) -> None:
    forbidden._any_of.cache_clear()
    warm_up([catalogue().get("vector-addition")], bare_context)
    compiled = forbidden._any_of.cache_info().misses

    problem, solution = find_problem("softmax"), catalogue().get("softmax").solution
    held = forbidden.rules_for(bare_context.forbidden, problem.forbidden)
    admit(solution, unit_of(solution, problem).declaration, held)

    assert compiled > 0
    assert forbidden._any_of.cache_info().misses == compiled
