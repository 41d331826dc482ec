"""Converts jobs and events to protos and back."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp
from wavepool.executor.v1 import run_event_pb2
from wavepool.scheduler.v1 import reservations_pb2, scheduler_pb2
from wavepool.submission.v1.submission_pb2 import Submission

from servicekit.rpc.proto_time import duration_to_proto, instant_to_proto
from services.scheduler.jobs.allowance import Allowance
from services.scheduler.jobs.errors import InvalidFieldError
from services.scheduler.jobs.estimate import WaitEstimate
from services.scheduler.jobs.job import Job, JobEvent
from services.scheduler.jobs.listing import JobFilter
from services.scheduler.jobs.reservation_states import ReservationState
from services.scheduler.jobs.resources import machine_use_to_proto, resources_to_proto
from services.scheduler.jobs.spec import JobSpec
from services.scheduler.jobs.states import UNSEEN_STATES, JobState
from services.scheduler.jobs.submission_checks import wrong_name
from submissions.modes import MODES
from submissions.visibility import VISIBILITIES, Visibility
from vocabulary.intervals import interval_of_mean
from vocabulary.names import none_of
from vocabulary.verdicts import FINAL_STATUSES

VERDICT_PREFIX = "VERDICT_"
STATE_PREFIX = "JOB_STATE_"
UNKNOWN_VERDICT = "UNSPECIFIED"

_STATES: dict[JobState, scheduler_pb2.JobState.ValueType] = {
    state: scheduler_pb2.JobState.Value(f"{STATE_PREFIX}{state.name}")
    for state in JobState
    if state not in UNSEEN_STATES
}
_STATES_BY_NUMBER: dict[int, JobState] = {number: state for state, number in _STATES.items()}
_RESERVATION_STATES: dict[ReservationState, reservations_pb2.ReservationState.ValueType] = {
    state: reservations_pb2.ReservationState.Value(f"RESERVATION_STATE_{state.name}") for state in ReservationState
}
_RESERVATION_STATES_BY_NUMBER: dict[int, ReservationState] = {
    number: state for state, number in _RESERVATION_STATES.items()
}
_ORDERS = {number: name.removeprefix("JOB_ORDER_") for name, number in scheduler_pb2.JobOrder.items()}
_VERDICT_NAMES: dict[int, str] = {
    number: name.removeprefix(VERDICT_PREFIX) for name, number in run_event_pb2.Verdict.items()
}


def job_to_proto(job: Job, whole: Submission | None = None) -> scheduler_pb2.Job:
    """The job as a proto; without `whole`, as in lists, its submission has no texts and its result only the figures."""
    message = scheduler_pb2.Job(
        job_id=job.job_id,
        account_id=job.account_id,
        user_id=job.user_id,
        spec=_spec_to_proto(job.spec, whole or job.spec.submission),
        state=state_to_proto(job.state),
        message=job.message,
        create_time=instant_to_proto(job.create_time),
        start_time=instant_to_proto(job.start_time),
        end_time=instant_to_proto(job.end_time),
        attempt=job.attempt,
        machine_id=job.machine_id,
        machine_gpu_type=job.machine_gpu_type,
        hardware=job.hardware,
        got_eighths=job.got_eighths,
        cost_micros=job.cost_micros,
        last_seq=job.last_seq,
        visibility=job.visibility.number,
    )
    if job.end_time is not None:
        message.verdict = verdict_to_proto(job.verdict)
        result = run_event_pb2.Finished.FromString(job.result)
        message.mean_interval = interval_of_mean(result.benchmarked.results)
        message.result.CopyFrom(result if whole else _figures(result))
    return message


def _figures(result: run_event_pb2.Finished) -> run_event_pb2.Finished:
    """The result without what grows with cases, samples and outputs: a list of 200 would be too large to send."""
    figures = run_event_pb2.Finished(
        verdict=result.verdict,
        message=result.message,
        reason=result.reason,
        passed_tests=result.passed_tests,
        total_tests=result.total_tests,
        billable=result.billable,
    )
    if result.HasField("benchmarked"):
        result.benchmarked.ClearField("results")
        figures.benchmarked.CopyFrom(result.benchmarked)
    return figures


def allowance_to_proto(allowance: Allowance) -> scheduler_pb2.Allowance:
    """What an account may still submit."""
    return scheduler_pb2.Allowance(
        remaining_submissions=allowance.remaining,
        jobs_in_flight=allowance.jobs_in_flight,
        max_jobs_in_flight=allowance.limits.jobs_in_flight,
        submissions_in_last_hour=allowance.submissions,
        max_submissions_per_hour=allowance.limits.submissions_per_hour,
        renew_after=duration_to_proto(allowance.renew_after),
    )


def quote_to_proto(
    job: Job, allowance: Allowance, position: int, wait: WaitEstimate | None, basis: str
) -> scheduler_pb2.SubmitJobResponse:
    """What would become of a job that is not stored."""
    return scheduler_pb2.SubmitJobResponse(
        job=scheduler_pb2.Job(
            account_id=job.account_id, user_id=job.user_id, spec=_spec_to_proto(job.spec, job.spec.submission)
        ),
        allowance=allowance_to_proto(allowance),
        quote=scheduler_pb2.SubmissionQuote(
            hold_micros=job.hold_micros,
            position=position,
            eta_p50=duration_to_proto(wait.p50) if wait else None,
            eta_p90=duration_to_proto(wait.p90) if wait else None,
            estimate_basis=basis,
        ),
    )


def _spec_to_proto(spec: JobSpec, submission: Submission) -> scheduler_pb2.JobSpec:
    return scheduler_pb2.JobSpec(
        submission=submission,
        gpu_type=spec.gpu_type,
        priority=spec.priority,
        fallback_gpu_types=spec.fallback_gpu_types,
        queue=spec.queue,
        time_limit=Duration(seconds=spec.time_limit_seconds) if spec.time_limit_seconds else None,
        resources=resources_to_proto(spec.resources),
        job_class=spec.job_class,
        placement=spec.placement,
        movable=spec.movable,
        name=spec.name,
        deadline=instant_to_proto(spec.deadline),
        machine=machine_use_to_proto(spec.reuse, spec.idle_seconds, waits_for_operator=spec.waits_for_operator),
    )


def event_to_proto(event: JobEvent) -> scheduler_pb2.JobEvent:
    """The event as a proto, with its place in the log."""
    message = scheduler_pb2.JobEvent.FromString(event.payload)
    message.job_id = event.job_id
    message.seq = event.seq
    message.time.FromDatetime(event.time)
    message.attempt = event.attempt
    message.cost_micros = event.cost_micros
    return message


def state_to_proto(state: JobState) -> scheduler_pb2.JobState.ValueType:
    """The state as a proto; the states that nobody sees have no number."""
    return _STATES[state]


def state_from_proto(number: int) -> JobState:
    """The state that a list is filtered by; raises InvalidFieldError."""
    return _STATES_BY_NUMBER[_known("states", number, _STATES_BY_NUMBER)]


def labels_from_proto(request: scheduler_pb2.UpdateJobRequest) -> Mapping[str, str]:
    """The new name and visibility of a job, as far as they are given; raises InvalidFieldError."""
    labels: dict[str, str] = {}
    if request.HasField("name"):
        if fault := wrong_name(request.name):
            raise InvalidFieldError("name", fault)
        labels["name"] = request.name
    if request.HasField("visibility"):
        labels["visibility"] = _visibility_from_proto(request.visibility)
    return labels


class ListNames(NamedTuple):
    """The names that a list is filtered by, each in its one spelling, or empty."""

    problem: str
    gpu_type: str
    dtype: str


def filter_from_proto(request: scheduler_pb2.ListJobsRequest, names: ListNames) -> JobFilter:
    """The jobs that a list asks for, but for those to compare with; raises InvalidFieldError."""
    unknown = next((one for one in request.statuses if one not in FINAL_STATUSES), "")
    if unknown:
        raise InvalidFieldError("statuses", none_of(unknown, FINAL_STATUSES))
    order = _known("order", request.order, _ORDERS)
    fastest = order == scheduler_pb2.JOB_ORDER_FASTEST
    if fastest and not names.problem and not request.HasField("comparable_to"):
        raise InvalidFieldError(
            "order", "can be FASTEST within one problem only; give `problem` as well, or leave the order out"
        )
    return JobFilter(
        (request.account_id,) if request.account_id else (),
        frozenset(state_from_proto(state) for state in request.states),
        names.problem,
        request.user_id,
        frozenset(verdict_name(_known("verdicts", verdict, _VERDICT_NAMES)) for verdict in request.verdicts),
        frozenset(_known("modes", mode, MODES) for mode in request.modes),
        request.queue,
        instant_from_proto(request.begin_time, "begin_time") if request.HasField("begin_time") else None,
        instant_from_proto(request.end_time, "end_time") if request.HasField("end_time") else None,
        statuses=frozenset(request.statuses),
        gpu_type=names.gpu_type,
        dtype=names.dtype,
        fastest=fastest,
        visibility=_visibility_from_proto(request.visibility) if request.visibility else None,
    )


def _visibility_from_proto(number: scheduler_pb2.Visibility.ValueType) -> Visibility:
    _known("visibility", number, VISIBILITIES)
    return VISIBILITIES[number]


def _known(field: str, number: int, names: Mapping[Any, str]) -> int:
    """The number, if it has a name; raises InvalidFieldError."""
    if number not in names:
        raise InvalidFieldError(field, f"{number} is not valid; give {', '.join(names.values()).upper()}")
    return number


def verdict_name(number: int) -> str:
    """A verdict's name without its prefix; UNSPECIFIED for an unknown number."""
    return _VERDICT_NAMES.get(number, UNKNOWN_VERDICT)


def verdict_to_proto(name: str) -> run_event_pb2.Verdict.ValueType:
    """The verdict with this name without prefix."""
    return run_event_pb2.Verdict.Value(f"{VERDICT_PREFIX}{name or UNKNOWN_VERDICT}")


def instant_from_proto(instant: Timestamp, field: str) -> datetime:
    """The instant of a request; raises InvalidFieldError."""
    try:
        return instant.ToDatetime(UTC)
    except (ValueError, OverflowError):
        raise InvalidFieldError(field, f"is {instant.seconds} s since 1970, which is no time of the calendar") from None


def reservation_state_to_proto(state: ReservationState) -> reservations_pb2.ReservationState.ValueType:
    """The state as a proto."""
    return _RESERVATION_STATES[state]


def reservation_state_from_proto(number: int) -> ReservationState:
    """The state that a list is filtered by; raises InvalidFieldError."""
    if number not in _RESERVATION_STATES_BY_NUMBER:
        legal = ", ".join(state.name for state in ReservationState)
        raise InvalidFieldError("states", f"{number} is no state of a reservation; give {legal}")
    return _RESERVATION_STATES_BY_NUMBER[number]
