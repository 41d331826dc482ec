"""The stages of a submission are read from the logs, and add up to the total time that its client saw."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from benchmarks.submission_stages import RUN_BEGINS, Measured, Span, spans_by_request, stages_of, table

START_MS = datetime(2026, 11, 21, 12, tzinfo=UTC).timestamp() * 1e3


def line(name: str, end_ms: float, duration_ms: float | None, request_id: str = "r1") -> str:
    """A log line in the form in which a service logs a call, or the executor the beginning of a run."""
    time = datetime.fromtimestamp((START_MS + end_ms) / 1e3, UTC).isoformat(timespec="milliseconds")
    if duration_ms is None:
        return json.dumps({"time": time, "message": name, "request_id": request_id, "mode": "check"})
    said = {"message": "rpc", "method": f"/wavepool.some.v1.SomeService/{name}", "duration_ms": duration_ms}
    return json.dumps({"time": time, **said, "request_id": request_id})


LOG = [
    line("POST", 30, 29),
    line("SubmitJob", 28, 25),
    line("ReserveCredit", 16, 7),
    line("AcquireLease", 37, 6),
    line(RUN_BEGINS, 47, None),
    line("Run", 95, 50),
    line("SettleCharge", 108, 6),
]
MEASURED = Measured("r1", START_MS, START_MS + 60, START_MS + 115)


def test_calls_are_found_by_request_and_name_among_other_lines() -> None:
    others = ["not JSON", '{"message": "serving"}', line("GetJob", 5, 1), line("Run", 500, 1, "r2")]
    spans = spans_by_request([*others, *LOG])

    assert set(spans) == {"r1", "r2"}
    assert spans["r1"]["ReserveCredit"] == Span(START_MS + 9, START_MS + 16)
    assert spans["r1"][RUN_BEGINS].end_ms == START_MS + 47


def test_stages_add_up_to_what_the_client_saw() -> None:
    stages = stages_of(MEASURED, spans_by_request(LOG)["r1"])

    assert sum(stages.values()) == pytest.approx(MEASURED.end_ms - MEASURED.begin_ms)
    assert stages["billing holds"] == pytest.approx(7)
    assert stages["judge, to the first instruction"] == pytest.approx(13)
    assert stages["last event, to the client"] == pytest.approx(7)


def test_a_call_that_was_not_logged_is_missed() -> None:
    with pytest.raises(KeyError, match="Run"):
        stages_of(MEASURED, spans_by_request(LOG[:5])["r1"])


def test_the_table_has_every_stage_in_order() -> None:
    stages = stages_of(MEASURED, spans_by_request(LOG)["r1"])

    assert [row[:34].strip() for row in table([stages, stages]).splitlines()[1:]] == list(stages)
