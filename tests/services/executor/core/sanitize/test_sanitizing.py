"""Flawed kernels are caught at their lines, and honest ones are not accused. Marks: `// EXPECT kind access, ...`."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from problems.kit.definition import SizeSet
from services.executor.core.commands.sanitize_command import check_definition
from services.executor.core.model.failure import Failure
from services.executor.core.model.findings import Check, Finding
from services.executor.core.model.job import CoreJob
from services.executor.core.model.verdict import Verdict
from services.executor.core.run.context import RunContext
from services.executor.core.sanitize.sanitizing import CheckRequest, findings_of
from services.executor.devices.cpu.cpu_device import CpuDevice
from services.executor.sandboxes.launch_order import Hold
from services.executor.sandboxes.process.sandbox import open_process_sandbox
from submissions.modes import Mode
from tests.needs import torch_program

FLAWED = Path(__file__).parents[4] / "hipcpu" / "flawed"
DEFINITIONS = Path(__file__).parents[1] / "definitions"
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


@pytest.mark.parametrize(("guard", "status"), [("if (i < n)", 0), ("if (i <= n)", 1)])
async def test_a_definitions_cases_are_checked(
    context: RunContext, guard: str, status: int, capsys: pytest.CaptureFixture[str]
) -> None:
    source, definition = ((DEFINITIONS / f"relu.{name}").read_text() for name in ("hip", "py"))
    job = CoreJob(source.replace("if (i < n)", guard), Mode.CHECK, "relu", problem_definition=definition)
    prepared = replace(context, torch_python=torch_program())
    assert await check_definition(job, frozenset(Check), prepared, as_json=False) == status
    shown = capsys.readouterr()
    assert ("out-of-bounds" in shown.out, shown.out.endswith("no findings\n")) == (bool(status), not status)
    # Without torch on this machine, the catalogue's problem of that name is used, and that is said.
    assert ("is not used, as this machine has no torch" in shown.err) == (torch_program() is None)


@pytest.mark.torch
async def test_a_python_file_is_checked_on_the_definition_of_its_contest(context: RunContext) -> None:
    folder = DEFINITIONS / "kernelbot"
    solution = (folder / "solution.hip").read_text().partition('extern "C"')[0]
    glue = """
    void sums(torch::Tensor a, torch::Tensor scales, torch::Tensor sums) {
        sum_rows<<<(a.size(0) + 63) / 64, 64>>>(
            (const __hip_fp8_e4m3_fnuz*)a.data_ptr(), scales.data_ptr<float>(), (__hip_bfloat16*)sums.data_ptr(),
            a.size(0), a.size(1));
    }
    """
    file = (
        f"from torch.utils.cpp_extension import load_inline\nS = r'''{solution}{glue}'''\n"
        "m = load_inline('m', [''], [S], ['sums'])\n"
        "def custom_kernel(data):\n    a, b, c = data\n    m.sums(a, b, c)\n    return c\n"
    )
    task, reference = ((folder / name).read_text() for name in ("task.yml", "reference.py"))
    definition = f"# file: task.yml\n{task}\n# file: reference.py\n{reference}"
    prepared = replace(context, torch_python=torch_program())
    for text, status in ((file, 0), (file.replace("a.size(1));", "a.size(1) + 1);"), 1)):
        job = CoreJob(text, Mode.CHECK, "of-the-contest", problem_definition=definition)
        assert await check_definition(job, frozenset(Check), prepared, as_json=False) == status
