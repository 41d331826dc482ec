"""Orders machines from vmpool, and opens their streams."""

from __future__ import annotations

from contextlib import aclosing
from datetime import timedelta
from typing import TYPE_CHECKING

import grpc
from google.protobuf.duration_pb2 import Duration
from starlette.responses import Response, StreamingResponse
from wavepool.vmpool.v1 import vmpool_pb2

from gateway.http.errors import ProblemError
from gateway.http.rpc_status import problem_of_rpc
from gateway.machines.schemas import SpotChoice
from gateway.machines.views import machine_frame
from gateway.submissions.frames import encode
from gateway.upstreams import CALL_TIMEOUT_SECONDS
from vocabulary.money import micros_of

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterable

    from starlette.types import Receive, Scope, Send
    from wavepool.vmpool.v1.vmpool_pb2_grpc import VmPoolServiceAsyncStub

    from gateway.http.sse import StillAllowed
    from gateway.machines.open_calls import OpenCalls
    from gateway.machines.schemas import MachineOrder
    from gateway.submissions.visible_jobs import VisibleJobs

FIELD_NAMES = {
    "max_price_micros_per_hour": "max_price_usd_per_hour",
    "max_duration": "max_duration_seconds",
    "request_id": "Idempotency-Key",
    "spot_policy": "spot",
}
SPOT_POLICIES = {
    None: vmpool_pb2.SPOT_POLICY_UNSPECIFIED,
    SpotChoice.ON_DEMAND: vmpool_pb2.SPOT_POLICY_ON_DEMAND,
    SpotChoice.SPOT: vmpool_pb2.SPOT_POLICY_SPOT,
    SpotChoice.AUTO: vmpool_pb2.SPOT_POLICY_AUTO,
}
LOG_HEADERS = {"Cache-Control": "no-cache, no-transform", "X-Accel-Buffering": "no"}
"""Headers that make proxies pass pieces on at once."""


async def order(
    vmpool: VmPoolServiceAsyncStub, body: MachineOrder, request_id: str
) -> vmpool_pb2.RequestMachineResponse:
    """Orders a machine. Raises ProblemError, with the body's names of fields."""
    duration = Duration()
    duration.FromTimedelta(timedelta(seconds=body.max_duration_seconds))
    request = vmpool_pb2.RequestMachineRequest(
        request_id=request_id,
        gpu_type=body.gpu_type,
        gpu_count=body.gpu_count,
        provider=body.provider,
        backend=body.backend,
        region=body.region,
        spot_policy=SPOT_POLICIES[body.spot],
        max_price_micros_per_hour=micros_of(body.max_price_usd_per_hour),
        max_duration=duration,
        force_new=body.force_new,
        reason=body.reason,
    )
    try:
        return await vmpool.RequestMachine(request, timeout=CALL_TIMEOUT_SECONDS)
    except grpc.aio.AioRpcError as error:
        raise ProblemError(problem_of_rpc(error, FIELD_NAMES)) from error


async def frames(
    vmpool: VmPoolServiceAsyncStub, calls: OpenCalls, jobs: VisibleJobs, machine_id: str, after_seq: int
) -> AsyncGenerator[bytes]:
    """A machine's encoded frames after `after_seq`, until its release; their texts name only visible jobs."""
    request = vmpool_pb2.WatchMachinesRequest(machine_id=machine_id, after_seq=after_seq)
    async with aclosing(calls.answers(vmpool.WatchMachines(request))) as answers:
        async for answer in answers:
            event = answer.event
            event.reason = await jobs.shown(event.reason)
            await jobs.hide_others(event.machine)
            yield encode(event.seq, machine_frame(event))


async def listed(encoded: Iterable[bytes]) -> AsyncGenerator[bytes]:
    """Yields frames that have been read already."""
    for frame in encoded:
        yield frame


class LogStream(StreamingResponse):
    """A log as a response. However the response ends, the call behind it does, too."""

    def __init__(self, text: AsyncGenerator[bytes], call: AsyncGenerator[object]) -> None:
        super().__init__(text, headers=LOG_HEADERS, media_type="text/plain")
        self._text = text
        self._call = call

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Streams until the last piece, or until the client is gone."""
        async with aclosing(self._call), aclosing(self._text):
            await super().__call__(scope, receive, send)


async def log_text(
    vmpool: VmPoolServiceAsyncStub,
    calls: OpenCalls,
    request: vmpool_pb2.GetMachineLogsRequest,
    still_allowed: StillAllowed,
) -> Response:
    """A machine's log as a response, which begins once the log is found, and ends if the caller may not read any more.

    Raises AioRpcError.
    """
    pieces = calls.answers(vmpool.GetMachineLogs(request))
    first = await anext(pieces, vmpool_pb2.GetMachineLogsResponse())

    async def text() -> AsyncGenerator[bytes]:
        yield first.data
        async for piece in pieces:
            if not await still_allowed():
                return
            yield piece.data

    return LogStream(text(), pieces)
