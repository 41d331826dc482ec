"""The C++ that joins our runner to a submission of kernels only (contract D): it launches what the plan says.

The first line names the kernels, with how many arguments each gets: `// kernels: {"scale": 3}`. A build reads it,
refuses a source that lacks one of them, and links the finished kernels as `wavepool_kernels`, an image that
hipModuleLoadData takes. The sizes of a call come with its arguments, as a table of 64-bit numbers: for each launch
grid, block, LDS bytes, and the bits of its constants (problems/launch_table.py).
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from problems.launch_plan import Constant

if TYPE_CHECKING:
    from collections.abc import Sequence

    from problems.launch_plan import Launch, LaunchPlan
    from problems.signature import Parameter

KERNELS_MARK = "// kernels: "
_SIZES = 7
"""Numbers of a launch before its constants: grid and block by axis, LDS bytes."""

_LAUNCHER = """#include <hip/hip_runtime.h>
#include <stdint.h>

extern "C" const unsigned char wavepool_kernels[];

namespace {

hipFunction_t kernel_named(const char* name) {
  static hipModule_t module = nullptr;
  if (module == nullptr && hipModuleLoadData(&module, wavepool_kernels) != hipSuccess) return nullptr;
  hipFunction_t kernel = nullptr;
  return hipModuleGetFunction(&kernel, module, name) == hipSuccess ? kernel : nullptr;
}

bool launch(hipFunction_t kernel, const uint64_t* size, void** arguments) {
  const auto number = [size](int at) { return static_cast<unsigned>(size[at]); };
  return hipModuleLaunchKernel(kernel, number(0), number(1), number(2), number(3), number(4), number(5), number(6),
                               nullptr, arguments, nullptr) == hipSuccess;
}

}  // namespace
"""


def kernel_harness_source(plan: LaunchPlan, parameters: Sequence[Parameter]) -> str:
    """`wavepool_call(arguments)` for a plan; `parameters` are the problem's, scratch buffers, and then the table."""
    places = {parameter.name: at for at, parameter in enumerate(parameters)}
    pointers = {parameter.name for parameter in parameters if parameter.pointer}
    lines = [KERNELS_MARK + json.dumps(plan.kernels, sort_keys=True), _LAUNCHER]
    lines.append('extern "C" void wavepool_call(void** arguments) {')
    lines.append(f"  auto* table = static_cast<uint64_t*>(arguments[{len(parameters) - 1}]);")
    row = 0
    for launch in plan.launches:
        lines += _launch(launch, row, places, pointers)
        row += _SIZES + sum(isinstance(argument, Constant) for argument in launch.arguments)
    return "\n".join([*lines, "}", ""])


def _launch(launch: Launch, row: int, places: dict[str, int], pointers: set[str]) -> list[str]:
    values: list[str] = []
    constant = row + _SIZES
    for argument in launch.arguments:
        if isinstance(argument, Constant):
            values.append(f"&table[{constant}]")
            constant += 1
        else:
            # An array's entry is its address, a scalar's that of its value; a launch takes addresses of values.
            values.append(f"{'&' if argument in pointers else ''}arguments[{places[argument]}]")
    return [
        "  {",
        f'    static const hipFunction_t kernel = kernel_named("{launch.kernel}");',
        f"    void* values[] = {{{', '.join([*values, 'nullptr'])}}};",
        f"    if (!launch(kernel, table + {row}, values)) return;",
        "  }",
    ]
