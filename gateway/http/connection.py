"""One client's connection, with limits for the form and the arrival of each request.

The HTTP server by itself waits for ever for the rest of a request, and takes headers of any size that arrive at once.
Here a client has a deadline for the headers of each request and one for its body, however it spreads the bytes. The
headers are limited in size and number, and must leave no doubt about the end of the body.
"""

from __future__ import annotations

import asyncio
import re
from datetime import timedelta
from http import HTTPStatus
from typing import Any, cast

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from gateway.config import GatewaySettings
from gateway.http.error_responses import problem_response
from gateway.http.errors import Problem
from gateway.http.request_scope import SECURITY_HEADERS
from servicekit.logging import get_logger
from servicekit.request_id import set_request_id

log = get_logger(__name__)
_of_failures = get_logger(f"{__name__}.websocket")
_of_failures.setLevel("WARNING")

KEPT_ALIVE = timedelta(seconds=75)
"""How long a connection stays open between two requests.

Longer than clients and the balancers of clouds keep theirs (httpx 5 s, Amazon's 60 s): a server that closes first may
do so just as the next request goes out, which is then lost.
"""
MAX_HEAD_BYTES = 16 * 1024
"""Limit for a request's first line and headers; other servers commonly use the same."""
MAX_HEADERS = 100
HEAD_TOO_LARGE = f"Send at most {MAX_HEAD_BYTES} bytes of headers (with the URL), and at most {MAX_HEADERS} headers."
_QUOTED = re.compile(r":? (?:bytearray\()?b['\"].*", re.DOTALL)
"""The bytes that the parser could not read, at the end of its message. They may have a token in them."""
CAN_ANSWER = (h11.IDLE, h11.SEND_RESPONSE)


class StrictParser(h11.Connection):
    """Reads requests and refuses those beyond the limits; `violation` is the fault of the last refused one."""

    violation: h11.RemoteProtocolError | None = None

    def next_event(self) -> Any:  # noqa: ANN401 - events, and classes that stand for none
        """The next event from the client; raises h11.RemoteProtocolError."""
        try:
            event = super().next_event()
            if isinstance(event, h11.Request):
                _check_head(event)
        except h11.RemoteProtocolError as error:
            self.violation = error
            raise
        return event


class HttpConnection(H11Protocol):
    """The protocol of one connection; the server makes one for each."""

    def __init__(self, settings: GatewaySettings, **server: Any) -> None:  # noqa: ANN401 - passed through
        super().__init__(**server)
        self.conn: h11.Connection = StrictParser(h11.SERVER, MAX_HEAD_BYTES)
        self._deadlines: dict[object, tuple[timedelta, str]] = {
            h11.IDLE: (settings.head_deadline, "The request's headers did not arrive in time."),
            h11.SEND_BODY: (settings.body_deadline, "The request's body did not arrive in time."),
        }
        self._awaited: object = None
        self._deadline: asyncio.TimerHandle | None = None
        self._is_upgraded = False

    def connection_made(self, transport: Any) -> None:  # noqa: ANN401 - the base narrows what asyncio's protocols take
        """Starts the deadline of the first request."""
        super().connection_made(transport)
        self._await_rest()

    def connection_lost(self, exc: Exception | None) -> None:
        """Cancels the deadline."""
        self._set_deadline(None)
        super().connection_lost(exc)

    def handle_events(self) -> None:
        """Handles the data that has arrived, and sets the deadline for the rest."""
        super().handle_events()
        if not self._is_upgraded:
            self._await_rest()

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        """Gives the connection to the WebSocket's protocol; this one hears of it no more."""
        self._is_upgraded = True
        self._set_deadline(None)
        super().handle_websocket_upgrade(event)

    def send_400_response(self, msg: str) -> None:
        """Refuses a request that cannot be read, and closes the connection."""
        violation = self.conn.violation if isinstance(self.conn, StrictParser) else None
        status = violation.error_status_hint if violation else HTTPStatus.BAD_REQUEST
        is_too_large = status == HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE
        said = _QUOTED.sub("", str(violation or msg))
        self._refuse(status, HEAD_TOO_LARGE if is_too_large else f"The request cannot be read: {said}.")

    def _await_rest(self) -> None:
        """Starts a deadline when the client owes headers or a body; further bytes do not move it.

        Between two requests it owes nothing; the server closes the connection after KEPT_ALIVE.
        """
        # The cycle is None before the first request.
        state, cycle = self.conn.their_state, cast("RequestResponseCycle | None", self.cycle)
        is_between = state is h11.IDLE and cycle is not None and not self.conn.trailing_data[0]
        awaited = (state, cycle, is_between)
        if awaited != self._awaited:
            self._awaited = awaited
            self._set_deadline(None if is_between else self._deadlines.get(state))

    def _set_deadline(self, deadline: tuple[timedelta, str] | None) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
        if deadline is not None and not self.transport.is_closing():
            after, said = deadline
            self._deadline = self.loop.call_later(
                after.total_seconds(),
                self._refuse,
                HTTPStatus.REQUEST_TIMEOUT,
                f"{said} Send it within {after.total_seconds():g} s.",
            )

    def _refuse(self, status: int, detail: str) -> None:
        """Answers with a problem, unless an answer has begun, and closes the connection."""
        set_request_id(None)
        log.info("a connection is closed", extra={"status": status, "reason": detail, "client": self.client})
        # The cycle is None before the first request.
        cycle = cast("RequestResponseCycle | None", self.cycle)
        in_request = cycle is not None and not cycle.response_complete
        if self.conn.our_state in CAN_ANSWER:
            self._answer(Problem(status, detail), self.scope["path"] if in_request else "")
        if cycle is not None:
            # The application learns that the client is gone, and further output is dropped.
            cycle.disconnected = True
            cycle.message_event.set()
        self.transport.close()

    def _answer(self, problem: Problem, path: str) -> None:
        response = problem_response(problem, path)
        response.headers.update({"Connection": "close", **SECURITY_HEADERS})
        head = h11.Response(status_code=problem.status, headers=response.raw_headers, reason=problem.title.encode())
        for event in (head, h11.Data(data=bytes(response.body)), h11.EndOfMessage()):
            self.transport.write(self.conn.send(event) or b"")


class WebSocketConnection(WebSocketsSansIOProtocol):
    """The protocol of a connection that has become a WebSocket.

    Of each, the library would log the address with its query; `RequestScope` logs what may be known.
    """

    def __init__(self, **server: Any) -> None:  # noqa: ANN401 - passed through
        super().__init__(**server)
        self.logger = self.conn.logger = _of_failures


def _check_head(request: h11.Request) -> None:
    names = [name for name, _ in request.headers]
    size_bytes = len(request.target) + sum(len(name) + len(value) for name, value in request.headers)
    if size_bytes > MAX_HEAD_BYTES or len(names) > MAX_HEADERS:
        raise h11.RemoteProtocolError(HEAD_TOO_LARGE, HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)
    if b"content-length" in names and b"transfer-encoding" in names:
        # If two servers in a row read such a request differently, one takes its body for the next request.
        raise h11.RemoteProtocolError("it has Content-Length and Transfer-Encoding; send one of them")
