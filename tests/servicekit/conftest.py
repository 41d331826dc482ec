"""A real server with a tiny service on it: billing's proto, served by functions of the test."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import timedelta
from typing import Any

import grpc
import pytest
from wavepool.billing.v1 import billing_pb2_grpc

from servicekit.rpc.server import ServiceServer
from servicekit.settings.config import ServiceSettings
from tests.service_token import AllowedCaller, services_alone


class UnknownThingError(Exception):
    """Mapped to NOT_FOUND."""


class BadFieldError(ValueError):
    """Mapped to INVALID_ARGUMENT, with the field at fault and a time to try again."""

    violations = (("amount_micros", "must not be negative; use 0 or more"),)
    retry_after = timedelta(seconds=7)


ERROR_MAP: dict[type[Exception], grpc.StatusCode] = {
    UnknownThingError: grpc.StatusCode.NOT_FOUND,
    ValueError: grpc.StatusCode.INVALID_ARGUMENT,
}
SERVICE = "wavepool.billing.v1.BillingService"

Handler = Callable[[Any, Any], Awaitable[Any]]
Serve = Callable[[Handler], AbstractAsyncContextManager[tuple[ServiceServer, Any]]]


@pytest.fixture
def serve() -> Serve:
    @asynccontextmanager
    async def serving(get_balance: Handler) -> AsyncGenerator[tuple[ServiceServer, Any]]:
        class Servicer(billing_pb2_grpc.BillingServiceServicer):
            async def GetBalance(self, request: Any, context: Any) -> Any:  # noqa: N802 - grpc's own
                return await get_balance(request, context)

        server = ServiceServer(
            "test",
            ServiceSettings(port=0, drain=timedelta(seconds=5)),
            ERROR_MAP,
            services_alone,
        )
        billing_pb2_grpc.add_BillingServiceServicer_to_server(Servicer(), server.grpc)
        server.expose(SERVICE)
        await server.start()
        channel = AllowedCaller(f"127.0.0.1:{server.port}")
        yield server, billing_pb2_grpc.BillingServiceStub(channel)
        await channel.close()
        await server.stop(timedelta(0))

    return serving
