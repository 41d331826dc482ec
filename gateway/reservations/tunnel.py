"""Carries SSH connections between WebSockets and the sessions of reservations.

Theory of operation. A tunnel is one call of vmpool's OpenTunnel. The WebSocket is accepted once the session has sent
its first bytes, which an SSH server does by itself; until then every failure has its status. Then one task carries
bytes each way, and neither reads more before the other side has taken what came. A third asks, every few seconds, if
the token still works, if the reservation is still the caller's and has the same session, and if the caller may still
move bytes today. The first of them to end
ends the tunnel.
"""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from typing import Any, cast

import grpc
from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState
from wavepool.scheduler.v1.reservations_pb2 import GetTunnelTargetRequest, GetTunnelTargetResponse
from wavepool.vmpool.v1.vmpool_pb2 import OpenTunnelRequest, OpenTunnelResponse, TunnelTarget

from gateway.auth import Authenticator, Caller
from gateway.http.errors import Problem, ProblemError
from gateway.http.rpc_status import problem_of_rpc
from gateway.metrics import tunnel_bytes, tunnels_open
from gateway.upstreams import CALL_TIMEOUT_SECONDS, Upstreams
from servicekit.clock import Clock
from servicekit.logging import get_logger

log = get_logger(__name__)

FIRST_BYTES_SECONDS = 20.0
"""A session that has sent nothing for so long is given up."""
MOST_MESSAGE_BYTES = 256 * 1024
"""Limit for one message of a client; the WebSocket library enforces it, with the close code 1009."""
MOST_REASON_BYTES = 123
"""The largest reason that a WebSocket's close frame holds."""
CLOSED_AT_ONCE = Problem(503, "The session closed the connection at once. Try again.", retry_after_seconds=1.0)
CLOSED_BY_SESSION = 1000
NO_TEXT = 1003
BYTES_AFTER_END = 1002
BROKEN = 1011
TOKEN_GONE, RESERVATION_GONE, RESERVATION_OVER, BYTES_SPENT = 4401, 4404, 4409, 4429
"""The HTTP statuses for the same, in the range of codes that applications may choose."""
_GONE = {
    grpc.StatusCode.NOT_FOUND: RESERVATION_GONE,
    grpc.StatusCode.PERMISSION_DENIED: RESERVATION_GONE,
    grpc.StatusCode.FAILED_PRECONDITION: RESERVATION_OVER,
}


@dataclass(frozen=True)
class Ending:
    """Why a tunnel ends, as a WebSocket says it."""

    code: int
    reason: str

    @property
    def short_reason(self) -> str:
        """As much of the reason as a close frame holds."""
        return self.reason.encode()[:MOST_REASON_BYTES].decode(errors="ignore")


class Tunnels:
    """Counts the tunnels of each user, of which `most` may be open at a time, and the bytes that go through them.

    A user may move `most_bytes` in a day of UTC, or any number if that is 0. All is as this process knows it.
    """

    def __init__(self, most: int, most_bytes: int, clock: Clock) -> None:
        self._most = most
        self._most_bytes = most_bytes
        self._clock = clock
        self._open: dict[str, int] = {}
        self._moved: dict[str, int] = {}
        self._day = clock.now().date()

    @contextmanager
    def place_for(self, user_id: str, shown: str) -> Generator[Place]:
        """A place for one more; `shown` names the user in metrics. Raises ProblemError (429)."""
        if spent := self.spent(user_id):
            now = self._clock.now()
            left = datetime.combine(now.date() + timedelta(days=1), time.min, UTC) - now
            raise ProblemError(Problem(429, spent, retry_after_seconds=left.total_seconds()))
        if self._open.get(user_id, 0) >= self._most:
            detail = (
                f"You have {self._most} connections to reservations open, which is the limit. Close one; "
                "the operator can raise GATEWAY_TUNNELS_PER_USER."
            )
            raise ProblemError(Problem(429, detail, retry_after_seconds=1.0))
        self._open[user_id] = self._open.get(user_id, 0) + 1
        tunnels_open.inc()
        place = Place(self, user_id, shown)
        try:
            yield place
        finally:
            place.tally()
            tunnels_open.dec()
            self._open[user_id] -= 1
            if not self._open[user_id]:
                del self._open[user_id]

    def add(self, user_id: str, moved: int) -> None:
        """Adds to what a user has moved today."""
        self._begin_day()
        self._moved[user_id] = self._moved.get(user_id, 0) + moved

    def spent(self, user_id: str) -> str:
        """Why a user may move no more today, short enough for a close frame; empty if they may."""
        self._begin_day()
        if not self._most_bytes or self._moved.get(user_id, 0) < self._most_bytes:
            return ""
        return (
            f"Your {self._most_bytes >> 20} MiB a day through tunnels are used up until 00:00 UTC; "
            "the operator can raise GATEWAY_TUNNEL_MIB_PER_DAY."
        )

    def _begin_day(self) -> None:
        today = self._clock.now().date()
        if today != self._day:
            self._day = today
            self._moved.clear()


class Place:
    """One tunnel's place: the code that carries bytes adds them to `moved`, which is added up now and then."""

    def __init__(self, tunnels: Tunnels, user_id: str, shown: str) -> None:
        self._tunnels = tunnels
        self._user_id = user_id
        self._shown = shown
        self.moved = 0

    def tally(self) -> str:
        """Adds up what was moved since the last time; gives why the user may move no more, or nothing."""
        moved, self.moved = self.moved, 0
        tunnel_bytes.labels(self._shown).inc(moved)
        self._tunnels.add(self._user_id, moved)
        return self._tunnels.spent(self._user_id)


class Way:
    """The way to one reservation for one caller: asks where its session is, and if the caller may still go there."""

    def __init__(
        self,
        upstreams: Upstreams,
        authenticator: Authenticator,
        caller: Caller,
        place: Place,
        reservation_id: str,
        node: int = 0,
    ) -> None:
        self.place = place
        self._upstreams = upstreams
        self._authenticator = authenticator
        self._caller = caller
        self.reservation_id = reservation_id
        self._node = node

    @property
    def said(self) -> dict[str, str]:
        """Who goes where, for the log."""
        caller = self._caller
        return {"reservation_id": self.reservation_id, "user": caller.user_name, "user_id": caller.user_id}

    async def target(self) -> GetTunnelTargetResponse:
        """Where the session is. Raises AioRpcError."""
        return await self._target_for(self._caller)

    def call(self) -> Any:  # noqa: ANN401 - the stub's generic type says nothing more here
        """A new call for one connection."""
        return self._upstreams.vmpool.OpenTunnel()

    async def barred(self, target: GetTunnelTargetResponse) -> Ending | None:
        """Why the caller may not go to the target any more; None if they may, or if this cannot be found out now.

        One that takes no more logins still has the connections that it has: its session ends them itself.
        """
        try:
            caller = await self._authenticator.fresh_caller(self._caller.token_id)
            if caller is None or "submit" not in caller.scopes:
                return Ending(TOKEN_GONE, "The API token no longer works; use another.")
            found = await self._target_for(caller)
        except grpc.aio.AioRpcError as error:
            code = _GONE.get(error.code(), RESERVATION_OVER)
            return Ending(code, error.details() or "It is gone.") if code == RESERVATION_GONE else None
        if found != target:
            return Ending(RESERVATION_OVER, "The reservation has another session now; connect again.")
        return None

    async def _target_for(self, caller: Caller) -> GetTunnelTargetResponse:
        request = GetTunnelTargetRequest(
            account_ids=caller.overseen_account_ids,
            reservation_id=self.reservation_id,
            node=self._node,
        )
        return await self._upstreams.reservations.GetTunnelTarget(request, timeout=CALL_TIMEOUT_SECONDS)


async def carry(websocket: WebSocket, way: Way, check_interval: timedelta) -> None:
    """Carries one connection to its end. Before the upgrade, failures are raised as ProblemError."""
    try:
        target = await way.target()
    except grpc.aio.AioRpcError as error:
        raise ProblemError(problem_of_rpc(error)) from error
    call = way.call()
    try:
        first = await _first_bytes(call, target)
        await websocket.accept()
        log.info("a tunnel opens", extra=way.said)
        ending = await _carried(websocket, call, first, way, target, check_interval)
    finally:
        call.cancel()
    log.info(
        "a tunnel ends",
        extra={**way.said, "close_code": ending.code, "reason": ending.reason},
    )
    if websocket.client_state is not WebSocketState.DISCONNECTED:
        with suppress(WebSocketDisconnect, RuntimeError):
            await websocket.close(ending.code, ending.short_reason)


async def _first_bytes(call: Any, target: GetTunnelTargetResponse) -> bytes:  # noqa: ANN401 - as above
    opening = OpenTunnelRequest(open=TunnelTarget(lease_id=target.lease_id, session_id=target.session_id))
    try:
        async with asyncio.timeout(FIRST_BYTES_SECONDS):
            await call.write(opening)
            first = await call.read()
    except TimeoutError:
        raise ProblemError(Problem(504, "The session does not answer. Try again.", retry_after_seconds=1.0)) from None
    except grpc.aio.AioRpcError as error:
        raise ProblemError(problem_of_rpc(error)) from error
    except asyncio.InvalidStateError:
        # A write to a call that was refused says only that it is over.
        first = grpc.aio.EOF
    if first is grpc.aio.EOF:
        raise ProblemError(await _refusal(call))
    if data := cast("OpenTunnelResponse", first).data:
        return data
    raise ProblemError(CLOSED_AT_ONCE)


async def _refusal(call: Any) -> Problem:  # noqa: ANN401 - as above
    code, details = await call.code(), await call.details()
    if code is grpc.StatusCode.OK:
        return CLOSED_AT_ONCE
    return problem_of_rpc(
        grpc.aio.AioRpcError(code, await call.initial_metadata(), await call.trailing_metadata(), details)
    )


async def _carried(
    websocket: WebSocket,
    call: Any,  # noqa: ANN401 - as above
    first: bytes,
    way: Way,
    target: GetTunnelTargetResponse,
    check_interval: timedelta,
) -> Ending:
    """Runs the three tasks; gives the ending of the first that ends."""
    tasks = [
        asyncio.create_task(_outward(websocket, call, first, way.place)),
        asyncio.create_task(_inward(websocket, call, way.place)),
        asyncio.create_task(_checked(way, target, check_interval)),
    ]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
    # If several ended at once, what the session said comes first.
    return next(task for task in tasks if task in done).result()


async def _outward(websocket: WebSocket, call: Any, first: bytes, place: Place) -> Ending:  # noqa: ANN401 - as above
    try:
        await websocket.send_bytes(first)
        while (response := await call.read()) is not grpc.aio.EOF:
            if not response.data:
                return Ending(CLOSED_BY_SESSION, "The session closed the connection.")
            place.moved += len(response.data)
            await websocket.send_bytes(response.data)
        code = await call.code()
        if code is not grpc.StatusCode.OK:
            return _broken(code, await call.details())
    except grpc.aio.AioRpcError as error:
        return _broken(error.code(), error.details())
    except WebSocketDisconnect as gone:
        return Ending(gone.code, "The client is gone.")
    return Ending(CLOSED_BY_SESSION, "The session closed the connection.")


def _broken(code: grpc.StatusCode, details: str | None) -> Ending:
    """The ending of a tunnel whose call has failed. Other details than those of what is gone are gRPC's own."""
    if code in _GONE:
        return Ending(_GONE[code], details or "The reservation is over.")
    return Ending(BROKEN, "The connection to the session broke; connect again.")


async def _inward(websocket: WebSocket, call: Any, place: Place) -> Ending:  # noqa: ANN401 - as above
    has_ended = False
    while True:
        message = await websocket.receive()
        if message["type"] == "websocket.disconnect":
            return Ending(message.get("code", CLOSED_BY_SESSION), "The client is gone.")
        data = message.get("bytes")
        if data is None:
            return Ending(NO_TEXT, "Send binary messages.")
        if has_ended:
            return Ending(BYTES_AFTER_END, "An empty message ended your side; nothing may follow it.")
        try:
            if data:
                place.moved += len(data)
                await call.write(OpenTunnelRequest(data=data))
            else:
                has_ended = True
                await call.done_writing()
        except (grpc.aio.AioRpcError, asyncio.InvalidStateError):
            # The call is over: the other task reads why.
            await asyncio.Event().wait()


async def _checked(way: Way, target: GetTunnelTargetResponse, interval: timedelta) -> Ending:
    while True:
        await asyncio.sleep(interval.total_seconds())
        if spent := way.place.tally():
            return Ending(BYTES_SPENT, spent)
        if (ending := await way.barred(target)) is not None:
            return ending
