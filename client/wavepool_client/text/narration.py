"""Describes an event in one line; pure, and tolerant of unknown events and fields."""

from __future__ import annotations

from math import floor, inf, log10
from typing import TYPE_CHECKING, Any, cast

from wavepool_client.text.isa import isa_text
from wavepool_client.text.machines import start_text
from wavepool_client.text.timing import is_measured, timing_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from wavepool_client.http.event_stream import Event

Fields = dict[str, Any]
NO_TIME = "no time that is proven"


def narrate(event: Event) -> str:
    """One line for people, as a sentence without a full stop; the gateway's own text if it has one."""
    narrator = _NARRATORS.get(event.status)
    if narrator is not None:
        return narrator(event.data)
    return _message(event.data) or event.status.capitalize().replace("_", " ")


def format_milliseconds(value: object) -> str:
    """A duration with three significant digits and a unit that fits; `-` if it is not a number."""
    if not isinstance(value, int | float):
        return "-"
    time_ns = value * 1e6
    unit_ns, unit = _unit_of(time_ns)
    return f"{time_ns / unit_ns:.3g} {unit}"


def format_time(milliseconds: object, interval: object) -> str:
    """A time with half the width of its interval (`interval`, over the time), such as `53 ± 42 µs`.

    The interval has two digits, and the time ends with the same one. Without it, the time has three.
    """
    if not isinstance(milliseconds, int | float) or not isinstance(interval, int | float):
        return format_milliseconds(milliseconds)
    time_ns = milliseconds * 1e6
    unit_ns, unit = _unit_of(time_ns)
    if not 0 < time_ns * interval < inf:
        return format_milliseconds(milliseconds)
    half = float(f"{time_ns * interval / unit_ns:.1e}")
    last = floor(log10(half)) - 1
    time, decimals = round(time_ns / unit_ns, -last), max(0, -last)
    return f"{time:,.{decimals}f} ± {half:,.{decimals}f} {unit}"


def _unit_of(time_ns: float) -> tuple[float, str]:
    """The unit that a time is shown in, in nanoseconds and by its name."""
    units = ((1e9, "s"), (1e6, "ms"), (1e3, "µs"))
    return next(((unit_ns, name) for unit_ns, name in units if time_ns >= unit_ns), (1.0, "ns"))


def not_converged(result: Fields) -> str:
    """A note that the interval of a case is wider than wanted, with the reason; empty if it is not."""
    if result.get("converged") is not False:
        return ""
    reason = str(result.get("stopped_by") or "").replace("_", " ")
    return f"not converged ({reason})" if reason else "not converged"


def format_number(value: object, unit: str = "") -> str:
    """A figure with three significant digits; `-` if it is not a number."""
    if not isinstance(value, int | float):
        return "-"
    digits = f"{value:.3g}" if abs(value) < 1000 else f"{value:,.0f}"  # noqa: PLR2004 - three digits fill up there
    return f"{digits} {unit}".strip()


def _message(fields: Fields) -> str:
    return str(fields.get("message") or "")


def _nested(fields: Fields, key: str) -> Fields:
    value = fields.get(key)
    return cast("Fields", value) if isinstance(value, dict) else {}


def _queued(fields: Fields) -> str:
    position = fields.get("position")
    return _message(fields) or (f"In the queue at position {position}" if position else "In the queue")


def _provisioning(fields: Fields) -> str:
    is_ready = fields.get("stage") == "ready"
    if is_ready:
        note = _nested(fields, "machine").get("device_title") or ""
    else:
        note = start_text(
            *map(fields.get, ("elapsed_seconds", "estimate_seconds", "estimate_p90_seconds", "start_limit_seconds"))
        )
    text = _message(fields) or ("The machine is ready" if is_ready else "Getting a machine")
    return f"{text} ({note})" if note else text


def _compiled(fields: Fields) -> str:
    warnings = str(fields.get("warnings") or "").strip()
    said = [f"Compiled in {format_milliseconds(fields.get('duration_ms'))}", warnings, isa_text(fields)]
    return "\n".join(part for part in said if part)


def _test_result(fields: Fields) -> str:
    result = _nested(fields, "result")
    return f"Test {result.get('test_id')}/{fields.get('total_tests')} {result.get('name')}: {result.get('status')}"


def _benchmarking(fields: Fields) -> str:
    mode = fields.get("timing_mode")
    return _message(fields) or (f"Measuring ({mode})" if mode else "Measuring")


def _benchmark_result(fields: Fields) -> str:
    result = _nested(fields, "result")
    figures = _figures(result) if is_measured(result) else [NO_TIME]
    figures += [note for note in _doubts(result) if note]
    name = f"Benchmark {result.get('test_id')}/{fields.get('total_tests')} {result.get('name')}"
    return f"{name}: {', '.join(figures)}"


def _figures(result: Fields) -> list[str]:
    figures = [format_milliseconds(result.get("runtime_ms"))]
    rates = (("gflops", "GFLOP/s"), ("gbytes_per_second", "GB/s"))
    return figures + [
        format_number(result.get(name), unit) for name, unit in rates if isinstance(result.get(name), int | float)
    ]


def mean_text(fields: Fields) -> str:
    """The mean time of a run; a time that nothing proves is not shown as one."""
    return format_time(fields.get("avg_runtime_ms"), fields.get("avg_runtime_interval")) if is_measured(fields) else "-"


def _mean(fields: Fields) -> str:
    return f"mean {mean_text(fields)}" if is_measured(fields) else NO_TIME


def _benchmarked(fields: Fields) -> str:
    timing = timing_text(fields)
    notes = [str(fields["timing_mode"])] if fields.get("timing_mode") else []
    notes += ["caches not seen to be empty"] if fields.get("flush_verified") is False else []
    notes += [f"timing {timing}"] if timing else []
    notes += ["not converged"] if fields.get("converged") is False else []
    notes += ["simulated"] if fields.get("simulated") else []
    note = f" ({', '.join(notes)})" if notes else ""
    return f"Benchmarked: {_mean(fields)}{note}"


def _doubts(result: Fields) -> tuple[str, str]:
    timing = timing_text(result)
    return (f"timing {timing}" if timing else "", not_converged(result))


def _accepted(fields: Fields) -> str:
    word = timing_text(fields)
    note = f" (timing {word})" if word else ""
    return f"Accepted: {_mean(fields)}{note}"


_NARRATORS: dict[str, Callable[[Fields], str]] = {
    "IN_QUEUE": _queued,
    "PROVISIONING": _provisioning,
    "COMPILING": lambda fields: _message(fields) or "Compiling",
    "COMPILED": _compiled,
    "CHECKING": lambda fields: _message(fields) or f"Checking {fields.get('total_tests')} test cases",
    "TEST_RESULT": _test_result,
    "CHECKED": lambda fields: f"Checked: {fields.get('passed_tests')}/{fields.get('total_tests')} tests passed",
    "BENCHMARKING": _benchmarking,
    "BENCHMARK_RESULT": _benchmark_result,
    "BENCHMARKED": _benchmarked,
    "PROFILING": lambda fields: _message(fields) or "Profiling the kernels",
    "ACCEPTED": _accepted,
    "SANDBOX_RUNNING": lambda _: "The program runs",
    "SANDBOX_OUTPUT": lambda fields: f"{fields.get('stream')}: {fields.get('line')}",
}
