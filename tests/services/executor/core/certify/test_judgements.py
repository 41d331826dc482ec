from __future__ import annotations

from dataclasses import replace

import pytest

from services.executor.core.certify import judgements
from services.executor.core.certify.known_times import Row
from services.executor.core.certify.results import Outcome
from services.executor.core.model.events import Benchmarked, Finished
from services.executor.core.model.flushing import Flush
from services.executor.core.model.verdict import Verdict
from services.executor.core.timing.benchmark_result import Timing
from services.executor.devices.cpu.cpu_device import CpuDevice

RIGHT = Finished(Verdict.ACCEPTED, "CHECKED", "All 5 cases are right.")
REFUSED = Finished(Verdict.COMPILE_ERROR, "COMPILE_ERROR", "no", details="identifier X is undefined")
CPU = CpuDevice().describe()
GPU = replace(CPU, name="rocm", is_gpu=True)


def _timed(timing: Timing) -> Finished:
    return replace(RIGHT, benchmarked=Benchmarked((), 1e3, 1.0, timing, "rocm", unproven_because="no recorder"))


def test_a_kernel_is_right_or_fails_with_its_verdict() -> None:
    assert judgements.of_check("a", RIGHT).outcome is Outcome.PASSED
    wrong = judgements.of_check("a", replace(RIGHT, verdict=Verdict.INFRA_ERROR, message="no device"))
    assert (wrong.outcome, "INFRA_ERROR" in wrong.why, "no device" in wrong.why) == (Outcome.FAILED, True, True)


def test_only_the_documented_refusal_of_a_compiler_is_none_of_a_failure() -> None:
    assert judgements.of_check("a", REFUSED, "identifier X").outcome is Outcome.NOT_POSSIBLE
    assert judgements.of_check("a", REFUSED, "identifier Y").outcome is Outcome.FAILED
    assert judgements.of_check("a", REFUSED).outcome is Outcome.FAILED
    assert judgements.of_check("a", RIGHT, "identifier X").outcome is Outcome.PASSED, "a newer compiler has the words"


@pytest.mark.parametrize(
    ("claimed", "unlike", "truth_from_us", "outcome"),
    [
        ([1000.0, 1001.0, 1002.0], [], 1000.0, Outcome.PASSED),
        ([1000.0, 1010.0, 1020.0], [], 1000.0, Outcome.FAILED),
        ([1100.0, 1101.0, 1102.0], [], 1000.0, Outcome.FAILED),
        ([1100.0, 1101.0, 1102.0], [], 2000.0, Outcome.PASSED),
        ([1000.0, 1001.0, 1002.0], ["UNPROVEN"], 1000.0, Outcome.FAILED),
        ([1000.0, 2000.0, 3000.0], ["UNPROVEN"], None, Outcome.MEASURED),
    ],
)
def test_spread_gain_and_truth_have_aims_on_gpus(
    claimed: list[float], unlike: list[str], truth_from_us: float | None, outcome: Outcome
) -> None:
    assert judgements.of_spread("a", Row("x", 1000.0, claimed, 9.0, unlike, truth_from_us)).outcome is outcome


def test_our_times_must_be_those_of_the_other_program_on_a_gpu() -> None:
    ours = {"hot": 100.0, "cold": 120.0}
    near = {"events hot": 99.0, "graph hot": 98.0, "events cold": 121.0}
    assert judgements.of_comparison("a", ours, near, GPU).outcome is Outcome.PASSED
    assert judgements.of_comparison("a", ours, {**near, "graph cold": 90.0}, GPU).outcome is Outcome.FAILED
    assert judgements.of_comparison("a", ours, {}, GPU).outcome is Outcome.FAILED, "nothing was compared"
    on_cpu = judgements.of_comparison("a", ours, {"events hot": 50.0}, CPU)
    assert on_cpu.outcome is Outcome.MEASURED
    assert on_cpu.figures[-1].value == 2.0


def test_a_kernel_written_for_64_lanes_proves_nothing_where_there_are_32() -> None:
    for verdict in (Verdict.WRONG_ANSWER, Verdict.PRECISION):
        wrong = replace(RIGHT, verdict=verdict)
        assert judgements.of_check("a", wrong, for_64_lanes=True).outcome is Outcome.NOT_POSSIBLE
        assert judgements.of_check("a", wrong).outcome is Outcome.FAILED
    crashed = replace(RIGHT, verdict=Verdict.RUNTIME_ERROR)
    assert judgements.of_check("a", crashed, for_64_lanes=True).outcome is Outcome.FAILED


def test_a_gpus_submission_must_have_a_valid_time() -> None:
    for timing, is_gpu, outcome in (
        (Timing.VALID, True, Outcome.PASSED),
        (Timing.UNPROVEN, True, Outcome.FAILED),
        (Timing.UNPROVEN, False, Outcome.PASSED),
    ):
        assert judgements.of_submission("a", _timed(timing), 2.0, 1.0, is_gpu=is_gpu).outcome is outcome
    unproven = judgements.of_submission("a", _timed(Timing.UNPROVEN), 2.0, 1.0, is_gpu=True)
    assert "no recorder" in unproven.why
    assert judgements.of_submission("a", REFUSED, 2.0, 1.0, is_gpu=False).outcome is Outcome.FAILED


def test_the_time_of_a_submission_is_divided_into_stages() -> None:
    finished = replace(_timed(Timing.VALID), stage_seconds={"compile": 0.5, "check": 0.25})
    figures = judgements.of_submission("a", finished, 1.0, 0.75, is_gpu=True).figures
    assert {figure.name: figure.value for figure in figures} == {
        "whole submission": 1000.0,
        "until the first call": 750.0,
        "stage compile": 500.0,
        "stage check": 250.0,
        "between the stages": 250.0,
        "the kernels' own time, in samples": 0.0,
    }


def test_a_sweep_that_empties_no_cache_fails_on_a_gpu() -> None:
    flush = Flush(1 << 20, 1.0, 1.0, verified=False)
    assert judgements.of_sweep("a", flush, is_gpu=True).outcome is Outcome.FAILED
    assert judgements.of_sweep("a", flush, is_gpu=False).outcome is Outcome.MEASURED
    assert judgements.of_sweep("a", replace(flush, verified=True), is_gpu=True).outcome is Outcome.PASSED


def test_whatever_a_sandbox_does_not_hold_back_is_a_fault() -> None:
    assert judgements.of_sandbox("a", "bubblewrap", ()).outcome is Outcome.PASSED
    weak = judgements.of_sandbox("a", "process", ("a sandbox can use the network",))
    assert (weak.outcome, "network" in weak.why) == (Outcome.FAILED, True)
