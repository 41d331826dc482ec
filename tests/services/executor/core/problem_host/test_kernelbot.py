"""Problems from KernelBot's own files, `task.yml` and `reference.py`, are judged as KernelBot does."""

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

pytestmark = [pytest.mark.torch, pytest.mark.timeout(300)]

FOLDER = Path(__file__).parents[1] / "definitions" / "kernelbot"
GEMM = FOLDER.with_name("kernelbot_gemm")
GEMM_FILES = (("task", "yml"), ("reference", "py"))
SOLUTION = (FOLDER / "solution.hip").read_text()
TASK, REFERENCE = ((FOLDER / name).read_text() for name in ("task.yml", "reference.py"))
OF_A_DICTIONARY = """
import torch

def generate_input(size, seed):
    torch.manual_seed(seed)
    weights = {"left": torch.randn(size, device="cuda"), "right-hand": torch.randn(size, device="cuda")}
    return torch.randn(size, device="cuda", dtype=torch.float16), weights, {"steps": 3, "alpha": 0.5}

def ref_kernel(data):
    x, weights, config = data
    return {"y": x.float() * weights["left"] + config["alpha"] * weights["right-hand"] * config["steps"]}, {"loss": 1.0}

def check_implementation(data, output):
    y = output[0]["y"]
    return "" if torch.allclose(y, ref_kernel(data)[0]["y"], atol=1e-3) else "they differ"
"""


def files(**named: str) -> str:
    return "".join(f"# file: {name.replace('_', '.')}\n{text}\n" for name, text in named.items())


async def judged(context: RunContext, definition: str, source: str, mode: Mode = Mode.CHECK) -> events.Finished:
    prepared = replace(context, torch_python=torch_program())
    return await run(CoreJob(source, mode, "of-the-contest", problem_definition=definition), prepared, lambda _: None)


async def test_a_problem_of_kernelbots_files_is_judged_by_them(context: RunContext) -> None:
    definition = files(task_yml=TASK, reference_py=REFERENCE)
    right = await judged(context, definition, SOLUTION)
    assert right.verdict is Verdict.ACCEPTED, right
    names = [result.name for result in right.test_results]
    assert names[:2] == ["m=64, k=96", "m=65, k=33"]
    assert names[2].startswith("m=4096, k=65536, made smaller: m="), "it was too large here"
    row_major = SOLUTION.replace("a[at * m + row]", "a[row * k + at]")
    assert (await judged(context, definition, row_major)).verdict is Verdict.WRONG_ANSWER


@pytest.mark.parametrize("kernel", ["plain", "mfma"])
async def test_a_block_scaled_gemm_of_8_bit_floats_is_judged_with_and_without_matrix_instructions(
    context: RunContext, kernel: str
) -> None:
    definition = files(**{f"{name}_{kind}": (GEMM / f"{name}.{kind}").read_text() for name, kind in GEMM_FILES})
    source = (GEMM / f"{kernel}.hip").read_text()
    finished = await judged(context, definition, source)
    assert finished.verdict is Verdict.ACCEPTED, finished
    assert "made smaller" in [result.name for result in finished.test_results][2]
    by_first_scale = source.replace("a_scale[block * m + row", "a_scale[row")
    assert by_first_scale != source
    assert (await judged(context, definition, by_first_scale)).verdict is Verdict.WRONG_ANSWER


async def test_a_timed_run_has_the_benchmarks_too(context: RunContext) -> None:
    tests = TASK.replace("  -\n    m: 4096\n    k: 65536\n    seed: 7\n", "")
    finished = await judged(context, files(task_yml=tests, reference_py=REFERENCE), SOLUTION, Mode.BENCHMARK)
    assert finished.verdict is Verdict.ACCEPTED, finished
    assert [result.name for result in finished.test_results] == ["m=64, k=96", "m=65, k=33", "benchmark: m=256, k=128"]


async def test_tensors_of_dictionaries_are_parameters_by_their_keys(context: RunContext) -> None:
    definition = files(task_yml="tests:\n- {size: 1000, seed: 5}\n", reference_py=OF_A_DICTIONARY)
    source = """
    #include <hip/hip_fp16.h>
    #include <hip/hip_runtime.h>
    __global__ void k(const __half* x, const float* left, const float* right, float* y, int steps, float alpha, int n) {
        const int i = blockIdx.x * 256 + threadIdx.x;
        if (i < n) y[i] = __half2float(x[i]) * left[i] + alpha * right[i] * steps;
    }
    extern "C" void solution(const __half* x, const float* left, const float* right, float* y, int steps, float alpha,
                             int n) { k<<<(n + 255) / 256, 256>>>(x, left, right, y, steps, alpha, n); }
    """
    assert (await judged(context, definition, source)).verdict is Verdict.ACCEPTED
    finished = await judged(context, definition, source.replace("* left[i]", ""))
    assert finished.verdict is Verdict.WRONG_ANSWER
    assert "they differ" in finished.message
    fewer = (
        'extern "C" void solution(const __half* x, const float* left, float* y) {'
        " k<<<1, 1>>>(x, left, left, y, 1, 1, 1); }"
    )
    mistaken = await judged(context, definition, source.partition('extern "C"')[0] + fewer)
    assert "const float* right_hand, float* output, int steps, float alpha, int size" in mistaken.message


@pytest.mark.parametrize(
    ("named", "fix"),
    [
        ({"reference_py": REFERENCE}, "there is no task.yml: send it after a line `# file: task.yml`"),
        ({"task_yml": "lang: py\n", "reference_py": REFERENCE}, "task.yml has neither tests nor benchmarks"),
        ({"task_yml": TASK, "reference_py": "x = 1"}, "reference.py has no function generate_input"),
        ({"task_yml": "tests:\n- {m: [}\n", "reference_py": REFERENCE}, "cannot be read"),
    ],
)
async def test_files_that_are_no_problem_are_refused_with_the_fix(
    context: RunContext, named: dict[str, str], fix: str
) -> None:
    finished = await judged(context, files(**named), SOLUTION)
    assert finished.verdict is Verdict.PROBLEM_ERROR
    assert fix in finished.message


async def test_a_reference_alone_is_told_how_to_be_sent(context: RunContext) -> None:
    finished = await judged(context, OF_A_DICTIONARY, SOLUTION)
    assert finished.verdict is Verdict.PROBLEM_ERROR
    assert "# file: task.yml" in finished.message
