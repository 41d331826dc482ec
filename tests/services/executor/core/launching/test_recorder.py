"""Real sources, built, recorded without a device, and performed by a runner that has none of their host code."""

from __future__ import annotations

import re
import tracemalloc
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from struct import pack

import pytest

from hipcpu.build_folder import REPLAYER
from hipcpu.toolchain import PACKAGE
from services.executor.core.call.runner_session import RunnerSession
from services.executor.core.check.checking import Checker
from services.executor.core.compile.build import install
from services.executor.core.compile.cache import CachedBuild
from services.executor.core.launching.contract import unit_of
from services.executor.core.launching.program import (
    Copy,
    Fill,
    Launch,
    LaunchProgram,
    Wait,
    Write,
    described,
    program_bytes,
)
from services.executor.core.launching.recorder import programs_of
from services.executor.core.launching.recording import NotRecordableError
from services.executor.core.model.failure import Failure
from services.executor.core.model.job import CoreJob
from services.executor.core.model.seeds import RunSeed
from services.executor.core.model.verdict import Verdict
from services.executor.core.run.context import RunContext
from services.executor.core.run.installation import catalogue, find_problem
from services.executor.core.run.one_run import run
from services.executor.core.sandbox.run_place import open_place
from services.executor.devices.cpu.cpu_device import CpuDevice
from services.executor.devices.device import DeviceDescription
from submissions.modes import Mode

ADD = """#include <hip/hip_runtime.h>
__global__ void add(const float* a, const float* b, float* c, size_t n) {
  size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}
"""
SIGNATURE = 'extern "C" void solution(const float* a, const float* b, float* c, size_t n)'
NOW = "std::chrono::steady_clock::now().time_since_epoch().count() % 1000003"
LAUNCH = "add<<<(n + 255) / 256, 256>>>(a, b, c, n);"


def source_of(body: str, before: str = "") -> str:
    return f"{ADD}{before}\n{SIGNATURE} {{\n  {body}\n}}\n"


async def built(context: RunContext, source: str, slug: str = "vector-addition") -> CachedBuild:
    unit = unit_of(source, find_problem(slug))
    async with open_place(context, {Mode.CHECK}) as place:
        return await context.builder.build(unit, place.compile, place.run)


async def recorded(
    context: RunContext, source: str, slug: str = "vector-addition", cases: int = 2
) -> list[LaunchProgram | NotRecordableError]:
    problem, build = find_problem(slug), await built(context, source, slug)
    folder = context.scratch_parent / "recorder"
    return await programs_of(build, folder, problem, problem.sizes.cpu[:cases], context)


async def refusal_of(context: RunContext, source: str) -> NotRecordableError:
    found = await recorded(context, source)
    assert all(isinstance(one, NotRecordableError) for one in found), found
    return found[0]


@asynccontextmanager
async def performing(
    context: RunContext, build: CachedBuild, programs: Sequence[LaunchProgram], slug: str
) -> AsyncGenerator[Checker]:
    async with open_place(context, set()) as place:
        install(build.parts[REPLAYER], place.run / "runner")
        session = RunnerSession(context.device, place.sandbox, context.limits, place.channel())
        async with session.open(place.run):
            performed = list(map(program_bytes, programs))
            yield Checker(find_problem(slug), RunSeed(), session, program_of=lambda one, _: performed[one.case_index])


MANY_OPERATIONS = (
    """
#include <array>
#include <cstring>
__constant__ float factors[2];
__device__ float table[4];
struct Arrays { char tag; const float* a; int scale; const float* b; float* c; };
template <class F> __global__ void each(Arrays arrays, size_t n, F f) {
  size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
  if (i < n) arrays.c[i] = f(arrays.a[i] * factors[0] * arrays.scale, arrays.b[i] * table[3]);
}
namespace {
__global__ void forward(const float* const* pointers, float* own, size_t n) {
  size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
  if (i < n) own[i] = pointers[0][i];
}
}
""",
    """
  static float* own = nullptr;
  static hipStream_t side = nullptr;
  if (!own) {
    hipMalloc(&own, n * sizeof(float));
    hipStreamCreateWithFlags(&side, hipStreamNonBlocking);
    float ones[2] = {1, 1};
    hipMemcpyToSymbol(factors, ones, sizeof ones);
  }
  float last = 1;
  hipMemcpyToSymbol(table, &last, sizeof last, 3 * sizeof(float));
  const float** pointers;
  hipMalloc(&pointers, sizeof(float*));
  hipMemcpy(pointers, &a, sizeof a, hipMemcpyHostToDevice);
  hipMemsetAsync(own, 0x7f, n * sizeof(float), side);
  forward<<<(n + 63) / 64, 64, 0, side>>>(pointers, own, n);
  hipStreamSynchronize(side);
  int blocks = 0;
  hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, each<float (*)(float, float)>, 64, 0);
  hipMemcpyAsync(c, own, n * sizeof(float), hipMemcpyDeviceToDevice);
  Arrays arrays;
  arrays.tag = 1; arrays.a = c; arrays.scale = 1; arrays.b = b; arrays.c = c;
  auto sum = [=] __device__(float x, float y) { return x + y; };
  each<<<(n + 255) / 256, 256>>>(arrays, n, sum);
  hipFree(pointers);
""",
)


async def test_much_of_the_host_api_is_recorded_and_performed(context: RunContext) -> None:
    source = source_of(MANY_OPERATIONS[1].replace("each<float (*)(float, float)>", "add"), MANY_OPERATIONS[0])
    slug = "vector-addition"
    build = await built(context, source)
    problem = find_problem(slug)
    cases = problem.sizes.cpu[:2]
    programs = await programs_of(build, context.scratch_parent / "recorder", problem, cases, context)
    for program, case in zip(programs, cases, strict=True):
        assert isinstance(program, LaunchProgram), program
        kinds = {type(step) for step in program.later}
        assert {Launch, Copy, Fill, Write, Wait} <= kinds
        assert len(program.first) > len(program.later)
        assert program.workspaces
        assert set(program.variables) == {"factors", "table"}
        text = "\n".join(described(program, ["a", "b", "c", "n"]))
        assert "copy" in text
        assert case.name
    async with performing(context, build, programs, slug) as checker:
        for _ in range(2):
            for index, case in enumerate(cases):
                await checker.call_twice(checker.judge(case, index))


GRAPH = """
  static hipStream_t stream = nullptr, side = nullptr;
  static hipEvent_t fork, join;
  if (!stream) {
    hipStreamCreate(&stream);
    hipStreamCreate(&side);
    hipEventCreate(&fork);
    hipEventCreate(&join);
  }
  hipGraph_t graph;
  hipGraphExec_t exec;
  hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal);
  hipMemsetAsync(c, 0x7f, n * sizeof(float), stream);
  hipEventRecord(fork, stream);
  hipStreamWaitEvent(side, fork);
  const size_t half = n / 2;
  add<<<(half + 63) / 64, 64, 0, side>>>(a, b, c, half);
  hipEventRecord(join, side);
  hipStreamWaitEvent(stream, join);
  add<<<(n - half + 255) / 256, 256, 0, stream>>>(a + half, b + half, c + half, n - half);
  hipStreamEndCapture(stream, &graph);
  hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0);
  hipGraphLaunch(exec, stream);
  hipStreamSynchronize(stream);
  hipGraphExecDestroy(exec);
  hipGraphDestroy(graph);
"""


async def test_a_graph_is_recorded_as_its_nodes_in_order_and_performed(context: RunContext) -> None:
    build = await built(context, source_of(GRAPH))
    problem = find_problem("vector-addition")
    cases = problem.sizes.cpu[:2]
    programs = await programs_of(build, context.scratch_parent / "recorder", problem, cases, context)
    for program in programs:
        assert isinstance(program, LaunchProgram), program
        launched = [step for step in program.later if isinstance(step, Fill | Launch)]
        assert [type(step) for step in launched] == [Fill, Launch, Launch]
        assert len({step.stream for step in launched}) == 1
    async with performing(context, build, programs, "vector-addition") as checker:
        for index, case in enumerate(cases):
            await checker.call_twice(checker.judge(case, index))


async def test_what_is_captured_and_not_launched_is_not_recorded(context: RunContext) -> None:
    (found,) = await recorded(context, source_of(GRAPH.replace("hipGraphLaunch(exec, stream);", "")), cases=1)
    assert isinstance(found, LaunchProgram), found
    assert not any(isinstance(step, Launch | Fill) for step in (*found.first, *found.later))


async def test_what_is_performed_is_judged_like_any_call(context: RunContext) -> None:
    """Host code can tell from its environment that the recorder runs it."""
    before = "#include <cstdlib>\n"
    body = f'if (getenv("WAVEPOOL_RECORDING")) hipMemset(c, 0, n * sizeof(float)); else {LAUNCH}'
    build = await built(context, source_of(body, before))
    problem = find_problem("vector-addition")
    cases = problem.sizes.cpu[:1]
    programs = await programs_of(build, context.scratch_parent / "recorder", problem, cases, context)
    async with performing(context, build, programs, "vector-addition") as checker:
        with pytest.raises(Failure) as caught:
            await checker.call(checker.judge(cases[0], 0))
    assert caught.value.verdict is Verdict.WRONG_ANSWER


async def test_no_host_code_of_the_submission_is_in_the_process_that_performs(context: RunContext) -> None:
    """A constructor would end the process at once, and its text would be in the program."""
    before = """
    #include <unistd.h>
    static int began = (write(2, "host-code-of-the-submission", 27), 0);
    """
    build = await built(context, source_of(LAUNCH, before))
    assert b"host-code-of-the-submission" in build.executable
    assert b"host-code-of-the-submission" not in build.parts[REPLAYER]


@pytest.mark.parametrize(
    ("before", "body", "reason", "line"),
    [
        (
            "",
            f"{LAUNCH}\n  float x;\n  hipMemcpy(&x, c, 4, hipMemcpyDeviceToHost);",
            "hipMemcpy reads a result back",
            10,
        ),
        ("", f"{LAUNCH}\n  c[0] = 1;", "host code reads or writes device memory", 0),
        ("", f"for (;;) {LAUNCH}", "asks for more than 20000 operations", 8),
        ("", "void* p; hipMalloc(&p, size_t(1) << 40);", "bytes of memory where", 8),
        ("", f"hipMemcpy2D(c, 8, a, 8, 4, 65, hipMemcpyDeviceToDevice);\n  {LAUNCH}", "hipMemcpy2D of 65 rows", 8),
        ("", "exit(0);", "the process ends within `solution`", 0),
        ("__managed__ int shared[4];", LAUNCH, "`shared` is a __managed__ variable", 0),
        ("", "float* h; hipHostMalloc(&h, n * 4); add<<<1, 64>>>(h, b, c, n);", "memory of the host", 8),
        ("#include <chrono>\n", f"n += {NOW};\n  {LAUNCH}", "differs from run to run", 10),
        ("", "static size_t count = n; add<<<1, 64>>>(a, b, c, ++count);", "a second call and a third", 8),
        (
            "static void* early = [] { void* p; hipMalloc(&p, size_t(1) << 50); return p; }();",
            LAUNCH,
            "before",
            0,
        ),
    ],
    ids=[
        "read-back",
        "touch",
        "endless",
        "terabyte",
        "rows",
        "exit",
        "managed",
        "mapped",
        "clock",
        "counter",
        "constructor",
    ],
)
async def test_what_cannot_be_recorded_has_a_reason_and_a_line(
    context: RunContext, before: str, body: str, reason: str, line: int
) -> None:
    refusal = await refusal_of(context, source_of(body, before))
    assert reason in str(refusal)
    assert not line or refusal.line == line


async def test_rows_that_lie_next_to_each_other_are_one_copy(context: RunContext) -> None:
    body = f"hipMemcpy2D(c, 4, a, 4, 4, n, hipMemcpyDeviceToDevice);\n  {LAUNCH}"
    for program in await recorded(context, source_of(body)):
        assert isinstance(program, LaunchProgram), program
        assert [type(step) for step in program.later] == [Copy, Launch]


async def test_a_forged_recording_is_no_program(context: RunContext) -> None:
    """A constructor that writes the recorder's files itself, in our format, gets no further than our reader."""
    before = """
    #include <cstdio>
    #include <unistd.h>
    static int forged = [] {
      for (const char* name : {"/recordings/0", "/recordings/1"}) {
        FILE* file = fopen(name, "wb");
        if (!file) continue;
        unsigned head[4] = {2, 0, 8, 0}; unsigned long call = 1;
        fwrite(head, 16, 1, file); fwrite(&call, 8, 1, file); fclose(file);
      }
      return getenv("WAVEPOOL_RECORDING") ? (_exit(0), 0) : 0;
    }();
    """
    refusal = await refusal_of(context, source_of(LAUNCH, "#include <cstdlib>\n" + before))
    assert "ended before its calls were made" in str(refusal)


async def test_a_kernel_that_wants_a_host_cannot_be_launched_alone(context: RunContext) -> None:
    before = "#include <unistd.h>\n__global__ void asks(int* p) { *p = getpid(); }\n"
    body = f"if (n == 0) asks<<<1, 1>>>(nullptr);\n  {LAUNCH}"
    refusal = await refusal_of(context, source_of(body, before))
    assert "kernels call `getpid`, which no device has" in str(refusal)


async def test_device_memory_in_a_section_that_runs_code_is_refused(context: RunContext) -> None:
    before = '__device__ __attribute__((used, section(".init_array"))) void* early = (void*)1;\n'
    refusal = await refusal_of(context, source_of(LAUNCH, before))
    assert "names a section of its own" in str(refusal)


async def test_a_case_that_would_fill_the_memory_is_recorded_without_its_values(context: RunContext) -> None:
    problem = find_problem("vector-addition")
    largest = max(problem.sizes.gpu, key=problem.bytes)
    assert problem.bytes(largest) > 10 << 30
    build, folder = await built(context, source_of(LAUNCH)), context.scratch_parent / "recorder"
    tracemalloc.start()
    try:
        [program] = await programs_of(build, folder, problem, [largest], context)
        most_bytes = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert isinstance(program, LaunchProgram), program
    assert most_bytes < 1 << 30


@pytest.mark.parametrize("mode", [Mode.CHECK, Mode.SAMPLE])
@pytest.mark.parametrize(
    ("body", "verdict", "cause"),
    [
        (
            f"float* w; (void)hipMalloc(&w, 1ull << 40); c = w; w[0] = 0; {LAUNCH}",
            Verdict.RUNTIME_ERROR,
            "The likely cause: line 8: asks for 1099511627776 bytes of memory",
        ),
        (
            f"for (int i = 0; i < 1000000; ++i) {LAUNCH}",
            Verdict.TIME_LIMIT_EXCEEDED,
            "The likely cause: line 8: one call asks for more than 20000 operations",
        ),
        (
            f"void* w; if (hipMalloc(&w, 1ull << 40) != hipSuccess) return; {LAUNCH}",
            Verdict.MEMORY_LIMIT_EXCEEDED,
            "The likely cause: line 8: asks for 1099511627776 bytes of memory",
        ),
        (
            f"void* w = nullptr; (void)hipMalloc(&w, 1ull << 40); (void)hipMemset(w, 0, 1ull << 40); {LAUNCH}",
            Verdict.LAUNCH_ERROR,
            "The likely cause: line 8: asks for 1099511627776 bytes of memory",
        ),
        (LAUNCH.replace("256>>>", "2048>>>"), Verdict.LAUNCH_ERROR, ""),
        (f"{LAUNCH} abort();", Verdict.RUNTIME_ERROR, ""),
        # It would also ask for too much if it got that far.
        (f"if (n > 60) abort(); for (int i = 0; i < 1000000; ++i) {LAUNCH}", Verdict.RUNTIME_ERROR, ""),
        (f"{LAUNCH} for (volatile int i = 0; i < 1;) {{}}", Verdict.TIME_LIMIT_EXCEEDED, ""),
    ],
)
async def test_a_run_that_ends_badly_names_the_line_that_asks_for_too_much(
    context: RunContext, mode: Mode, body: str, verdict: Verdict, cause: str
) -> None:
    finished = await run(CoreJob(source_of(body), mode, "vector-addition"), context, lambda _: None)
    assert finished.verdict is verdict, finished
    assert cause in finished.message
    assert bool(cause) == ("The likely cause" in finished.message)


async def test_more_threads_than_a_kernel_s_launch_bounds_are_refused(context: RunContext) -> None:
    source = source_of(LAUNCH).replace("__global__ void", "__global__ void __launch_bounds__(128)")
    assert "__launch_bounds__(128)" in source
    finished = await run(CoreJob(source, Mode.CHECK, "vector-addition"), context, lambda _: None)
    assert finished.verdict is Verdict.LAUNCH_ERROR
    assert "its __launch_bounds__ allow 128" in finished.stderr


@pytest.mark.parametrize("mode", [Mode.CHECK, Mode.SAMPLE])
@pytest.mark.parametrize(
    ("body", "is_reported"), [("", True), ("if (n > 1 << 30) " + LAUNCH, True), ("add<<<1, 64>>>(a, b, c, 0);", False)]
)
async def test_a_solution_that_launches_nothing_is_reported_with_its_line(
    context: RunContext, mode: Mode, body: str, *, is_reported: bool
) -> None:
    finished = await run(CoreJob(source_of(body), mode, "vector-addition"), context, lambda _: None)
    assert finished.verdict is Verdict.WRONG_ANSWER, finished
    assert "never written" in finished.message
    assert is_reported == ("`solution` (line 7) launches no kernel" in finished.message), finished.message


async def test_the_reference_of_shortest_path_decides_on_the_device_when_it_is_done(context: RunContext) -> None:
    source = catalogue().get("shortest-path").solution
    for program in await recorded(context, source, "shortest-path", cases=4):
        assert isinstance(program, LaunchProgram), program
        assert program.launches < 20


class AsAGpu(CpuDevice):
    """Gives its recorder the GPU's description, as nvcc's and hipcc's builds do."""

    def describe(self) -> DeviceDescription:
        return replace(super().describe(), is_gpu=True)


NAMES = re.findall(r"F\((\w+)\)", (PACKAGE / "runtime" / "calls" / "device_properties.h").read_text())
HOPPER = {
    **dict.fromkeys(NAMES, b""),
    "name": b"A Test H100".ljust(256, b"\0"),
    **{name: pack("<i", value) for name, value in {"major": 9, "minor": 0, "l2CacheSize": 50 << 20}.items()},
    "deviceCount": pack("<i", 1),
}
ASK = "hipDeviceProp_t facts; (void)hipGetDeviceProperties(&facts, 0); int value = 0;"


async def recorded_for_a_gpu(
    context: RunContext, body: str, properties: Mapping[str, bytes]
) -> LaunchProgram | NotRecordableError:
    for_a_gpu = replace(context, device=AsAGpu(), properties=properties)
    [found] = await recorded(for_a_gpu, source_of(body), cases=1)
    return found


async def test_host_code_gets_what_the_gpu_says_of_itself(context: RunContext) -> None:
    large = "facts.major == 9 && facts.minor == 0 && facts.l2CacheSize > (16 << 20) && facts.name[2] == 'T'"
    body = f"{ASK} if ({large}) add<<<(n + 31) / 32, 32>>>(a, b, c, n); else {LAUNCH}"
    program = await recorded_for_a_gpu(context, body, HOPPER)
    assert isinstance(program, LaunchProgram), program
    assert [step.block[0] for step in program.later if isinstance(step, Launch)] == [32]


BLOCKS = "(void)hipOccupancyMaxActiveBlocksPerMultiprocessor(&value, add, 256, 0);"
L2 = "hipDeviceAttributeL2CacheSize"
ON_THE_GPU = "has an answer on the GPU alone, and the recorder has none; "


@pytest.mark.parametrize(
    ("question", "properties", "said"),
    [
        (ASK, {}, "host code asks for name of the GPU, which we do not know; write it as a constant"),
        (ASK, {**HOPPER, "l2CacheSize": bytes(8)}, "host code asks for l2CacheSize of the GPU"),
        (f"int value; (void)hipDeviceGetAttribute(&value, {L2}, 0);", {"name": b"x"}, f"asks for {L2} of the GPU"),
        (f"int value; {BLOCKS}", HOPPER, f"hipOccupancyMaxActiveBlocksPerMultiprocessor {ON_THE_GPU}launch with"),
        ("int g, b2; (void)hipOccupancyMaxPotentialBlockSize(&g, &b2, add);", HOPPER, f"BlockSize {ON_THE_GPU}launch"),
        ("hipFuncAttributes of; (void)hipFuncGetAttributes(&of, add);", HOPPER, f"hipFuncGetAttributes {ON_THE_GPU}"),
        ("size_t most; (void)hipDeviceGetLimit(&most, hipLimitStackSize);", HOPPER, f"hipDeviceGetLimit {ON_THE_GPU}"),
        ("(void)hipSetDevice(1);", HOPPER, f"a device other than 0 {ON_THE_GPU}use device 0"),
    ],
)
async def test_what_nobody_knows_of_the_gpu_is_refused_when_it_is_asked(
    context: RunContext, question: str, properties: Mapping[str, bytes], said: str
) -> None:
    refusal = await recorded_for_a_gpu(context, f"{question} {LAUNCH}", properties)
    assert isinstance(refusal, NotRecordableError), refusal
    assert said in str(refusal)
    assert refusal.line == source_of("").splitlines().index(f"{SIGNATURE} {{") + 2
