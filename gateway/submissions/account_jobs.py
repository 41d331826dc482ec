"""Passes submissions to the scheduler, for all routes that take them."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import replace

import grpc
from wavepool.scheduler.v1.scheduler_pb2 import (
    CancelJobRequest,
    GetJobRequest,
    Job,
    JobSpec,
    SubmitJobRequest,
    SubmitJobResponse,
    UpdateJobRequest,
)

from gateway.auth import Caller
from gateway.http.errors import RATE_LIMIT_EXCEEDED, FieldError, ProblemError
from gateway.http.rpc_status import problem_of_rpc
from gateway.submissions.bodies import SubmissionChange
from gateway.upstreams import CALL_TIMEOUT_SECONDS, Upstreams

NOT_ENOUGH_CREDIT = {grpc.StatusCode.FAILED_PRECONDITION: 402}
SEED_ERRORS_OF_SUBMIT = {
    grpc.StatusCode.NOT_FOUND: "Problem not found",
    grpc.StatusCode.FAILED_PRECONDITION: "Not enough credit",
}
SEED_ERRORS_OF_JOB = {grpc.StatusCode.NOT_FOUND: "Submission not found"}


async def submit(
    upstreams: Upstreams,
    caller: Caller,
    spec: JobSpec,
    field_names: Mapping[str, str],
    idempotency_key: str = "",
    *,
    validate_only: bool = False,
) -> SubmitJobResponse:
    """Submits a job; if the client sends no key, a fresh one makes our own retries safe.

    `field_names` maps the messages' fields to the client's names. With `validate_only`, the answer has a quote and
    nothing is stored. Raises ProblemError.
    """
    key = idempotency_key or str(uuid.uuid4())
    if spec.priority > 0 and caller.role == "admin":
        # The scheduler knows the role alone, and a token may be narrower.
        caller.require("admin")
    request = SubmitJobRequest(
        account_id=caller.account_id,
        user_id=caller.user_id,
        spec=spec,
        idempotency_key=key,
        validate_only=validate_only,
    )
    try:
        return await upstreams.scheduler.SubmitJob(request, timeout=CALL_TIMEOUT_SECONDS)
    except grpc.aio.AioRpcError as error:
        names = {"idempotency_key": "Idempotency-Key", **field_names}
        problem = problem_of_rpc(error, names, NOT_ENOUGH_CREDIT, SEED_ERRORS_OF_SUBMIT)
        if error.code() is grpc.StatusCode.FAILED_PRECONDITION and problem.errors:
            # Not of the credit, but of the queue that is named.
            problem = replace(problem, status=409, seed_error="")
        if error.code() is grpc.StatusCode.NOT_FOUND and not problem.errors:
            problem = replace(problem, errors=(FieldError(names.get("problem", "problem"), problem.detail),))
        if error.code() is grpc.StatusCode.RESOURCE_EXHAUSTED:
            problem = replace(problem, code=RATE_LIMIT_EXCEEDED)
        raise ProblemError(problem) from error


async def job_of(
    upstreams: Upstreams, caller: Caller, job_id: str, *, or_shared: bool = False, or_overseen: bool = False
) -> Job:
    """Gets a job of an account that the caller may see. Raises ProblemError.

    With `or_shared` it may also be another's that is not private: show no more of that than
    `gateway.submissions.sharing` does. With `or_overseen` it may be anybody's, for those who oversee: show neither its
    code nor its result.
    """
    accounts = caller.overseen_account_ids if or_overseen else sorted(caller.visible_account_ids)
    request = GetJobRequest(account_ids=accounts, job_id=job_id, or_shared=or_shared)
    try:
        return (await upstreams.scheduler.GetJob(request, timeout=CALL_TIMEOUT_SECONDS)).job
    except grpc.aio.AioRpcError as error:
        raise ProblemError(problem_of_rpc(error, seed_errors=SEED_ERRORS_OF_JOB)) from error


async def update(upstreams: Upstreams, caller: Caller, job_id: str, change: SubmissionChange) -> Job:
    """Changes a job of the caller, or of a team that the caller manages."""
    request = UpdateJobRequest(
        account_ids=sorted(caller.visible_account_ids),
        managed_account_ids=sorted(caller.managed_account_ids),
        user_id=caller.user_id,
        job_id=job_id,
        name=change.name,
        visibility=change.visibility.number if change.visibility else None,
    )
    return (await upstreams.scheduler.UpdateJob(request, timeout=CALL_TIMEOUT_SECONDS)).job


async def cancel(upstreams: Upstreams, caller: Caller, job_id: str) -> Job:
    """Cancels a job of an account that the caller may see, or oversees; one that is over stays. Raises ProblemError."""
    request = CancelJobRequest(account_ids=caller.overseen_account_ids, job_id=job_id)
    try:
        return (await upstreams.scheduler.CancelJob(request, timeout=CALL_TIMEOUT_SECONDS)).job
    except grpc.aio.AioRpcError as error:
        raise ProblemError(problem_of_rpc(error, seed_errors=SEED_ERRORS_OF_JOB)) from error
