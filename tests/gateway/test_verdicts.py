from __future__ import annotations

import pytest
from wavepool.executor.v1 import executor_pb2, run_event_pb2
from wavepool.executor.v1.run_event_pb2 import Verdict
from wavepool.scheduler.v1 import scheduler_pb2

from gateway.verdicts import STATUS_OF_VERDICT, final_status

FINISHED = scheduler_pb2.JOB_STATE_FINISHED
SEED_STATUSES = {
    "COMPILE_ERROR",
    "WRONG_ANSWER",
    "RUNTIME_ERROR",
    "TIME_LIMIT_EXCEEDED",
    "MEMORY_LIMIT_EXCEEDED",
    "ERROR",
    "CANCELLED",
}
SUCCESSES = {"ACCEPTED", "CHECKED", "BENCHMARKED", "PASSED", "SANDBOX_SUCCESS"}


def test_every_verdict_of_the_proto_is_in_the_table() -> None:
    others = {run_event_pb2.VERDICT_UNSPECIFIED, run_event_pb2.VERDICT_ACCEPTED}
    assert set(STATUS_OF_VERDICT) == set(Verdict.values()) - others
    assert set(STATUS_OF_VERDICT.values()) == SEED_STATUSES


@pytest.mark.parametrize("mode", executor_pb2.RunMode.values())
def test_only_accepted_ever_looks_like_a_success(mode: int) -> None:
    for verdict in [*Verdict.values(), 99]:
        is_success = final_status(mode, FINISHED, verdict) in SUCCESSES
        assert is_success == (verdict == run_event_pb2.VERDICT_ACCEPTED)


@pytest.mark.parametrize(
    ("verdict", "status"),
    [
        (run_event_pb2.VERDICT_RUNTIME_ERROR, "SANDBOX_ERROR"),
        (run_event_pb2.VERDICT_TIME_LIMIT_EXCEEDED, "SANDBOX_TIMEOUT"),
        (run_event_pb2.VERDICT_OUTPUT_LIMIT_EXCEEDED, "SANDBOX_OUTPUT_LIMIT"),
        (run_event_pb2.VERDICT_COMPILE_ERROR, "COMPILE_ERROR"),
        (run_event_pb2.VERDICT_INFRA_ERROR, "ERROR"),
    ],
)
def test_sandbox_has_its_own_words_for_how_a_program_ended(verdict: int, status: str) -> None:
    assert final_status(executor_pb2.RUN_MODE_SANDBOX, FINISHED, verdict) == status


def test_wrong_sample_is_failed() -> None:
    assert final_status(executor_pb2.RUN_MODE_SAMPLE, FINISHED, run_event_pb2.VERDICT_WRONG_ANSWER) == "FAILED"
    assert final_status(executor_pb2.RUN_MODE_SAMPLE, FINISHED, run_event_pb2.VERDICT_PRECISION) == "FAILED"


def test_state_outranks_the_verdict_that_came_before_it() -> None:
    accepted, mode = run_event_pb2.VERDICT_ACCEPTED, executor_pb2.RUN_MODE_FULL
    assert final_status(mode, scheduler_pb2.JOB_STATE_CANCELLED, accepted) == "CANCELLED"
    assert final_status(mode, scheduler_pb2.JOB_STATE_FAILED, accepted) == "ERROR"
