"""A runner that does not come up: the judge decides by a runner of our own, not by the dead one's words."""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from services.executor.core.call.runner_claims import NO_DEVICE_MEMORY
from services.executor.core.call.trusted_runner import at_our_fault
from services.executor.core.certify.known_times import smallest_case_of, with_case
from services.executor.core.model.failure import InfrastructureFailure
from services.executor.core.model.job import CoreJob
from services.executor.core.model.verdict import Verdict
from services.executor.core.run.installation import find_problem
from services.executor.core.run.one_run import run
from services.executor.core.sandbox.canary import canary_job
from services.executor.core.sandbox.channel import IN_SANDBOX
from services.executor.core.sandbox.exit_reasons import DEVICE_FAULT, device_fault
from services.executor.devices.sim.sim_device import SimulatedGpu
from submissions.modes import Mode
from tests.needs import torch_program
from tests.services.executor.core.audit.test_chain import PROBLEMS

if TYPE_CHECKING:
    from collections.abc import Callable, Container

    from problems.kit.definition import Problem
    from services.executor.core.run.context import RunContext
    from services.executor.sandboxes.sandbox import (
        Command,
        Limits,
        OutputListener,
        PreparedSandbox,
        Sandbox,
        SandboxedProcess,
    )

NO_DEVICE = 100
"""The value of hipErrorNoDevice."""
DEFINITIONS = Path(__file__).parents[1] / "definitions"
HONEST = (PROBLEMS / "vector-addition/solution.hip").read_text()


EXITS_IN_A_CALL = Path(__file__).parents[4] / "attacks/09_early_exit/excuse_in_a_call.hip"


class Forgetful:
    """A sandbox on a machine that loses a file that runners need, after `spared` sandboxes have had it."""

    def __init__(self, sandbox: Sandbox, lost: Path, spared: int = 0) -> None:
        self._sandbox = sandbox
        self._lost = lost
        self._spared = spared
        self.name, self.gaps = sandbox.name, sandbox.gaps

    def _without(self, command: Command) -> Command:
        if self._spared and any(mount.target == self._lost for mount in command.mounts):
            self._spared -= 1
            return command
        return replace(command, mounts=[mount for mount in command.mounts if mount.target != self._lost])

    async def start(
        self, command: Command, limits: Limits, on_output: OutputListener | None = None
    ) -> SandboxedProcess:
        return await self._sandbox.start(self._without(command), limits, on_output)

    async def prepare(self, command: Command, limits: Limits) -> PreparedSandbox:
        return await self._sandbox.prepare(self._without(command), limits)


@pytest.mark.parametrize("lost", ["socket", "key", "memory"])
async def test_a_machine_on_which_no_runner_comes_up_is_not_the_authors_fault(context: RunContext, lost: str) -> None:
    broken = replace(context, sandbox=Forgetful(context.sandbox, IN_SANDBOX / lost))
    finished = await run(CoreJob(HONEST, Mode.CHECK, "vector-addition"), broken, lambda _: None)
    assert finished.verdict is Verdict.INFRA_ERROR, finished
    assert "runner of our own fails" in finished.message
    assert "exit status 70" in finished.details


@pytest.mark.parametrize(("spared", "verdict"), [(1, Verdict.INFRA_ERROR), (2, Verdict.RUNTIME_ERROR)])
async def test_a_runner_that_gives_up_in_a_call_blames_the_author_only_where_ours_does_not(
    context: RunContext, spared: int, verdict: Verdict
) -> None:
    breaking = replace(context, sandbox=Forgetful(context.sandbox, IN_SANDBOX / "socket", spared))
    finished = await run(CoreJob(EXITS_IN_A_CALL.read_text(), Mode.CHECK, "vector-addition"), breaking, lambda _: None)
    assert finished.verdict is verdict, finished


@pytest.mark.parametrize(
    ("spared", "verdict", "said"),
    [
        (1, Verdict.INFRA_ERROR, "runner of our own fails"),
        (2, Verdict.RUNTIME_ERROR, "reported hipErrorLaunchFailure before"),
    ],
)
async def test_a_device_that_is_lost_just_before_the_first_call_is_the_authors_fault_only_where_ours_is_well(
    context: RunContext, spared: int, verdict: Verdict, said: str
) -> None:
    breaking = Forgetful(context.sandbox, IN_SANDBOX / "socket", spared)
    simulated = replace(context, device=SimulatedGpu(), sandbox=breaking, find_problem=smallest_case_of)
    finished = await run(
        CoreJob(f"// sim: lost_at=2\n{HONEST}", Mode.CHECK, "vector-addition"), simulated, lambda _: None
    )
    assert finished.verdict is verdict, finished
    assert said in finished.message


@pytest.mark.parametrize(("spared", "reason"), [(1, ""), (2, DEVICE_FAULT)])
async def test_what_no_kernel_causes_is_never_the_authors_and_suspects_the_machine_only_where_ours_fails(
    context: RunContext, spared: int, reason: str
) -> None:
    breaking = Forgetful(context.sandbox, IN_SANDBOX / "socket", spared)
    simulated = replace(context, device=SimulatedGpu(), sandbox=breaking, find_problem=smallest_case_of)
    source = f"// sim: lost_at=2 lost_as={NO_DEVICE}\n{HONEST}"
    finished = await run(CoreJob(source, Mode.CHECK, "vector-addition"), simulated, lambda _: None)
    assert (finished.verdict, finished.reason) == (Verdict.INFRA_ERROR, reason), finished


async def test_a_device_that_fails_our_own_runner_makes_the_machine_suspect() -> None:
    with pytest.raises(InfrastructureFailure, match="runner of our own fails") as caught, at_our_fault():
        raise device_fault("hipErrorNoDevice")
    assert caught.value.reason == ""
    assert "hipErrorNoDevice" in caught.value.details


ABORTS = """#include <stdio.h>
#include <stdlib.h>
extern "C" void solution(const float*, const float*, float*, size_t) {
  fputs("REASON\\n", stderr);
  abort();
}
"""
ECC = "Memory access fault by GPU node-1 (Agent handle: 0x55ac) on address 0x7f0000. Reason: DRAM ECC failure."
HANG = "HW Exception by GPU node-1 (Agent handle: 0x55ac) reason :GPU Hang"


@pytest.mark.parametrize(
    ("said", "spared", "verdict", "reason"),
    [
        (ECC, 1, Verdict.INFRA_ERROR, ""),
        (ECC, 2, Verdict.INFRA_ERROR, DEVICE_FAULT),
        (HANG, 1, Verdict.INFRA_ERROR, ""),
        (HANG, 2, Verdict.RUNTIME_ERROR, "gpu_fault"),
    ],
)
async def test_what_rocm_says_before_it_aborts_has_our_own_runner_asked(
    context: RunContext, said: str, spared: int, verdict: Verdict, reason: str
) -> None:
    breaking = replace(context, sandbox=Forgetful(context.sandbox, IN_SANDBOX / "socket", spared))
    job = CoreJob(ABORTS.replace("REASON", said), Mode.CHECK, "vector-addition")
    finished = await run(job, breaking, lambda _: None)
    assert (finished.verdict, finished.reason) == (verdict, reason), finished


@pytest.mark.parametrize(
    ("is_gpu", "spared", "verdict"),
    [(True, 0, Verdict.INFRA_ERROR), (True, 1, Verdict.RUNTIME_ERROR), (False, 0, Verdict.RUNTIME_ERROR)],
)
@pytest.mark.parametrize("main", ["return 1;", "abort();"])
async def test_a_whole_program_that_ends_badly_on_a_gpu_has_the_blame_only_where_our_runner_is_well(
    context: RunContext, main: str, spared: int, verdict: Verdict, *, is_gpu: bool
) -> None:
    device = SimulatedGpu() if is_gpu else context.device
    lost = replace(context, device=device, sandbox=Forgetful(context.sandbox, IN_SANDBOX / "socket", spared))
    job = CoreJob(f"#include <stdlib.h>\nint main() {{ {main} }}\n", Mode.SANDBOX)
    finished = await run(job, lost, lambda _: None)
    assert finished.verdict is verdict, finished
    assert ("runner of our own fails" in finished.message) is (verdict is Verdict.INFRA_ERROR)


class Poor(Forgetful):
    """A machine whose device has 1 MiB of memory for the runners with these numbers."""

    def __init__(self, sandbox: Sandbox, poor: Container[int]) -> None:
        super().__init__(sandbox, IN_SANDBOX / "memory")
        self._poor = poor
        self._numbers = count()

    def _without(self, command: Command) -> Command:
        if all(mount.target != self._lost for mount in command.mounts) or next(self._numbers) not in self._poor:
            return command
        return replace(command, environment={**command.environment, "WAVEPOOL_DEVICE_MEMORY_MIB": "1"})


class Occupied(Forgetful):
    """A machine whose device has 16 GiB of memory, of which another process holds this much."""

    def __init__(self, sandbox: Sandbox, held_mib: int) -> None:
        super().__init__(sandbox, IN_SANDBOX / "memory")
        self._reported = {"WAVEPOOL_DEVICE_MEMORY_MIB": "16384", "WAVEPOOL_DEVICE_MEMORY_HELD_MIB": str(held_mib)}

    def _without(self, command: Command) -> Command:
        return replace(command, environment={**command.environment, **self._reported})


TAKES_ALL = """#include <hip/hip_runtime.h>
extern "C" void solution(const float*, const float*, float*, size_t) {
  void* memory = nullptr;
  (void)hipMalloc(&memory, size_t(15) << 30);
}
"""


@pytest.mark.parametrize(
    ("held_mib", "verdict", "reason"),
    [(1 << 10, Verdict.MEMORY_LIMIT_EXCEEDED, NO_DEVICE_MEMORY), (4 << 10, Verdict.INFRA_ERROR, DEVICE_FAULT)],
)
async def test_memory_that_others_hold_is_no_fault_of_who_asks_for_it(
    context: RunContext, held_mib: int, verdict: Verdict, reason: str
) -> None:
    source = TAKES_ALL if held_mib > 1 << 10 else TAKES_ALL.replace("15", "16")
    held = replace(
        context,
        device=SimulatedGpu(),
        sandbox=Occupied(context.sandbox, held_mib),
        find_problem=smallest_case_of,
    )
    finished = await run(CoreJob(source, Mode.CHECK, "vector-addition"), held, lambda _: None)
    assert (finished.verdict, finished.reason) == (verdict, reason), finished


@pytest.mark.parametrize(
    ("held_mib", "is_shared", "verdict"),
    [
        (1 << 10, False, Verdict.ACCEPTED),
        (4 << 10, False, Verdict.RUNTIME_ERROR),
        (4 << 10, True, Verdict.ACCEPTED),
    ],
)
async def test_the_canary_fails_where_others_hold_memory_of_a_device_that_no_run_shares(
    context: RunContext, held_mib: int, verdict: Verdict, *, is_shared: bool
) -> None:
    held = replace(context, device=SimulatedGpu(), sandbox=Occupied(context.sandbox, held_mib))
    finished = await run(canary_job(held.device.describe(), is_shared=is_shared), held, lambda _: None)
    assert finished.verdict is verdict, finished
    reported = "only 12288 of 16384 MiB of the device's memory are free, and no run is on it: end what holds the rest"
    assert (reported in finished.stderr) is (verdict is Verdict.RUNTIME_ERROR)


def largest_case_of(slug: str) -> Problem:
    problem = find_problem(slug)
    return with_case(problem, max(problem.sizes.cpu, key=problem.bytes))


@pytest.mark.parametrize("find", [find_problem, largest_case_of], ids=["in a later case", "in the first"])
async def test_a_device_that_has_no_room_is_not_the_authors_fault(
    context: RunContext, find: Callable[[str], Problem]
) -> None:
    poor = replace(context, sandbox=Poor(context.sandbox, range(100)), find_problem=find)
    finished = await run(CoreJob(HONEST, Mode.CHECK, "vector-addition"), poor, lambda _: None)
    assert finished.verdict is Verdict.INFRA_ERROR, finished
    assert "Device memory ran out" in finished.details


async def test_who_says_that_there_is_no_room_where_there_is_has_the_blame(context: RunContext) -> None:
    """A constructor can fill a device, or answer for it."""
    lying = replace(context, sandbox=Poor(context.sandbox, {0}), find_problem=largest_case_of)
    finished = await run(CoreJob(HONEST, Mode.CHECK, "vector-addition"), lying, lambda _: None)
    assert finished.verdict is Verdict.MEMORY_LIMIT_EXCEEDED, finished


@pytest.mark.torch
@pytest.mark.parametrize("lost", ["socket", "key"])
async def test_a_machine_on_which_no_definitions_host_comes_up_is_not_the_authors_fault(
    context: RunContext, lost: str
) -> None:
    broken = replace(context, sandbox=Forgetful(context.sandbox, Path("/problem", lost)), torch_python=torch_program())
    kernel, definition = (DEFINITIONS / "relu.hip").read_text(), (DEFINITIONS / "relu.py").read_text()
    job = CoreJob(kernel, Mode.CHECK, "of-my-own", problem_definition=definition)
    finished = await run(job, broken, lambda _: None)
    assert finished.verdict is Verdict.INFRA_ERROR, finished
    assert finished.details
