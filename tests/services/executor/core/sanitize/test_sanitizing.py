"""Flawed kernels are caught at their lines, and honest ones are not accused. Marks: `// EXPECT kind access, ...`."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from problems.kit.definition import SizeSet
from services.executor.core.model.failure import Failure
from services.executor.core.model.findings import Check, Finding
from services.executor.core.model.verdict import Verdict
from services.executor.core.run.context import RunContext
from services.executor.core.sanitize.sanitizing import CheckRequest, findings_of
from services.executor.devices.cpu.cpu_device import CpuDevice
from services.executor.sandboxes.launch_order import Hold
from services.executor.sandboxes.process.sandbox import open_process_sandbox

FLAWED = Path(__file__).parents[4] / "hipcpu" / "flawed"
HONEST = Path(__file__).parents[4] / "honest"
_MARK = re.compile(r"// EXPECT (.*)")
# One of each kind that checkers commonly accuse: last blocks, shuffles, cooperative groups, atomics, LDS tiles.
SAMPLE = ("frobenius_norm_last_block", "log_softmax_cooperative_groups", "histogram_private")


async def _findings(
    context: RunContext, device: CpuDevice, source: str, slug: str = "", **more: object
) -> list[Finding]:
    problem = context.find_problem(slug) if slug else None
    cases = problem.sizes.of(SizeSet.CPU) if problem else ()
    request = CheckRequest(source, problem, cases, **more)
    return await findings_of(request, context, device.sanitized(), lambda _: None)


def _title(finding: Finding) -> str:
    assert finding.where is not None
    return finding.kind if finding.other else f"{finding.kind} {finding.where.access}"


def _expected(source: str) -> set[tuple[int, str]]:
    marks = ((number, _MARK.search(line)) for number, line in enumerate(source.splitlines(), 1))
    return {(number, title.strip()) for number, mark in marks if mark for title in mark[1].split(",")}


@pytest.mark.parametrize(
    "name", ["bounds", "buffers", "uninitialised", "races", "divergence", "crash", "lockstep", "graphs"]
)
async def test_each_flaw_is_found_at_its_line_and_nothing_else(
    context: RunContext, cpu_device: CpuDevice, name: str
) -> None:
    source = (FLAWED / f"{name}.hip").read_text()
    found = [one for one in await _findings(context, cpu_device, source) if one.where]
    expected = _expected(source)
    accused = [{(line, _title(one)) for line in one.lines} & expected for one in found]
    assert all(accused), found
    assert set().union(*accused) == expected


async def test_a_crash_is_reported_after_what_was_found_before_it(context: RunContext, cpu_device: CpuDevice) -> None:
    found = await _findings(context, cpu_device, (FLAWED / "crash.hip").read_text())
    assert found[-1].kind == "crash"
    assert "SIGSEGV" in found[-1].message


@pytest.mark.parametrize("name", SAMPLE)
async def test_an_honest_kernel_has_no_findings(context: RunContext, cpu_device: CpuDevice, name: str) -> None:
    source = (HONEST / f"{name}.hip").read_text()
    slug = source.partition("\n")[0].removeprefix("// problem: ")
    assert await _findings(context, cpu_device, source, slug) == []


OFF_BY_ONE = """#include <hip/hip_runtime.h>
__global__ void add(const float* a, const float* b, float* c, size_t n) {
  size_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= n) c[i] = a[i] + b[i];
}
extern "C" void solution(const float* a, const float* b, float* c, size_t n) {
  add<<<n / 256 + 1, 256>>>(a, b, c, n);
}
"""


async def test_a_solution_is_checked_on_its_problems_buffers(context: RunContext, cpu_device: CpuDevice) -> None:
    found = await _findings(context, cpu_device, OFF_BY_ONE, "vector-addition")
    assert {(one.kind, one.memory, one.lines[0]) for one in found} == {
        ("out-of-bounds", "d_input1", 4),
        ("out-of-bounds", "d_output", 4),
    }
    first = found[0]
    assert first.where is not None
    assert (first.where.block, first.where.thread, first.offset) == ((0, 0, 0), (63, 0, 0), 63 * 4)


async def test_a_failed_launch_is_a_finding(context: RunContext, cpu_device: CpuDevice) -> None:
    source = OFF_BY_ONE.replace("256>>>", "4096>>>")
    found = await _findings(context, cpu_device, source, "vector-addition")
    assert {one.kind for one in found} == {"hip-error"}
    assert "hipErrorInvalidConfiguration" in found[0].message


async def test_only_the_sanitizers_asked_for_speak(context: RunContext, cpu_device: CpuDevice) -> None:
    checks = frozenset({Check.RACECHECK})
    assert await _findings(context, cpu_device, OFF_BY_ONE, "vector-addition", checks=checks) == []


async def test_a_source_that_does_not_compile_is_its_authors_fault(context: RunContext, cpu_device: CpuDevice) -> None:
    with pytest.raises(Failure) as raised:
        await _findings(context, cpu_device, "int main() { return nothing; }")
    assert raised.value.verdict is Verdict.COMPILE_ERROR


async def test_a_sandbox_without_a_root_of_its_own_is_given_its_cases(
    context: RunContext, cpu_device: CpuDevice
) -> None:
    weaker = replace(context, sandbox=await open_process_sandbox(forgo=[Hold.NAMESPACES]))
    found = await _findings(weaker, cpu_device, OFF_BY_ONE, "vector-addition")
    assert {one.kind for one in found} == {"out-of-bounds"}
