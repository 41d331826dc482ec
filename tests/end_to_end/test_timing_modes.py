"""Timing modes over real HTTP, through every process to the judge and back."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from tests.end_to_end.wavepool_processes import Wavepool, reference

PROBLEM = "leaky-relu"


@pytest.mark.parametrize(
    ("asked", "timed"),
    [({}, "hot"), ({"timing": "cold"}, "cold"), ({"timing": "first-call"}, "first-call")],
    ids=["by-default", "cold", "first-call"],
)
def test_calls_are_timed_as_asked_and_every_step_says_so(wavepool: Wavepool, asked: dict[str, str], timed: str) -> None:
    job_id = wavepool.submit(reference(PROBLEM), **asked)
    story = wavepool.story(job_id)
    assert story[-1].data["verdict"] == "ACCEPTED", story[-1]
    reported = {frame.event: frame.data for frame in story}
    assert reported["BENCHMARKING"]["timing_mode"] == timed
    assert reported["BENCHMARK_RESULT"]["result"]["timing_mode"] == timed
    assert bool(reported["BENCHMARK_RESULT"]["result"]["flush_bytes"]) == (timed == "cold")
    assert reported["BENCHMARKED"]["timing_mode"] == story[-1].data["timing_mode"] == timed
    job = wavepool.job(job_id)
    assert (job["timing"], job["result"]["timing_mode"]) == (asked.get("timing"), timed)
    assert _report(wavepool, job_id)["timing_mode"] == timed


def _report(wavepool: Wavepool, job_id: str) -> dict[str, Any]:
    envelope = wavepool.http.get(f"/api/v1/submissions/{job_id}/report").json()
    return json.loads(base64.b64decode(envelope["payload"]))["report"]
