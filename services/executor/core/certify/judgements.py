"""The judgement on a finished run for each kind of step; pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from services.executor.core.certify.known_times import AIM_GAIN_PERCENT, AIM_SPREAD_PERCENT, AIM_TRUTH_PERCENT, Row
from services.executor.core.certify.results import Figure, Outcome, StepResult
from services.executor.core.model.events import Finished
from services.executor.core.model.flushing import Flush
from services.executor.core.model.verdict import Verdict
from services.executor.core.timing.benchmark_result import Timing
from services.executor.devices.device import DeviceDescription

LEAST_RATIO, MOST_RATIO = 0.9, 1.1
"""The range of our time over that of a program without our code. A proposal: no GPU has been measured yet."""
_MOST_TEXT = 4_000


def of_check(step: str, finished: Finished, refused: str = "", *, for_64_lanes: bool = False) -> StepResult:
    """Judges a kernel that has to be right.

    `refused` is a part of the message of a compiler that cannot compile the kernel; a newer one may. `for_64_lanes`
    says that the device has fewer lanes in a wavefront, and that the kernel works across lanes: if such a kernel is
    wrong, that proves nothing about the device.
    """
    if finished.verdict is Verdict.ACCEPTED:
        return StepResult(step, Outcome.PASSED, finished.message)
    if for_64_lanes and finished.verdict in {Verdict.WRONG_ANSWER, Verdict.PRECISION}:
        return StepResult(step, Outcome.NOT_POSSIBLE, f"it is written for 64 lanes: {finished.message}")
    if refused and finished.verdict is Verdict.COMPILE_ERROR and refused in finished.details:
        return StepResult(step, Outcome.NOT_POSSIBLE, f"the compiler has no words for it, as documented: {refused}")
    expected = f"ACCEPTED, or COMPILE_ERROR with {refused!r}" if refused else "ACCEPTED"
    reason = f" ({finished.reason})" if finished.reason else ""
    why = f"{finished.verdict}{reason}, and not {expected}: {finished.message}"
    return StepResult(step, Outcome.FAILED, why, details=(finished.details or finished.stderr)[-_MOST_TEXT:])


def of_attack(step: str, shortcoming: str, outcome: str = "") -> StepResult:
    """Judges an attack: it fails if there is a shortcoming. `outcome` says how the attack ended."""
    if shortcoming:
        return StepResult(step, Outcome.FAILED, shortcoming[:_MOST_TEXT])
    return StepResult(step, Outcome.PASSED, outcome or "as documented")


def of_spread(step: str, row: Row) -> StepResult:
    """Judges several runs of one kernel; there is no aim on `cpu`, because other work is in its times."""
    runs = len(row.claimed_us)
    is_judged = row.truth_from_us is not None
    truth = f"at most {AIM_TRUTH_PERCENT:g} %" if is_judged and row.true_us >= (row.truth_from_us or 0) else ""
    figures = (
        Figure("claimed over true time", row.ratio, ""),
        Figure("the run farthest from the truth", row.farthest_percent, "%", truth),
        Figure(f"spread of {runs} runs (sd)", row.spread_percent, "%", _at_most(AIM_SPREAD_PERCENT) * is_judged),
        Figure(f"gain of the best of {runs}", row.gain_percent, "%", _at_most(AIM_GAIN_PERCENT) * is_judged),
        Figure("samples of a run", row.samples, ""),
    )
    said = ", ".join(dict.fromkeys(row.unlike))
    if not is_judged:
        why = f"{runs} runs; times of this device never rank, so that no aim is set{f' ({said})' if said else ''}"
        return StepResult(step, Outcome.MEASURED, why, figures)
    if row.missed:
        named = ", ".join([*row.missed, *([said] if said else [])])
        return StepResult(step, Outcome.FAILED, f"aims missed in {runs} runs: {named}", figures)
    return StepResult(step, Outcome.PASSED, f"{runs} runs, all aims met", figures)


def of_sweep(step: str, flush: Flush, *, is_gpu: bool) -> StepResult:
    """Judges the sweep of the caches. On a shared processor nobody can promise that it empties them."""
    figures = (
        Figure("sweep", flush.size_bytes / (1 << 20), "MiB"),
        Figure("reading what is cached", flush.hot_ns / 1e3, "us"),
        Figure("reading it after the sweep", flush.cold_ns / 1e3, "us"),
    )
    if flush.verified:
        return StepResult(step, Outcome.PASSED, "the sweep empties the caches; a larger one does no more", figures)
    why = "no sweep was seen to empty the caches: cold times may be of warm ones"
    return StepResult(step, Outcome.FAILED if is_gpu else Outcome.MEASURED, why, figures)


def of_comparison(
    step: str, ours_us: Mapping[str, float], theirs_us: Mapping[str, float], device: DeviceDescription
) -> StepResult:
    """Compares our times by mode, `hot` and `cold`, with another program's by way and mode, such as `events hot`."""
    figures: list[Figure] = [Figure(f"ours, {mode}", us, "us") for mode, us in ours_us.items()]
    judged = list[float]()
    for name, us in theirs_us.items():
        figures.append(Figure(f"theirs, {name}", us, "us"))
        mode = name.rpartition(" ")[2]
        if mode in ours_us and us > 0:
            ratio = ours_us[mode] / us
            judged.append(ratio)
            aim = f"{LEAST_RATIO:g} to {MOST_RATIO:g}" if device.is_gpu else ""
            figures.append(Figure(f"ours over theirs, {name}", ratio, "", aim))
    if not device.is_gpu:
        return StepResult(
            step, Outcome.MEASURED, "times of this device never rank, so that no aim is set", tuple(figures)
        )
    if judged and all(LEAST_RATIO <= ratio <= MOST_RATIO for ratio in judged):
        return StepResult(step, Outcome.PASSED, "our times are those of the other program", tuple(figures))
    return StepResult(step, Outcome.FAILED, "our times and those of the other program differ", tuple(figures))


def of_submission(
    step: str, finished: Finished, whole_seconds: float, first_call_seconds: float, *, is_gpu: bool
) -> StepResult:
    """Judges a whole submission and its stages; a GPU's time must be VALID."""
    stages = [Figure(f"stage {name}", 1e3 * seconds, "ms") for name, seconds in finished.stage_seconds.items()]
    between = whole_seconds - sum(finished.stage_seconds.values())
    figures = [
        Figure("whole submission", 1e3 * whole_seconds, "ms"),
        Figure("until the first call", 1e3 * first_call_seconds, "ms"),
        *stages,
        Figure("between the stages", 1e3 * between, "ms"),
    ]
    if finished.benchmarked is not None:
        samples_ns = sum(sum(result.sample_ns) for result in finished.benchmarked.results)
        figures.append(Figure("the kernels' own time, in samples", samples_ns / 1e6, "ms"))
    if finished.verdict is not Verdict.ACCEPTED or finished.benchmarked is None:
        why = f"{finished.verdict}, and not ACCEPTED: {finished.message}"
        return StepResult(step, Outcome.FAILED, why, tuple(figures), details=finished.details[-_MOST_TEXT:])
    timing, because = finished.benchmarked.timing, finished.benchmarked.unproven_because
    if is_gpu and timing is not Timing.VALID:
        return StepResult(step, Outcome.FAILED, f"ACCEPTED, but its time is {timing}: {because}", tuple(figures))
    return StepResult(step, Outcome.PASSED, f"ACCEPTED, {timing}{f': {because}' if because else ''}", tuple(figures))


def of_sandbox(step: str, name: str, gaps: Sequence[str]) -> StepResult:
    """Judges the sandbox of this machine; every gap is a fault, because untrusted code runs in it."""
    if not gaps:
        return StepResult(step, Outcome.PASSED, f"{name} holds back all that it has to", facts={"sandbox": name})
    why = f"{name} does not hold back: {'; '.join(gaps)}"
    return StepResult(step, Outcome.FAILED, why, facts={"sandbox": f"{name}, with {len(gaps)} gaps"})


def _at_most(percent: float) -> str:
    return f"at most {percent:g} %"
