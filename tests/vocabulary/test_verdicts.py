"""Every front end's display of every mode and verdict, including numbers of newer programs and UNSPECIFIED."""

from __future__ import annotations

import re
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from wavepool.executor.v1.run_event_pb2 import VERDICT_ACCEPTED, Finished, Verdict
from wavepool.scheduler.v1 import scheduler_pb2
from wavepool.submission.v1.submission_pb2 import RunMode

from gateway.submissions.frames import frame_of
from gateway.submissions.run_frames import Setting
from gateway.submissions.verdicts import final_status
from gateway.submissions.views import submission_detail_of
from gateway.words.enum_names import mode_name, verdict_name
from services.executor.core.check.run_verdict import Progress
from services.executor.core.commands import bench
from services.executor.core.model.failure import Failure
from services.executor.core.model.job import CoreJob
from services.executor.core.model.verdict import Verdict as JudgesVerdict
from services.scheduler.jobs import outcome
from services.scheduler.jobs.states import JobState
from services.scheduler.wire import messages as wire
from submissions.modes import Mode
from tests.gateway.job_events import ended
from vocabulary.verdicts import (
    NOT_ABOUT_THE_SUBMISSION,
    STATUS_OF_ACCEPTED_MODE,
    STATUS_OF_SANDBOX_VERDICT,
    STATUS_OF_VERDICT,
    SUCCESSES,
    status_of,
)
from wavepool_client.exit_codes import ExitCode
from wavepool_client.http.event_stream import Event
from wavepool_client.outcome import Result, result_of, result_of_submission

WEB = Path(__file__).parents[2] / "web"
UNKNOWN_TO_US = 99
MODES = [*RunMode.values(), UNKNOWN_TO_US]
VERDICTS = [*Verdict.values(), UNKNOWN_TO_US]
EVERY = [*product(MODES, VERDICTS)]
NAMES = {name.removeprefix("VERDICT_") for name in Verdict.keys()}  # noqa: SIM118 - an enum wrapper, no dict
STATUSES = {*SUCCESSES, *STATUS_OF_VERDICT.values(), *STATUS_OF_SANDBOX_VERDICT.values(), "FAILED"}


def shown_in_the_stream(mode: int, verdict: int) -> tuple[str, dict[str, Any]]:
    """The last event's name and data, as the gateway sends them to the page, the command and scripts."""
    frame = frame_of(ended(1, Finished(verdict=verdict)), Setting(mode))  # type: ignore[arg-type]
    assert frame is not None
    return frame.status, {"id": "job_1", **frame.fields}


def shown_of_the_submission(mode: int, verdict: int) -> dict[str, Any]:
    """The submission as the gateway returns it later."""
    job = scheduler_pb2.Job(job_id="job_1", state=scheduler_pb2.JOB_STATE_FINISHED, verdict=verdict)  # type: ignore[arg-type]
    job.spec.submission.mode = mode  # type: ignore[assignment]
    job.result.verdict = verdict  # type: ignore[assignment]
    job.end_time.GetCurrentTime()
    return submission_detail_of(job).model_dump(mode="json")


def shown_by_the_command(mode: int, verdict: int) -> list[Result]:
    """The results that the command and the Python client derive from the stream, and later from the submission."""
    status, data = shown_in_the_stream(mode, verdict)
    later = result_of_submission(shown_of_the_submission(mode, verdict))
    assert later is not None
    return [result_of("job_1", [Event(1, status, data)]), later]


def test_stream_submission_and_command_show_one_status() -> None:
    shown = {
        (mode, verdict): {
            shown_in_the_stream(mode, verdict)[0],
            shown_of_the_submission(mode, verdict)["status"],
            *(result.status for result in shown_by_the_command(mode, verdict)),
        }
        for mode, verdict in EVERY
    }
    assert shown == {(mode, verdict): {status_of(verdict_name(verdict), mode_name(mode))} for mode, verdict in EVERY}


def test_the_judge_says_the_status_that_front_ends_show() -> None:
    def said(mode: Mode, verdict: JudgesVerdict) -> str:
        failure = None if verdict is JudgesVerdict.ACCEPTED else Failure(verdict, "Why.")
        return Progress(CoreJob("", mode), lambda _: None).finished(failure).status

    def shown(mode: Mode, verdict: JudgesVerdict) -> str:
        number = Verdict.Value(f"VERDICT_{verdict}")
        return shown_in_the_stream(RunMode.Value(f"RUN_MODE_{mode.name}"), number)[0]

    runs = [*product(Mode, JudgesVerdict)]
    assert {run: said(*run) for run in runs} == {run: shown(*run) for run in runs}


def test_a_success_is_shown_for_accepted_alone() -> None:
    for mode, verdict in EVERY:
        successes = {
            shown_in_the_stream(mode, verdict)[0] in SUCCESSES,
            *(result.accepted for result in shown_by_the_command(mode, verdict)),
            *(result.exit_code is ExitCode.ACCEPTED for result in shown_by_the_command(mode, verdict)),
        }
        assert successes == {verdict == VERDICT_ACCEPTED}, (mode, verdict)


def test_of_a_sample_alone_the_exit_status_says_so() -> None:
    results = shown_by_the_command(RunMode.Value("RUN_MODE_FULL"), Verdict.Value("VERDICT_SAMPLE_ONLY"))
    assert {result.exit_code for result in results} == {ExitCode.SAMPLE_ONLY} == {bench.SAMPLE_ONLY}


def test_what_the_scheduler_finishes_is_what_the_command_blames_on_the_submission() -> None:
    for mode, verdict in EVERY:
        name = wire.verdict_name(verdict)
        ending = outcome.ending_of(name, cancel_requested=name == "CANCELLED")
        blamed_on_us = {result.exit_code is ExitCode.UNAVAILABLE for result in shown_by_the_command(mode, verdict)}
        assert blamed_on_us == {ending is None}, (mode, verdict)
        assert (ending is JobState.CANCELLED) == (name == "CANCELLED"), (mode, verdict)


@pytest.mark.parametrize(
    ("mode", "verdict", "status"),
    [
        ("sandbox", "LAUNCH_ERROR", "SANDBOX_ERROR"),
        ("sandbox", "MEMORY_LIMIT_EXCEEDED", "SANDBOX_ERROR"),
        ("sandbox", "COMPILE_LIMIT", "COMPILE_ERROR"),
        ("sandbox", "INFRA_ERROR", "ERROR"),
        ("full", "LAUNCH_ERROR", "RUNTIME_ERROR"),
        ("sample", "PRECISION", "FAILED"),
        ("sample", "RUNTIME_ERROR", "RUNTIME_ERROR"),
        ("check", "TIMING_INVALID", "ERROR"),
        ("full", "UNSPECIFIED", "ERROR"),
        ("full", "UNKNOWN_99", "ERROR"),
        ("unknown_99", "WRONG_ANSWER", "WRONG_ANSWER"),
    ],
)
def test_statuses_that_are_easily_mistaken(mode: str, verdict: str, status: str) -> None:
    assert status_of(verdict, mode) == status


def test_the_state_of_a_job_outranks_the_verdict_that_came_before_it() -> None:
    full = RunMode.Value("RUN_MODE_FULL")
    assert final_status(full, scheduler_pb2.JOB_STATE_CANCELLED, VERDICT_ACCEPTED) == "CANCELLED"
    assert final_status(full, scheduler_pb2.JOB_STATE_FAILED, VERDICT_ACCEPTED) == "ERROR"


def test_the_table_has_every_verdict_and_mode_of_the_protos_and_no_other() -> None:
    assert set(STATUS_OF_VERDICT) | {"ACCEPTED"} == NAMES
    assert set(STATUS_OF_ACCEPTED_MODE) == {mode_name(mode) for mode in RunMode.values() if mode}
    assert set(STATUS_OF_ACCEPTED_MODE) == set(Mode)
    assert STATUS_OF_SANDBOX_VERDICT.keys() | NOT_ABOUT_THE_SUBMISSION <= NAMES


def test_a_judge_ends_with_every_verdict_but_those_that_only_readers_know() -> None:
    assert set(JudgesVerdict) == NAMES - {"UNSPECIFIED", "UNSTABLE"}


def test_the_page_has_a_title_for_every_status_and_calls_the_same_ones_good() -> None:
    verdicts = (WEB / "src" / "run" / "verdicts.ts").read_text()
    titles = re.search(r"const TITLES: Record<string, string> = \{(.*?)\n\};", verdicts, re.DOTALL)
    good = re.search(r"const GOOD = new Set\(\[(.*?)\]\)", verdicts)
    assert titles
    assert good
    assert set(re.findall(r"^  (\w+):", titles[1], re.MULTILINE)) >= STATUSES
    assert set(re.findall(r"\w+", good[1])) == SUCCESSES
