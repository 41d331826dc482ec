"""The fields that bodies of submissions share, with their checks and the words that documentation shows."""

from __future__ import annotations

import json
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, ValidationInfo
from pydantic_core import PydanticCustomError

from gateway.words.modes import Endpoint, Mode, TimingMode
from vocabulary.limits import MAX_DEFINITION_BYTES, MAX_PLAN_BYTES, MAX_SOURCE_BYTES
from vocabulary.names import nearest_name

EXAMPLE_SOURCE = """#include <hip/hip_runtime.h>

__global__ void add(const float* a, const float* b, float* c, size_t n) {
    size_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}

extern "C" void solution(const float* a, const float* b, float* c, size_t n) {
    add<<<(n + 255) / 256, 256>>>(a, b, c, n);
}
"""


def _checked_source(source: str) -> str:
    size_bytes = len(source.encode())
    if size_bytes > MAX_SOURCE_BYTES:
        raise ValueError(f"is {size_bytes} bytes long; at most {MAX_SOURCE_BYTES} are taken")
    return source


def _checked_definition(definition: str) -> str:
    size_bytes = len(definition.encode())
    if size_bytes > MAX_DEFINITION_BYTES:
        raise ValueError(f"is {size_bytes} bytes long; at most {MAX_DEFINITION_BYTES} are taken")
    return definition


def _checked_plan(plan: dict[str, Any]) -> dict[str, Any]:
    if len(plan_text(plan).encode()) > MAX_PLAN_BYTES:
        raise ValueError(f"is longer than {MAX_PLAN_BYTES} bytes of JSON")
    return plan


def plan_text(plan: dict[str, Any] | None) -> str:
    """A launch plan as the services take it."""
    return json.dumps(plan, ensure_ascii=False) if plan else ""


def _named_unless_sandbox(problem: str, info: ValidationInfo) -> str:
    """Neither sandbox nor definition has a problem. Those fields come first; where one is wrong, nothing is known."""
    how = info.data.get("mode", info.data.get("endpoint"))
    if (
        not problem
        and not info.data.get("problem_def", "unknown")
        and how is not None
        and how not in {Mode.SANDBOX, Endpoint.SANDBOX}
    ):
        raise PydanticCustomError("missing", "is required")
    return problem


ProblemSlug = Annotated[
    str,
    Field(max_length=100, validate_default=True, description="A slug of `GET /problems`; none for `sandbox`."),
    AfterValidator(_named_unless_sandbox),
]
ProblemDefinition = Annotated[
    str,
    Field(
        description="Python source of a problem class, at most 256 KiB, in place of the catalogue's problem. It is "
        "evaluated in a box on the machine that runs the submission; such results never rank."
    ),
    AfterValidator(_checked_definition),
]
LaunchPlan = Annotated[
    dict[str, Any] | None,
    Field(description="`code` is kernels only, and they are launched by this plan: see docs/contracts.md."),
    AfterValidator(lambda plan: _checked_plan(plan) if plan else plan),
]
Source = Annotated[str, Field(min_length=1, description="HIP source, at most 1 MiB."), AfterValidator(_checked_source)]


GpuType = Annotated[
    str, Field(max_length=40, description="Left out: the operator's default, MI300X unless VMPOOL_DEFAULT_GPU is set.")
]
FallbackGpuTypes = Annotated[
    list[Annotated[str, Field(max_length=40)]],
    Field(
        max_length=8,
        description="GPU types that will do, in this order, where no machine of `gpu_type` is free. The credit on hold "
        "covers the dearest of all; the charge goes by the one that ran it, `machine_gpu_type`.",
    ),
]


def _checked_timing(timing: object) -> object:
    """Empty is left out, as for other fields; anything else that is no mode is refused with the nearest."""
    if timing is None or timing == "":
        return None
    if isinstance(timing, str) and timing in set(TimingMode):
        return timing
    reported = str(timing)[:40]
    nearest = nearest_name(reported, list(TimingMode))
    raise ValueError(f"{reported!r} is none of {', '.join(TimingMode)}; the nearest is {nearest}")


Timing = Annotated[
    TimingMode | None,
    BeforeValidator(_checked_timing),
    Field(
        description="How `benchmark` and `full` time calls. `cold`: caches are swept before each. `hot`: they are as "
        "the new inputs left them. `first-call`: one in a fresh process. Left out: `cold` on GPUs, `hot` on `cpu`."
    ),
]
