"""The one place that turns gRPC statuses into HTTP statuses."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus

import grpc

from gateway.http.errors import FieldError, Problem, our_fault
from servicekit.rpc.errors import RpcFailure, rpc_failure

# UNAUTHENTICATED is not among them: a service refuses the gateway's own token then, which is no user's fault.
HTTP_STATUS: Mapping[grpc.StatusCode, int] = {
    grpc.StatusCode.INVALID_ARGUMENT: 422,
    grpc.StatusCode.OUT_OF_RANGE: 422,
    grpc.StatusCode.PERMISSION_DENIED: 403,
    grpc.StatusCode.NOT_FOUND: 404,
    grpc.StatusCode.ALREADY_EXISTS: 409,
    grpc.StatusCode.ABORTED: 409,
    grpc.StatusCode.FAILED_PRECONDITION: 409,
    grpc.StatusCode.RESOURCE_EXHAUSTED: 429,
    grpc.StatusCode.UNIMPLEMENTED: 501,
    grpc.StatusCode.UNAVAILABLE: 503,
    grpc.StatusCode.DEADLINE_EXCEEDED: 504,
}
DEFAULT_RETRY_SECONDS = 1.0
"""Wait that is sent to a client if a service cannot be reached. A limit says itself whether waiting helps."""


def problem_of_rpc(
    error: grpc.aio.AioRpcError,
    field_names: Mapping[str, str] | None = None,
    statuses: Mapping[grpc.StatusCode, int] | None = None,
    seed_errors: Mapping[grpc.StatusCode, str] | None = None,
) -> Problem:
    """The problem for a failed call to a service.

    `field_names` maps proto fields to the request's own; `statuses` overrides the HTTP status of a code for this call;
    `seed_errors` has sentences for the seed-compatible form.
    """
    failure = rpc_failure(error)
    status = (statuses or {}).get(failure.code) or HTTP_STATUS.get(failure.code, 500)
    errors = _field_errors(failure, field_names or {})
    return Problem(
        status=status,
        # The services' own message names fields of protos, which the client does not know.
        detail="; ".join(f"{error.field}: {error.message}" for error in errors) or _detail(failure, status),
        errors=errors,
        retry_after_seconds=_retry_after_seconds(failure, status),
        seed_error=(seed_errors or {}).get(failure.code, ""),
    )


def _detail(failure: RpcFailure, status: int) -> str:
    if status == HTTPStatus.INTERNAL_SERVER_ERROR:
        return our_fault().detail
    if status == HTTPStatus.SERVICE_UNAVAILABLE and failure.retry_after is None:
        return "A service behind the gateway cannot be reached now; nothing was changed. Try again."
    if status == HTTPStatus.GATEWAY_TIMEOUT:
        return "A service behind the gateway did not answer in time. Try again."
    return failure.message or HTTPStatus(status).description


def _field_errors(failure: RpcFailure, field_names: Mapping[str, str]) -> tuple[FieldError, ...]:
    fields = ((_field_of(path), message) for path, message in failure.violations)
    return tuple(FieldError(field_names.get(field, field), message) for field, message in fields)


def _field_of(path: str) -> str:
    """The client's part of a proto's path: the last word of `spec.submission.source` and `spec.gpu_type`.

    A fault within a field that is itself a structure has a longer path, and the client knows that path too. One of many
    queues is named whole.
    """
    if path.startswith("queues["):
        return path
    for message in ("spec.submission.", "spec."):
        if path.startswith(message):
            return path.removeprefix(message)
    return path.rpartition(".")[2]


def _retry_after_seconds(failure: RpcFailure, status: int) -> float | None:
    if failure.retry_after is not None:
        return failure.retry_after.total_seconds()
    return DEFAULT_RETRY_SECONDS if status == HTTPStatus.SERVICE_UNAVAILABLE else None
