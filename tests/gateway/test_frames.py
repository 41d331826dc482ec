from __future__ import annotations

import json
import math
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from wavepool.executor.v1 import run_event_pb2
from wavepool.scheduler.v1 import scheduler_pb2
from wavepool.submission.v1 import submission_pb2

from gateway.http.errors import ProblemError
from gateway.submissions.end_frames import end_frame
from gateway.submissions.frames import encode, frame_of
from gateway.submissions.run_frames import Frame, Setting, isa_fields
from gateway.submissions.samples import samples_of
from gateway.words.json_values import to_json
from tests.gateway.arbitrary_messages import messages
from tests.gateway.documented import check_event
from tests.gateway.job_events import (
    ACCEPTED,
    COMPILE_ERROR,
    PROFILE,
    STEPS,
    WRONG,
    ended,
    event,
    provisioning,
    queued,
    whole_run,
)

FULL = Setting(submission_pb2.RUN_MODE_FULL)
ON_CPU = Setting(submission_pb2.RUN_MODE_FULL, "cpu", "AMD EPYC 9354P")
CHECKED_STATUSES = ["IN_QUEUE", "PROVISIONING", "COMPILING", "COMPILED", "CHECKING", "TEST_RESULT", "CHECKED"]


def shown(job_event: scheduler_pb2.JobEvent, setting: Setting = FULL) -> Frame:
    frame = frame_of(job_event, setting)
    assert frame is not None
    check_event("SubmissionEvent", {"status": frame.status, **frame.fields})
    return frame


def statuses(mode: submission_pb2.RunMode.ValueType) -> list[str]:
    frames = [frame_of(job_event, Setting(mode)) for job_event in whole_run(mode)]
    return [frame.status for frame in frames if frame is not None]


def step(name: str, setting: Setting = FULL) -> dict[str, Any]:
    return shown(event(3, run=STEPS[name]), setting).fields


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        (submission_pb2.RUN_MODE_CHECK, CHECKED_STATUSES),
        (
            submission_pb2.RUN_MODE_BENCHMARK,
            [*CHECKED_STATUSES, "BENCHMARKING", "BENCHMARK_RESULT", "BENCHMARKED"],
        ),
        (
            submission_pb2.RUN_MODE_FULL,
            [*CHECKED_STATUSES, "BENCHMARKING", "BENCHMARK_RESULT", "BENCHMARKED", "ACCEPTED"],
        ),
        (submission_pb2.RUN_MODE_SAMPLE, ["IN_QUEUE", "PROVISIONING", "COMPILING", "PASSED"]),
        (
            submission_pb2.RUN_MODE_SANDBOX,
            [
                "IN_QUEUE",
                "PROVISIONING",
                "COMPILING",
                "COMPILED",
                "SANDBOX_RUNNING",
                "SANDBOX_OUTPUT",
                "SANDBOX_SUCCESS",
            ],
        ),
    ],
)
def test_each_mode_shows_its_steps_in_the_promised_order(
    mode: submission_pb2.RunMode.ValueType, expected: list[str]
) -> None:
    assert statuses(mode) == expected


def test_queue_frame_tells_place_estimate_and_the_submission() -> None:
    fields = shown(queued()).fields
    assert fields["id"] == "job_1"
    assert (fields["position"], fields["eta_p50_seconds"], fields["eta_p90_seconds"]) == (1, 2.0, None)
    assert fields["remainingSubmissions"] == 2
    assert fields["message"] == "Waiting for a machine."


def test_only_the_queue_frame_of_a_submission_tells_what_remains() -> None:
    blocked = queued()
    blocked.queued.ClearField("remaining_submissions")
    assert "remainingSubmissions" not in shown(blocked).fields, "it may have changed since, and null is no number"
    used_up = queued()
    used_up.queued.remaining_submissions = 0
    assert shown(used_up).fields["remainingSubmissions"] == 0


def test_provisioning_frame_tells_cold_from_warm_and_the_machine() -> None:
    fields = shown(provisioning()).fields
    assert (fields["vm_state"], fields["stage"]) == ("COLD_START", "starting")
    assert (fields["elapsed_seconds"], fields["estimate_seconds"], fields["start_limit_seconds"]) == (0.5, None, None)
    limited = provisioning()
    limited.provisioning.start_limit.FromSeconds(1200)
    assert shown(limited).fields["start_limit_seconds"] == 1200
    assert fields["machine"]["device"] == "cpu"
    assert fields["machine"]["price_usd_per_hour"] == 1.99


def test_compiled_frame_tells_warnings_time_and_kernel_resources() -> None:
    fields = step("compiled")
    assert (fields["warnings"], fields["duration_ms"]) == ("line 3: unused", 250.0)
    assert fields["isa"]["add"]["vgpr"] == 8


def test_test_result_frame_counts_from_one() -> None:
    fields = step("test_result")
    assert fields["result"] == {"test_id": 1, "name": "n = 1024", "status": "PASSED"}
    assert fields["total_tests"] == 1


def test_benchmark_result_frame_is_in_milliseconds_with_interval_and_runs() -> None:
    result = step("benchmark_result", ON_CPU)["result"]
    assert (result["runtime_ms"], result["gflops"], result["gbytes_per_second"]) == (2.5, 1.5, 12.25)
    assert result["ci"] == {"low_ms": 2.4, "high_ms": 2.6, "confidence": 0.95}
    assert [run["runtime_ms"] for run in result["runs"]] == [2.4, 2.5, 2.6]
    assert (result["percent_of_roof"], result["bound"]) == (None, None)
    assert (result["device"], result["device_title"]) == ("cpu", "AMD EPYC 9354P")


def test_the_last_frame_says_which_gpu_type_it_was() -> None:
    last = ended(9, ACCEPTED)
    assert shown(last, ON_CPU).fields["machine_gpu_type"] is None
    last.ended.machine_gpu_type = "MI210"
    assert shown(last, ON_CPU).fields["machine_gpu_type"] == "MI210"


def test_benchmark_frames_say_how_calls_are_timed() -> None:
    timed = ON_CPU.after(event(3, run=STEPS["benchmarking"]))
    assert step("benchmarking")["timing_mode"] == "hot"
    assert step("benchmark_result", timed)["result"]["timing_mode"] == "hot"
    assert step("benchmarked", timed)["timing_mode"] == "hot"
    assert shown(ended(9, ACCEPTED), timed).fields["timing_mode"] == "hot"


@pytest.mark.parametrize("verified", [None, True, False])
def test_benchmarked_frames_say_whether_the_caches_were_empty(verified: bool | None) -> None:
    benchmarked = run_event_pb2.Benchmarked(flush_verified=verified)
    assert shown(event(3, run=run_event_pb2.RunEvent(benchmarked=benchmarked))).fields["flush_verified"] is verified


def test_machines_from_before_there_were_timing_modes_say_nothing_of_them() -> None:
    silent = event(3, run=run_event_pb2.RunEvent(benchmarking=run_event_pb2.Benchmarking(total_tests=1)))
    assert shown(silent).fields == {**shown(silent).fields, "total_tests": 1, "timing_mode": None}
    assert step("benchmark_result", ON_CPU.after(silent))["result"]["timing_mode"] is None


def test_two_thousand_samples_are_shown_as_at_most_a_hundred() -> None:
    result = run_event_pb2.BenchmarkResult(sample_ns=[float(ns) for ns in range(1999)], samples=1999)
    frame = shown(event(3, run=run_event_pb2.RunEvent(benchmark_result=result)))
    runs = frame.fields["result"]["runs"]
    assert len(runs) == 100
    assert runs[1] == {"run_index": 20, "runtime_ms": 20 / 1e6}


def test_accepted_frame_carries_means_results_cost_and_device() -> None:
    fields = shown(ended(9, ACCEPTED), ON_CPU).fields
    assert fields["avg_runtime_interval"] == pytest.approx(0.04)
    assert (fields["avg_runtime_ms"], fields["avg_gflops"], fields["total_tests"]) == (2.5, 1.5, 1)
    assert fields["benchmark_results"][0]["runtime_ms"] == 2.5
    assert (fields["timing"], fields["cost_usd"], fields["final"]) == ("VALID", 0.001234, True)
    assert (fields["device"], fields["device_title"]) == ("cpu", "AMD EPYC 9354P")


def test_a_case_that_cannot_be_ranked_says_so_and_what_is_not_known_is_null() -> None:
    result = run_event_pb2.BenchmarkResult(timing=run_event_pb2.TIMING_UNSTABLE, session_median_ns=[1e6, 2e6])
    fields = shown(event(3, run=run_event_pb2.RunEvent(benchmark_result=result))).fields["result"]
    assert (fields["timing"], fields["converged"], fields["session_medians_ms"]) == ("UNSTABLE", False, [1.0, 2.0])
    assert (fields["audit_ratio"], fields["floor_ms"], fields["bimodality"], fields["gpu_metrics"]) == (
        None,
        None,
        None,
        {},
    )


def test_an_unproven_time_says_why_and_a_wide_interval_how_wide() -> None:
    unproven = run_event_pb2.BenchmarkResult(timing=run_event_pb2.TIMING_UNPROVEN, unproven_because="busy")
    wide = run_event_pb2.BenchmarkResult(timing=run_event_pb2.TIMING_VALID, shown_interval=0.21)
    for result, shown_as in ((unproven, ("UNPROVEN", "busy", None)), (wide, ("VALID", None, 0.21))):
        fields = shown(event(3, run=run_event_pb2.RunEvent(benchmark_result=result))).fields["result"]
        assert (fields["timing"], fields["unproven_because"], fields["shown_interval"]) == shown_as
    run = run_event_pb2.Benchmarked(timing=run_event_pb2.TIMING_UNPROVEN, unproven_because="busy", shown_interval=0.21)
    fields = shown(event(3, run=run_event_pb2.RunEvent(benchmarked=run))).fields
    assert (fields["timing"], fields["unproven_because"], fields["shown_interval"]) == ("UNPROVEN", "busy", 0.21)


def test_a_timing_of_a_newer_core_is_shown_by_its_number_and_is_not_valid() -> None:
    newer = run_event_pb2.Benchmarked.FromString(bytes([4 << 3, 99]))
    assert shown(event(3, run=run_event_pb2.RunEvent(benchmarked=newer))).fields["timing"] == "UNKNOWN_99"


def test_instruments_are_shown_as_bands() -> None:
    result = run_event_pb2.BenchmarkResult(clock_mhz=run_event_pb2.Band(low=1, median=2, high=3))
    fields = shown(event(3, run=run_event_pb2.RunEvent(benchmark_result=result))).fields["result"]
    assert fields["gpu_metrics"] == {
        "clock_mhz": {"low": 1, "median": 2, "high": 3, "mean": 2},
        "sm_clock_mhz_min": 1,
        "sm_clock_mhz_max": 3,
        "sm_clock_mhz_mean": 2,
    }
    hot = run_event_pb2.BenchmarkResult(temperature_celsius=run_event_pb2.Band(low=40, median=50, high=80, mean=55))
    metrics = shown(event(3, run=run_event_pb2.RunEvent(benchmark_result=hot))).fields["result"]["gpu_metrics"]
    assert (metrics["temp_c_min"], metrics["temp_c_max"], metrics["temp_c_mean"]) == (40, 80, 55)
    assert metrics["temperature_celsius"]["mean"] == 55
    assert "sm_clock_mhz_min" not in metrics


def test_every_frame_names_its_submission() -> None:
    frames = [frame_of(job_event, FULL) for job_event in whole_run(submission_pb2.RUN_MODE_FULL)]
    assert {frame.fields["submission_id"] for frame in frames if frame} == {"job_1"}


def test_steps_say_in_a_sentence_what_happens() -> None:
    cached = run_event_pb2.RunEvent(compiling=run_event_pb2.Compiling(toolchain="clang 22", cached=True))
    assert shown(event(3, run=cached)).fields["message"] == "Using the kept build by clang 22"
    assert step("compiling")["message"].startswith("Compiling with ")
    assert step("compiling")["command"] == "clang -x hip solution.hip"
    assert shown(event(3, run=cached)).fields["command"] is None
    assert step("reading_problem")["message"] == "Reading the problem definition and choosing its test cases"
    assert step("checking")["message"] == "Checking 1 test case"
    assert step("benchmarking")["message"] == "Measuring 1 test case (hot)"


def test_a_benchmark_says_how_far_it_has_come() -> None:
    timed = FULL.after(event(3, run=STEPS["benchmarking"]))
    progress = run_event_pb2.BenchmarkProgress(
        stage=run_event_pb2.BENCHMARK_STAGE_MEASURING,
        session=2,
        sessions=3,
        test_id=1,
        name="n = 5",
        total_tests=4,
        samples=120,
    )
    frame = shown(event(4, run=run_event_pb2.RunEvent(benchmark_progress=progress)), timed)
    assert frame.status == "BENCHMARKING"
    message = "Measuring test case 1 of 4, session 2 of 3, 120 samples so far"
    said: dict[str, Any] = {"stage": "MEASURING", "session": 2, "sessions": 3, "test_id": 1, "name": "n = 5"}
    said |= {"samples": 120, "total_tests": 4, "timing_mode": "hot", "message": message}
    assert {name: frame.fields[name] for name in said} == said
    progress.stage = run_event_pb2.BENCHMARK_STAGE_AUDITING
    frame = shown(event(5, run=run_event_pb2.RunEvent(benchmark_progress=progress)), timed)
    assert frame.fields["message"] == "Auditing test case 1 of 4, 120 samples so far"


def test_the_stage_of_a_profile_has_a_frame() -> None:
    frame = shown(event(4, run=STEPS["profiling"]), FULL)
    assert frame.status == "PROFILING"
    assert (frame.fields["tool"], frame.fields["name"]) == ("rocprofv3", "n = 1024")
    assert frame.fields["message"] == "Profiling the kernels with rocprofv3, test case n = 1024"


@pytest.mark.parametrize("mode", [submission_pb2.RUN_MODE_FULL, submission_pb2.RUN_MODE_CHECK])
def test_the_last_frame_has_the_kernels_of_a_profile(mode: submission_pb2.RunMode.ValueType) -> None:
    profiled = run_event_pb2.Finished()
    profiled.CopyFrom(ACCEPTED)
    profiled.profile.CopyFrom(PROFILE)
    profile = shown(ended(9, profiled), Setting(mode)).fields["profile"]
    assert (profile["outcome"], profile["clock"], profile["kernels_left_out"]) == ("MADE", "GPU", 2)
    [kernel] = profile["kernels"]
    assert (kernel["grid"], kernel["block"]) == ([16, 1024, 1], [64, 1, 1])
    assert (kernel["calls"], kernel["mean_ns"], kernel["total_ns"]) == (10, 3404.0, 34_040)
    assert (kernel["vgpr"], kernel["agpr"], kernel["lds_bytes"], kernel["scratch_bytes"]) == (8, 0, None, None)


def test_the_last_frame_says_why_there_is_no_profile() -> None:
    failed = run_event_pb2.Finished()
    failed.CopyFrom(ACCEPTED)
    failed.profile.outcome = run_event_pb2.PROFILE_OUTCOME_FAILED
    failed.profile.note = "failed: rocprofv3 left no trace"
    profile = shown(ended(9, failed)).fields["profile"]
    assert (profile["outcome"], profile["note"], profile["kernels"]) == ("FAILED", failed.profile.note, [])
    assert "profile" not in shown(ended(9, ACCEPTED)).fields


def test_the_last_frame_says_which_time_the_cost_is_for() -> None:
    last = ended(9, ACCEPTED)
    last.ended.result.billable.FromMilliseconds(2500)
    assert shown(last).fields["billable_seconds"] == 2.5


def test_benchmarked_frame_calls_its_results_test_results() -> None:
    fields = shown(ended(9, ACCEPTED), Setting(submission_pb2.RUN_MODE_BENCHMARK)).fields
    assert fields["test_results"][0]["runtime_ms"] == 2.5
    assert fields["cost_usd"] == 0.001234


def test_wrong_answer_frame_keys_the_first_mismatches_by_index() -> None:
    frame = shown(ended(9, WRONG))
    info = frame.fields["debug_info"]
    assert frame.status == "WRONG_ANSWER"
    assert info["sample_differences"]["(3, 17)"] == {"expected": 1.0, "actual": 0.5, "diff": 0.5, "output": "output"}
    assert (info["max_difference"], info["message"]) == (0.5, "1 of 1024 elements of `output` differ.")
    assert (frame.fields["passed_tests"], frame.fields["total_tests"]) == (0, 1)


def wrong_in_a_corner() -> run_event_pb2.Finished:
    """An output of 40 x 3 whose first element is wrong; the window's second row was not compared."""
    wrong = run_event_pb2.Finished()
    wrong.CopyFrom(WRONG)
    wrong.wrong_answer.window.CopyFrom(
        run_event_pb2.ErrorWindow(
            output="y",
            origin=[0, 0],
            rows=2,
            columns=3,
            expected=[1, 2, math.inf, 0, 0, 0],
            actual=[math.nan, 2, -math.inf, 0, 0, 0],
            wrong=[True, False, True, False, False, False],
            compared=[True, True, True, False, False, False],
        )
    )
    wrong.wrong_answer.error_map.CopyFrom(
        run_event_pb2.ErrorMap(
            output="y",
            output_rows=40,
            output_columns=3,
            cell_rows=20,
            cell_columns=3,
            rows=2,
            columns=1,
            wrong=[3, 0],
            compared=[12, 0],
        )
    )
    return wrong


def test_wrong_answer_frame_tells_nan_from_what_was_not_compared() -> None:
    info = shown(ended(9, wrong_in_a_corner())).fields["debug_info"]
    assert info["window"] == {
        "output": "y",
        "origin": [0, 0],
        "expected": [[1, 2, "Infinity"], [None, None, None]],
        "actual": [["NaN", 2, "-Infinity"], [None, None, None]],
        "wrong": [[True, False, True], [None, None, None]],
    }
    assert (info["map"]["shares"], info["map"]["cell_rows"], info["map"]["output_rows"]) == ([[0.25], [None]], 20, 40)


def test_a_result_of_an_older_machine_has_no_window_and_no_map() -> None:
    info = shown(ended(9, WRONG)).fields["debug_info"]
    assert (info["window"], info["map"]) == (None, None)


@pytest.mark.parametrize(
    "changed",
    [{"rows": 3}, {"rows": -2, "columns": -3}, {"compared": [True]}, {"origin": [0] * 17}],
)
def test_a_window_that_is_not_whole_is_left_out(changed: dict[str, Any]) -> None:
    wrong = wrong_in_a_corner()
    wrong.wrong_answer.window.MergeFrom(run_event_pb2.ErrorWindow(**changed))
    assert shown(ended(9, wrong)).fields["debug_info"]["window"] is None


def test_the_largest_window_and_map_stay_below_their_bound_and_larger_ones_are_left_out() -> None:
    wrong = wrong_in_a_corner()
    window, error_map = wrong.wrong_answer.window, wrong.wrong_answer.error_map
    least = -2.2250738585072014e-308
    window.CopyFrom(
        run_event_pb2.ErrorWindow(
            output="y" * 10_000,
            origin=[2**62] * 16,
            rows=16,
            columns=16,
            expected=[least] * 256,
            actual=[least] * 256,
            wrong=[False] * 256,
            compared=[True] * 256,
        )
    )
    error_map.CopyFrom(
        run_event_pb2.ErrorMap(
            output="y" * 10_000,
            output_rows=2**62,
            output_columns=2**62,
            cell_rows=2**62,
            cell_columns=2**62,
            rows=32,
            columns=32,
            wrong=[7] * 1024,
            compared=[2**62 + 1] * 1024,
        )
    )
    info = shown(ended(9, wrong)).fields["debug_info"]
    assert 10_000 < len(to_json({"window": info["window"], "map": info["map"]})) < 48 * 1024
    window.rows, error_map.columns = 32, 64
    for one in (window.expected, window.actual, window.wrong, window.compared, error_map.wrong, error_map.compared):
        cast("Any", one).extend(list(one))
    info = shown(ended(9, wrong)).fields["debug_info"]
    assert (info["window"], info["map"]) == (None, None)


def test_tests_after_the_one_that_failed_are_said_not_to_have_run() -> None:
    wrong = run_event_pb2.Finished()
    wrong.CopyFrom(WRONG)
    wrong.test_results.add(test_id=2, name="n = 2048", not_run=True, total_tests=2)
    wrong.total_tests = 2
    fields = shown(ended(9, wrong)).fields
    assert [result["status"] for result in fields["test_results"]] == ["FAILED", "NOT_RUN"]
    assert (fields["passed_tests"], fields["total_tests"]) == (0, 2)


def test_mismatches_at_one_index_of_two_outputs_are_both_kept() -> None:
    both = [run_event_pb2.Mismatch(index=[0], output=name) for name in ("values", "indices")]
    wrong = run_event_pb2.WrongAnswer(first_mismatches=both)
    result = run_event_pb2.Finished(verdict=run_event_pb2.VERDICT_WRONG_ANSWER, wrong_answer=wrong)
    differences = shown(ended(9, result)).fields["debug_info"]["sample_differences"]
    assert list(differences) == ["(0)", "(0) indices"]


def test_compile_error_frame_has_the_compilers_text() -> None:
    frame = shown(ended(9, COMPILE_ERROR))
    assert (frame.status, frame.fields["verdict"]) == ("COMPILE_ERROR", "COMPILE_ERROR")
    assert "solution.hip:4:5" in frame.fields["details"]


def test_sample_frame_shows_one_output_bare_and_several_as_multi() -> None:
    sample = run_event_pb2.Sample(input_json='{"x": [1]}', output_json='{"y": [2]}', expected_output_json="{oops")
    result = run_event_pb2.Finished(verdict=run_event_pb2.VERDICT_ACCEPTED, sample=sample)
    fields = shown(ended(4, result), Setting(submission_pb2.RUN_MODE_SAMPLE)).fields
    assert (fields["input"], fields["output"], fields["expected_output"]) == ({"x": [1]}, [2], "{oops")
    sample.output_json = '{"values": [1], "indices": [0]}'
    result.sample.CopyFrom(sample)
    fields = shown(ended(4, result), Setting(submission_pb2.RUN_MODE_SAMPLE)).fields
    assert fields["output"] == {"multi": True, "names": ["values", "indices"], "values": [[1], [0]]}


def test_cancelled_job_without_a_result_still_says_so() -> None:
    frame = shown(ended(2, run_event_pb2.Finished(), scheduler_pb2.JOB_STATE_CANCELLED))
    assert (frame.status, frame.fields["verdict"]) == ("CANCELLED", "CANCELLED")
    assert frame.fields["message"] == "The submission was cancelled."


def test_lost_attempt_goes_back_to_the_queue_with_the_reason() -> None:
    frame = shown(event(5, retrying=scheduler_pb2.Retrying(reason="the machine stopped answering")))
    assert frame.status == "IN_QUEUE"
    assert "the machine stopped answering" in frame.fields["message"]


def test_setting_remembers_the_machine_of_the_last_provisioning() -> None:
    assert FULL.after(provisioning()) == ON_CPU
    assert ON_CPU.after(queued()) == ON_CPU


def test_frame_is_one_block_with_event_id_and_one_line_of_data() -> None:
    text = encode(7, Frame("SANDBOX_OUTPUT", {"line": "a\r\nb\u2028"})).decode()
    head, data, *rest = text.split("\ndata: ")[0], text.split("\ndata: ")[1]
    assert (head, rest) == ("event: SANDBOX_OUTPUT\nid: 7", [])
    assert data.endswith("\n\n")
    assert "\n" not in data.rstrip("\n")
    assert "\r" not in data
    assert json.loads(data) == {"status": "SANDBOX_OUTPUT", "line": "a\r\nb\u2028"}


@settings(max_examples=150, deadline=None)
@given(messages(scheduler_pb2.JobEvent), st.integers(-1, 9), st.integers(1, 2**62))
def test_no_event_crashes_and_every_frame_is_strict_json(
    job_event: scheduler_pb2.JobEvent, mode: int, seq: int
) -> None:
    if job_event.ended.result.HasField("sample"):
        # The judge writes an object.
        job_event.ended.result.sample.input_json = '{"input": [1.0]}'
    setting = Setting(mode).after(job_event)
    frame = frame_of(job_event, setting)
    if frame is None:
        assert job_event.WhichOneof("event") == "run"
        return
    check_event("SubmissionEvent", {"status": frame.status, **frame.fields})
    lines = encode(seq, frame).decode().split("\n")
    assert lines[:2] == [f"event: {frame.status}", f"id: {seq}"]
    assert (len(lines), lines[3:]) == (5, ["", ""])
    data = json.loads(lines[2].removeprefix("data: "), parse_constant=pytest.fail)
    assert data["status"] == frame.status
    assert_exact(data)


@given(messages(scheduler_pb2.Job), st.none() | st.integers(-1, 20))
def test_no_result_crashes_and_no_sample_is_lost(job: scheduler_pb2.Job, test_id: int | None) -> None:
    try:
        found = samples_of(job, test_id)
    except ProblemError as error:
        assert error.problem.status == 404  # noqa: PT017 - both ends are right
        return
    results = [one for one in job.result.benchmarked.results if test_id in {None, one.test_id}]
    for case, result in zip(found.cases, results, strict=True):
        assert sum(len(session.samples_ms) for session in case.sessions) == len(result.sample_ns)


def assert_exact(value: Any) -> None:
    """Asserts that a double holds every integer exactly."""
    if isinstance(value, dict | list):
        items = cast("Any", value)
        for item in items.values() if isinstance(value, dict) else items:
            assert_exact(item)
    elif isinstance(value, int):
        assert abs(value) <= 2**53


HINTED = run_event_pb2.KernelReport(
    name="k",
    vgpr=8,
    limited_by="lds",
    hints=[run_event_pb2.KernelHint(subject="spills", line=3, what="w", why="y", advice="a")],
)
REPORT = run_event_pb2.IsaReport(toolchain="clang", note="n", kernels=[HINTED])


def test_the_report_for_the_mi300x_comes_with_the_compile() -> None:
    fields = isa_fields(run_event_pb2.Compiled(isa=REPORT).isa)
    assert fields["isa_toolchain"] == "clang"
    assert fields["isa_note"] == "n"
    assert fields["isa"]["k"]["limited_by"] == "lds"
    assert fields["isa"]["k"]["hints"] == [{"subject": "spills", "line": 3, "what": "w", "why": "y", "advice": "a"}]


def test_a_source_that_was_refused_shows_its_report_in_the_last_frame() -> None:
    refused = run_event_pb2.Finished(verdict=run_event_pb2.VERDICT_COMPILE_ERROR, isa=REPORT)
    status, fields = end_frame(submission_pb2.RUN_MODE_FULL, scheduler_pb2.JOB_STATE_FINISHED, refused)
    assert status == "COMPILE_ERROR"
    assert fields["isa"]["k"]["vgpr"] == 8
    assert (
        "isa"
        not in end_frame(submission_pb2.RUN_MODE_FULL, scheduler_pb2.JOB_STATE_FINISHED, run_event_pb2.Finished())[1]
    )
