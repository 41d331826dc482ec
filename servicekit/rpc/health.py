"""The health service of every server: grpc.health.v1 with all its methods.

The library's own servicer writes to the context in Watch, which no interceptor of ours can follow, and has no List.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import suppress
from typing import Any

import grpc
from grpc_health.v1 import health_pb2 as pb
from grpc_health.v1 import health_pb2_grpc

from servicekit.logging import get_logger

log = get_logger(__name__)

SERVICE_NAME: str = pb.DESCRIPTOR.services_by_name["Health"].full_name
LOOK_SECONDS = 5.0
"""Time after which those who watch hear of a disk that is full, or has room again."""
DATABASE_AWAY = "database out of reach"
REASON_KEY = "wavepool-reason"
"""Trailing metadata of Check: why the process does not serve, in a few words."""

Status = pb.HealthCheckResponse.ServingStatus.ValueType


class Health(health_pb2_grpc.HealthServicer):
    """Says whether this process serves; one whose disk is full (`has_room`), or whose database is away, does not."""

    def __init__(self, has_room: Callable[[], bool]) -> None:
        self._has_room = has_room
        self._names: frozenset[str] = frozenset()
        self._serves = False
        self._reaches_database = True
        self._changed = asyncio.Event()

    def serve(self, names: Iterable[str]) -> None:
        """Reports that the process and these services serve."""
        self._set(names, serves=True)

    def end(self) -> None:
        """Reports that nothing serves any more, and ends the streams of those who watch."""
        self._set(self._names, serves=False)

    def say_database(self, reaches: bool) -> None:  # noqa: FBT001 - the one thing that it says
        """Takes note whether the database can be reached."""
        if reaches != self._reaches_database:
            self._reaches_database = reaches
            log.log(logging.INFO if reaches else logging.ERROR, "database reached" if reaches else DATABASE_AWAY)
            self._tell()

    async def Check(self, request: pb.HealthCheckRequest, context: Any) -> pb.HealthCheckResponse:  # noqa: ANN401, N802 - grpc's own
        """Says whether a service serves, or the process if none is named; NOT_FOUND if there is no such service."""
        if request.service and request.service not in self._names:
            await context.abort(grpc.StatusCode.NOT_FOUND, f"There is no service {request.service!r} here.")
        if reason := await self._reason():
            context.set_trailing_metadata(((REASON_KEY, reason),))
        return pb.HealthCheckResponse(status=_status_of(reason))

    async def List(self, request: Any, context: Any) -> Any:  # noqa: ANN401, N802 - grpc's own, and its types lack it
        """Says it of all services."""
        del request, context
        answer = pb.HealthCheckResponse(status=_status_of(await self._reason()))
        messages: Any = pb
        return messages.HealthListResponse(statuses=dict.fromkeys(("", *self._names), answer))

    async def Watch(self, request: pb.HealthCheckRequest, context: Any) -> AsyncIterator[pb.HealthCheckResponse]:  # noqa: ANN401, N802 - grpc's own
        """Says it now and after each change, until the process ends."""
        del context
        last = None
        while True:
            changed = self._changed
            is_known = not request.service or request.service in self._names
            status = _status_of(await self._reason()) if is_known else pb.HealthCheckResponse.SERVICE_UNKNOWN
            if status != last:
                yield pb.HealthCheckResponse(status=status)
            if not self._serves:
                return
            last = status
            with suppress(TimeoutError):
                await asyncio.wait_for(changed.wait(), LOOK_SECONDS)

    def _set(self, names: Iterable[str], *, serves: bool) -> None:
        self._names, self._serves = frozenset(names), serves
        self._tell()

    def _tell(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    async def _reason(self) -> str:
        """Why the process does not serve; empty if it does."""
        if not self._serves:
            return "starts or ends"
        if not self._reaches_database:
            return DATABASE_AWAY
        return "" if await asyncio.to_thread(self._has_room) else "no room on the disk"


def _status_of(reason: str) -> Status:
    return pb.HealthCheckResponse.NOT_SERVING if reason else pb.HealthCheckResponse.SERVING
