"""Every kind of endpoint over real HTTP, with the frames as they come over the wire."""

from __future__ import annotations

import re
from statistics import median

import pytest

from tests.end_to_end.wavepool_processes import Frame, Wavepool, frames, kernel, reference

FRONT = r"(IN_QUEUE )+(PROVISIONING )*COMPILING COMPILED "
CHECKS = r"CHECKING (TEST_RESULT )+"
BENCHMARKS = r"(BENCHMARKING )+(BENCHMARK_RESULT )+"
ORDERS = {
    "checker": FRONT + CHECKS + "CHECKED ",
    "benchmark": FRONT + CHECKS + "CHECKED " + BENCHMARKS + "BENCHMARKED ",
    "full": FRONT + CHECKS + "CHECKED " + BENCHMARKS + "BENCHMARKED ACCEPTED ",
    "sample": r"(IN_QUEUE )+(PROVISIONING )*COMPILING (COMPILED )?PASSED ",
}


def submit_as_seed(wavepool: Wavepool, endpoint: str, source: str, problem: str = "leaky-relu") -> list[Frame]:
    body = {
        "solution_code": source,
        "problem": problem,
        "problem_def": "",
        "gpu_type": "MI300X",
        "dtype": "float32",
        "language": "hip",
        "endpoint": endpoint,
    }
    with wavepool.http.stream("POST", "/api/amd/submit", json=body) as response:
        assert response.status_code == 200
        assert response.headers["content-type"].startswith("text/event-stream")
        assert response.headers["cache-control"] == "no-cache, no-transform"
        assert response.headers["x-accel-buffering"] == "no"
        return [frame for frame in frames(response) if frame.event != "heartbeat"]


def statuses(story: list[Frame]) -> str:
    return "".join(f"{frame.event} " for frame in story)


@pytest.mark.parametrize("endpoint", ORDERS)
def test_each_endpoint_tells_its_steps_in_order(wavepool: Wavepool, endpoint: str) -> None:
    story = submit_as_seed(wavepool, endpoint, reference("leaky-relu"))
    assert re.fullmatch(ORDERS[endpoint], statuses(story)), statuses(story)


def test_every_frame_has_its_status_twice_and_an_id_that_grows(wavepool: Wavepool) -> None:
    story = submit_as_seed(wavepool, "checker", reference("leaky-relu"))
    assert all(frame.event == frame.data["status"] for frame in story)
    ids = [int(frame.id) for frame in story]
    assert ids == sorted(set(ids))
    assert story[0].retry == "2000"


def test_a_program_streams_its_output_and_its_return_code(wavepool: Wavepool) -> None:
    story = submit_as_seed(wavepool, "sandbox", kernel("hello"), problem="")
    assert "SANDBOX_RUNNING" in statuses(story)
    lines = {(frame.data["stream"], frame.data["line"]) for frame in story if frame.event == "SANDBOX_OUTPUT"}
    assert lines == {("stdout", "1 4 9 16"), ("stderr", "done")}
    assert story[-1].data["return_code"] == 3
    assert story[-1].data["stdout"] == "1 4 9 16\n"


def test_an_accepted_submission_reports_times_and_costs(wavepool: Wavepool) -> None:
    story = submit_as_seed(wavepool, "full", reference("vector-addition"), "vector-addition")
    results = [frame.data["result"] for frame in story if frame.event == "BENCHMARK_RESULT"]
    assert all(result["runtime_ms"] > 0 for result in results)
    assert all(result["gbytes_per_second"] > 0 for result in results)
    final = story[-1].data
    assert final["avg_runtime_ms"] > 0
    assert len(final["benchmark_results"]) == len(results)
    cases = wavepool.http.get(f"/api/v1/submissions/{final['submission_id']}/samples").json()["cases"]
    assert [case["test_id"] for case in cases] == [result["test_id"] for result in results]
    for case, result in zip(cases, results, strict=True):
        sessions = [session["samples_ms"] for session in case["sessions"]]
        assert [session["session"] for session in case["sessions"]] == list(range(1, len(sessions) + 1))
        assert [median(samples) for samples in sessions] == pytest.approx(result["session_medians_ms"])
        assert sum(map(len, sessions)) == result["samples"]
        assert case["instruments"] == []


def test_a_wrong_kernel_is_shown_where_it_differs(wavepool: Wavepool) -> None:
    final = submit_as_seed(wavepool, "full", kernel("wrong_leaky_relu"))[-1]
    assert final.event == "WRONG_ANSWER"
    differences = final.data["debug_info"]["sample_differences"]
    assert differences
    for index, difference in differences.items():
        assert re.fullmatch(r"\(\d+(, \d+)*\)", index)
        assert difference["expected"] != difference["actual"]
    window, error_map = (final.data["debug_info"][name] for name in ("window", "map"))
    assert any(any(row) for row in window["wrong"])
    assert any(share for row in error_map["shares"] for share in row)
    statuses_of_tests = [test["status"] for test in final.data["test_results"]]
    assert statuses_of_tests[final.data["passed_tests"] :] == [
        "FAILED",
        *["NOT_RUN"] * (final.data["total_tests"] - final.data["passed_tests"] - 1),
    ]


def test_a_compile_error_carries_the_compilers_words_and_the_line(wavepool: Wavepool) -> None:
    final = submit_as_seed(wavepool, "checker", kernel("does_not_compile"))[-1]
    assert final.event == "COMPILE_ERROR"
    assert "undeclared_kernel" in final.data["details"]
    assert ":4:" in final.data["details"]


def test_a_stream_resumes_after_the_last_event_that_was_seen(wavepool: Wavepool) -> None:
    job_id = wavepool.submit(reference("leaky-relu"), "check")
    whole = wavepool.story(job_id)
    for position in range(len(whole) - 1):
        rest = wavepool.story(job_id, after=whole[position].id)
        assert [frame.id for frame in rest] == [frame.id for frame in whole[position + 1 :]]


def test_a_stream_cut_in_the_middle_resumes_live(wavepool: Wavepool) -> None:
    job_id = wavepool.submit(kernel("slow_leaky_relu"), "check")
    seen: list[Frame] = []
    with wavepool.following(job_id) as stream:
        for frame in stream:
            seen.append(frame)
            if frame.event == "CHECKING":
                break
    seen += wavepool.story(job_id, after=seen[-1].id)
    assert [(f.id, f.event) for f in seen] == [(f.id, f.event) for f in wavepool.story(job_id)]


def test_going_away_cancels_nothing(wavepool: Wavepool) -> None:
    job_id = wavepool.submit(kernel("slow_leaky_relu"), "check")
    wavepool.wait_for_status(job_id, "CHECKING")
    job = wavepool.ended(job_id)
    assert (job["state"], job["verdict"]) == ("FINISHED", "ACCEPTED")


def test_a_repeated_idempotency_key_gives_the_first_job(wavepool: Wavepool) -> None:
    body = {"problem": "relu", "code": reference("relu"), "mode": "check"}
    headers = {"Idempotency-Key": "the-same-key"}
    first, second = (wavepool.http.post("/api/v1/submissions", json=body, headers=headers).json() for _ in range(2))
    assert first["id"] == second["id"]
    wavepool.ended(first["id"])
    assert len(wavepool.charges(first["id"])) == 1
