"""Statuses after which it is unknown whether the call reached the other side and took effect."""

from __future__ import annotations

import time

import grpc

from servicekit.logging import get_logger

log = get_logger(__name__)

UNREACHABLE = frozenset(
    {
        grpc.StatusCode.UNAVAILABLE,
        grpc.StatusCode.DEADLINE_EXCEEDED,
        grpc.StatusCode.INTERNAL,
        grpc.StatusCode.UNKNOWN,
        grpc.StatusCode.CANCELLED,
        grpc.StatusCode.ABORTED,
    }
)
LOG_INTERVAL_SECONDS = 60.0


class ServiceCalls:
    """Reads the failures of calls to another service of the installation."""

    def __init__(self) -> None:
        self._logged_at = float("-inf")

    def is_unreachable(self, error: grpc.aio.AioRpcError) -> bool:
        """True if the call should be made again later.

        So it is if the service refuses us: until the operator has given both the same token, or certificates of the
        same authority, it is as if it did not answer. This is logged once a minute.
        """
        if error.code() not in {grpc.StatusCode.UNAUTHENTICATED, grpc.StatusCode.PERMISSION_DENIED}:
            return error.code() in UNREACHABLE
        if time.monotonic() - self._logged_at >= LOG_INTERVAL_SECONDS:
            self._logged_at = time.monotonic()
            log.error("another service refuses this one", extra={"detail": error.details()})
        return True
