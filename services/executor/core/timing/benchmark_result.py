"""The measured times of one test case, and how far they can be believed."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from vocabulary.roofline import Bound


class Timing(StrEnum):
    """Says whether times can be ranked. The verdict is about the answers, and is separate from this."""

    VALID = "VALID"
    """The only times that rank: our own process launched the calls, and every audit of the device confirms them."""
    INVALID = "INVALID"
    """The times cannot be true."""
    UNSTABLE = "UNSTABLE"
    """There is no single time: sessions disagree, or the interval is too wide."""
    UNPROVEN = "UNPROVEN"
    """The times may be true, but we could not find out; `unproven_because` says why."""


@dataclass(frozen=True)
class Band:
    """An instrument's readings over the samples of a case."""

    low: float
    median: float
    high: float
    mean: float = 0.0


@dataclass(frozen=True)
class InstrumentReading:
    """The state of the device when a sample had been taken.

    `sample` counts from 0 over all sessions; `time_ms` is since the measurement of the case began.
    """

    sample: int
    time_ms: float
    clock_mhz: float | None = None
    temperature_celsius: float | None = None
    power_watts: float | None = None


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

    `runtime_ns` is the median of the sessions' medians (`session_median_ns`). `ci_low_ns`..`ci_high_ns` is the 95 %
    order-statistic interval of the median of all samples, widened for samples that depend on each other
    (`correlation_time` of them make an independent one). `converged` says that the stopping rule reached its precision
    in every session before a cap; `stopped_by` names the reason that ended the first session that did not.
    `disagreement` is how far the sessions' medians are apart, relative to the time. If `bimodality` is above 5/9, two
    modes or a long tail are likely.

    `wall_runtime_ns` is the median by the judge's own clock; it includes the way to the runner and back (`null_ns`).
    `audit_ratio` is the claimed time over the time that the judge's clock allows in `audited_calls` chained calls: a
    value below 1 needs a reason. Without chained calls it is None, and `not_chained_because` says why. `hot_ns` is the
    median in the chains, whose caches are warm, and `first_call_ns` that of each session's first call. `floor_ns` is
    the least time that the hardware allows; None if its roofs are not known. `arithmetic_intensity` is in operations
    per byte. `flush_bytes` were swept through the caches before each sample; 0 means no sweep. `stream_span_ns` and
    `device_span_ns` are medians by the device's own clock (`spans.py`). They and the bands are None if the device has
    no such instrument. `sample_ns` has the samples of one session after the other, `session_samples` the number of
    each session's. `instruments` are some of the readings that the bands are made of.

    `timing` is decided in `case_timing.py`. `unproven_because` is a sentence for the author: why the time is not
    proven, and what to change; empty if it is proven. `shown_interval` is half the width of the interval over the time
    if front ends show that beside UNSTABLE, else 0.
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
    timing: Timing
    unproven_because: str = ""
    shown_interval: float = 0.0
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
    stream_span_ns: float | None = None
    device_span_ns: float | None = None
    floor_ns: float | None = None
    arithmetic_intensity: float | None = None
    flush_bytes: int = 0
    clock_mhz: Band | None = None
    temperature_celsius: Band | None = None
    power_watts: Band | None = None
    replaced: tuple[ReplacedSample, ...] = ()
    session_samples: tuple[int, ...] = ()
    instruments: tuple[InstrumentReading, ...] = ()
