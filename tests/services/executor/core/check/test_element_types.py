from __future__ import annotations

import pytest

from services.executor.core.model.events import Event
from services.executor.core.model.job import CoreJob
from services.executor.core.model.verdict import Verdict
from services.executor.core.run.context import RunContext
from services.executor.core.run.one_run import JobError, run
from submissions.modes import Mode

RELU = """
#include <hip/hip_runtime.h>
#include <{header}>
__global__ void relu(const {ctype}* input, {ctype}* output, size_t count) {{
    const size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
    if (i < count) output[i] = input[i] > {ctype}(0.0f) ? input[i] : {ctype}(0.0f);
}}
extern "C" void solution(const {ctype}* input, {ctype}* output, size_t n, size_t m) {{
    relu<<<(n * m + 255) / 256, 256>>>(input, output, n * m);
}}
"""
DOT_IN_HALF = """
#include <hip/hip_runtime.h>
#include <hip/hip_fp16.h>
__global__ void multiply(const __half* a, const __half* b, __half* c, size_t m, size_t k) {
    const size_t row = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
    if (row >= m) return;
    __half sum = 0.0f;
    for (size_t i = 0; i < k; ++i) sum = __hfma(a[row * k + i], b[i], sum);
    c[row] = sum;
}
extern "C" void solution(const __half* input_a, const __half* input_b, __half* output_c, size_t m, size_t k) {
    multiply<<<(m + 255) / 256, 256>>>(input_a, input_b, output_c, m, k);
}
"""


def ignore(event: Event) -> None:
    del event


@pytest.mark.parametrize(
    ("dtype", "ctype", "header"),
    [
        ("float16", "half", "hip/hip_fp16.h"),
        ("float16", "_Float16", "hip/hip_fp16.h"),
        ("bfloat16", "__hip_bfloat16", "hip/hip_bf16.h"),
        ("bfloat16", "hip_bfloat16", "hip/hip_bfloat16.h"),
        ("bfloat16", "__nv_bfloat16", "cuda_bf16.h"),
    ],
)
async def test_people_may_write_any_name_of_a_type(context: RunContext, dtype: str, ctype: str, header: str) -> None:
    source = RELU.format(ctype=ctype, header=header)
    finished = await run(CoreJob(source, Mode.CHECK, "relu", dtype), context, ignore)
    assert (finished.verdict, finished.message) == (Verdict.ACCEPTED, "All 5 cases are right.")


async def test_a_kernel_for_another_type_reads_other_numbers(context: RunContext) -> None:
    source = DOT_IN_HALF.replace("__half", "__hip_bfloat16").replace("hip_fp16", "hip_bf16")
    finished = await run(CoreJob(source, Mode.CHECK, "matrix-vector", "float16"), context, ignore)
    assert finished.verdict is Verdict.WRONG_ANSWER


async def test_sums_in_half_are_not_precise_enough(context: RunContext) -> None:
    finished = await run(CoreJob(DOT_IN_HALF, Mode.CHECK, "matrix-vector", "float16"), context, ignore)
    assert finished.verdict in {Verdict.WRONG_ANSWER, Verdict.PRECISION}


async def test_an_element_type_that_the_problem_lacks_is_explained(context: RunContext) -> None:
    with pytest.raises(JobError, match="dtype: `histogram` has no 'float16'; it has float32"):
        await run(CoreJob("", Mode.CHECK, "histogram", "float16"), context, ignore)
