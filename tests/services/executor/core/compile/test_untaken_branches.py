"""The branch that is tested is the one that the MI300X takes; on NVIDIA's GPUs it is not, and the author is told so."""

from __future__ import annotations

from dataclasses import replace

import pytest

from services.executor.core.compile.untaken_branches import untaken_branches
from services.executor.core.model.events import Compiled, Event
from services.executor.core.model.job import CoreJob
from services.executor.core.model.verdict import Verdict
from services.executor.core.run.context import RunContext
from services.executor.core.run.one_run import run
from services.executor.devices.cpu.cpu_device import CpuDevice
from services.executor.devices.device import DeviceDescription
from submissions.modes import Mode

MI300X = DeviceDescription("rocm", "A Test 3000", "gfx942", 64, 2, 1024, is_gpu=True)
H200 = replace(MI300X, name="nvidia", architecture="sm_90")
ADD = """#include <hip/hip_runtime.h>

__global__ void add(const float* a, const float* b, float* c, size_t n) {
    const size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
#if defined(__gfx942__)
    if (i < n) c[i] = a[i] + b[i] + 1;
#else
    if (i < n) c[i] = a[i] + b[i];
#endif
}
extern "C" void solution(const float* a, const float* b, float* c, size_t n) {
    add<<<(n + 255) / 256, 256>>>(a, b, c, n);
}
"""


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("#ifdef __gfx942__\n#endif", "`__gfx942__` (line 1)"),
        ("\n#if __GFX9__ && \\\n    defined(__AMDGCN__)\n#endif", "`__GFX9__` (line 2); `__AMDGCN__` (line 3)"),
        ("#if __gfx942__\n#elif __gfx942__\n#endif\n#ifdef __gfx942__\n#endif", "`__gfx942__` (line 1 and 2 more)"),
        ("#if defined(__HIP_DEVICE_COMPILE__) || defined(__gfx90a__)\n#endif", ""),
        ('// __gfx942__\nconst char* a = "__AMDGCN__";', ""),
    ],
)
def test_each_macro_of_the_mi300x_is_named_with_its_first_line(source: str, said: str) -> None:
    assert untaken_branches(source, H200).partition("compiled here: ")[2] == (f"{said}." if said else "")
    assert untaken_branches(source, MI300X) == ""


class _H200(CpuDevice):
    """A processor that says it is an H200."""

    def describe(self) -> DeviceDescription:
        return replace(super().describe(), architecture="sm_90")


async def test_a_branch_that_was_not_run_is_said_beside_the_verdict(context: RunContext, reported: list[Event]) -> None:
    elsewhere = replace(context, device=_H200())
    right = ADD.replace(" + 1", "")
    finished = await run(CoreJob(right, Mode.CHECK, "vector-addition"), elsewhere, reported.append)

    assert finished.verdict is Verdict.ACCEPTED
    assert finished.message.endswith("than the one that is compiled here: `__gfx942__` (line 5).")
    [compiled] = [event for event in reported if isinstance(event, Compiled)]
    assert "`__gfx942__` (line 5)" in compiled.warnings


async def test_a_source_that_does_not_compile_is_told_so_too(context: RunContext) -> None:
    source = ADD.replace("\n\n", '\n#ifdef __gfx942__\n#error "no MI300X"\n#endif\n', 1)
    elsewhere = replace(context, device=_H200())
    finished = await run(CoreJob(source, Mode.CHECK, "vector-addition"), elsewhere, lambda _: None)

    assert finished.verdict is Verdict.COMPILE_ERROR
    assert "Not defined on this device" in finished.message
    assert "`__gfx942__` (line 2 and 1 more)" in finished.message


async def test_the_branch_of_the_mi300x_is_the_one_that_is_tested(context: RunContext, reported: list[Event]) -> None:
    finished = await run(CoreJob(ADD, Mode.CHECK, "vector-addition"), context, reported.append)

    assert finished.verdict is Verdict.WRONG_ANSWER
    assert "__gfx942__" not in finished.message
    [compiled] = [event for event in reported if isinstance(event, Compiled)]
    assert "__gfx942__" not in compiled.warnings
