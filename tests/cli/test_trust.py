from __future__ import annotations

from typing import Any

import pytest

from cli.event_stream import Event
from cli.narration import narrate
from cli.report import doubts_of, trust_of


@pytest.mark.parametrize(
    ("entry", "trust"),
    [
        ({"timing": "VALID", "converged": True}, "converged"),
        ({"timing": "VALID", "converged": False}, "not converged"),
        ({"timing": "VALID", "converged": True, "audit_inconclusive_because": "busy"}, "converged, audit inconclusive"),
        ({"timing": "UNSTABLE", "converged": True}, "UNSTABLE"),
        ({"timing": "INVALID", "converged": False}, "INVALID"),
        ({}, "converged"),
    ],
)
def test_a_time_is_shown_with_what_it_is_worth(entry: dict[str, Any], trust: str) -> None:
    assert trust_of(entry) == trust


def test_an_inconclusive_audit_is_told_with_its_case() -> None:
    entries = [{"name": "a"}, {"name": "b", "audit_inconclusive_because": "busy"}, {"audit_inconclusive_because": None}]
    assert doubts_of(entries) == [("b", "busy")]


def test_live_lines_tell_what_cannot_be_ranked() -> None:
    case = {"test_id": 1, "name": "small", "runtime_ms": 2.0, "timing": "UNSTABLE", "converged": False}
    line = narrate(Event(1, "BENCHMARK_RESULT", {"result": case, "total_tests": 4}))
    assert line.endswith("timing UNSTABLE, not converged")
    timed = {"avg_runtime_ms": 2.0, "timing": "VALID", "converged": True, "timing_mode": "cold"}
    assert narrate(Event(2, "BENCHMARKED", timed)).endswith("(cold)")
    unseen = {**timed, "flush_verified": False}
    assert narrate(Event(2, "BENCHMARKED", unseen)).endswith("(cold, caches not seen to be empty)")
    whole = {"avg_runtime_ms": 2.0, "timing": "INVALID", "converged": False, "simulated": True}
    assert narrate(Event(2, "BENCHMARKED", whole)).endswith("(timing INVALID, not converged, simulated)")
