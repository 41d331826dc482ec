"""Keeps callers out that are no services of this installation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import grpc

from servicekit.rpc.interceptors import FOR_EVERYBODY, replaced

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from servicekit.service_token import ServiceToken


class ServicesOnly(grpc.aio.ServerInterceptor):
    """Refuses calls without the services' token (UNAUTHENTICATED), except for health and reflection."""

    def __init__(self, token: ServiceToken) -> None:
        self._token = token

    async def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable[Any]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> Any:  # noqa: ANN401 - the handler of any RPC
        """Called by grpc for each RPC."""
        handler = await continuation(handler_call_details)
        if handler is None or str(handler_call_details.method).startswith(FOR_EVERYBODY):
            return handler
        if self._token.is_in(handler_call_details.invocation_metadata):
            return handler
        return replaced(handler, _refuse_stream if handler.response_streaming else _refuse, is_read=False)


REFUSAL = (
    "only services of this installation may call this: send `authorization: Bearer <token>` with the first line of "
    "their `service-token` file (WAVEPOOL_SERVICE_TOKEN_FILE), which all of them must share"
)
"""The answer to a call without the token, or with that of another file."""


async def _refuse(_: object, context: Any) -> None:  # noqa: ANN401 - grpc's own
    await context.abort(grpc.StatusCode.UNAUTHENTICATED, REFUSAL)


async def _refuse_stream(_: object, context: Any) -> AsyncIterator[None]:  # noqa: ANN401 - grpc's own
    await context.abort(grpc.StatusCode.UNAUTHENTICATED, REFUSAL)
    yield
