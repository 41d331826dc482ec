"""Client of billing: prices, rights, holds and settlements."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta

import grpc
from wavepool.billing.v1 import (
    alerts_pb2,
    alerts_pb2_grpc,
    billing_pb2,
    billing_pb2_grpc,
    identity_pb2,
    identity_pb2_grpc,
    prices_pb2,
    prices_pb2_grpc,
)
from wavepool.executor.v1 import run_event_pb2

from servicekit.logging import get_logger
from servicekit.rpc.callers import Owner, if_found
from servicekit.rpc.errors import rpc_failure
from servicekit.rpc.proto_time import duration_to_proto
from services.scheduler.jobs.errors import BillingUnreachableError, CreditRefusedError, InvalidFieldError
from services.scheduler.jobs.hardware import CPU
from services.scheduler.jobs.job import Job
from services.scheduler.jobs.outcome import ended_well
from services.scheduler.jobs.reservation import PART, state_of
from services.scheduler.jobs.resources import WHOLE_GPU
from services.scheduler.peers.rpc_codes import ServiceCalls
from submissions.modes import MODES
from vocabulary.names import JOB_ID, known_name, none_of
from vocabulary.readings import Reading
from vocabulary.slots import gpus_for
from vocabulary.verdicts import ACCEPTED, INFRA_ERROR, is_about_the_submission, status_of

log = get_logger(__name__)

CALL_SECONDS = 5.0
_MINUTE, _HOUR = 60, 3600
_LESS_TIME = (
    "The hold is for the longest run: a time limit lowers it (`--time-limit SECONDS`; `time_limit_seconds` over HTTP)."
)
_calls = ServiceCalls()
PRICE_LIFETIME = timedelta(minutes=1)
"""A new price is known after this time. A job keeps the price that its hold was made at."""


@dataclass(frozen=True)
class CreditHold:
    """Credit put aside for a job, with the prices that its time will be charged at."""

    hold_id: str
    amount_micros: int
    prices_micros_per_hour: Mapping[str, int]


class Billing:
    """Client of the billing service; a hold pays for the job's own limit, or else `longest_run`."""

    def __init__(self, channel: grpc.aio.Channel, longest_run: timedelta) -> None:
        self._longest_run = longest_run
        self._stub = billing_pb2_grpc.BillingServiceStub(channel)
        self._alerts = alerts_pb2_grpc.AlertServiceStub(channel)
        self._identity = identity_pb2_grpc.IdentityServiceStub(channel)
        self._price_stub = prices_pb2_grpc.PriceServiceStub(channel)
        self._prices: Mapping[str, int] = {}
        self._read_at = float("-inf")

    async def prices_micros_per_hour(self) -> Mapping[str, int]:
        """Price of each GPU type that can be asked for, the default type first; raises BillingUnreachableError."""
        if time.monotonic() - self._read_at >= PRICE_LIFETIME.total_seconds():
            with _translated("gpu_type"):
                answer = await self._price_stub.ListPrices(prices_pb2.ListPricesRequest(), timeout=CALL_SECONDS)
            self._prices = {price.gpu_type: price.price_micros_per_hour for price in answer.prices}
            self._read_at = time.monotonic()
        return self._prices

    async def hardware(self, gpu_type: str) -> str:
        """What has times: the GPU type in its one spelling, the default one if it is empty, or the cpu device.

        Raises InvalidFieldError for an unknown type, and BillingUnreachableError.
        """
        gpu_types = list(await self.prices_micros_per_hour())
        if not gpu_type:
            return gpu_types[0]
        if known := known_name(gpu_type, [*gpu_types, CPU]):
            return known
        raise InvalidFieldError("gpu_type", none_of(gpu_type, [*gpu_types, CPU]))

    async def is_administrator(self, user_id: str) -> bool:
        """True if the user is an administrator; raises InvalidFieldError (unknown), BillingUnreachableError."""
        with _translated("user_id"):
            answer = await self._identity.GetRole(identity_pb2.GetRoleRequest(user_id=user_id), timeout=CALL_SECONDS)
        return answer.role == identity_pb2.ROLE_ADMIN

    async def owner(self, token: str) -> Owner | None:
        """The owner of an API token; None if it is unknown or revoked. Raises RefusedCallError."""
        request = identity_pb2.AuthenticateTokenRequest(token=token)
        return await if_found(self._identity.AuthenticateToken(request, timeout=CALL_SECONDS))

    async def report_readings(self, readings: Sequence[Reading], valid_for: timedelta) -> None:
        """Reports all readings, from which billing makes alerts; raises AioRpcError."""
        request = alerts_pb2.ReportReadingsRequest(
            source="scheduler",
            valid_for=duration_to_proto(valid_for),
            readings=[
                alerts_pb2.Reading(name=one.name, value=one.value, labels=one.labels, details=one.details)
                for one in readings
            ],
        )
        await self._alerts.ReportReadings(request, timeout=CALL_SECONDS)

    async def reserve(self, job: Job) -> CreditHold:
        """Puts the most that the job can cost on hold, at the prices of this moment. Repeated calls make one hold.

        Raises CreditRefusedError, InvalidFieldError (no such account), BillingUnreachableError.
        """
        try:
            return await self._held(self._hold_request(job))
        except CreditRefusedError as error:
            raise error if job.reservation else CreditRefusedError(f"{error} {_LESS_TIME}") from error

    async def _held(self, request: billing_pb2.ReserveCreditRequest) -> CreditHold:
        with _translated("account_id"):
            answer = await self._stub.ReserveCredit(request, timeout=CALL_SECONDS)
        return CreditHold(answer.hold_id, answer.amount_micros, dict(answer.prices_micros_per_hour))

    def _hold_request(self, job: Job) -> billing_pb2.ReserveCreditRequest:
        submission = job.spec.submission
        what, longest = submission.problem or MODES.get(submission.mode), job.spec.longest_run(self._longest_run)
        if job.reservation:
            what, longest = job.reservation.name, job.reservation.duration
        return billing_pb2.ReserveCreditRequest(
            account_id=job.account_id,
            longest_time=duration_to_proto(longest),
            gpu_types=job.spec.gpu_types,
            subject=job.job_id,
            user_id=job.user_id,
            queue=job.spec.queue,
            problem=submission.problem,
            eighths=job.spec.resources.eighths_of_each,
            gpu_count=job.spec.gpus_in_all,
            idempotency_key=f"job:{job.job_id}",
            description=f"{_kind_of(job)} {job.job_id}: {what} on {_gpus_of(job)}",
        )

    async def quote(self, job: Job) -> CreditHold:
        """What `reserve` would put on hold; raises as it does."""
        request = self._hold_request(job)
        request.validate_only = True
        return await self._held(request)

    async def settle(self, job: Job, hold_id: str) -> int:
        """Replaces the hold by the charge for the job's billable time; gives all charges. Repeated calls charge once.

        If billing refuses for good, that is logged and the job costs nothing: another try could not change it. Raises
        BillingUnreachableError.
        """
        billable = run_event_pb2.Finished.FromString(job.result).billable
        request = billing_pb2.SettleChargeRequest(
            hold_id=hold_id,
            amount_micros=job.cost_micros,
            total_time=billable,
            gpu_type=job.machine_gpu_type or job.spec.gpu_type,
            gpu_count=gpus_for(job.eighths) if job.spec.resources.is_range else 0,
            reason="" if billable.ToTimedelta() else _why_free(job),
            idempotency_key=f"job:{job.job_id}:{job.attempt}",
            description=f"{_kind_of(job)} {job.job_id}, {_what_ran(job, billable.ToTimedelta())}{_in_place(job)}",
            # A job that has no end was never submitted: only its hold is given back.
            notice=_notice_of(job) if job.ending else None,
        )
        return await self._settled(job, request)

    async def settle_part(self, job: Job, hold_id: str, minutes: int) -> int:
        """Charges the first minutes of a reservation's time, without what was charged before; gives all its charges.

        As with `settle`, a refusal for good is logged. Raises BillingUnreachableError.
        """
        request = billing_pb2.SettleChargeRequest(
            hold_id=hold_id,
            total_time=duration_to_proto(minutes * PART),
            gpu_type=job.machine_gpu_type or job.spec.gpu_type,
            partial=True,
            idempotency_key=f"job:{job.job_id}:{job.attempt}:part:{minutes}",
            description=f"reservation {job.job_id}, {minutes} minutes{_in_place(job)}",
        )
        return await self._settled(job, request)

    async def extend(self, job: Job, hold_id: str, total: timedelta, key: str) -> int:
        """Puts aside what a reservation of `total` costs at most; gives all that the hold is for.

        Repeated calls with the key do it once. Raises CreditRefusedError, InvalidFieldError, BillingUnreachableError.
        """
        request = billing_pb2.ExtendHoldRequest(
            hold_id=hold_id,
            longest_time=duration_to_proto(total),
            # The caller's key may have any characters, and as many as billing takes.
            idempotency_key=f"job:{job.job_id}:extend:{hashlib.sha256(key.encode()).hexdigest()}",
            description=f"reservation {job.job_id}, extended",
        )
        with _translated("duration"):
            return (await self._stub.ExtendHold(request, timeout=CALL_SECONDS)).hold_micros

    async def refund(self, job: Job, hold_id: str, amount_micros: int, reason: str) -> None:
        """Gives the charge of a settled hold back; repeated calls give it back once. Raises BillingUnreachableError."""
        request = billing_pb2.RefundChargeRequest(
            hold_id=hold_id,
            amount_micros=amount_micros,
            idempotency_key=f"job:{job.job_id}:refund",
            description=f"{_kind_of(job)} {job.job_id}: {reason}",
        )
        try:
            await self._stub.RefundCharge(request, timeout=CALL_SECONDS)
        except grpc.aio.AioRpcError as error:
            if _calls.is_unreachable(error):
                raise BillingUnreachableError from error
            log.exception("billing refuses a refund", extra={"job_id": job.job_id, "hold_id": hold_id})

    async def _settled(self, job: Job, request: billing_pb2.SettleChargeRequest) -> int:
        try:
            answer = await self._stub.SettleCharge(request, timeout=CALL_SECONDS)
        except grpc.aio.AioRpcError as error:
            if _calls.is_unreachable(error):
                raise BillingUnreachableError from error
            log.exception("billing refuses a settlement", extra={"job_id": job.job_id, "hold_id": request.hold_id})
            return 0
        return answer.hold_charged_micros


def _notice_of(job: Job) -> billing_pb2.EndNotice:
    # A mail leaves out the words of programs, images and machines, which may quote the source, and others' jobs.
    has_failed = job.verdict == INFRA_ERROR or (job.verdict != ACCEPTED and is_about_the_submission(job.verdict))
    names_others = set(JOB_ID.findall(job.message)) - {job.job_id}
    notice = billing_pb2.EndNotice(well=ended_well(job), message="" if has_failed or names_others else job.message)
    if reservation := job.reservation:
        notice.kind, notice.name, notice.most_micros = "reservation", reservation.name, job.cost_micros
        notice.status = state_of(job.ending or job.state, reservation, is_cancelled=False).upper()
        if reservation.has_image and not reservation.active_time:
            notice.message = ""
    else:
        notice.kind, notice.name = "submission", job.spec.name
        notice.status = status_of(job.verdict, MODES.get(job.spec.submission.mode) or "")
    return notice


def _kind_of(job: Job) -> str:
    return "reservation" if job.reservation else "job"


def _what_ran(job: Job, used: timedelta) -> str:
    if job.reservation is None:
        return f"attempt {job.attempt}"
    seconds = used.total_seconds()
    lasted = f"{seconds:.1f} s" if seconds < _MINUTE else f"{seconds / _MINUTE:.1f} min"
    lasted = lasted if seconds < _HOUR else f"{seconds / _HOUR:.2f} h"
    return f"{job.reservation.name}: {_gpus_of(job)} for {lasted}"


def _gpus_of(job: Job) -> str:
    gpu_types, resources = " or ".join(job.spec.gpu_types), job.spec.resources
    machines = f" of each of {job.spec.machines} machines" if job.spec.machines > 1 else ""
    return gpu_types if resources == WHOLE_GPU else f"{gpu_types}, {resources}{machines}"


def _why_free(job: Job) -> str:
    return job.verdict.lower().replace("_", " ") or "no run"


def _in_place(job: Job) -> str:
    got, wanted = job.machine_gpu_type, job.spec.gpu_type
    return f", on {got} in place of {wanted}" if got not in {"", wanted} else ""


@contextmanager
def _translated(field: str) -> Generator[None]:
    try:
        yield
    except grpc.aio.AioRpcError as error:
        failure = rpc_failure(error)
        match failure.code:
            case grpc.StatusCode.FAILED_PRECONDITION:
                raise CreditRefusedError(failure.message) from error
            case grpc.StatusCode.NOT_FOUND | grpc.StatusCode.INVALID_ARGUMENT:
                raise InvalidFieldError(field, failure.message) from error
            case _ if _calls.is_unreachable(error):
                raise BillingUnreachableError from error
            case _:
                raise
