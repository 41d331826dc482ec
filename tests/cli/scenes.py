"""Submissions as a gateway reports them, for tests that script its answers."""

from __future__ import annotations

from typing import Any

from tests.cli.conftest import Answer, ScriptedGateway, Stream

JOB = "job_01J"
SUBMISSIONS = "/api/v1/submissions"
EVENTS = f"{SUBMISSIONS}/{JOB}/events"

OPENING: list[tuple[int, dict[str, Any]]] = [
    (1, {"status": "IN_QUEUE", "id": JOB, "position": 1}),
    (2, {"status": "COMPILING", "toolchain": "clang 22"}),
    (3, {"status": "COMPILED", "warnings": "", "duration_ms": 412.0}),
    (4, {"status": "CHECKING", "total_tests": 2}),
]
ACCEPTED: list[tuple[int, dict[str, Any]]] = [
    *OPENING,
    (5, {"status": "TEST_RESULT", "result": {"test_id": 1, "name": "2x2", "status": "PASSED"}, "total_tests": 2}),
    (
        6,
        {
            "status": "ACCEPTED",
            "verdict": "ACCEPTED",
            "message": "All tests passed.",
            "avg_runtime_ms": 0.25,
            "avg_gflops": 1.5,
            "cost_usd": 0.0001,
            "passed_tests": 2,
            "total_tests": 2,
            "device": "cpu",
            "benchmark_results": [{"test_id": 1, "name": "2x2", "runtime_ms": 0.25, "gflops": 1.5}],
        },
    ),
]


def ending(status: str, **fields: Any) -> list[tuple[int, dict[str, Any]]]:
    return [*OPENING, (5, {"status": status, "verdict": status, "message": "the reason", **fields})]


def scripted(gateway: ScriptedGateway, *streams: Stream, state: str = "FINISHED") -> ScriptedGateway:
    """A gateway that takes one submission and answers its event streams one after the other."""
    gateway.on("POST", SUBMISSIONS, Answer({"id": JOB, "state": "QUEUED"}, 201))
    gateway.on("GET", f"{SUBMISSIONS}/{JOB}", Answer({"id": JOB, "state": state}))
    return gateway.on("GET", EVENTS, *streams)
