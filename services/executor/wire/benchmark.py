"""Measured times from domain to proto. Names are the same on both sides, so that most fields need no word here."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from wavepool.executor.v1 import run_event_pb2

from services.executor.core.timing.benchmark_result import BenchmarkResult, Bound, Timing
from services.executor.wire.isa import well_formed

if TYPE_CHECKING:
    from services.executor.core.model import events

_BOUNDS = {
    Bound.UNKNOWN: run_event_pb2.BOUND_UNSPECIFIED,
    Bound.MEMORY: run_event_pb2.BOUND_MEMORY,
    Bound.COMPUTE: run_event_pb2.BOUND_COMPUTE,
    Bound.LAUNCH: run_event_pb2.BOUND_LAUNCH,
}
# Fields that proto leaves out: `iqr_ns` is a difference of two others.
_LEFT_OUT = frozenset({"iqr_ns"})
_ZERO_WHERE_UNKNOWN = ("percent_of_roof",)


def benchmark_result_to_proto(result: BenchmarkResult) -> run_event_pb2.BenchmarkResult:
    """One case. Text from problems that authors send is made fit for protobuf; None is a field that is not set."""
    fields: dict[str, Any] = {name: _fit(value) for name, value in asdict(result).items() if name not in _LEFT_OUT}
    fields |= {name: fields[name] or 0.0 for name in _ZERO_WHERE_UNKNOWN}
    fields |= {"bound": _BOUNDS[result.bound], "timing": _timing(result.timing)}
    return run_event_pb2.BenchmarkResult(**fields)


def benchmarked_to_proto(benchmarked: events.Benchmarked) -> run_event_pb2.Benchmarked:
    """All cases."""
    return run_event_pb2.Benchmarked(
        results=map(benchmark_result_to_proto, benchmarked.results),
        mean_runtime_ns=benchmarked.mean_runtime_ns,
        mean_gflops=benchmarked.mean_gflops,
        timing=_timing(benchmarked.timing),
        device=benchmarked.device,
        converged=benchmarked.converged,
        simulated=benchmarked.simulated,
        timing_mode=benchmarked.timing_mode,
        flush_verified=benchmarked.flush_verified,
        unproven_because=well_formed(benchmarked.unproven_because),
        shown_interval=benchmarked.shown_interval,
    )


def _timing(timing: Timing) -> run_event_pb2.Timing.ValueType:
    return run_event_pb2.Timing.Value(f"TIMING_{timing}")


def _fit(value: object) -> object:
    return well_formed(value) if isinstance(value, str) else value
