"""Client channels: keepalive, retries of calls that are safe to repeat, and the request id passed on.

Deadlines are the caller's: every call takes `timeout=`. (A timeout in the service config misfires: a 2 s one was seen
to fire after 0.2 to 0.9 s.)
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import grpc

from servicekit.request_id import METADATA_KEY, current_request_id
from servicekit.rpc.renewed_channel import RenewedChannel
from servicekit.rpc.tls import client_credentials, dns_name

if TYPE_CHECKING:
    from collections.abc import Callable

    from servicekit.rpc.credentials import ServiceCredentials
    from servicekit.rpc.tls import Certificates, TlsFiles

MAX_MESSAGE_BYTES = 16 * 1024 * 1024
KEEPALIVE_MS = 10_000

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


class _Metadata:
    def __init__(self, credentials: ServiceCredentials | None, server: str) -> None:
        self._credentials = credentials
        self._server = server

    def added(self, details: grpc.aio.ClientCallDetails) -> grpc.aio.ClientCallDetails:
        metadata = grpc.aio.Metadata(*(details.metadata or ()))
        if request_id := current_request_id():
            metadata.add(METADATA_KEY, request_id)
        for key, value in self._credentials.metadata() if self._credentials else ():
            metadata.add(key, value)
        return grpc.aio.ClientCallDetails(
            details.method, details.timeout, metadata, details.credentials, details.wait_for_ready
        )

    def explained(self, error: grpc.aio.AioRpcError, tls: TlsFiles) -> grpc.aio.AioRpcError | None:
        """The error with the fault of TLS and its fix; None if that is not the reason."""
        details = error.details() or ""
        fault = tls.fault(self._server, details) if error.code() is grpc.StatusCode.UNAVAILABLE else ""
        if not fault:
            return None
        said = f"{fault} ({details})"
        return grpc.aio.AioRpcError(error.code(), error.initial_metadata(), error.trailing_metadata(), said)


class _Unary(_Metadata, grpc.aio.UnaryUnaryClientInterceptor):
    async def intercept_unary_unary(
        self, continuation: Callable[..., Any], client_call_details: grpc.aio.ClientCallDetails, request: object
    ) -> Any:  # noqa: ANN401 - grpc's own
        call = await continuation(self.added(client_call_details), request)
        if self._credentials and self._credentials.tls:
            try:
                await call
            except grpc.aio.AioRpcError as error:
                if explained := self.explained(error, self._credentials.tls):
                    raise explained from error
                raise
        return call


class _Stream(_Metadata, grpc.aio.UnaryStreamClientInterceptor):
    async def intercept_unary_stream(
        self, continuation: Callable[..., Any], client_call_details: grpc.aio.ClientCallDetails, request: object
    ) -> Any:  # noqa: ANN401 - grpc's own
        return await continuation(self.added(client_call_details), request)


def open_channel(target: str, credentials: ServiceCredentials | None = None, server: str = "") -> grpc.aio.Channel:
    """Opens a channel to a service such as `127.0.0.1:50061`, whose name is `server`.

    Every call carries the metadata of `credentials`. If they have certificates, the channel is encrypted and takes no
    other server than one with the certificate of `server`; it is opened anew for the first call after the certificates
    have changed. The channel connects when it is first used and reconnects by itself. Close it when done.
    """
    interceptors = [_Unary(credentials, server), _Stream(credentials, server)]
    tls = credentials.tls if credentials else None
    if not tls:
        return grpc.aio.insecure_channel(target, options=OPTIONS, interceptors=interceptors)
    options = (*OPTIONS, ("grpc.ssl_target_name_override", dns_name(server)))

    def opened(certificates: Certificates) -> grpc.aio.Channel:
        return grpc.aio.secure_channel(target, client_credentials(certificates), options, interceptors=interceptors)

    return RenewedChannel(tls, opened)
