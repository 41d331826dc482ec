"""Requests from proto to domain; every fault of a request is found here, all of them at once."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from wavepool.executor.v1 import executor_pb2

from problems.library import catalogue as catalogue_module
from services.executor.core.model.job import CoreJob, Mode
from services.executor.core.timing.timing_mode import TimingMode
from services.executor.leases.authentication import Caller
from services.executor.leases.errors import InvalidFieldError, UnknownProblemError
from services.executor.leases.lease import Lease
from services.executor.leases.slot import EIGHTHS_OF_A_GPU, Slot, places
from services.executor.runs.run import RunSpec
from vocabulary.limits import DEFAULT_DTYPE, LONGEST_RUN, MAX_DEFINITION_BYTES, MAX_PLAN_BYTES, MAX_SOURCE_BYTES

if TYPE_CHECKING:
    from google.protobuf.timestamp_pb2 import Timestamp

    from problems.kit.definition import Problem, SizeSet
    from problems.library.catalogue import Catalogue

MAX_RUN_ID_CHARACTERS = 128

_MODES = {
    executor_pb2.RUN_MODE_CHECK: Mode.CHECK,
    executor_pb2.RUN_MODE_BENCHMARK: Mode.BENCHMARK,
    executor_pb2.RUN_MODE_FULL: Mode.FULL,
    executor_pb2.RUN_MODE_SAMPLE: Mode.SAMPLE,
    executor_pb2.RUN_MODE_SANDBOX: Mode.SANDBOX,
}
_MODE_NAMES = ", ".join(executor_pb2.RunMode.Name(number) for number in _MODES)
_TIMING_MODES = {
    executor_pb2.TIMING_MODE_UNSPECIFIED: None,
    executor_pb2.TIMING_MODE_COLD: TimingMode.COLD,
    executor_pb2.TIMING_MODE_HOT: TimingMode.HOT,
    executor_pb2.TIMING_MODE_FIRST_CALL: TimingMode.FIRST_CALL,
}
_TIMING_MODE_NAMES = ", ".join(executor_pb2.TimingMode.Name(number) for number in _TIMING_MODES)
_TIMED = frozenset({executor_pb2.RUN_MODE_BENCHMARK, executor_pb2.RUN_MODE_FULL})

Violations = list[tuple[str, str]]


@dataclass(frozen=True)
class RunDecoder:
    """Turns requests into specs for this machine."""

    catalogue: Catalogue
    size_set: SizeSet
    capacity_eighths: int

    def decode(self, request: executor_pb2.RunRequest, caller: Caller) -> RunSpec:
        """The run that is asked for; raises InvalidFieldError, UnknownProblemError."""
        mode = _MODES.get(request.mode)
        violations = [*_source_violations(request), *_lease_violations(request, caller)]
        violations += [*self._size_violations(request), *self._slot_violations(request), *_text_violations(request)]
        violations += _timing_violations(request)
        if request.HasField("longest_run") and request.longest_run.ToNanoseconds() <= 0:
            violations.append(("longest_run", "must be longer than 0 s; leave it out for 15 minutes"))
        if mode is None:
            violations.append(("mode", f"must be one of {_MODE_NAMES}"))
        if mode is Mode.SANDBOX and request.problem:
            violations.append(("problem", "must be empty for RUN_MODE_SANDBOX, whose program has its own main"))
        if mode not in {None, Mode.SANDBOX} and not request.problem and not request.problem_def:
            violations.append(("problem", "is empty; name one of the catalogue, or send a problem_def"))
        if violations or mode is None:
            raise InvalidFieldError(*violations)
        longest_run = request.longest_run.ToTimedelta() if request.HasField("longest_run") else LONGEST_RUN
        return RunSpec(request.run_id, self._job(request, mode), self._lease(request), request.request_id, longest_run)

    def _job(self, request: executor_pb2.RunRequest, mode: Mode) -> CoreJob:
        dtype = request.dtype or DEFAULT_DTYPE
        if mode is Mode.SANDBOX:
            return CoreJob(request.source, mode, size_set=self.size_set)
        dtypes = [dtype] if request.problem_def else self._problem(request.problem).dtypes
        if dtype not in dtypes:
            known = ", ".join(dtypes)
            raise InvalidFieldError(("dtype", f"{request.problem} has no {dtype!r}; it has {known}"))
        return CoreJob(
            source=request.source,
            mode=mode,
            problem=request.problem,
            dtype=dtype,
            size_set=self.size_set,
            launch_plan=request.launch_plan,
            problem_def=request.problem_def,
            timing_mode=_TIMING_MODES[request.timing_mode],
        )

    def _problem(self, slug: str) -> Problem:
        try:
            return self.catalogue.get(slug).problem
        except catalogue_module.UnknownProblemError as error:
            raise UnknownProblemError(str(error)) from error

    def _size_violations(self, request: executor_pb2.RunRequest) -> Violations:
        sizes = [size for size in (1, 2, 4) if size < self.capacity_eighths]
        sizes += range(EIGHTHS_OF_A_GPU, self.capacity_eighths + 1, EIGHTHS_OF_A_GPU)
        if request.eighths == 0 or request.eighths in sizes:
            return []
        return [("eighths", f"is {request.eighths}; it must be one of {', '.join(map(str, sizes))}, or 0 for 8")]

    def _slot_violations(self, request: executor_pb2.RunRequest) -> Violations:
        if not request.HasField("gpu"):
            return [("gpu", "is missing beside first_eighth; send both")] if request.HasField("first_eighth") else []
        gpu_count = self.capacity_eighths // EIGHTHS_OF_A_GPU
        if not 0 <= request.gpu < gpu_count:
            return [("gpu", f"is {request.gpu}; the machine's GPUs are 0 to {gpu_count - 1}")]
        slot = _told_slot(request)
        if not 0 <= request.first_eighth < EIGHTHS_OF_A_GPU or slot not in places(slot.eighths, self.capacity_eighths):
            fix = f"must be a multiple of {slot.eighths} below {EIGHTHS_OF_A_GPU}"
            return [("first_eighth", f"is {request.first_eighth}; it {fix}")]
        return []

    def _lease(self, request: executor_pb2.RunRequest) -> Lease:
        expire_time = instant(request.lease_expire_time) if request.HasField("lease_expire_time") else None
        eighths = request.eighths or EIGHTHS_OF_A_GPU
        possible = places(eighths, self.capacity_eighths)
        only = possible[0] if len(possible) == 1 else None
        slot = _told_slot(request) if request.HasField("gpu") else only
        return Lease(request.fencing_token, expire_time, eighths, slot)


def instant(timestamp: Timestamp) -> datetime:
    """The timestamp as an aware datetime."""
    return timestamp.ToDatetime(tzinfo=UTC)


def _told_slot(request: executor_pb2.RunRequest) -> Slot:
    return Slot(request.gpu * EIGHTHS_OF_A_GPU + request.first_eighth, request.eighths or EIGHTHS_OF_A_GPU)


def _source_violations(request: executor_pb2.RunRequest) -> Violations:
    violations: Violations = []
    if not 0 < len(request.run_id) <= MAX_RUN_ID_CHARACTERS:
        violations.append(("run_id", f"must have 1 to {MAX_RUN_ID_CHARACTERS} characters"))
    size_bytes = len(request.source.encode())
    if not request.source.strip():
        violations.append(("source", "is empty; send the text of a HIP file"))
    elif size_bytes > MAX_SOURCE_BYTES:
        violations.append(("source", f"has {size_bytes} bytes; at most {MAX_SOURCE_BYTES} are taken"))
    if request.after_seq < 0:
        violations.append(("after_seq", "must be 0 or the number of the last event that was seen"))
    return violations


def _text_violations(request: executor_pb2.RunRequest) -> Violations:
    """What is in them is for the judge to look at."""
    violations: Violations = []
    for field, most_bytes in (("launch_plan", MAX_PLAN_BYTES), ("problem_def", MAX_DEFINITION_BYTES)):
        text: str = getattr(request, field)
        if text and request.mode == executor_pb2.RUN_MODE_SANDBOX:
            violations.append((field, "must be empty for RUN_MODE_SANDBOX, whose program has its own main"))
        if (size_bytes := len(text.encode())) > most_bytes:
            violations.append((field, f"has {size_bytes} bytes; at most {most_bytes} are taken"))
    return violations


def _timing_violations(request: executor_pb2.RunRequest) -> Violations:
    if request.timing_mode not in _TIMING_MODES:
        return [("timing_mode", f"is {request.timing_mode}; it must be one of {_TIMING_MODE_NAMES}")]
    if request.timing_mode and request.mode in _MODES and request.mode not in _TIMED:
        return [("timing_mode", "must be unset for a run that times nothing: only RUN_MODE_BENCHMARK and _FULL do")]
    return []


def _lease_violations(request: executor_pb2.RunRequest, caller: Caller) -> Violations:
    violations: Violations = []
    if request.fencing_token < 0:
        violations.append(("fencing_token", "must not be negative"))
    if caller is Caller.LEASE_HOLDER and request.fencing_token == 0:
        violations.append(("fencing_token", "is 0, which is for the admin token; send that of the lease"))
    if caller is Caller.LEASE_HOLDER and not request.HasField("lease_expire_time"):
        violations.append(("lease_expire_time", "is missing; send the instant at which the lease expires"))
    return violations
