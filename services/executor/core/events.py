"""What the core tells while it works. `Finished` is always the last event, and there is always one."""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003  jsonlines reads the annotations at run time
from dataclasses import dataclass, field
from enum import StrEnum

from services.executor.core.verdict import Verdict  # noqa: TC001  the same


class Timing(StrEnum):
    """Whether times can be ranked."""

    VALID = "VALID"
    INVALID = "INVALID"
    UNSTABLE = "UNSTABLE"


class Bound(StrEnum):
    """What bounds a kernel's time."""

    UNKNOWN = "unknown"
    """No roof is known, for example on the cpu device."""
    MEMORY = "memory"
    COMPUTE = "compute"
    LAUNCH = "launch"


@dataclass(frozen=True)
class KernelHint:
    """What the author of a kernel could do better, and what shows it; `line` is 0 for the whole kernel."""

    subject: str
    line: int
    what: str
    why: str
    advice: str


@dataclass(frozen=True)
class KernelReport:
    """What the gfx942 compiler says of one kernel.

    `occupancy` is wavefronts on each SIMD, with blocks of `block_threads`, and `limited_by` what keeps more from
    fitting (`wavefronts`: nothing else). `mfma` counts instructions for the matrix cores, `spills` registers of both
    kinds, `vgpr_spills` those that go to scratch memory. `uncounted` are functions whose code is not in the figures.
    """

    vgpr: int
    sgpr: int
    agpr: int
    lds_bytes: int
    scratch_bytes: int
    spills: int
    occupancy: int
    symbol: str = ""
    line: int = 0
    vgpr_spills: int = 0
    limited_by: str = ""
    block_threads: int = 0
    block_threads_known: bool = False
    dynamic_lds: bool = False
    mfma: int = 0
    instructions: int = 0
    uncounted: tuple[str, ...] = ()
    hints: tuple[KernelHint, ...] = ()


@dataclass(frozen=True)
class IsaReport:
    """What the MI300X's compiler makes of a source; `note` says why there are no kernels, or what to know of them."""

    toolchain: str = ""
    note: str = ""
    kernels: Mapping[str, KernelReport] = field(default_factory=dict[str, KernelReport])


@dataclass(frozen=True)
class Compiling:
    """The builder begins; `cached` says that the build is in the compile cache."""

    toolchain: str
    cached: bool


@dataclass(frozen=True)
class Compiled:
    """The builder succeeded."""

    warnings: str
    duration_ms: float
    cached: bool
    isa: IsaReport = field(default_factory=IsaReport)


@dataclass(frozen=True)
class Checking:
    """The judge begins to check, with inputs from a secret that it is now bound to (see `seeds.py`)."""

    total_tests: int
    seed_commitment: str = ""


@dataclass(frozen=True)
class TestResult:
    """One test case passed or failed; `test_id` is from 1."""

    test_id: int
    name: str
    passed: bool
    total_tests: int


@dataclass(frozen=True)
class Checked:
    """All test cases passed."""

    test_results: tuple[TestResult, ...]
    passed_tests: int
    total_tests: int


@dataclass(frozen=True)
class Benchmarking:
    """The judge begins to benchmark."""

    total_tests: int


@dataclass(frozen=True)
class Band:
    """What an instrument read over the samples of a case."""

    low: float
    median: float
    high: float


@dataclass(frozen=True)
class ReplacedSample:
    """A sample that was taken again for a recorded cause (`sample_replacement.py`); `ns` no longer counts."""

    session: int
    index: int
    ns: float
    cause: str


@dataclass(frozen=True)
class BenchmarkResult:
    """The measured times of one test case.

    `runtime_ns` is the median of the sessions' medians (`session_median_ns`), and `ci_low_ns`..`ci_high_ns` the 95 %
    order-statistic interval of the median of all samples, widened for samples that depend on each other
    (`correlation_time` of them make an independent one). `converged` says that the stopping rule reached its precision
    in every session before a cap; `stopped_by` names what ended the first that did not. `timing` is the case's own.
    `disagreement` is how far the sessions' medians are apart, relative to the time. `bimodality` is above 5/9 where two
    modes or a long tail are likely.

    `wall_runtime_ns` is the median by the judge's own clock, with the way to the runner and back (`null_ns`) in it.
    `audit_ratio` is the claimed time over what the judge's clock allows: below 1 it needs a reason. It is by chained
    calls, `audited_calls` of them, or by single ones, with `not_chained_because`. `hot_ns` is the median in the chains,
    where caches are warm, and `first_call_ns` that of each session's first call. `floor_ns` is the least time that the
    hardware allows; None where its roofs are not known. `arithmetic_intensity` is in operations a
    byte. `flush_bytes` were swept through the caches before each sample; 0 where nothing was. The bands are None where
    the device has no such instrument.
    """

    test_id: int
    name: str
    total_tests: int
    runtime_ns: float
    ci_low_ns: float
    ci_high_ns: float
    samples: int
    converged: bool
    stopped_by: str
    min_ns: float
    p5_ns: float
    p25_ns: float
    p75_ns: float
    p95_ns: float
    p99_ns: float
    max_ns: float
    mad_ns: float
    wall_runtime_ns: float
    gflops: float
    gbytes_per_second: float
    percent_of_roof: float | None
    bound: Bound
    sample_ns: tuple[float, ...]
    timing: Timing = Timing.VALID
    session_median_ns: tuple[float, ...] = ()
    disagreement: float = 0.0
    correlation_time: float = 1.0
    iqr_ns: float = 0.0
    bimodality: float | None = None
    null_ns: float = 0.0
    audit_ratio: float | None = None
    audited_calls: int = 0
    not_chained_because: str = ""
    hot_ns: float | None = None
    first_call_ns: float = 0.0
    floor_ns: float | None = None
    arithmetic_intensity: float | None = None
    flush_bytes: int = 0
    clock_mhz: Band | None = None
    temperature_celsius: Band | None = None
    power_watts: Band | None = None
    replaced: tuple[ReplacedSample, ...] = ()


@dataclass(frozen=True)
class Benchmarked:
    """All test cases are measured; means are geometric. Times from device `cpu` never rank beside GPU times.

    `converged` says so of every case. `timing` is the worst of the cases. Times of a `simulated` device are made up.
    """

    results: tuple[BenchmarkResult, ...]
    mean_runtime_ns: float
    mean_gflops: float
    timing: Timing
    device: str
    converged: bool = True
    simulated: bool = False


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
class WrongAnswer:
    """How the outputs differ from the reference."""

    max_difference: float
    mean_difference: float
    mismatch_count: int
    element_count: int
    first_mismatches: tuple[Mismatch, ...]


@dataclass(frozen=True)
class Sample:
    """The values of a sample run, as JSON texts {name: value or nested list}; large arrays are cut to a corner."""

    input_json: str
    output_json: str
    expected_output_json: str
    passed: bool


@dataclass(frozen=True)
class ProgramResult:
    """How a program of the sandbox endpoint ended; `return_code` is -n after signal n. Texts are capped."""

    return_code: int
    stdout: str
    stderr: str
    truncated: bool


@dataclass(frozen=True)
class Finished:
    """The end of a run.

    `status` is the seed's name of the last frame: where it names an event that was emitted already (CHECKED,
    BENCHMARKED), that event was the last frame to show. `message` is one sentence for the author with what to do,
    `details` the long form (compiler output, limit), `reason` finer than the verdict where there is such
    (`signal:SIGSEGV`, `early_exit`, `assert`, `gpu_fault`, `host`, `vram`, `wall`, `cpu`). `stdout` and `stderr` are
    what the user's code printed, capped. `isa` is of a source that the device's compiler refused.
    `stage_seconds` says where the time went; `first_call_time` is when the
    runner was told to make its first call, in Unix seconds, and None if that never came to be. `report` is
    the canonical report.
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
    stage_seconds: Mapping[str, float] = field(default_factory=dict[str, float])
    first_call_time: float | None = None
    report: Mapping[str, object] = field(default_factory=dict[str, object])


Event = (
    Compiling
    | Compiled
    | Checking
    | TestResult
    | Checked
    | Benchmarking
    | BenchmarkResult
    | Benchmarked
    | ProgramStarted
    | ProgramOutput
    | Finished
)
