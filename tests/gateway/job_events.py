"""Events of jobs as the scheduler would log them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp
from wavepool.executor.v1 import run_event_pb2
from wavepool.scheduler.v1 import scheduler_pb2
from wavepool.submission.v1 import submission_pb2
from wavepool.submission.v1.submission_pb2 import RunMode
from wavepool.vmpool.v1 import vmpool_pb2

CPU_MACHINE = vmpool_pb2.Machine(
    machine_id="m_1",
    provider="local",
    gpu_type="MI300X",
    gpu_count=1,
    device="cpu",
    device_title="AMD EPYC 9354P",
    architecture="x86_64",
    memory_mib=24_000,
    compute_units=2,
    price_micros_per_hour=1_990_000,
)
TEST = run_event_pb2.TestResult(test_id=1, name="n = 1024", passed=True, total_tests=1)
TIMES = run_event_pb2.BenchmarkResult(
    test_id=1,
    name="n = 1024",
    total_tests=1,
    runtime_ns=2_500_000,
    ci_low_ns=2_400_000,
    ci_high_ns=2_600_000,
    samples=3,
    converged=True,
    min_ns=2_400_000,
    p5_ns=2_420_000,
    p95_ns=2_580_000,
    max_ns=2_700_000,
    gflops=1.5,
    gbytes_per_second=12.25,
    sample_ns=[2.4e6, 2.5e6, 2.6e6],
)
BENCHMARKED = run_event_pb2.Benchmarked(
    results=[TIMES],
    mean_runtime_ns=2_500_000,
    mean_gflops=1.5,
    timing=run_event_pb2.TIMING_VALID,
    device="cpu",
    timing_mode="hot",
)
PROFILE = run_event_pb2.Profile(
    outcome=run_event_pb2.PROFILE_OUTCOME_MADE,
    tool="rocprofv3",
    tool_version="1.1.0",
    clock=run_event_pb2.PROFILE_CLOCK_GPU,
    name="n = 1024",
    solution_calls=10,
    kernels=[
        run_event_pb2.ProfiledKernel(
            name="void add<float>(float*, float const*, int)",
            calls=10,
            total_ns=34_040,
            mean_ns=3404.0,
            min_ns=3000,
            max_ns=4000,
            share=1.0,
            grid=run_event_pb2.Extent(x=16, y=1024, z=1),
            block=run_event_pb2.Extent(x=64, y=1, z=1),
            vgpr=8,
            agpr=0,
            sgpr=16,
        )
    ],
    kernels_left_out=2,
)
STEPS: Mapping[str, run_event_pb2.RunEvent] = {
    "reading_problem": run_event_pb2.RunEvent(reading_problem=run_event_pb2.ReadingProblem()),
    "compiling": run_event_pb2.RunEvent(
        compiling=run_event_pb2.Compiling(toolchain="clang 22", cached=False, command="clang -x hip solution.hip")
    ),
    "compiled": run_event_pb2.RunEvent(
        compiled=run_event_pb2.Compiled(
            warnings="line 3: unused",
            duration=Duration(nanos=250_000_000),
            isa=run_event_pb2.IsaReport(
                kernels=[run_event_pb2.KernelReport(name="add", vgpr=8, sgpr=16, lds_bytes=2**60, occupancy=8)]
            ),
        )
    ),
    "checking": run_event_pb2.RunEvent(checking=run_event_pb2.Checking(total_tests=1)),
    "test_result": run_event_pb2.RunEvent(test_result=TEST),
    "checked": run_event_pb2.RunEvent(
        checked=run_event_pb2.Checked(test_results=[TEST], passed_tests=1, total_tests=1)
    ),
    "benchmarking": run_event_pb2.RunEvent(benchmarking=run_event_pb2.Benchmarking(total_tests=1, timing_mode="hot")),
    "benchmark_result": run_event_pb2.RunEvent(benchmark_result=TIMES),
    "benchmarked": run_event_pb2.RunEvent(benchmarked=BENCHMARKED),
    "profiling": run_event_pb2.RunEvent(profiling=run_event_pb2.Profiling(tool="rocprofv3", name="n = 1024")),
    "program_started": run_event_pb2.RunEvent(program_started=run_event_pb2.ProgramStarted()),
    "program_output": run_event_pb2.RunEvent(program_output=run_event_pb2.ProgramOutput(stream="stdout", line="hello")),
}
CHECK_STEPS = ("compiling", "compiled", "checking", "test_result", "checked")
BENCHMARK_STEPS = (*CHECK_STEPS, "benchmarking", "benchmark_result", "benchmarked")
STEPS_OF_MODE: Mapping[int, tuple[str, ...]] = {
    submission_pb2.RUN_MODE_CHECK: CHECK_STEPS,
    submission_pb2.RUN_MODE_BENCHMARK: BENCHMARK_STEPS,
    submission_pb2.RUN_MODE_FULL: BENCHMARK_STEPS,
    submission_pb2.RUN_MODE_SAMPLE: ("compiling", "compiled"),
    submission_pb2.RUN_MODE_SANDBOX: ("compiling", "compiled", "program_started", "program_output"),
}
ACCEPTED = run_event_pb2.Finished(
    verdict=run_event_pb2.VERDICT_ACCEPTED,
    test_results=[TEST],
    passed_tests=1,
    total_tests=1,
    benchmarked=BENCHMARKED,
)
ACCEPTED_CHECK = run_event_pb2.Finished(
    verdict=run_event_pb2.VERDICT_ACCEPTED, test_results=[TEST], passed_tests=1, total_tests=1
)
SAMPLE_PASSED = run_event_pb2.Finished(
    verdict=run_event_pb2.VERDICT_ACCEPTED,
    sample=run_event_pb2.Sample(
        input_json='{"input":[1.0,-2.0],"alpha":0.1}',
        output_json='{"output":[1.0,-0.2]}',
        expected_output_json='{"output":[1.0,-0.2]}',
        passed=True,
    ),
)
PROGRAM_RAN = run_event_pb2.Finished(
    verdict=run_event_pb2.VERDICT_ACCEPTED,
    program=run_event_pb2.ProgramResult(return_code=0, stdout="hello\n", stderr=""),
)
WRONG = run_event_pb2.Finished(
    verdict=run_event_pb2.VERDICT_WRONG_ANSWER,
    message="1 of 1024 elements of `output` differ.",
    test_results=[run_event_pb2.TestResult(test_id=1, name="n = 1024", passed=False, total_tests=1)],
    total_tests=1,
    wrong_answer=run_event_pb2.WrongAnswer(
        max_difference=0.5,
        mean_difference=0.5,
        mismatch_count=1,
        element_count=1024,
        first_mismatches=[
            run_event_pb2.Mismatch(index=[3, 17], expected=1.0, actual=0.5, difference=0.5, output="output")
        ],
    ),
)
COMPILE_ERROR = run_event_pb2.Finished(
    verdict=run_event_pb2.VERDICT_COMPILE_ERROR,
    message="The compiler found 1 error.",
    details="solution.hip:4:5: error: use of undeclared identifier 'oops'\n    oops;\n    ^",
)
RESULT_OF_MODE: Mapping[int, run_event_pb2.Finished] = {
    submission_pb2.RUN_MODE_CHECK: ACCEPTED_CHECK,
    submission_pb2.RUN_MODE_BENCHMARK: ACCEPTED,
    submission_pb2.RUN_MODE_FULL: ACCEPTED,
    submission_pb2.RUN_MODE_SAMPLE: SAMPLE_PASSED,
    submission_pb2.RUN_MODE_SANDBOX: PROGRAM_RAN,
}


def event(seq: int, **kind: Any) -> scheduler_pb2.JobEvent:
    """One event of job `job_1`, half a second after the one before."""
    time = Timestamp(seconds=1_800_000_000 + seq // 2, nanos=500_000_000 * (seq % 2))
    return scheduler_pb2.JobEvent(job_id="job_1", seq=seq, time=time, attempt=1, cost_micros=seq, **kind)


def queued(seq: int = 1) -> scheduler_pb2.JobEvent:
    step = scheduler_pb2.Queued(
        position=1, eta_p50=Duration(seconds=2), message="Waiting for a machine.", remaining_submissions=2
    )
    return event(seq, queued=step)


def provisioning(seq: int = 2) -> scheduler_pb2.JobEvent:
    step = scheduler_pb2.Provisioning(
        start_kind=vmpool_pb2.START_KIND_COLD_START,
        stage="starting",
        elapsed=Duration(nanos=500_000_000),
        machine=CPU_MACHINE,
        message="Starting a machine.",
    )
    return event(seq, provisioning=step)


def ended(
    seq: int,
    result: run_event_pb2.Finished,
    state: scheduler_pb2.JobState.ValueType = scheduler_pb2.JOB_STATE_FINISHED,
) -> scheduler_pb2.JobEvent:
    return event(seq, ended=scheduler_pb2.Ended(state=state, result=result, cost_micros=1234))


def whole_run(
    mode: RunMode.ValueType, result: run_event_pb2.Finished | None = None, steps: tuple[str, ...] | None = None
) -> list[scheduler_pb2.JobEvent]:
    """Everything from the queue to the end; a good run of that mode by default."""
    middle = STEPS_OF_MODE[mode] if steps is None else steps
    events = [queued(1), provisioning(2)]
    events += [event(number, run=STEPS[step]) for number, step in enumerate(middle, start=3)]
    return [*events, ended(len(events) + 1, result or RESULT_OF_MODE[mode])]
