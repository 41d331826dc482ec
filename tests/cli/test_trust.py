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
        ({"timing": "UNSTABLE", "shown_interval": 0.213}, "UNSTABLE ± 21 %"),
        ({"timing": "VALID", "shown_interval": 0.99}, "UNSTABLE ± 99 %"),
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
    assert "2 ms" in narrate(Event(2, "BENCHMARKED", timed))
    assert "2 ms" in line
    for doubt in ({"timing": "UNPROVEN"}, {"timing": "UNSTABLE", "unproven_because": "a case is not"}, {"timing": "X"}):
        shown = narrate(Event(1, "BENCHMARK_RESULT", {"result": case | {"gflops": 2.0} | doubt, "total_tests": 4}))
        ends = [narrate(Event(2, name, timed | doubt)) for name in ("BENCHMARKED", "ACCEPTED")]
        assert all("no time that is proven" in one and "2 " not in one for one in (shown, *ends))
    whole = {"avg_runtime_ms": 2.0, "timing": "INVALID", "converged": False, "simulated": True}
    assert narrate(Event(2, "BENCHMARKED", whole)).endswith("(timing INVALID, not converged, simulated)")
