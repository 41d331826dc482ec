"""The table of measured times for the terminal."""

from __future__ import annotations

from services.executor.core.model.events import Benchmarked
from services.executor.core.timing.benchmark_result import BenchmarkResult, Timing

_HEAD = (
    f"  {'case':<32} {'median ms':>12} {'+- %':>6} {'sessions':>9} {'n':>5} {'GFLOP/s':>9} {'GB/s':>9} {'of roof':>8} "
    f"{'audit':>6}  trust"
)


def table_of(benchmarked: Benchmarked) -> str:
    """Returns a table of all cases, with the notes that a reader needs."""
    rows = [_HEAD, *(_row(result) for result in benchmarked.results)]
    made_up = "SIMULATED times, of no hardware: " if benchmarked.simulated else ""
    note = f"{made_up}times of device `{benchmarked.device}`, {benchmarked.timing_mode}, timing {word_of(benchmarked)}"
    note += ", never ranked" if benchmarked.device == "cpu" else ""
    note += ", the sweep was not seen to empty the caches" if benchmarked.flush_verified is False else ""
    capped = "" if benchmarked.converged else ", not all converged"
    why = [f"UNPROVEN: {benchmarked.unproven_because}"] if benchmarked.unproven_because else []
    mean = f"; geometric mean {benchmarked.mean_runtime_ns / 1e6:.6f} ms" if _is_measured(benchmarked) else ""
    return "\n".join([*rows, f"{note}{capped}{mean}", *why])


def trust_of(result: BenchmarkResult) -> str:
    """Says in a few words how far the time of a case can be believed."""
    ended = result.stopped_by.replace("_", " ")
    return word_of(result) + ("" if result.converged else f", not converged ({ended})")


def word_of(timed: BenchmarkResult | Benchmarked) -> str:
    """Returns the timing in a word, and the interval if the time of a device that never ranks is UNSTABLE."""
    if timed.timing is Timing.UNSTABLE and timed.shown_interval:
        return f"{timed.timing} +-{_percent(100 * timed.shown_interval)} %"
    return f"{timed.timing}"


def _row(result: BenchmarkResult) -> str:
    half_width = 50 * (result.ci_high_ns - result.ci_low_ns) / max(result.runtime_ns, 1.0)
    ratio = "" if result.audit_ratio is None else f"{result.audit_ratio:.2f}"
    figures = (
        f"{result.runtime_ns / 1e6:.6f}",
        _percent(half_width),
        f"{result.gflops:.2f}",
        f"{result.gbytes_per_second:.2f}",
        "" if result.percent_of_roof is None else f"{result.percent_of_roof:.1f} %",
    )
    median, half, gflops, gbytes, roof = figures if _is_measured(result) else ("-",) * len(figures)
    return (
        f"  {result.name:<32} {median:>12} {half:>6} {len(result.session_median_ns):>9} {result.samples:>5} "
        f"{gflops:>9} {gbytes:>9} {roof:>8} {ratio:>6}  {trust_of(result)}"
    )


def _is_measured(timed: BenchmarkResult | Benchmarked) -> bool:
    """True if a time may be shown as one: what is not proven is only what a program claims."""
    return not timed.unproven_because and timed.timing in {Timing.VALID, Timing.UNSTABLE}


def _percent(value: float) -> str:
    """Formats two digits; an interval over 100 % says nothing, so it has no figure."""
    if value > 100:  # noqa: PLR2004 - per cent
        return ">100"
    return f"{value:.2g}" if value < 99.5 else "100"  # noqa: PLR2004 - which rounds to 1e+02
