from __future__ import annotations

from typing import Any

import pytest

from wavepool_client.http.event_stream import Event
from wavepool_client.terminal.result_printing import trust_of
from wavepool_client.text.narration import narrate


@pytest.mark.parametrize(
    ("entry", "trust"),
    [
        ({"timing": "VALID", "converged": True}, "VALID"),
        ({"timing": "VALID", "converged": False}, "VALID, not converged"),
        (
            {"timing": "VALID", "converged": False, "stopped_by": "out_of_reach"},
            "VALID, not converged (out of reach)",
        ),
        ({"timing": "VALID", "shown_interval": 0.213}, "± 21 %"),
        ({"timing": "VALID", "shown_interval": 13.05}, "over ± 100 %"),
        ({"timing": "UNPROVEN", "shown_interval": 0.213}, "UNPROVEN"),
        ({"timing": "UNSTABLE", "converged": True}, "UNSTABLE"),
        ({"timing": "INVALID", "converged": False}, "INVALID, not converged"),
        ({"timing": "UNKNOWN_9"}, "UNKNOWN_9"),
        ({}, ""),
    ],
)
def test_a_time_is_shown_with_what_it_is_worth(entry: dict[str, Any], trust: str) -> None:
    assert trust_of(entry) == trust


def test_live_lines_tell_what_cannot_be_ranked() -> None:
    case = {"test_id": 1, "name": "small", "runtime_ms": 2.0, "timing": "UNSTABLE", "converged": False}
    line = narrate(Event(1, "BENCHMARK_RESULT", {"result": case, "total_tests": 4}))
    assert line.endswith("timing UNSTABLE, not converged")
    timed = {"avg_runtime_ms": 2.0, "timing": "VALID", "converged": True, "timing_mode": "cold"}
    assert narrate(Event(2, "BENCHMARKED", timed)).endswith("(cold, timing VALID)")
    unseen = {**timed, "flush_verified": False}
    assert narrate(Event(2, "BENCHMARKED", unseen)).endswith("(cold, caches not seen to be empty, timing VALID)")
    whole = {"avg_runtime_ms": 2.0, "timing": "INVALID", "converged": False, "simulated": True}
    assert narrate(Event(2, "BENCHMARKED", whole)).endswith("(timing INVALID, not converged, simulated)")
