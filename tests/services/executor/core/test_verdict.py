from __future__ import annotations

import pytest

from services.executor.core.job import Mode
from services.executor.core.verdict import Verdict, status_of

KNOWN = {
    "CHECKED", "BENCHMARKED", "ACCEPTED", "PASSED", "FAILED", "COMPILE_ERROR", "RUNTIME_ERROR", "WRONG_ANSWER",
    "TIME_LIMIT_EXCEEDED", "MEMORY_LIMIT_EXCEEDED", "ERROR", "CANCELLED",
    "SANDBOX_SUCCESS", "SANDBOX_ERROR", "SANDBOX_TIMEOUT", "SANDBOX_OUTPUT_LIMIT",
}  # fmt: skip


@pytest.mark.parametrize("mode", Mode)
@pytest.mark.parametrize("verdict", Verdict)
def test_every_verdict_has_a_status_that_front_ends_know(verdict: Verdict, mode: Mode) -> None:
    assert status_of(verdict, mode) in KNOWN


@pytest.mark.parametrize(
    ("verdict", "mode", "status"),
    [
        (Verdict.ACCEPTED, Mode.CHECK, "CHECKED"),
        (Verdict.ACCEPTED, Mode.FULL, "ACCEPTED"),
        (Verdict.ACCEPTED, Mode.SANDBOX, "SANDBOX_SUCCESS"),
        (Verdict.WRONG_ANSWER, Mode.SAMPLE, "FAILED"),
        (Verdict.OUT_OF_BOUNDS, Mode.FULL, "WRONG_ANSWER"),
        (Verdict.RUNTIME_ERROR, Mode.SAMPLE, "RUNTIME_ERROR"),
        (Verdict.TIME_LIMIT_EXCEEDED, Mode.SANDBOX, "SANDBOX_TIMEOUT"),
        (Verdict.OUTPUT_LIMIT_EXCEEDED, Mode.SANDBOX, "SANDBOX_OUTPUT_LIMIT"),
        (Verdict.COMPILE_LIMIT, Mode.SANDBOX, "COMPILE_ERROR"),
        (Verdict.INFRA_ERROR, Mode.FULL, "ERROR"),
    ],
)
def test_the_status_depends_on_the_mode_where_it_should(verdict: Verdict, mode: Mode, status: str) -> None:
    assert status_of(verdict, mode) == status
