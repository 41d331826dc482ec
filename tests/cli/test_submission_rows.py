from __future__ import annotations

from typing import Any

import pytest

from wavepool_client.text.start_times import time_text
from wavepool_client.text.submission_rows import submission_rows

JOB: dict[str, Any] = {
    "id": "job_1",
    "problem": "relu",
    "fallback_gpu_types": ["MI250X", "MI210"],
    "code": "a long text",
    "launch_plan": {"launches": []},
    "problem_def": "",
    "state": "FINISHED",
    "message": "All right.",
    "create_time": "2026-11-21T17:00:00.000000Z",
    "start_time": "2026-11-21T17:00:00.031000Z",
    "end_time": "2026-11-21T17:00:04.931000Z",
    "cost_usd": 8e-06,
    "billable_seconds": 4.875,
    "result": {"message": "All right."},
}


def test_a_submission_is_printed_with_its_times_and_its_cost_in_dollars() -> None:
    rows = dict(submission_rows(JOB))
    assert (rows["waited"], rows["took"], rows["cost"]) == ("31 ms", "4.9 s", "$0.000008 for 4.88 s")
    assert rows["end_time"] == time_text(JOB["end_time"])
    assert (rows["fallback_gpu_types"], rows["extras"]) == ("MI250X, MI210", "launch_plan")


def test_what_the_result_says_again_and_what_is_not_known_has_no_row() -> None:
    rows = dict(submission_rows(JOB))
    assert {"message", "code", "status", "end", "problem_def"}.isdisjoint(rows)
    assert dict(submission_rows({**JOB, "result": None}))["message"] == "All right."


def test_a_submission_that_waits_has_no_times_yet() -> None:
    rows = dict(submission_rows({**JOB, "start_time": None, "end_time": None, "result": None}))
    assert {"waited", "took"}.isdisjoint(rows)


@pytest.mark.parametrize(
    ("resources", "text"),
    [
        ({"gpus": 1, "fraction": None, "devices": None, "isolation": "exclusive"}, None),
        ({"gpus": 4, "fraction": None, "devices": None, "isolation": "exclusive"}, "4 GPUs"),
        ({"gpus": 1, "fraction": None, "devices": 8, "isolation": "exclusive"}, "1 GPU as 8 devices"),
        ({"gpus": None, "fraction": 0.5, "devices": 1, "isolation": "partition"}, "0.5 GPU (partition) as 1 device"),
        ("something new", None),
    ],
)
def test_what_it_takes_is_printed_unless_that_is_one_whole_gpu(resources: object, text: str | None) -> None:
    assert dict(submission_rows({**JOB, "resources": resources})).get("resources") == text
