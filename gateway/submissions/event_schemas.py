"""Schemas of a submission's events and of its result, for the OpenAPI document.

Tests hold them together with the frames. A field that is not required is absent, not null, unless its type says so. In
JSON, NaN and infinities are null, and integers beyond 2^53 are strings.
"""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypeAliasType, TypedDict

from gateway.words.answer_words import (
    BenchmarkStageWord,
    BoundWord,
    Documented,
    FinalStatusWord,
    ProfileClockWord,
    ProfileOutcomeWord,
    StartKindWord,
    TestStatusWord,
    TimingWord,
    VerdictWord,
)
from submissions.modes import TimingMode

_TimingMode = Annotated[str, Documented(TimingMode)]
_Scalar = bool | int | float | str | None
_Row = list[_Scalar]
_Plane = list[_Row]
_Cube = list[_Plane]
# A type that contains itself would be an error to TypeScript here; five dimensions are more than any problem has.
SampleValue = TypeAliasType("SampleValue", _Scalar | _Row | _Plane | _Cube | list[_Cube] | list[list[_Cube]])
"""A scalar or an array of a sample; NaN and infinities are strings."""
_Difference = Annotated[float | None, Field(description="Null: infinite, or not a number.")]


RuntimeInterval = Annotated[
    float | None,
    Field(
        description="Half the width of the 95 % interval of the time, over the time: 0.25 is ± 25 %. Null: not known. "
        "Digits below it mean nothing."
    ),
]


class TestOutcome(TypedDict):
    """The outcome of one test case."""

    test_id: Annotated[int, Field(description="From 1.")]
    name: str
    status: TestStatusWord


class IsaHint(TypedDict):
    """One piece of advice for a kernel's author."""

    subject: str
    line: Annotated[int | None, Field(description="Null: it is about the whole kernel.")]
    what: str
    why: str
    advice: str


class KernelIsa(TypedDict):
    """One kernel's use of a compute unit of the MI300X."""

    vgpr: int
    sgpr: int
    agpr: int
    lds_bytes: int
    scratch_bytes: int
    spills: int
    occupancy: int
    symbol: str
    line: int | None
    vgpr_spills: int
    limited_by: Annotated[str | None, Field(description="The resource that limits the occupancy.")]
    next_step_saving: Annotated[
        int | None,
        Field(
            description="How many registers of a lane or bytes of LDS less would let one more wavefront fit; null: the "
            "limit is another, or this alone does not help."
        ),
    ]
    block_threads: int | None
    block_threads_known: bool
    dynamic_lds: bool
    mfma: Annotated[int, Field(description="Instructions of the matrix cores.")]
    instructions: int
    uncounted: list[str]
    hints: list[IsaHint]


class _Isa(TypedDict):
    isa: Annotated[dict[str, KernelIsa], Field(description="By kernel.")]
    isa_toolchain: str | None
    isa_note: Annotated[str | None, Field(description="Why there is no report, or notes on it.")]


class ConfidenceInterval(TypedDict):
    """The interval of a time."""

    low_ms: float
    high_ms: float
    confidence: Annotated[float, Field(description="0.95.")]


class TimedRun(TypedDict):
    """One sample."""

    run_index: int
    runtime_ms: float


class MetricBand(TypedDict):
    """The values of an instrument during a case."""

    low: float
    median: float
    high: float
    mean: float


class GpuMetrics(TypedDict, total=False):
    """The instruments that the device has, also under the names of Tensara's charts."""

    clock_mhz: MetricBand
    temperature_celsius: MetricBand
    power_watts: MetricBand
    sm_clock_mhz_min: float
    sm_clock_mhz_max: float
    sm_clock_mhz_mean: float
    temp_c_min: float
    temp_c_max: float
    temp_c_mean: float


class _TimeTrust(TypedDict):
    timing: TimingWord
    unproven_because: Annotated[str | None, Field(description="Why the time is not proven, and how to change that.")]
    shown_interval: Annotated[
        float | None,
        Field(description="Half the width of the interval over the time, to be shown beside UNSTABLE; else null."),
    ]


class CaseTime(_TimeTrust):
    """One test case's times."""

    name: str
    test_id: int
    runtime_ms: Annotated[float, Field(description="The median of the sessions' medians.")]
    gflops: float
    gbytes_per_second: float
    percent_of_roof: float | None
    bound: BoundWord | None
    ci: ConfidenceInterval
    samples: int
    converged: bool
    stopped_by: str
    min_ms: float
    p5_ms: float
    p25_ms: float
    p75_ms: float
    p95_ms: float
    p99_ms: float
    max_ms: float
    mad_ms: float
    bimodality: float | None
    correlation_time: float
    session_medians_ms: list[float]
    disagreement: Annotated[float, Field(description="Of the sessions.")]
    runs: Annotated[list[TimedRun], Field(description="At most 100 samples; none but in BENCHMARK_RESULT.")]
    audit_ratio: float | None
    audited_calls: int
    null_ms: Annotated[float, Field(description="The cost of a call without work.")]
    floor_ms: float | None
    hot_ms: float | None
    first_call_ms: float
    stream_span_ms: float | None
    device_span_ms: float | None
    flush_bytes: int
    arithmetic_intensity: float | None
    replaced_samples: int
    gpu_metrics: GpuMetrics


class _Device(TypedDict):
    device: Annotated[str | None, Field(description="`rocm`, `nvidia` or `cpu`; null: not known.")]
    device_title: str | None


class MeasuredCase(CaseTime, _Device):
    """One test case's times, with samples, and the device."""

    timing_mode: _TimingMode | None


class ProfiledKernel(TypedDict):
    """All launches of one kernel with one shape; null: the profiler does not report it."""

    name: str
    calls: int
    total_ns: int
    mean_ns: float
    min_ns: int
    max_ns: int
    share: Annotated[float, Field(description="Of the time of all kernels, 0 to 1.")]
    grid: Annotated[list[int] | None, Field(description="x, y, z.")]
    block: Annotated[list[int] | None, Field(description="x, y, z.")]
    vgpr: int | None
    agpr: int | None
    sgpr: int | None
    lds_bytes: int | None
    scratch_bytes: int | None


class Profile(TypedDict):
    """A submission's kernels by the device's profiler, or why there are none."""

    outcome: ProfileOutcomeWord
    note: str | None
    tool: str | None
    tool_version: str | None
    clock: ProfileClockWord | None
    name: Annotated[str | None, Field(description="The test case.")]
    solution_calls: int
    kernels: list[ProfiledKernel]
    kernels_left_out: int


class Difference(TypedDict):
    """One element that differs."""

    expected: _Difference
    actual: _Difference
    diff: _Difference
    output: Annotated[str, Field(description="The output that it is an element of.")]


_Cell = Annotated[
    float | str | None,
    Field(description='"NaN", "Infinity" and "-Infinity" are strings. Null: no such element, or not compared.'),
]


class ErrorWindow(TypedDict):
    """The elements around the first wrong one, at most 16 x 16, in rows of cells.

    They are of the output's last two dimensions; an output of one dimension is cut into rows of 16 or fewer.
    """

    output: str
    origin: Annotated[list[int], Field(description="Index of the first cell in the whole output.")]
    expected: list[list[_Cell]]
    actual: list[list[_Cell]]
    wrong: Annotated[
        list[list[bool | None]],
        Field(description="By the problem's tolerance: cells with unequal values may be right."),
    ]


class ErrorMap(TypedDict):
    """Where the wrong elements lie, in at most 32 x 32 cells.

    The output is a matrix here: its last dimension is the columns, all others are the rows. An output of one dimension
    is cut into at most 32 rows of `output_columns`.
    """

    output: str
    output_rows: int
    output_columns: int
    cell_rows: Annotated[int, Field(description="Rows of the output that a cell stands for, at the edge fewer.")]
    cell_columns: Annotated[int, Field(description="Columns of the output that a cell stands for, at the edge fewer.")]
    shares: Annotated[
        list[list[float | None]],
        Field(description="The share of wrong elements of those compared, 0 to 1, by cell. Null: none was compared."),
    ]


class DebugInfo(TypedDict, total=False):
    """The differences of wrong outputs; empty for a sample that passed."""

    max_difference: _Difference
    mean_difference: _Difference
    mismatch_count: int
    element_count: int
    sample_differences: Annotated[dict[str, Difference], Field(description='By index, such as "(3, 17)".')]
    window: Annotated[ErrorWindow | None, Field(description="Null: no single element is wrong, or it is not known.")]
    map: Annotated[ErrorMap | None, Field(description="Of the output of `window`.")]
    message: str


class SampleOutputs(TypedDict):
    """The values of several outputs."""

    multi: Literal[True]
    names: list[str]
    values: list[SampleValue]


class Outcome(TypedDict):
    """The end of a submission, whatever its mode."""

    verdict: VerdictWord
    message: Annotated[str, Field(description="The result, its test case, and a remedy.")]
    details: Annotated[str, Field(description="The compiler's text, the signal, or the limit.")]
    reason: str
    stdout: str
    stderr: str
    has_report: bool
    billable_seconds: Annotated[float, Field(description="The time that `cost_usd` covers.")]


class SubmissionResult(Outcome):
    """The result of a submission. The fields that are there depend on its mode and verdict."""

    test_results: NotRequired[
        Annotated[list[TestOutcome] | list[CaseTime], Field(description="Times in the mode `benchmark`.")]
    ]
    passed_tests: NotRequired[int]
    total_tests: NotRequired[int]
    debug_info: NotRequired[DebugInfo]
    isa: NotRequired[Annotated[dict[str, KernelIsa], Field(description="By kernel.")]]
    isa_toolchain: NotRequired[str | None]
    isa_note: NotRequired[str | None]
    profile: NotRequired[Profile]
    benchmark_results: NotRequired[Annotated[list[CaseTime], Field(description="In the mode `full`.")]]
    avg_runtime_ms: NotRequired[Annotated[float, Field(description="The geometric mean of the cases.")]]
    avg_runtime_interval: NotRequired[RuntimeInterval]
    avg_gflops: NotRequired[Annotated[float, Field(description="The geometric mean of the cases.")]]
    timing: NotRequired[TimingWord]
    unproven_because: NotRequired[str | None]
    shown_interval: NotRequired[float | None]
    converged: NotRequired[bool]
    simulated: NotRequired[bool]
    timing_mode: NotRequired[_TimingMode | None]
    flush_verified: NotRequired[bool | None]
    input: NotRequired[
        Annotated[dict[str, SampleValue], Field(description="Of a sample, by the names of the parameters.")]
    ]
    output: NotRequired[Annotated[SampleValue | SampleOutputs, Field(description="Of a sample.")]]
    expected_output: NotRequired[SampleValue | SampleOutputs]
    return_code: NotRequired[Annotated[int, Field(description="Of a program in the mode `sandbox`.")]]
    truncated: NotRequired[Annotated[bool, Field(description="Its output was cut off.")]]


class _Event(TypedDict):
    submission_id: str
    timestamp: Annotated[int, Field(description="Milliseconds since 1970.")]
    attempt: int
    cost_usd: Annotated[float, Field(description="Accrued; settled in the last event.")]


class InQueueEvent(_Event):
    """It waits."""

    status: Literal["IN_QUEUE"]
    id: Annotated[str, Field(description="The submission.")]
    position: Annotated[int | None, Field(description="From 1.")]
    eta_p50_seconds: float | None
    eta_p90_seconds: float | None
    remainingSubmissions: NotRequired[
        Annotated[int, Field(description="How many more the account could make then; in the first event alone.")]
    ]
    message: str


class MachineFigures(TypedDict):
    """Identity, hardware and price of a machine."""

    id: str
    provider: str
    backend: str
    region: str
    spot: bool
    gpu_type: str
    gpu_count: int
    device: str
    device_title: str
    architecture: str
    memory_mib: int
    compute_units: int
    price_usd_per_hour: float
    minimum_billed_seconds: float
    billing_increment_seconds: float


class ProvisioningFields(TypedDict):
    """The way to a machine, of a submission or a reservation."""

    vm_state: StartKindWord | None
    stage: str
    machine: MachineFigures | None
    elapsed_seconds: float
    estimate_seconds: float | None
    estimate_p90_seconds: float | None
    start_limit_seconds: Annotated[
        float | None, Field(description="The time after which the start is given up; null: not known, or it is over.")
    ]
    message: str


class ProvisioningEvent(_Event, ProvisioningFields):
    """It is getting a machine."""

    status: Literal["PROVISIONING"]


class CompilingEvent(_Event, _Device):
    """It is compiled, or its problem definition is read."""

    status: Literal["COMPILING"]
    toolchain: Annotated[str, Field(description="Empty while a problem definition is read.")]
    cached: bool
    command: Annotated[str | None, Field(description="The compile command.")]
    message: str


class CompiledEvent(_Event, _Isa):
    """It is compiled, with the MI300X compiler's report, whatever machine it runs on."""

    status: Literal["COMPILED"]
    warnings: str
    duration_ms: float
    cached: bool


class CheckingEvent(_Event):
    """Its answers are checked."""

    status: Literal["CHECKING"]
    total_tests: int
    message: str


class TestResultEvent(_Event):
    """One test case was checked."""

    status: Literal["TEST_RESULT"]
    result: TestOutcome
    total_tests: int


class CheckedEvent(_Event, _Device):
    """All test cases were checked, and it goes on."""

    status: Literal["CHECKED"]
    test_results: list[TestOutcome]
    passed_tests: int
    total_tests: int


class BenchmarkingEvent(_Event):
    """Its calls are timed; all that follow the first have the progress."""

    status: Literal["BENCHMARKING"]
    total_tests: int
    timing_mode: _TimingMode | None
    message: str
    stage: NotRequired[BenchmarkStageWord]
    session: NotRequired[int]
    sessions: NotRequired[int]
    test_id: NotRequired[int]
    name: NotRequired[Annotated[str, Field(description="The test case.")]]
    samples: NotRequired[Annotated[int, Field(description="Taken so far.")]]


class BenchmarkResultEvent(_Event):
    """One test case was timed."""

    status: Literal["BENCHMARK_RESULT"]
    result: MeasuredCase
    total_tests: int


class TimedCases(_TimeTrust):
    """The times of all test cases together."""

    avg_runtime_ms: Annotated[float, Field(description="The geometric mean of the cases.")]
    avg_runtime_interval: RuntimeInterval
    avg_gflops: Annotated[float, Field(description="The geometric mean of the cases.")]
    total_tests: int
    converged: bool
    simulated: bool
    timing_mode: _TimingMode | None
    flush_verified: Annotated[bool | None, Field(description="False: cold times may be of warm caches.")]


class BenchmarkedEvent(_Event, _Device, TimedCases):
    """All test cases were timed, and it goes on."""

    status: Literal["BENCHMARKED"]
    test_results: list[CaseTime]


class ProfilingEvent(_Event, _Device):
    """Its kernels are profiled."""

    status: Literal["PROFILING"]
    tool: str
    name: Annotated[str, Field(description="The test case.")]
    message: str


class SandboxRunningEvent(_Event):
    """The whole program runs."""

    status: Literal["SANDBOX_RUNNING"]


class SandboxOutputEvent(_Event):
    """The program wrote a line."""

    status: Literal["SANDBOX_OUTPUT"]
    stream: Annotated[str, Field(description="`stdout` or `stderr`.")]
    line: str


class StreamBrokenEvent(TypedDict):
    """The stream broke through our fault; the submission goes on. Resume it."""

    status: Literal["ERROR"]
    submission_id: str
    verdict: VerdictWord
    message: str
    details: str


class EndedEvent(_Event, _Device, SubmissionResult):
    """The last event, the only one with `final`. CHECKED and BENCHMARKED are also statuses of steps."""

    status: FinalStatusWord
    machine_gpu_type: Annotated[str | None, Field(description="The GPU type that it ran on.")]
    final: Literal[True]


class HeartbeatEvent(TypedDict):
    """The connection lives; it has no id."""

    status: Literal["heartbeat"]
    submission_id: NotRequired[str]
    timestamp: Annotated[int, Field(description="Milliseconds since 1970.")]


SubmissionEvent = Annotated[
    InQueueEvent
    | ProvisioningEvent
    | CompilingEvent
    | CompiledEvent
    | CheckingEvent
    | TestResultEvent
    | CheckedEvent
    | BenchmarkingEvent
    | BenchmarkResultEvent
    | BenchmarkedEvent
    | ProfilingEvent
    | SandboxRunningEvent
    | SandboxOutputEvent
    | StreamBrokenEvent
    | HeartbeatEvent
    | EndedEvent,
    Field(description="The data of an event. Others may follow: ignore a status that you do not know."),
]
