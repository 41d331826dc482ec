"""Conversion of requests from protos. All faults of a request are found here and reported together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from google.protobuf.timestamp_pb2 import Timestamp
from wavepool.executor.v1 import executor_pb2, inventory_pb2
from wavepool.submission.v1.submission_pb2 import RUN_MODE_SANDBOX, Submission

from problems.kit.definition import SizeSet
from problems.library import catalogue as catalogue_module
from problems.library.catalogue import Catalogue
from problems.library.variants import UnknownElementTypeError, check_element_type
from services.executor.core.model.job import CoreJob
from services.executor.leases.authentication import Caller
from services.executor.leases.errors import InvalidFieldError, UnknownProblemError
from services.executor.leases.lease import Lease
from services.executor.leases.slot import Slot, places
from services.executor.runs.run import RunSpec
from submissions.checks import unreadable
from vocabulary.limits import DEFAULT_DTYPE, LONGEST_RUN
from vocabulary.slots import EIGHTHS_PER_GPU, LEGAL_EIGHTHS

MAX_RUN_ID_CHARACTERS = 128

Violations = list[tuple[str, str]]


@dataclass(frozen=True)
class RunDecoder:
    """Turns requests into run specs for this machine."""

    catalogue: Catalogue
    size_set: SizeSet
    capacity_eighths: int
    masks_compute_units: bool = False

    def decode(self, request: executor_pb2.RunRequest, caller: Caller) -> RunSpec:
        """Return the requested run; raises InvalidFieldError, UnknownProblemError."""
        submission = request.submission
        violations = [*_run_violations(request), *_lease_violations(request, caller)]
        violations += [*self._size_violations(request), *slot_violations(request.slots, self.capacity_eighths)]
        if request.mask_compute_units and not self.masks_compute_units:
            violations.append(("mask_compute_units", "this machine's device has none to mask; leave it out"))
        violations += [(f"submission.{field}", fault) for field, fault in unreadable(submission)]
        if violations:
            raise InvalidFieldError(*violations)
        self._check_problem(submission)
        longest_run = request.longest_run.ToTimedelta() if request.HasField("longest_run") else LONGEST_RUN
        job = CoreJob.of(submission, self.size_set)
        lease, mask = self._lease(request), request.mask_compute_units
        return RunSpec(request.run_id, job, lease, request.request_id, longest_run, mask)

    def _check_problem(self, submission: Submission) -> None:
        """Check the problem against this catalogue, which may differ from the submitter's."""
        if submission.mode == RUN_MODE_SANDBOX or submission.problem_definition:
            return
        try:
            check_element_type(self.catalogue.get(submission.problem).problem, submission.dtype or DEFAULT_DTYPE)
        except catalogue_module.UnknownProblemError as error:
            raise UnknownProblemError(str(error)) from error
        except UnknownElementTypeError as error:
            raise InvalidFieldError(("submission.dtype", str(error))) from error

    def _size_violations(self, request: executor_pb2.RunRequest) -> Violations:
        sizes = [size for size in (1, 2, 4) if size < self.capacity_eighths]
        sizes += range(EIGHTHS_PER_GPU, self.capacity_eighths + 1, EIGHTHS_PER_GPU)
        if request.eighths == 0 or request.eighths in sizes:
            return [("eighths", "leave it out beside `slots`")] if request.eighths and request.slots else []
        return [("eighths", f"is {request.eighths}; it must be one of {', '.join(map(str, sizes))}, or 0 for 8")]

    def _lease(self, request: executor_pb2.RunRequest) -> Lease:
        expire_time = instant(request.lease_expire_time) if request.HasField("lease_expire_time") else None
        if slots := tuple(slot_from_proto(slot) for slot in request.slots):
            return Lease(request.fencing_token, expire_time, sum(slot.eighths for slot in slots), slots)
        eighths = request.eighths or EIGHTHS_PER_GPU
        possible = places(eighths, self.capacity_eighths)
        return Lease(request.fencing_token, expire_time, eighths, tuple(possible) if len(possible) == 1 else ())


def instant(timestamp: Timestamp) -> datetime:
    """Return the timestamp as an aware datetime."""
    return timestamp.ToDatetime(tzinfo=UTC)


def slot_violations(slots: Sequence[inventory_pb2.Slot], capacity_eighths: int) -> Violations:
    """Return what is wrong with a request's `slots` on a machine of this size."""
    gpu_count = capacity_eighths // EIGHTHS_PER_GPU
    for number, slot in enumerate(slots):
        field = f"slots[{number}]"
        if not 0 <= slot.gpu < gpu_count:
            return [(f"{field}.gpu", f"is {slot.gpu}; the machine's GPUs are 0 to {gpu_count - 1}")]
        if slot.eighths not in LEGAL_EIGHTHS:
            legal = ", ".join(map(str, LEGAL_EIGHTHS))
            return [(f"{field}.eighths", f"is {slot.eighths}; it must be one of {legal}")]
        if slot.first_eighth not in range(0, EIGHTHS_PER_GPU, slot.eighths):
            fix = f"must be a multiple of {slot.eighths} below {EIGHTHS_PER_GPU}"
            return [(f"{field}.first_eighth", f"is {slot.first_eighth}; it {fix}")]
    gpus = [slot.gpu for slot in slots]
    if len(gpus) > len(set(gpus)):
        return [("slots", "names a GPU twice; give each GPU once")]
    return []


def token_violations(fencing_token: int, caller: Caller) -> Violations:
    """Return what is wrong with a request's fencing token for this caller."""
    if fencing_token < 0:
        return [("fencing_token", "must not be negative")]
    if caller is Caller.LEASE_HOLDER and fencing_token == 0:
        return [("fencing_token", "is 0, which is for the admin token; send that of the lease")]
    return []


def slot_from_proto(slot: inventory_pb2.Slot) -> Slot:
    """Return the slot by the number of its first eighth on the machine."""
    return Slot(slot.gpu * EIGHTHS_PER_GPU + slot.first_eighth, slot.eighths)


def _run_violations(request: executor_pb2.RunRequest) -> Violations:
    violations: Violations = []
    if not 0 < len(request.run_id) <= MAX_RUN_ID_CHARACTERS:
        violations.append(("run_id", f"must have 1 to {MAX_RUN_ID_CHARACTERS} characters"))
    if request.after_seq < 0:
        violations.append(("after_seq", "must be 0 or the number of the last event that was seen"))
    if request.HasField("longest_run") and request.longest_run.ToNanoseconds() <= 0:
        violations.append(("longest_run", "must be longer than 0 s; leave it out for 15 minutes"))
    return violations


def _lease_violations(request: executor_pb2.RunRequest, caller: Caller) -> Violations:
    violations = token_violations(request.fencing_token, caller)
    if caller is Caller.LEASE_HOLDER and not request.HasField("lease_expire_time"):
        violations.append(("lease_expire_time", "is missing; send the instant at which the lease expires"))
    return violations
