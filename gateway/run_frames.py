"""Frames of the steps that happen on the machine, and the parts that they share with a job's last frame."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gateway.enum_names import bound_name, timing_name
from gateway.proto_time import seconds_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from wavepool.executor.v1.run_event_pb2 import (
        Benchmarked,
        BenchmarkResult,
        Checked,
        Compiled,
        IsaReport,
        KernelHint,
        KernelReport,
        TestResult,
    )

NS_PER_MS = 1e6
CI_CONFIDENCE = 0.95
MAX_RUNS_SHOWN = 100
"""A case may have 2,000 samples; a frame shows at most so many of them, evenly spaced."""


def test_entry(result: TestResult) -> dict[str, Any]:
    """One test case's outcome."""
    return {"test_id": result.test_id, "name": result.name, "status": "PASSED" if result.passed else "FAILED"}


def test_entries(results: Iterable[TestResult]) -> list[dict[str, Any]]:
    """All test cases' outcomes."""
    return [test_entry(result) for result in results]


def compiled_fields(compiled: Compiled) -> dict[str, Any]:
    """Fields of COMPILED."""
    return {
        "warnings": compiled.warnings,
        "duration_ms": seconds_of(compiled.duration) * 1000,
        "cached": compiled.cached,
        **isa_fields(compiled.isa),
    }


def isa_fields(isa: IsaReport) -> dict[str, Any]:
    """What the MI300X's compiler makes of the source, with or without such a GPU."""
    return {
        "isa": {kernel.name: kernel_entry(kernel) for kernel in isa.kernels},
        "isa_toolchain": isa.toolchain or None,
        "isa_note": isa.note or None,
    }


def kernel_entry(kernel: KernelReport) -> dict[str, Any]:
    """What one kernel needs of a compute unit, and what its author could do better."""
    return {
        "vgpr": kernel.vgpr,
        "sgpr": kernel.sgpr,
        "agpr": kernel.agpr,
        "lds_bytes": kernel.lds_bytes,
        "scratch_bytes": kernel.scratch_bytes,
        "spills": kernel.spills,
        "occupancy": kernel.occupancy,
        "symbol": kernel.symbol,
        "line": kernel.line or None,
        "vgpr_spills": kernel.vgpr_spills,
        "limited_by": kernel.limited_by or None,
        "block_threads": kernel.block_threads or None,
        "block_threads_known": kernel.block_threads_known,
        "dynamic_lds": kernel.dynamic_lds,
        "mfma": kernel.mfma,
        "instructions": kernel.instructions,
        "uncounted": list(kernel.uncounted),
        "hints": [hint_entry(hint) for hint in kernel.hints],
    }


def hint_entry(hint: KernelHint) -> dict[str, Any]:
    """One piece of advice; without a line it is about the whole kernel."""
    return {
        "subject": hint.subject,
        "line": hint.line or None,
        "what": hint.what,
        "why": hint.why,
        "advice": hint.advice,
    }


def checked_fields(checked: Checked) -> dict[str, Any]:
    """Fields of CHECKED."""
    return {
        "test_results": test_entries(checked.test_results),
        "passed_tests": checked.passed_tests,
        "total_tests": checked.total_tests,
    }


def benchmark_entry(result: BenchmarkResult, max_runs: int = 0) -> dict[str, Any]:
    """One test case's times, with up to `max_runs` of its samples."""
    shown = _evenly_spaced(result.sample_ns, max_runs)
    return {
        "name": result.name,
        "test_id": result.test_id,
        "runtime_ms": result.runtime_ns / NS_PER_MS,
        "gflops": result.gflops,
        "gbytes_per_second": result.gbytes_per_second,
        "percent_of_roof": result.percent_of_roof or None,
        "bound": bound_name(result.bound) if result.bound else None,
        "ci": {
            "low_ms": result.ci_low_ns / NS_PER_MS,
            "high_ms": result.ci_high_ns / NS_PER_MS,
            "confidence": CI_CONFIDENCE,
        },
        "samples": result.samples,
        "converged": result.converged,
        "min_ms": result.min_ns / NS_PER_MS,
        "max_ms": result.max_ns / NS_PER_MS,
        "p5_ms": result.p5_ns / NS_PER_MS,
        "p95_ms": result.p95_ns / NS_PER_MS,
        "mad_ms": result.mad_ns / NS_PER_MS,
        "runs": [{"run_index": index, "runtime_ms": ns / NS_PER_MS} for index, ns in shown],
        "gpu_metrics": {},
    }


def benchmarked_fields(benchmarked: Benchmarked, results_key: str) -> dict[str, Any]:
    """Fields of BENCHMARKED, and of ACCEPTED, which calls the results `benchmark_results`."""
    return {
        results_key: [benchmark_entry(result) for result in benchmarked.results],
        "avg_runtime_ms": benchmarked.mean_runtime_ns / NS_PER_MS,
        "avg_gflops": benchmarked.mean_gflops,
        "total_tests": len(benchmarked.results),
        "timing": timing_name(benchmarked.timing),
    }


def _evenly_spaced(samples: Sequence[float], count: int) -> list[tuple[int, float]]:
    if not samples or not count:
        return []
    step = max(1, -(-len(samples) // count))
    return [(index, samples[index]) for index in range(0, len(samples), step)]
