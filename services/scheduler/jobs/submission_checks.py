"""Checks whether a request may become a job: its submission, its caller, its GPU types and its priority."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

from wavepool.scheduler.v1.scheduler_pb2 import JobSpec as AskedSpec
from wavepool.scheduler.v1.scheduler_pb2 import SubmitJobRequest

from problems.kit.definition import Problem
from services.scheduler.jobs.errors import InvalidFieldError, InvalidRequestError
from services.scheduler.jobs.gpu_choice import wanted_gpu_type, wrong_gpu_types
from services.scheduler.jobs.resources import WHOLE_GPU, Resources, Reuse, machine_use_of, resources_of
from services.scheduler.jobs.spec import JobSpec
from submissions.checks import InvalidSubmissionError, Violations, checked
from submissions.modes import MODES, Mode
from vocabulary.limits import DEFAULT_QUEUE, MAX_PRIORITY, MIN_PRIORITY
from vocabulary.names import known_name

MAX_KEY_CHARACTERS = 128
_TIMED = (Mode.FULL, Mode.BENCHMARK)

MOST_NAME = 100
"""Characters of a job's name, which is a column of a table."""


def admit(request: SubmitJobRequest, problems: Mapping[str, Problem], gpu_types: Sequence[str]) -> JobSpec:
    """The spec of the requested job; its submission is whole.

    `problems` maps slugs to the problems of the catalogue; `gpu_types` are the types that can be asked for, the default
    one first. Raises UnknownProblemError, or InvalidRequestError with all other faults at once.
    """
    asked = request.spec
    submission, wrong = asked.submission, wrong_caller(request.account_id, request.idempotency_key)
    try:
        submission = checked(submission, problems)
    except InvalidSubmissionError as error:
        wrong += [(f"spec.submission.{field}", fault) for field, fault in error.violations]
    wanted = wanted_gpu_type(asked.gpu_type, gpu_types)
    fallbacks = tuple(known_name(name, gpu_types) for name in asked.fallback_gpu_types)
    wrong += wrong_gpu_types(asked.gpu_type, asked.fallback_gpu_types, gpu_types)
    wrong += wrong_priority(asked.priority)
    resources, wrong_resources = resources_of(asked.resources, list(filter(None, (wanted, *fallbacks))))
    reuse, idle_seconds, wrong_use = machine_use_of(asked.machine)
    wrong += wrong_resources + wrong_use
    wrong += _wrong_to_move(asked, resources)
    if fault := wrong_name(asked.name):
        wrong.append(("spec.name", fault))
    if wrong:
        raise InvalidRequestError(wrong)
    return JobSpec(
        submission=submission,
        gpu_type=wanted,
        priority=asked.priority,
        fallback_gpu_types=fallbacks,
        resources=resources,
        movable=asked.movable,
        reuse=reuse,
        idle_seconds=idle_seconds,
        waits_for_operator=asked.machine.wait_for_operator,
        name=asked.name,
    )


def wrong_name(name: str) -> str:
    """The fault of a job's name; empty if it has none."""
    if len(name) <= MOST_NAME and name.isprintable():
        return ""
    return f"must have at most {MOST_NAME} printable characters, such as softmax-v3"


def time_limit_seconds(request: SubmitJobRequest, queue: str, longest: timedelta) -> int:
    """The longest time of one attempt, in seconds: what was asked for, or else what the queue allows.

    `longest` is what the queue allows. Raises InvalidFieldError.
    """
    most = int(longest.total_seconds())
    if not request.spec.HasField("time_limit"):
        return most
    asked = request.spec.time_limit
    if not 1 <= asked.seconds <= most or asked.nanos:
        said = f"{asked.ToTimedelta().total_seconds():g} s"
        fault = f"is {said}; give whole seconds from 1 to {most}, which is the most in queue {queue!r}"
        raise InvalidFieldError("spec.time_limit", fault)
    return asked.seconds


def deadline_of(request: SubmitJobRequest) -> datetime | None:
    """The instant by which the job is to be over; None without one. Raises InvalidFieldError if it is no instant."""
    if not request.spec.HasField("deadline"):
        return None
    asked = request.spec.deadline
    try:
        return asked.ToDatetime(UTC)
    except (ValueError, OverflowError):
        fault = f"is {asked.seconds} s and {asked.nanos} ns since 1970, which is not a valid time; give another"
        raise InvalidFieldError("spec.deadline", fault) from None


def wrong_deadline(spec: JobSpec, now: datetime, operators_limit: timedelta) -> str:
    """What is wrong if the job could not end before its deadline even if it started now, with the fix; else empty."""
    if spec.deadline is None or not spec.is_too_late(now, operators_limit):
        return ""
    said, limit = f"is {_second(spec.deadline)}", spec.longest_run(operators_limit)
    if spec.deadline <= now:
        fault = f"{said}, which is past; it is {_second(now)} now. Give a time after {_second(_up(now + limit))}"
    else:
        fault = (
            f"{said}, and a run may take {limit.total_seconds():g} s, until {_second(_up(now + limit))}. Give a later "
            "deadline, or a shorter time limit"
        )
    return fault


def _second(instant: datetime) -> str:
    return f"{instant.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


def _up(instant: datetime) -> datetime:
    """Rounded up to whole seconds: what a message names must be late enough."""
    return instant + timedelta(seconds=1) - timedelta.resolution


def fingerprint(spec: JobSpec, asked: AskedSpec | None = None) -> str:
    """Hash that tells apart two jobs with the same idempotency key; the spec has its whole submission.

    Of what the queue fills in if it is left out, `asked` counts. Fields that are not set do not count, so that a key
    stays valid after an update that adds a field.
    """
    said = {field.name: value for field, value in spec.submission.ListFields()}
    queue = [] if spec.queue == DEFAULT_QUEUE else [spec.queue]
    limit = [asked.time_limit.seconds] if asked and asked.time_limit.seconds else []
    taken = spec.resources
    resources = [] if taken == WHOLE_GPU else [(taken.eighths, taken.isolation, taken.devices)]
    more: dict[str, object] = {"class": asked.job_class, "placement": asked.placement} if asked else {}
    more |= {"least_eighths": taken.least_eighths, "movable": spec.movable}
    more["reuse"] = "" if spec.reuse is Reuse.REUSE_OR_CREATE else spec.reuse
    more["waits_for_operator"] = spec.waits_for_operator
    more["idle"] = "" if spec.idle_seconds is None else f"{spec.idle_seconds} s"
    more["deadline"] = spec.deadline.isoformat() if spec.deadline else ""
    more = {name: value for name, value in more.items() if value}
    content = [said, spec.gpu_types, spec.priority, *queue, *limit, *resources, *([more] if more else [])]
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def wrong_caller(account_id: str, idempotency_key: str) -> Violations:
    """What is wrong with the account of a request, and with its key."""
    wrong: Violations = []
    if not account_id:
        wrong.append(("account_id", "is empty; give the account that pays"))
    if not 0 < len(idempotency_key) <= MAX_KEY_CHARACTERS:
        wrong.append(("idempotency_key", f"give 1 to {MAX_KEY_CHARACTERS} characters, unique for each submission"))
    return wrong


def _wrong_to_move(asked: AskedSpec, resources: Resources) -> Violations:
    if not asked.movable:
        return []
    if resources.is_part:
        return [("spec.movable", "is for whole GPUs; leave it out, or ask for a whole GPU")]
    if asked.resources.quiet:
        return [("spec.movable", "a quiet run is never moved; remove movable or resources.quiet")]
    if MODES.get(asked.submission.mode) in _TIMED:
        timed = " and ".join(f"`{mode}`" for mode in _TIMED)
        return [("spec.movable", f"{timed} measure times, and are not moved; leave it out")]
    return []


def wrong_priority(priority: int) -> Violations:
    """What is wrong with a priority."""
    if MIN_PRIORITY <= priority <= MAX_PRIORITY:
        return []
    return [("spec.priority", f"is {priority}; give {MIN_PRIORITY} to {MAX_PRIORITY}")]
