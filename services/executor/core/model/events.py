"""The events that the core sends while it works, as records; `run_events.py` turns them into messages.

`Finished` is always the last event of a run, and every run has one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from services.executor.core.model.isa_report import IsaReport
from services.executor.core.model.verdict import Verdict
from services.executor.core.timing.benchmark_result import BenchmarkResult, Timing
from services.executor.devices.profiling import ProfileClock, ProfiledKernel


@dataclass(frozen=True)
class ReadingProblem:
    """The problem definition that came with the submission is being evaluated, and its test cases chosen."""


@dataclass(frozen=True)
class Compiling:
    """The builder begins; `cached` says that the build is in the compile cache."""

    toolchain: str
    cached: bool
    command: str = ""
    """The command that compiles the source, for people."""


@dataclass(frozen=True)
class Compiled:
    """The builder succeeded; `isa_listing` has the MI300X's instructions below the source lines that they are from."""

    warnings: str
    duration_ms: float
    cached: bool
    isa: IsaReport = field(default_factory=IsaReport)
    isa_listing: str = ""


@dataclass(frozen=True)
class Checking:
    """The judge begins to check, with inputs from a secret that it is now bound to (see `seeds.py`)."""

    total_tests: int
    seed_commitment: str = ""


@dataclass(frozen=True)
class TestResult:
    """One test case passed or failed, or did not run because one before it failed; `test_id` counts from 1."""

    test_id: int
    name: str
    passed: bool
    total_tests: int
    not_run: bool = False


@dataclass(frozen=True)
class Checked:
    """All test cases passed."""

    test_results: tuple[TestResult, ...]
    passed_tests: int
    total_tests: int


@dataclass(frozen=True)
class Benchmarking:
    """The judge begins to benchmark; `timing_mode` is as in Benchmarked."""

    total_tests: int
    timing_mode: str = ""


class BenchmarkStage(StrEnum):
    """The stage that a benchmark is in."""

    MEASURING = "MEASURING"
    """The benchmark takes the samples of a case in a session."""
    AUDITING = "AUDITING"
    """The benchmark tests whether the time of a case can be true."""


@dataclass(frozen=True)
class BenchmarkProgress:
    """The progress of the benchmark; sent once in a while (`Pulse`).

    `session` and `test_id` count from 1. `sessions` are those planned; a case whose sessions disagree gets more.
    `samples` counts all samples so far.
    """

    stage: BenchmarkStage
    session: int
    sessions: int
    test_id: int
    name: str
    total_tests: int
    samples: int = 0


@dataclass(frozen=True)
class Benchmarked:
    """All test cases are measured; means are geometric. Times from device `cpu` never rank beside GPU times.

    `converged` is true if all cases converged. `timing` is the worst of the cases (`case_timing.py`). If a case is not
    proven, `unproven_because` is a sentence for the author. `shown_interval` is the widest of the cases. Times of a
    `simulated` device are made up. `timing_mode` is a TimingMode: times of different modes never rank beside each other
    either. `flush_verified` says that the sweep before each call was seen to empty the caches (`flushing.py`); it is
    None if nothing was swept.
    """

    results: tuple[BenchmarkResult, ...]
    mean_runtime_ns: float
    mean_gflops: float
    timing: Timing
    device: str
    converged: bool = True
    simulated: bool = False
    timing_mode: str = "cold"
    flush_verified: bool | None = None
    unproven_because: str = ""
    shown_interval: float = 0.0


@dataclass(frozen=True)
class Profiling:
    """Verdict and timing are known, and calls of the case `name` are made under the profiler `tool`."""

    tool: str
    name: str


class ProfileOutcome(StrEnum):
    """The outcome of a profile."""

    MADE = "MADE"
    UNAVAILABLE = "UNAVAILABLE"
    """The device has no profiler, or the machine lacks it."""
    FAILED = "FAILED"
    SKIPPED = "SKIPPED"
    """The run was not accepted, or had too little time left."""


@dataclass(frozen=True)
class Profile:
    """The kernels of a submission by the device's profiler; all of it is a claim.

    `note` says for people why there are no kernels, and other remarks. `name` is the test case, and `solution_calls`
    how often it was called. `kernels` are those with the longest total time; the others are only counted.
    """

    outcome: ProfileOutcome
    note: str = ""
    tool: str = ""
    tool_version: str = ""
    clock: ProfileClock | None = None
    name: str = ""
    solution_calls: int = 0
    kernels: tuple[ProfiledKernel, ...] = ()
    kernels_left_out: int = 0


@dataclass(frozen=True)
class ProgramStarted:
    """The sandbox endpoint's program is running."""


@dataclass(frozen=True)
class ProgramOutput:
    """A line (or the rest of one) that the sandbox endpoint's program printed; `stream` is `stdout` or `stderr`."""

    stream: str
    line: str
    timestamp_ms: int


@dataclass(frozen=True)
class Mismatch:
    """One element of `output` that differs from the reference."""

    output: str
    index: tuple[int, ...]
    expected: float
    actual: float
    difference: float


@dataclass(frozen=True)
class ErrorWindow:
    """The elements of `output` around the first wrong one, row by row (`check/wrong_places.py`).

    `origin` is the index of the first cell. A cell that is not `compared` says nothing: no element is there, or it was
    not looked at.
    """

    output: str
    origin: tuple[int, ...]
    rows: int
    columns: int
    expected: tuple[float, ...]
    actual: tuple[float, ...]
    wrong: tuple[bool, ...]
    compared: tuple[bool, ...]


@dataclass(frozen=True)
class ErrorMap:
    """Where the wrong elements of `output` lie: how many of those compared are wrong, cell by cell, row by row.

    The output is taken as a matrix of `output_rows` x `output_columns`; a cell stands for `cell_rows` x `cell_columns`
    of it, at the edges for fewer (`check/wrong_places.py`).
    """

    output: str
    output_rows: int
    output_columns: int
    cell_rows: int
    cell_columns: int
    rows: int
    columns: int
    wrong: tuple[int, ...]
    compared: tuple[int, ...]


@dataclass(frozen=True)
class WrongAnswer:
    """The differences of the outputs from the reference.

    `window` and `error_map` are of the first output with a wrong element; None if no single element is wrong.
    """

    max_difference: float
    mean_difference: float
    mismatch_count: int
    element_count: int
    first_mismatches: tuple[Mismatch, ...]
    window: ErrorWindow | None = None
    error_map: ErrorMap | None = None


@dataclass(frozen=True)
class Sample:
    """The values of a sample run, as JSON texts {name: value or nested list}; large arrays are cut to a corner."""

    input_json: str
    output_json: str
    expected_output_json: str
    passed: bool


@dataclass(frozen=True)
class ProgramResult:
    """The end of a program of the sandbox endpoint; `return_code` is -n after signal n. Texts are capped."""

    return_code: int
    stdout: str
    stderr: str
    truncated: bool


@dataclass(frozen=True)
class Finished:
    """The end of a run.

    `status` is the name of the last frame to show; if an event of that name was sent already (CHECKED, BENCHMARKED),
    that was the last frame. `message` is one sentence for the author with what to do, `details` the long form (compiler
    output, limit). `reason` may be more exact than the verdict (`signal:SIGSEGV`, `early_exit`, `assert`, `gpu_fault`,
    `host`, `vram`, `wall`, `cpu`). `stdout` and `stderr` are the output of the user's code, capped. `isa` is the report
    on a source that the device's compiler refused. `unkillable` says that SIGKILL did not end all processes of the run,
    so that the machine is unfit. `stage_seconds` says where the time went. `first_call_time` is when the runner was
    told to make its first call, in Unix seconds, or None if it never was. `profile` is set if the job asked for it.
    `report` is the canonical report.
    """

    verdict: Verdict
    status: str
    message: str
    details: str = ""
    reason: str = ""
    wrong_answer: WrongAnswer | None = None
    test_results: tuple[TestResult, ...] = ()
    passed_tests: int = 0
    total_tests: int = 0
    sample: Sample | None = None
    program: ProgramResult | None = None
    benchmarked: Benchmarked | None = None
    stdout: str = ""
    stderr: str = ""
    output_truncated: bool = False
    isa: IsaReport | None = None
    unkillable: bool = False
    stage_seconds: Mapping[str, float] = field(default_factory=dict[str, float])
    first_call_time: float | None = None
    profile: Profile | None = None
    report: Mapping[str, object] = field(default_factory=dict[str, object])


Event = (
    Compiling
    | Compiled
    | Checking
    | TestResult
    | Checked
    | Benchmarking
    | BenchmarkProgress
    | BenchmarkResult
    | Benchmarked
    | Profiling
    | ProgramStarted
    | ReadingProblem
    | ProgramOutput
    | Finished
)
