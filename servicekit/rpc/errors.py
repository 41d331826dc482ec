"""The one place that turns exceptions into gRPC statuses, and statuses back into exceptions.

A service's pure modules raise their own exceptions; its `server.py` hands an ErrorMap to the interceptor. An exception
that is not in the map is our fault: the caller gets a neutral sentence with the request id, and the log gets the
details. Three errors are the same in every service: a full disk and a database that is out of reach answer UNAVAILABLE
with a time to try again, and a RefusedCallError its own code.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, cast

import grpc
from google.protobuf import any_pb2, duration_pb2
from google.rpc import error_details_pb2, status_pb2
from grpc_status import rpc_status

from servicekit.request_id import current_request_id
from servicekit.storage import DatabaseAwayError, says_full

ErrorMap = dict[type[Exception], grpc.StatusCode]
FULL_DISK_RETRY = timedelta(seconds=30)
"""Time to try again; somebody must first make room."""

MOST_MESSAGE_BYTES = 1_500
MOST_VIOLATION_BYTES = 3_000
"""Together these stay below the 8 KiB of a status beyond which gRPC's clients begin to take it for a fault of theirs,
RESOURCE_EXHAUSTED: the message is sent twice, and the details in base64."""

_DETAILS_KEY = "grpc-status-details-bin"

_to_status = cast("Callable[[status_pb2.Status], grpc.Status]", cast("Any", rpc_status).to_status)


class RefusedCallError(Exception):
    """A call is refused before it reaches its service; `code` is the status to answer."""

    def __init__(self, code: grpc.StatusCode, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True)
class RpcFailure:
    """Content of a failed call: the code, one sentence, the wrong fields, and when to try again if known."""

    code: grpc.StatusCode
    message: str
    violations: tuple[tuple[str, str], ...] = ()
    retry_after: timedelta | None = None


def failure_of(error: Exception, error_map: Mapping[type[Exception], grpc.StatusCode]) -> RpcFailure | None:
    """The failure to report for `error`; None if the map has no class of it."""
    if isinstance(error, RefusedCallError):
        return RpcFailure(error.code, str(error))
    if isinstance(error, DatabaseAwayError):
        message = "The service cannot use its database at the moment. Try again later."
        return RpcFailure(grpc.StatusCode.UNAVAILABLE, message, retry_after=error.retry_after)
    code = next((error_map[kind] for kind in type(error).__mro__ if kind in error_map), None)
    if code is None:
        return full_disk_failure() if says_full(error) else None
    violations: Sequence[tuple[str, str]] = getattr(error, "violations", ())
    return RpcFailure(code, str(error), tuple(violations), getattr(error, "retry_after", None))


def full_disk_failure() -> RpcFailure:
    """The failure to report if the disk is full."""
    message = "The service has no room left on its disk, so nothing was changed. Try again later."
    return RpcFailure(grpc.StatusCode.UNAVAILABLE, message, retry_after=FULL_DISK_RETRY)


def neutral_failure() -> RpcFailure:
    """The failure to report for a fault of ours."""
    return RpcFailure(
        grpc.StatusCode.INTERNAL,
        f"an error in Wavepool; find it in the logs as request {current_request_id()}",
    )


def status_of(failure: RpcFailure) -> grpc.Status:
    """Converts a failure to a status with google.rpc details; what is too long for one is cut, and says so."""
    details: list[any_pb2.Any] = []
    message, violations = _cut(failure.message, MOST_MESSAGE_BYTES), _first(failure.violations)
    if violations:
        bad_request = error_details_pb2.BadRequest(
            field_violations=[
                error_details_pb2.BadRequest.FieldViolation(field=field, description=description)
                for field, description in violations
            ]
        )
        details.append(_packed(bad_request))
    if failure.retry_after is not None:
        delay = duration_pb2.Duration()
        delay.FromTimedelta(failure.retry_after)
        details.append(_packed(error_details_pb2.RetryInfo(retry_delay=delay)))
    number = cast("tuple[int, str]", failure.code.value)[0]
    return _to_status(status_pb2.Status(code=number, message=message, details=details))


def _first(violations: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """As many of them as a status takes, the last with the number of those that are left out."""
    kept: list[tuple[str, str]] = []
    left = MOST_VIOLATION_BYTES
    for number, (field, description) in enumerate(violations):
        shown = _cut(field, MOST_MESSAGE_BYTES // 10), _cut(description, MOST_MESSAGE_BYTES)
        left -= sum(len(text.encode()) for text in shown)
        if left < 0:
            return [*kept, (shown[0], f"… and {len(violations) - number} more")]
        kept.append(shown)
    return kept


def _cut(text: str, most_bytes: int) -> str:
    data = text.encode()
    return text if len(data) <= most_bytes else f"{data[:most_bytes].decode(errors='ignore')}…"


def rpc_failure(error: grpc.aio.AioRpcError) -> RpcFailure:
    """The failure of one of our calls; details that cannot be read are left out."""
    violations: tuple[tuple[str, str], ...] = ()
    retry_after: timedelta | None = None
    for detail in _details(error):
        bad_request, retry = error_details_pb2.BadRequest(), error_details_pb2.RetryInfo()
        if detail.Unpack(bad_request):
            violations = tuple((v.field, v.description) for v in bad_request.field_violations)
        elif detail.Unpack(retry):
            retry_after = retry.retry_delay.ToTimedelta()
    return RpcFailure(error.code(), error.details() or "", violations, retry_after)


def has_details(error: grpc.aio.AioRpcError) -> bool:
    """True if a service of ours answered the call; the errors that gRPC itself makes have no details."""
    return any(key == _DETAILS_KEY for key, _ in error.trailing_metadata() or ())


def _details(error: grpc.aio.AioRpcError) -> Sequence[any_pb2.Any]:
    for key, value in error.trailing_metadata() or ():
        if key == _DETAILS_KEY and isinstance(value, bytes):
            try:
                return status_pb2.Status.FromString(value).details
            except ValueError:
                return ()
    return ()


def _packed(message: Any) -> any_pb2.Any:  # noqa: ANN401 - any generated message
    packed = any_pb2.Any()
    packed.Pack(message)
    return packed
