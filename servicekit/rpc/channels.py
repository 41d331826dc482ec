"""Client channels: keepalive, retries of calls that are safe to repeat, and the request id passed on.

Deadlines are the caller's: every call takes `timeout=`. (A timeout in the service config misfires: a 2 s one was seen
to fire after 0.2 to 0.9 s.)
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any

import grpc

from servicekit.actor import current_actor
from servicekit.request_id import METADATA_KEY, current_request_id
from servicekit.rpc.credentials import ServiceCredentials
from servicekit.rpc.tls import Certificates, TlsFiles, client_credentials, dns_name

MAX_MESSAGE_BYTES = 16 * 1024 * 1024
KEEPALIVE_MS = 10_000
LEAVING: dict[str, int | str] = {
    "grpc.keepalive_time_ms": 1_000,
    "grpc.keepalive_timeout_ms": 1_500,
    "grpc.http2.ping_timeout_ms": 1_500,
}
"""Options between services: one that is frozen or cut off is left for its next address within 3 s.

The library's own pings wait for 60 s, and keepalive waits for such a ping while one is under way.
"""

SERVICE_CONFIG = json.dumps(
    {
        "methodConfig": [
            {
                "name": [{}],
                "retryPolicy": {
                    "maxAttempts": 4,
                    "initialBackoff": "0.05s",
                    "maxBackoff": "1s",
                    "backoffMultiplier": 3,
                    "retryableStatusCodes": ["UNAVAILABLE"],
                },
            }
        ]
    }
)

OPTIONS: tuple[tuple[str, int | str], ...] = (
    ("grpc.keepalive_time_ms", KEEPALIVE_MS),
    ("grpc.keepalive_timeout_ms", 5_000),
    ("grpc.keepalive_permit_without_calls", 1),
    ("grpc.http2.max_pings_without_data", 0),
    ("grpc.max_receive_message_length", MAX_MESSAGE_BYTES),
    ("grpc.max_send_message_length", MAX_MESSAGE_BYTES),
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 2_000),
    ("grpc.enable_http_proxy", 0),
    ("grpc.service_config", SERVICE_CONFIG),
)


class _Channel(grpc.aio.Channel):
    """A channel whose calls have the request id and the metadata of credentials, and which may be opened again.

    grpc's interceptors would sign, too, but make a task of their own for each call. `current` gives the connection that
    the next call is to use: gRPC for Python has no credentials of clients that change. Calls in flight end on the
    connection that they began on, which lasts as long as they do.
    """

    def __init__(self, current: Callable[[], grpc.aio.Channel], credentials: ServiceCredentials | None) -> None:
        self._current = current
        self._credentials = credentials

    def unary_unary(self, *args: Any, **options: Any) -> Any:  # noqa: ANN401 - as grpc passes them
        """A method with one request and one answer."""
        return self._method("unary_unary", *args, **options)

    def unary_stream(self, *args: Any, **options: Any) -> Any:  # noqa: ANN401 - as grpc passes them
        """A method that streams its answers."""
        return self._method("unary_stream", *args, **options)

    def stream_unary(self, *args: Any, **options: Any) -> Any:  # noqa: ANN401 - as grpc passes them
        """A method that streams its requests."""
        return self._method("stream_unary", *args, **options)

    def stream_stream(self, *args: Any, **options: Any) -> Any:  # noqa: ANN401 - as grpc passes them
        """A method that streams both ways."""
        return self._method("stream_stream", *args, **options)

    def get_state(self, try_to_connect: bool = False) -> grpc.ChannelConnectivity:  # noqa: FBT001, FBT002 - grpc's own
        """The state of the connection."""
        return self._current().get_state(try_to_connect)

    async def wait_for_state_change(self, last_observed_state: grpc.ChannelConnectivity) -> None:
        """Waits until the state of the connection changes."""
        await self._current().wait_for_state_change(last_observed_state)

    async def channel_ready(self) -> None:
        """Waits until the connection stands."""
        await self._current().channel_ready()

    async def close(self, grace: float | None = None) -> None:
        """Ends all calls after `grace` seconds, and the connection."""
        await self._current().close(grace)

    async def __aenter__(self) -> grpc.aio.Channel:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def _method(self, shape: str, *args: object, **options: object) -> Callable[..., Any]:
        @lru_cache(maxsize=1)
        def method_on(channel: grpc.aio.Channel) -> Callable[..., Any]:
            return getattr(channel, shape)(*args, **options)

        def call(*request: Any, metadata: Iterable[Any] | None = None, **how: Any) -> Any:  # noqa: ANN401 - as grpc passes them
            signed = [*(metadata or ())]
            if request_id := current_request_id():
                signed.append((METADATA_KEY, request_id))
            if self._credentials:
                signed += self._credentials.metadata()
                # Work that another service begins for somebody's request is not that person's act any more.
                if self._credentials.name == "gateway" and (actor := current_actor()):
                    signed.append(actor.metadata())
            return method_on(self._current())(*request, metadata=signed, **how)

        return call


class _Explainer(grpc.aio.UnaryUnaryClientInterceptor):
    """Adds the fault of TLS, and its fix, to the error of a call that failed because of it."""

    def __init__(self, tls: TlsFiles, server: str) -> None:
        self._tls = tls
        self._server = server

    async def intercept_unary_unary(
        self, continuation: Callable[..., Any], client_call_details: grpc.aio.ClientCallDetails, request: object
    ) -> Any:  # noqa: ANN401 - grpc's own
        """Called by grpc for each call."""
        call = await continuation(client_call_details, request)
        try:
            await call
        except grpc.aio.AioRpcError as error:
            if explained := self._explained(error):
                raise explained from error
            raise
        return call

    def _explained(self, error: grpc.aio.AioRpcError) -> grpc.aio.AioRpcError | None:
        """The error with the fault and its fix; None if TLS is not the reason."""
        details = error.details() or ""
        fault = self._tls.fault(self._server, details) if error.code() is grpc.StatusCode.UNAVAILABLE else ""
        if not fault:
            return None
        said = f"{fault} ({details})"
        return grpc.aio.AioRpcError(error.code(), error.initial_metadata(), error.trailing_metadata(), said)


def open_channel(target: str, credentials: ServiceCredentials | None = None, server: str = "") -> grpc.aio.Channel:
    """Opens a channel to a service such as `127.0.0.1:50061`, whose name is `server`.

    Every call carries the metadata of `credentials`. If they have certificates, the channel is encrypted and takes no
    other server than one with the certificate of `server`; it is opened again for the first call after the certificates
    have changed. The channel connects when it is first used and reconnects by itself. Close it when done.
    """
    tls = credentials.tls if credentials else None
    options = (*(dict(OPTIONS) | LEAVING).items(),) if credentials else OPTIONS
    if not tls:
        plain = grpc.aio.insecure_channel(target, options=options)
        return _Channel(lambda: plain, credentials)
    options = (*options, ("grpc.ssl_target_name_override", dns_name(server)))

    @lru_cache(maxsize=1)
    def opened(certificates: Certificates) -> grpc.aio.Channel:
        explainer = _Explainer(tls, server)
        return grpc.aio.secure_channel(target, client_credentials(certificates), options, interceptors=[explainer])

    opened(tls.current())
    return _Channel(lambda: opened(tls.current()), credentials)
