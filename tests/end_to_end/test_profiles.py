"""A profile over real HTTP, through every process to the judge and back, on the cpu device."""

from __future__ import annotations

from tests.end_to_end.wavepool_processes import Wavepool, reference

PROBLEM = "leaky-relu"


def test_the_kernels_come_with_the_result_after_the_time(wavepool: Wavepool) -> None:
    job_id = wavepool.submit(reference(PROBLEM), profile=True)
    story = wavepool.story(job_id)
    last = story[-1].data
    assert last["verdict"] == "ACCEPTED", last
    names = [frame.event for frame in story]
    assert names.index("BENCHMARKED") < names.index("PROFILING") < len(names) - 1
    profile = last["profile"]
    assert (profile["outcome"], profile["clock"]) == ("MADE", "HOST"), profile
    [kernel] = profile["kernels"]
    assert kernel["calls"] == profile["solution_calls"] > 0
    assert 0 < kernel["min_ns"] <= kernel["mean_ns"] <= kernel["max_ns"]
    assert kernel["vgpr"] is None
    job = wavepool.job(job_id)
    assert (job["profile"], job["result"]["profile"]) == (True, profile)


def test_a_key_belongs_to_one_choice(wavepool: Wavepool) -> None:
    body = {"problem": PROBLEM, "code": "not even C", "mode": "check"}
    key = {"Idempotency-Key": "one-profile"}
    first = wavepool.http.post("/api/v1/submissions", json=body | {"profile": True}, headers=key)
    assert first.status_code == 202
    assert wavepool.http.post("/api/v1/submissions", json=body, headers=key).status_code == 409
    wavepool.ended(first.json()["id"])
    assert wavepool.job(first.json()["id"])["result"]["profile"]["note"] == "not made: the run ended with COMPILE_ERROR"
