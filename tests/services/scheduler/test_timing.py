from __future__ import annotations

from typing import Any

import pytest
from wavepool.executor.v1 import run_event_pb2
from wavepool.submission.v1.submission_pb2 import RUN_MODE_BENCHMARK, RUN_MODE_CHECK

from services.scheduler.jobs.timing import RankingKey, default_timing_mode, proven_time
from submissions.modes import TimingMode
from tests.services.scheduler.timed_jobs import timed_job


def test_an_accepted_full_run_with_a_valid_time_counts() -> None:
    job = timed_job(mean_runtime_ns=1234.5, mean_gflops=7.0, machine_gpu_type="MI210", timing_mode="hot")
    found = proven_time(job)
    assert found is not None
    assert found.key == RankingKey("leaky-relu", "MI210", "float32", "hot")
    assert (found.job_id, found.user_id, found.runtime_ns, found.gflops) == (job.job_id, "ada", 1234.5, 7.0)
    assert found.end_time == job.end_time


@pytest.mark.parametrize(
    "change",
    [
        {"timing": run_event_pb2.TIMING_UNPROVEN},
        {"timing": run_event_pb2.TIMING_UNSTABLE},
        {"timing": run_event_pb2.TIMING_UNSTABLE, "device": "cpu"},
        {"timing": run_event_pb2.TIMING_UNSTABLE, "shown_interval": 0.2},
        {"timing": run_event_pb2.TIMING_UNSTABLE, "device": "cpu", "shown_interval": 0.2, "unproven_because": "a case"},
        {"timing": run_event_pb2.TIMING_INVALID},
        {"timing": 99},
        {"simulated": True},
        {"verdict": "WRONG_ANSWER"},
        {"mode": RUN_MODE_CHECK},
        {"mode": RUN_MODE_BENCHMARK},
        {"has_definition": True},
        {"user_id": ""},
        {"mean_runtime_ns": 0.0},
        {"mean_runtime_ns": float("nan")},
        {"mean_runtime_ns": float("inf")},
    ],
)
def test_what_is_not_proven_does_not_count(change: dict[str, Any]) -> None:
    assert proven_time(timed_job(**change)) is None


def test_times_of_the_cpu_device_are_apart() -> None:
    wide: dict[str, Any] = {"timing": run_event_pb2.TIMING_UNSTABLE, "shown_interval": 0.2}
    for change in ({}, wide):
        found = proven_time(timed_job(device="cpu", timing_mode="hot", **change))
        assert found is not None
        assert found.key.hardware == "cpu"


def test_a_ranking_shows_the_devices_own_timing_mode_unless_it_is_asked_for_another() -> None:
    assert [default_timing_mode(hardware) for hardware in ("MI300X", "cpu")] == [TimingMode.COLD, TimingMode.HOT]
