"""The function that runs one region for a box of threads, for kernels whose threads diverge (`region_runner.cpp`)."""

from __future__ import annotations

from collections.abc import Sequence

from hipcpu.forms.barrier_area import BROUGHT, VALUES
from hipcpu.forms.barrier_regions import Regions
from hipcpu.forms.region_plan import RegionPlan
from hipcpu.forms.thread_loops import LoopWriter, RegionCall, index_loads

_PARAMETERS = (
    "ptr noalias readonly %arguments, ptr noalias readonly %index, ptr noalias %wp.context, "
    "ptr noalias %wp.barrier_area, i32 %region, ptr noalias readonly %box"
)
_AXES = "xyz"
_PASSED = ("ptr %wp.context", "ptr %wp.barrier_area", "ptr %wp.brought", "ptr %wp.values", "i64 %after_side")


def regions_symbol(kernel: str) -> str:
    """Return the symbol of the function that runs a region of `kernel`."""
    return f'@"__wp_regions.{kernel}"'


def regions_function(
    kernel: str, loads: Sequence[str], arguments: Sequence[str], regions: Regions, writer: LoopWriter
) -> str:
    """Return the function; `loads` fetch the kernel's arguments and `arguments` passes them on."""
    cases = " ".join(f"i32 {number}, label %r{number}" for number in range(len(regions.functions)))
    lines = [
        f"define internal i64 {regions_symbol(kernel)}({_PARAMETERS}) {{",
        "entry:",
        *loads,
        *index_loads(),
        *_box_loads(),
        f"  %wp.brought = getelementptr i8, ptr %wp.barrier_area, i64 {BROUGHT}",
        f"  %wp.values = getelementptr i8, ptr %wp.barrier_area, i64 {VALUES}",
        f"  switch i32 %region, label %none [ {cases} ]",
        "none:",
        "  unreachable",
    ]
    for number, function in enumerate(regions.functions):
        uniform_loads, uniforms = _uniform_variables(number, regions.plan)
        call = RegionCall(kernel, number, function, arguments, [*_PASSED, *uniforms])
        loop = writer.loop_of_many(call, regions_symbol(kernel), len(regions.functions))
        lines += [f"r{number}:", *uniform_loads, *loop, *_answer(f"r{number}")]
    return "\n".join([*lines, "}"])


def _answer(r: str) -> list[str]:
    return [
        f"  %{r}.high = zext i32 %{r}.or.new to i64",
        f"  %{r}.shifted = shl i64 %{r}.high, 32",
        f"  %{r}.low = zext i32 %{r}.and.new to i64",
        f"  %{r}.both = or i64 %{r}.shifted, %{r}.low",
        f"  ret i64 %{r}.both",
    ]


def _box_loads() -> list[str]:
    lines: list[str] = []
    for number, name in enumerate(f"{end}.{axis}" for axis in _AXES for end in ("begin", "end")):
        lines.append(f"  %{name}.p = getelementptr i32, ptr %box, i64 {number}")
        lines.append(f"  %{name} = load i32, ptr %{name}.p")
    lines += ["  %side.p = getelementptr i32, ptr %box, i64 6", "  %side.32 = load i32, ptr %side.p"]
    return [*lines, "  %before_side = zext i32 %side.32 to i64", "  %after_side = xor i64 %before_side, 1"]


def _uniform_variables(number: int, plan: RegionPlan) -> tuple[list[str], list[str]]:
    """Fetch the uniform variables that a region is passed before its loop, as the region may change them."""
    lines: list[str] = []
    passed: list[str] = []
    for uniform in plan.uniforms(number):
        name = f"%r{number}.uniform.{uniform.slot}"
        where = f"ptr %wp.context, i64 0, i32 {uniform.slot}, i64 %before_side"
        lines += [
            f"  {name}.p = getelementptr {plan.context}, {where}",
            f"  {name} = load {uniform.type}, ptr {name}.p",
        ]
        passed.append(f"{uniform.type} {name}")
    return lines, passed
