"""Submissions in the forms of other sites: KernelBot's Python files with load_inline, and LeetGPU's `solve`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from services.executor.core.model import events
from services.executor.core.model.job import CoreJob
from services.executor.core.model.verdict import Verdict
from services.executor.core.run.context import RunContext
from services.executor.core.run.one_run import run
from submissions.modes import Mode
from tests.needs import torch_program

FOLDER = Path(__file__).parents[1] / "definitions" / "kernelbot"
KERNEL = """
__global__ void k(const float* in, float* out, long n) {
    const long i = blockIdx.x * (long)blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] > 0 ? in[i] : 0;
}
"""
RETURNS = """
import torch
from torch.utils.cpp_extension import load_inline

SOURCE = \"\"\"
#include <torch/extension.h>
KERNEL
torch::Tensor relu(torch::Tensor a) {
    TORCH_CHECK(a.device().is_cuda(), "not on the GPU");
    auto out = torch::empty_like(a);
    AT_DISPATCH_FLOATING_TYPES(a.scalar_type(), "relu", [&] {
        k<<<(a.numel() + 255) / 256, 256, 0, at::cuda::getCurrentCUDAStream()>>>(
            (const float*)a.data_ptr<scalar_t>(), (float*)out.data_ptr<scalar_t>(), a.numel());
    });
    C10_CUDA_CHECK(cudaGetLastError());
    return out.to(a.scalar_type());
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &relu, "relu"); }
\"\"\"
module = load_inline(name="m", cpp_sources="", cuda_sources=SOURCE)
raise SystemExit("this file is never run")

def custom_kernel(data):
    return module.forward(data)
""".replace("KERNEL", KERNEL)


async def judged(context: RunContext, source: str, problem: str = "relu") -> tuple[events.Finished, str]:
    seen: list[events.Event] = []
    finished = await run(CoreJob(source, Mode.CHECK, problem), context, seen.append)
    return finished, "".join(event.warnings for event in seen if isinstance(event, events.Compiled))


async def test_a_python_file_gives_its_hip_source_and_its_tensors_are_the_problems(context: RunContext) -> None:
    finished, warnings = await judged(context, RETURNS)
    assert finished.verdict is Verdict.ACCEPTED, finished
    assert "none of it is run" in warnings
    wrong, _ = await judged(context, RETURNS.replace("in[i] > 0", "in[i] > 1"))
    assert wrong.verdict is Verdict.WRONG_ANSWER


SEVERAL = (
    RETURNS.partition("def custom_kernel")[0].replace(
        "PYBIND11_MODULE",
        """
void piece(torch::Tensor a, torch::Tensor to, int64_t begin, int64_t n) {
    TORCH_CHECK(torch::size(a, 0) * torch::size(a, 1) == torch::numel(a));
    AT_DISPATCH_ALL_TYPES(to.scalar_type(), "piece", [&] {
        k<<<(n + 255) / 256, 256>>>((float*)a.data_ptr() + begin, (float*)to.data_ptr<scalar_t>() + begin, n);
    });
}
void copy(torch::Tensor from, torch::Tensor to) {
    auto seen = torch::from_blob(from.data_ptr(), {from.numel()}, from.options());
    C10_CUDA_CHECK(hipMemcpyAsync(to.data_ptr(), seen.data_ptr(), seen.nbytes(), hipMemcpyDeviceToDevice, 0));
}
void nothing(torch::Tensor from, torch::Tensor to) {}
PYBIND11_MODULE""",
    )
    + """
def custom_kernel(data):
    made = torch.empty((data.shape[0], data.shape[1]), dtype=torch.float32, device=data.device)
    out = torch.empty_like(data)
    n = data.shape[0] * data.shape[1]
    module.piece(data, made, 0, n // 2)
    module.piece(data, made, n // 2, n - n // 2)
    if data.shape[0] > 0:
        module.copy(made, out)
    else:
        module.nothing(made, out)
    return out
"""
)


async def test_several_calls_share_their_tensors_and_depend_on_sizes(context: RunContext) -> None:
    finished, warnings = await judged(context, SEVERAL)
    assert finished.verdict is Verdict.ACCEPTED, finished
    assert "`piece`, `copy`, `nothing` are called" in warnings
    other, _ = await judged(context, SEVERAL.replace("shape[0] > 0", "shape[0] < 0"))
    assert other.verdict is Verdict.WRONG_ANSWER


async def test_errors_of_the_compiler_name_the_python_files_lines(context: RunContext) -> None:
    broken = RETURNS.replace("long i =", "lnog i =")
    line = broken[: broken.index("lnog")].count("\n") + 1
    finished, _ = await judged(context, broken)
    assert finished.verdict is Verdict.COMPILE_ERROR
    assert f"line {line}:" in finished.message


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("import triton\nimport triton.language as tl\n", "Triton's kernels are Python too"),
        ("import torch\ndef custom_kernel(data):\n    return data\n", "no module of torch's load_inline"),
        (RETURNS.replace("torch::Tensor relu(", "torch::Tensor other("), "does not define `relu`"),
    ],
)
async def test_a_python_file_without_such_a_source_is_told_what_to_do(
    context: RunContext, source: str, said: str
) -> None:
    finished, _ = await judged(context, source)
    assert (finished.verdict, finished.reason) == (Verdict.COMPILE_ERROR, "python")
    assert finished.message.startswith("This is Python, and none of it is run here")
    assert said in finished.message


@pytest.mark.torch
@pytest.mark.timeout(300)
async def test_a_transposed_tensor_is_passed_with_its_strides(context: RunContext) -> None:
    glue = """
    void sums(torch::Tensor a, torch::Tensor scales, torch::Tensor sums) {
        TORCH_CHECK(a.stride(0) == 1 && a.stride(1) == a.size(0), "a is not column-major");
        sum_rows<<<(a.size(0) + 63) / 64, 64>>>(
            (const __hip_fp8_e4m3_fnuz*)a.data_ptr(), scales.data_ptr<float>(), (__hip_bfloat16*)sums.data_ptr(),
            a.size(0), a.size(1));
    }
    """
    solution = (FOLDER / "solution.hip").read_text().partition('extern "C"')[0]
    file = (
        "from torch.utils.cpp_extension import load_inline\n"
        f"S = r'''{solution}{glue}'''\n"
        "m = load_inline('m', [''], [S], ['sums'])\n"
        "def custom_kernel(data):\n    a, b, c = data\n    m.sums(a, b, c)\n    return c\n"
    )
    task, reference = ((FOLDER / name).read_text() for name in ("task.yml", "reference.py"))
    definition = f"# file: task.yml\n{task}\n# file: reference.py\n{reference}"
    prepared = replace(context, torch_python=torch_program())
    for text, verdict in (
        (file, Verdict.ACCEPTED),
        (file.replace("(a, b, c)\n", "(a.contiguous(), b, c)\n"), Verdict.RUNTIME_ERROR),
    ):
        job = CoreJob(text, Mode.CHECK, "of-the-contest", problem_definition=definition)
        finished = await run(job, prepared, lambda _: None)
        assert finished.verdict is verdict, finished


SOLVE = f"""
#include <hip/hip_runtime.h>
{KERNEL}
extern "C" void solve(const float* input, float* output, int rows, int columns) {{
    k<<<(rows * columns + 255) / 256, 256>>>(input, output, rows * columns);
}}
"""


async def test_solve_with_sizes_of_int_is_taken_where_its_parameters_fit(context: RunContext) -> None:
    finished, warnings = await judged(context, SOLVE)
    assert finished.verdict is Verdict.ACCEPTED, finished
    assert "`solve` is called" in warnings
    other, _ = await judged(context, SOLVE.replace(", int columns", "").replace("rows * columns", "rows"))
    assert other.verdict is Verdict.COMPILE_ERROR
    assert "no function `solution`" in other.message
