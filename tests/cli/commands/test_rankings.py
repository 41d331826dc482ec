from __future__ import annotations

from typing import Any

from tests.cli.conftest import Answer, ScriptedGateway
from tests.cli.invocation import wavepool

RANKINGS, COMPARISONS = "/api/v1/rankings", "/api/v1/comparisons"
ADA: dict[str, Any] = {
    "rank": 1,
    "user": "ada",
    "is_you": False,
    "submission_id": None,
    "runtime_ms": 0.05345,
    "runtime_interval": 0.79,
    "gflops": 1234.56,
    "end_time": "2026-11-25T10:00:00Z",
    "timings": 3,
}
YOU: dict[str, Any] = {
    **ADA,
    "rank": 9,
    "user": "bob",
    "is_you": True,
    "submission_id": "job_1",
    "runtime_ms": 4.0,
    "runtime_interval": None,
}
FOUND: dict[str, Any] = {
    "problem": "relu",
    "gpu_type": "MI300X",
    "dtype": "float32",
    "timing_mode": "cold",
    "ranked": True,
    "users": 9,
    "rankings": [ADA],
    "you": YOU,
}
COMPARED: dict[str, Any] = {
    "base": "job_1",
    "other": "job_2",
    "verdict": "FASTER",
    "reason": "It is 1.500 times as fast.",
    "speedup": 1.5,
    "speedup_low": 1.4,
    "speedup_high": 1.6,
    "cases": [
        {
            "name": "n = 2^20",
            "base_runtime_ms": 3.0,
            "other_runtime_ms": 2.0,
            "speedup": 1.5,
            "speedup_low": 1.4,
            "speedup_high": 1.6,
        }
    ],
}


def test_the_leaderboard_has_the_fastest_and_ones_own_place(gateway: ScriptedGateway) -> None:
    gateway.on("GET", RANKINGS, Answer(FOUND))
    words = ("leaderboard", "relu", "--gpu", "mi300x", "--timing", "cold", "--limit", "1")
    out = wavepool(*words, "--endpoint", gateway.endpoint).out
    assert "relu, float32, MI300X, cold: 9 users have a time." in out
    lines = [line.split() for line in out.splitlines()]
    assert ["1", "ada", "53", "±", "42", "µs", "1,234.6", "2026-11-25", "3", "-"] in lines
    assert any(line[:3] == ["9", "bob", "(you)"] and line[-1] == "job_1" for line in lines)
    assert wavepool(*words, "--json", "--endpoint", gateway.endpoint).json == FOUND


def test_an_empty_leaderboard_says_what_counts(gateway: ScriptedGateway) -> None:
    gateway.on("GET", RANKINGS, Answer({**FOUND, "users": 0, "rankings": [], "you": None}))
    assert "Only VALID times count" in wavepool("leaderboard", "relu", "--endpoint", gateway.endpoint).out


def test_times_of_the_cpu_device_are_shown_without_ranks(gateway: ScriptedGateway) -> None:
    unranked = {**FOUND, "gpu_type": "cpu", "ranked": False, "you": None, "rankings": [{**ADA, "rank": None}]}
    gateway.on("GET", RANKINGS, Answer(unranked))
    out = wavepool("leaderboard", "relu", "--gpu", "cpu", "--endpoint", gateway.endpoint).out
    assert "do not rank" in out
    assert "-     ada" in out


def test_two_submissions_are_compared_case_by_case(gateway: ScriptedGateway) -> None:
    gateway.on("GET", COMPARISONS, Answer(COMPARED))
    out = wavepool("compare", "job_1", "job_2", "--endpoint", gateway.endpoint).out
    assert "It is 1.500 times as fast." in out
    assert "1.400 to 1.600" in out
    assert wavepool("compare", "job_1", "job_2", "--json", "--endpoint", gateway.endpoint).json == COMPARED


def test_what_cannot_be_compared_is_said_with_the_reason(gateway: ScriptedGateway) -> None:
    gateway.on("GET", COMPARISONS, Answer({"detail": "They are of different problems."}, status=409))
    said = wavepool("compare", "job_1", "job_2", "--endpoint", gateway.endpoint)
    assert said.status != 0
    assert "They are of different problems." in said.err
