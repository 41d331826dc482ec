"""Problem definitions that come with submissions: honest ones are used, hostile ones get a verdict and nothing else."""

from __future__ import annotations

import hashlib
import sys
import venv
from dataclasses import replace
from pathlib import Path

import pytest

from services.executor.core.model import events
from services.executor.core.model.job import CoreJob
from services.executor.core.model.run_events import message_of
from services.executor.core.model.verdict import Verdict
from services.executor.core.problem_host import interpreter
from services.executor.core.problem_host.interpreter import TorchMissingError, torch_python
from services.executor.core.problem_host.resolved_problem import MISSING_TORCH
from services.executor.core.run.context import RunContext
from services.executor.core.run.one_run import run
from submissions.modes import Mode
from tests.needs import torch_program
from tests.tiers import sampled

# torch alone may take two minutes to load if many processes wait for a core.
pytestmark = [pytest.mark.torch, pytest.mark.timeout(300)]

DEFINITIONS = Path(__file__).parents[1] / "definitions"
RELU = (DEFINITIONS / "relu.hip").read_text()
STYLES = [
    *("relu", "matmul", "argmax", "softmax", "older_relu", "min_and_max", "everything", "shortest_paths"),
    # Its input is a transposed tensor, which is passed as it lies in memory.
    "column_major",
]
BASE = """
import gc, os, socket, sys, time
import torch
from problem import Problem
class mine(Problem):
    parameters = [
        {"name": "x", "type": "float", "pointer": True}, {"name": "y", "type": "float", "pointer": True},
        {"name": "rows", "type": "size_t", "pointer": False}, {"name": "cols", "type": "size_t", "pointer": False},
    ]
    def generate_test_cases(self):
        return [{"name": "one", "rows": 3, "cols": 5, "create_inputs": lambda: (torch.randn(3, 5),)}]
    def reference_solution(self, x):
        return torch.relu(x)
    def verify_result(self, expected, actual):
        return torch.equal(expected, actual), {}
"""


@pytest.fixture
def with_torch(context: RunContext) -> RunContext:
    return replace(context, torch_python=torch_program())


def hurried(context: RunContext, **limits: float) -> RunContext:
    return replace(context, limits=replace(context.limits, **limits))


async def judged(
    context: RunContext,
    definition: str,
    source: str = RELU,
    mode: Mode = Mode.CHECK,
    dtype: str = "float32",
    name: str = "of-my-own",
) -> events.Finished:
    job = CoreJob(source, mode, name, dtype, problem_definition=definition)
    finished = await run(job, context, lambda _: None)
    assert message_of(finished).finished.message
    return finished


async def test_that_a_definition_is_read_is_the_first_event(with_torch: RunContext) -> None:
    seen: list[object] = []
    await run(CoreJob(RELU, Mode.CHECK, "of-my-own", problem_definition=BASE), with_torch, seen.append)
    assert isinstance(seen[0], events.ReadingProblem)
    assert isinstance(seen[1], events.Compiling)


@pytest.mark.parametrize("definition", sampled(STYLES, ["everything", "older_relu", "shortest_paths", "column_major"]))
async def test_a_definition_in_the_seeds_style_is_used(with_torch: RunContext, definition: str) -> None:
    text, kernel = (DEFINITIONS / f"{definition}.py").read_text(), definition.removeprefix("older_")
    source = (DEFINITIONS / f"{kernel}.hip").read_text()
    finished = await judged(with_torch, text, source)
    assert finished.verdict is Verdict.ACCEPTED, finished
    assert finished.passed_tests == finished.total_tests >= 1
    assert "author's own definition" in finished.message
    assert finished.report["problem"] == "", "it is none of the catalogue's, whatever it was called"
    said = finished.report["problem_definition"]
    assert isinstance(said, dict)
    assert said["torch"] == torch_python(torch_program()).version


FIXED = """
class Fixed:
    def __init__(self, create):
        self.create = create
    def __call__(self):
        return self.create()
"""
ONE_TILE = """
#include <hip/hip_runtime.h>
__global__ void k(const float* in, float* out, size_t n) {
    const size_t i = threadIdx.y * n + threadIdx.x;
    out[i] = in[i] > 0 ? in[i] : 0;
}
extern "C" void solution(const float* in, float* out, size_t n, size_t m) {
    k<<<1, dim3(n < 32 ? n : 32, m < 32 ? m : 32)>>>(in, out, n);
}
"""


def whole(definition: str) -> str:
    """The definition of relu.py with sizes that cannot be made smaller."""
    create = "lambda m=m, n=n, seed=seed: (self._draw(m, n, seed),)"
    assert create in definition
    return FIXED + definition.replace(create, f"Fixed({create})")


async def test_cases_that_are_too_large_here_are_made_smaller_and_their_sizes_are_named(with_torch: RunContext) -> None:
    finished = await judged(with_torch, (DEFINITIONS / "relu.py").read_text())
    assert finished.verdict is Verdict.ACCEPTED
    names = [result.name for result in finished.test_results]
    assert names == ["64x33", "128x100", "4096x8192, made smaller: m=1024, n=2048"]
    assert finished.message.startswith("All 3 cases are right (1 of them made smaller, as the names say")
    smaller = finished.report["problem_definition"]["cases_made_smaller"]  # type: ignore[index]
    assert smaller == [
        {"name": "4096x8192", "numbers": "m=1024, n=2048", "reason": "128 MiB of inputs, of at most 80 MiB"}
    ]


async def test_a_kernel_of_one_tile_is_wrong_although_every_case_is_too_large(with_torch: RunContext) -> None:
    large = (DEFINITIONS / "relu.py").read_text().replace("(64, 33), (128, 100), (4096, 8192)", "(4096, 8192),")
    finished = await judged(with_torch, large, ONE_TILE)
    assert finished.verdict is Verdict.WRONG_ANSWER, finished
    sample = await judged(with_torch, large, ONE_TILE, Mode.SAMPLE)
    assert sample.verdict is Verdict.ACCEPTED, "the sample does not show it"


async def test_cases_that_are_too_large_here_are_left_out_and_named(with_torch: RunContext) -> None:
    finished = await judged(with_torch, whole((DEFINITIONS / "relu.py").read_text()))
    left_out = finished.report["problem_definition"]["cases_left_out"]  # type: ignore[index]
    assert left_out == [{"name": "4096x8192", "reason": "128 MiB of inputs, of at most 80 MiB"}]
    assert "2 of 3 cases were run, and are right" in finished.message
    assert "`4096x8192` (128 MiB of inputs, of at most 80 MiB)" in finished.message


async def test_how_much_was_run_is_said_of_one_case_and_of_none(with_torch: RunContext) -> None:
    assert (await judged(with_torch, BASE)).message.startswith("The only case is right.")
    large = (DEFINITIONS / "relu.py").read_text().replace("(64, 33), (128, 100), (4096, 8192)", "(4096, 8192),")
    finished = await judged(with_torch, whole(large))
    assert (finished.verdict, finished.status) == (Verdict.SAMPLE_ONLY, "SAMPLE_ONLY")
    assert (await judged(with_torch, whole(large), mode=Mode.SAMPLE)).status == "PASSED"
    message = finished.message
    assert message.startswith("Only the sample was run, and it is right: no test case was, of 1. Left out: `4096x8192`")


async def test_the_catalogues_cases_are_run_if_only_the_sample_could_be_and_the_problem_is_the_same(
    with_torch: RunContext,
) -> None:
    large = (DEFINITIONS / "relu.py").read_text().replace("(64, 33), (128, 100), (4096, 8192)", "(4096, 8192),")
    wrong = await judged(with_torch, whole(large), ONE_TILE, name="relu")
    assert wrong.verdict is Verdict.WRONG_ANSWER, wrong
    right = await judged(with_torch, whole(large), name="relu")
    assert right.verdict is Verdict.ACCEPTED, right
    assert "cases of the catalogue's problem of that name" in right.message
    assert [result.name.endswith(", of the catalogue") for result in right.test_results][:2] == [False, True]
    other = whole(large).replace(
        "return torch.relu(input_matrix)", "return torch.relu(input_matrix) - (input_matrix > 4.5).float()"
    )
    assert (await judged(with_torch, other, name="relu")).verdict is Verdict.SAMPLE_ONLY, "it is another problem"


async def test_outputs_are_zero_before_each_timed_call(with_torch: RunContext) -> None:
    definition, accumulating = ((DEFINITIONS / f"everything{ending}").read_text() for ending in (".py", ".hip"))
    finished = await judged(with_torch, definition, accumulating, Mode.BENCHMARK)
    assert finished.verdict is Verdict.ACCEPTED, finished


async def test_slow_work_that_nothing_counts_is_not_called_endless(with_torch: RunContext) -> None:
    slow = RELU.replace("{", "{ for (volatile long i = 0; i < (1L << 40); i = i + 1);", 1)
    finished = await judged(hurried(with_torch, call_seconds=0.5), BASE, slow)
    assert finished.verdict is Verdict.TIME_LIMIT_EXCEEDED, finished
    assert "no get_flops" in finished.message
    assert "endless" not in finished.message
    counted = BASE.replace(
        "    def reference_solution", "    def get_flops(self, case):\n        return 15\n    def reference_solution"
    )
    assert "endless" in (await judged(hurried(with_torch, call_seconds=0.5), counted, slow)).message


async def test_its_times_are_measured_without_chains(with_torch: RunContext) -> None:
    finished = await judged(with_torch, (DEFINITIONS / "relu.py").read_text(), mode=Mode.BENCHMARK)
    assert finished.verdict is Verdict.ACCEPTED, f"{finished.message}\n{finished}"
    assert finished.benchmarked is not None
    assert all("free to change" in result.not_chained_because for result in finished.benchmarked.results)


async def test_the_sample_is_the_definitions_own(with_torch: RunContext) -> None:
    finished = await judged(with_torch, (DEFINITIONS / "older_relu.py").read_text(), mode=Mode.SAMPLE)
    assert (finished.status, finished.sample is not None) == ("PASSED", True), finished
    assert finished.sample is not None
    assert finished.sample.output_json == '{"output": [[1.0, 0.0], [0.0, 3.0]]}'


async def test_an_older_definition_gets_the_element_type(with_torch: RunContext) -> None:
    text = (DEFINITIONS / "older_relu.py").read_text()
    source = RELU.replace("float", "__half").replace("<hip/hip_runtime.h>", "<hip/hip_fp16.h>")
    source = source.replace("in[i] > 0 ? in[i] : 0", "__half2float(in[i]) > 0 ? in[i] : __half(0.0f)")
    finished = await judged(with_torch, text, "#include <hip/hip_runtime.h>\n" + source, dtype="float16")
    assert finished.verdict is Verdict.ACCEPTED, finished


async def test_numbers_that_the_signature_has_no_room_for_are_for_the_reference_alone(with_torch: RunContext) -> None:
    older = BASE.replace("(torch.randn(3, 5),)", "(torch.randn(3, 5), 0)").replace("self, x)", "self, x, least)")
    older = older.replace("torch.relu(x)", "torch.clamp(x, min=least)")
    finished = await judged(with_torch, older)
    assert finished.verdict is Verdict.ACCEPTED, finished
    oldest = (DEFINITIONS / "older_relu.py").read_text()
    inputs = oldest.replace("self, input_matrix", "self, least, input_matrix").replace(
        "(torch.rand(", "(0, torch.rand("
    )
    wrong = RELU.replace("const float* in", "const int* in")
    message = (await judged(with_torch, inputs, wrong)).message
    assert "const float* input_matrix, float* output" in message, message


async def test_a_definition_and_a_launch_plan_go_together(with_torch: RunContext) -> None:
    plan = """{"launches": [{"kernel": "rectify", "grid": ["ceil_div(rows * cols, 64)"], "block": [64],
        "args": ["x", "y", {"type": "int", "value": "rows * cols"}]}]}"""
    source = """#include <hip/hip_runtime.h>
        extern "C" __global__ void rectify(const float* x, float* y, int n) {
            const int i = blockIdx.x * blockDim.x + threadIdx.x;
            if (i < n) y[i] = fmaxf(x[i], 0.0f);
        }"""
    job = CoreJob(source, Mode.CHECK, problem_definition=BASE, launch_plan=plan)
    assert (await run(job, with_torch, lambda _: None)).verdict is Verdict.ACCEPTED


async def test_its_own_check_decides_and_says_why(with_torch: RunContext) -> None:
    strict = BASE.replace("torch.equal(expected, actual), {}", 'False, {"message": "not today\\udcff"}')
    finished = await judged(with_torch, strict)
    assert (finished.verdict, finished.status) == (Verdict.WRONG_ANSWER, "WRONG_ANSWER")
    assert "not today?" in finished.message
    wrong = await judged(with_torch, (DEFINITIONS / "relu.py").read_text(), RELU.replace("in[i] : 0", "in[i] : 1"))
    assert wrong.verdict is Verdict.WRONG_ANSWER
    assert wrong.wrong_answer is not None
    assert wrong.wrong_answer.max_difference == 1.0


@pytest.mark.parametrize(
    ("inputs", "reference", "verdict"),
    [
        ("torch.rand(3, 5) * 1e-6", "torch.relu(x)", Verdict.WRONG_ANSWER),
        ("torch.rand(3, 5)", "(x + 1) - 1 - x", Verdict.ACCEPTED),
        ("-torch.rand(3, 5)", "torch.relu(x)", Verdict.ACCEPTED),
    ],
)
async def test_a_kernel_that_writes_nothing_is_wrong_unless_zero_is_right(
    with_torch: RunContext, inputs: str, reference: str, verdict: Verdict
) -> None:
    lax = BASE.replace("torch.randn(3, 5)", inputs).replace("torch.relu(x)", reference)
    lax = lax.replace("torch.equal(expected, actual)", "torch.allclose(expected, actual, atol=1e-3)")
    nothing = 'extern "C" void solution(const float*, float*, size_t, size_t) {}'
    finished = await judged(with_torch, lax, nothing)
    assert finished.verdict is verdict, finished
    if verdict is Verdict.WRONG_ANSWER:
        assert "all zero, as before the call" in finished.message


async def test_nan_is_no_wildcard_whatever_its_own_check_says(with_torch: RunContext) -> None:
    lax = BASE.replace("torch.relu(x)", "torch.relu(x) * float('nan')").replace("torch.equal(expected, actual)", "True")
    assert (await judged(with_torch, lax)).verdict is Verdict.WRONG_ANSWER


@pytest.mark.parametrize(
    ("change", "to", "reason"),
    [
        ("return torch.relu(x)", "while True: pass", "time"),
        pytest.param("return torch.relu(x)", "time.sleep(3600)", "time", marks=pytest.mark.soak),
        ("return torch.relu(x)", "return torch.empty(1 << 42)", "memory"),
        ("return torch.relu(x)", "raise ValueError('mine \\udcff')", "raised"),
        pytest.param("return torch.relu(x)", "sys.exit(0)", "raised", marks=pytest.mark.soak),
        ("return torch.relu(x)", "os._exit(3)", "crashed"),
        ("return torch.relu(x)", "return open('/etc/shadow').read()", "raised"),
        pytest.param("return torch.relu(x)", "return (torch.relu(x), x)", "answer", marks=pytest.mark.soak),
        ("return torch.relu(x)", "Problem.n = getattr(Problem, 'n', 0) + 1; return x.repeat(Problem.n, 1)", "answer"),
        (
            "return torch.relu(x)",
            "[s.send(b'x' * 64) for s in gc.get_objects() if isinstance(s, socket.socket)]",
            "answer",
        ),
        ('"name": "x"', '"name": "x) { } //"', "answer"),
        pytest.param('"type": "size_t"', '"type": "FILE"', "raised", marks=pytest.mark.soak),
        pytest.param('"rows": 3', '"rows": -3', "answer", marks=pytest.mark.soak),
        pytest.param("class mine(Problem)", "class mine", "raised", marks=pytest.mark.soak),
        ("return [{", "return 1000 * [{", "size"),
    ],
)
async def test_a_hostile_definition_gets_its_verdict(with_torch: RunContext, change: str, to: str, reason: str) -> None:
    assert change in BASE
    seconds = 8.0 if reason == "time" else 60.0
    finished = await judged(hurried(with_torch, definition_seconds=seconds), BASE.replace(change, to))
    assert (finished.verdict, finished.reason) == (Verdict.PROBLEM_ERROR, f"problem_def:{reason}"), finished
    assert finished.status == "ERROR"


async def test_a_definition_that_never_loads_is_given_up(with_torch: RunContext) -> None:
    finished = await judged(hurried(with_torch, definition_seconds=5.0), BASE.replace("import torch", "while 1: 1"))
    assert (finished.verdict, finished.reason) == (Verdict.PROBLEM_ERROR, "problem_def:time"), finished


async def test_a_torch_that_does_not_load_is_not_the_authors_fault(with_torch: RunContext, tmp_path: Path) -> None:
    program = tmp_path / "broken" / "bin" / "python"
    venv.create(program.parents[1], symlinks=True)
    [packages] = (program.parents[1] / "lib").glob("python*/site-packages")
    (packages / "torch").mkdir()
    (packages / "torch" / "__init__.py").write_text("raise OSError('libtorch_cpu.so: cannot open shared object file')")
    (packages / "torch-2.13.0.dist-info").mkdir()
    (packages / "torch-2.13.0.dist-info" / "METADATA").write_text("Name: torch\nVersion: 2.13.0\n")
    finished = await judged(replace(with_torch, torch_python=program), BASE)
    assert finished.verdict is Verdict.INFRA_ERROR, finished
    assert "libtorch_cpu.so" in finished.details


async def test_what_a_definition_prints_starts_and_writes_goes_nowhere(with_torch: RunContext, tmp_path: Path) -> None:
    witness = tmp_path / "witness"
    tmp_path.chmod(0o777)
    busy = f"""
for _ in range(1024): print("x" * (1 << 20))
os.system("touch {witness}; id > {witness}")
try: open({str(witness)!r}, "w").write("here")
except OSError: pass
try: socket.create_connection(("127.0.0.1", 22), 1)
except OSError: pass
class mine(Problem):"""
    finished = await judged(with_torch, BASE.replace("\nclass mine(Problem):", busy))
    assert finished.verdict is Verdict.ACCEPTED, finished
    assert not witness.exists()


def test_torch_is_found_where_setup_torch_puts_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interpreter, "INSTALLED", torch_program())
    assert torch_python(None).program == torch_program()


def without_torch(context: RunContext) -> RunContext:
    return replace(context, torch_python=Path(sys.base_prefix) / "bin" / "python3")


async def test_without_torch_a_problem_of_the_author_is_a_fault_of_ours_that_names_what_is_missing(
    context: RunContext,
) -> None:
    bare = without_torch(context)
    with pytest.raises(TorchMissingError, match="EXECUTOR_TORCH_PYTHON"):
        torch_python(bare.torch_python)
    finished = await judged(bare, BASE)
    assert (finished.verdict, finished.reason) == (Verdict.INFRA_ERROR, MISSING_TORCH)
    assert "make setup-torch" in finished.details
    nowhere = await judged(replace(context, torch_python=Path("/no/such/python")), BASE)
    assert (nowhere.verdict, nowhere.reason) == (Verdict.INFRA_ERROR, MISSING_TORCH)


@pytest.mark.parametrize("slope", ["0", "1"])
async def test_without_torch_the_catalogue_s_problem_is_used_and_said(context: RunContext, slope: str) -> None:
    reported: list[object] = []
    job = CoreJob(RELU.replace("in[i] : 0", f"in[i] : {slope}"), Mode.CHECK, "relu", problem_definition=BASE)
    finished = await run(job, without_torch(context), reported.append)
    assert finished.verdict is (Verdict.ACCEPTED if slope == "0" else Verdict.WRONG_ANSWER), finished
    [compiled] = [event for event in reported if isinstance(event, events.Compiled)]
    for text in (compiled.warnings, finished.message):
        assert "The problem definition that was sent is not used, as this machine has no torch" in text
    assert finished.report["problem"] == "relu"
    unused = finished.report["problem_definition_unused"]
    assert unused == {"sha256": hashlib.sha256(BASE.encode()).hexdigest(), "missing": "torch"}
    assert "problem_definition" not in finished.report


@pytest.mark.parametrize(
    "change",
    [
        {"source": RELU.replace("size_t rows, size_t cols", "size_t rows")},
        {"launch_plan": '{"launches": [{"kernel": "k", "grid": [1], "block": [1], "args": ["mine"]}]}'},
        {"dtype": "complex64"},
    ],
)
async def test_without_torch_nobody_is_judged_by_a_problem_that_may_be_another(
    context: RunContext, change: dict[str, str]
) -> None:
    job = replace(CoreJob(RELU, Mode.CHECK, "relu", problem_definition=BASE), **change)  # type: ignore[arg-type]
    finished = await run(job, without_torch(context), lambda _: None)
    assert (finished.verdict, finished.reason) == (Verdict.INFRA_ERROR, MISSING_TORCH), finished


SCALED = """
    def reference_solution(self, x):
        functional = torch.nn.functional
        kinds, swizzles = functional.ScalingType, functional.SwizzleType
        def close(got, left, right):
            assert torch.allclose(got, left @ right.t(), rtol=1e-5), (got, left @ right.t())

        # Two numbers a byte, the low half first; a scale for 16 of them, in tiles as cuBLAS lays them, and one for all.
        numbers = torch.tensor([0, .5, 1, 1.5, 2, 3, 4, 6, 0, -.5, -1, -1.5, -2, -3, -4, -6])
        def packed(rows):
            codes, scales = torch.randint(0, 16, (rows, 64)), torch.rand(rows, 4).to(torch.float8_e4m3fn)
            laid = torch.zeros(-(-rows // 128) * 512, dtype=torch.float8_e4m3fn)
            for row in range(rows):
                for block in range(4):
                    laid[row // 128 * 512 + row % 32 * 16 + row % 128 // 32 * 4 + block] = scales[row, block]
            pairs = (codes[:, 0::2] | codes[:, 1::2] << 4).to(torch.uint8).view(torch.float4_e2m1fn_x2)
            whole = torch.rand(1)
            return pairs, [laid, whole], numbers[codes] * scales.float().repeat_interleave(16, 1) * whole
        (left, left_scales, a), (right, right_scales, b) = packed(130), packed(3)
        recipes, laid = [kinds.BlockWise1x16, kinds.TensorWise], [swizzles.SWIZZLE_32_4_4, swizzles.NO_SWIZZLE]
        close(functional.scaled_mm(left, right.t(), left_scales, recipes, right_scales, recipes, laid, laid,
                                   output_dtype=torch.float32), a, b)

        left, right = (torch.randn(rows, 64).to(torch.float8_e4m3fn) for rows in (5, 7))
        rows, columns, blocks = torch.rand(5, 1), torch.rand(7, 1), torch.rand(7, 2).to(torch.float8_e8m0fnu)
        close(functional.scaled_mm(left, right.t(), rows, kinds.RowWise, columns.t(), kinds.RowWise,
                                   output_dtype=torch.float32), left.float() * rows, right.float() * columns)
        close(functional.scaled_mm(left, right.t(), rows, kinds.RowWise, blocks, kinds.BlockWise1x32,
                                   output_dtype=torch.float32), left.float() * rows,
              right.float() * blocks.float().repeat_interleave(32, 1))
        return torch.relu(x)
"""


async def test_products_of_scaled_numbers_are_as_a_gpu_s(with_torch: RunContext) -> None:
    definition = BASE.replace("    def reference_solution(self, x):\n        return torch.relu(x)\n", SCALED)
    finished = await judged(with_torch, definition)
    assert finished.verdict is Verdict.ACCEPTED, finished


@pytest.mark.parametrize("package", ["torchao", "flashinfer"])
async def test_a_package_that_is_missing_is_named(with_torch: RunContext, package: str) -> None:
    definition = f"""{BASE}
    def get_extra_params(self, case):
        try:
            import {package}.formats
        except Exception as error:
            raise RuntimeError("install it") from error
"""
    finished = await judged(with_torch, definition)
    ending = {
        "torchao": (Verdict.INFRA_ERROR, MISSING_TORCH),
        "flashinfer": (Verdict.PROBLEM_ERROR, "problem_def:missing"),
    }
    assert (finished.verdict, finished.reason) == ending[package], finished
    assert package in finished.message
    catalogues = await run(CoreJob(RELU, Mode.CHECK, "relu", problem_definition=definition), with_torch, lambda _: None)
    assert catalogues.verdict is Verdict.ACCEPTED, catalogues
    assert f"as this machine has no {package}" in catalogues.message
