"""Statuses after which it is unknown whether the call reached the other side and took effect."""

from __future__ import annotations

import grpc

from servicekit.logging import get_logger

log = get_logger(__name__)

_UNREACHABLE = frozenset(
    {
        grpc.StatusCode.UNAVAILABLE,
        grpc.StatusCode.DEADLINE_EXCEEDED,
        grpc.StatusCode.INTERNAL,
        grpc.StatusCode.UNKNOWN,
        grpc.StatusCode.CANCELLED,
        grpc.StatusCode.ABORTED,
        # The operator has to give both one service token; until then it is as if it did not answer.
        grpc.StatusCode.UNAUTHENTICATED,
    }
)


def is_unreachable(error: grpc.aio.AioRpcError) -> bool:
    """True if the call should be made again later; logs a refusal of this service's own token."""
    if error.code() is grpc.StatusCode.UNAUTHENTICATED:
        log.error("another service refuses this one's token", extra={"detail": error.details()})
    return error.code() in _UNREACHABLE
