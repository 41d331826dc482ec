"""Wraps every RPC: request id, log line, metrics, and errors turned into statuses."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Mapping
from contextlib import contextmanager
from typing import Any

import grpc

from servicekit import request_id
from servicekit.logging import get_logger
from servicekit.metrics import rpc_seconds, rpcs_in_flight
from servicekit.rpc.errors import failure_of, neutral_failure, status_of
from servicekit.storage import DatabaseAwayError, says_full

log = get_logger(__name__)

FOR_EVERYBODY = ("/grpc.health.", "/grpc.reflection.")
"""Services that say nothing of anybody; their calls are not worth a line of the log either."""
HEARTBEATS = frozenset({"/wavepool.executor.v1.ExecutorService/GetCapabilities"})
"""Methods called every few seconds while a machine lives; only failures are logged."""


class Observer(grpc.aio.ServerInterceptor):
    """Wraps the handler of every RPC, in any of the four shapes."""

    def __init__(self, error_map: Mapping[type[Exception], grpc.StatusCode]) -> None:
        self._error_map = error_map

    async def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable[Any]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> Any:  # noqa: ANN401 - the handler of any RPC
        """Wraps the handler; grpc calls this for each RPC."""
        handler = await continuation(handler_call_details)
        if handler is None:
            return None
        method = str(handler_call_details.method)
        inner = getattr(handler, _shape_of(handler))
        return replaced(handler, (self._streaming if handler.response_streaming else self._unary)(method, inner))

    def _unary(self, method: str, inner: Callable[[Any, Any], Awaitable[Any]]) -> Callable[[Any, Any], Awaitable[Any]]:
        async def serve(request: Any, context: Any) -> Any:  # noqa: ANN401 - any generated message
            with _observed(method, context):
                try:
                    return await inner(request, context)
                except Exception as error:  # noqa: BLE001 - the one place that catches everything
                    return await self._abort(error, method, context)

        return serve

    def _streaming(
        self, method: str, inner: Callable[[Any, Any], AsyncIterator[Any]]
    ) -> Callable[[Any, Any], AsyncIterator[Any]]:
        async def serve(request: Any, context: Any) -> AsyncIterator[Any]:  # noqa: ANN401 - any generated message
            with _observed(method, context):
                try:
                    async for response in inner(request, context):
                        yield response
                except Exception as error:  # noqa: BLE001 - the one place that catches everything
                    await self._abort(error, method, context)

        return serve

    async def _abort(self, error: Exception, method: str, context: Any) -> None:  # noqa: ANN401 - grpc's own
        if isinstance(error, grpc.aio.AbortError):
            raise error
        failure = failure_of(error, self._error_map)
        if failure is None:
            log.error("unhandled error", exc_info=error, extra={"method": method})
            failure = neutral_failure()
        elif says_full(error):
            log.error("no room is left on the disk", extra={"method": method})
        elif isinstance(error, DatabaseAwayError):
            log.error("the database is out of reach", extra={"method": method, "error": str(error)})
        await context.abort_with_status(status_of(failure))


def _shape_of(handler: Any) -> str:  # noqa: ANN401 - grpc has no type for it
    ways = handler.request_streaming, handler.response_streaming
    return "_".join("stream" if streams else "unary" for streams in ways)


def replaced(handler: Any, serve: Callable[[Any, Any], object], *, is_read: bool = True) -> Any:  # noqa: ANN401 - grpc has no type for it
    """The handler, with `serve` in place of its function; unless `is_read`, the request's bytes are not parsed."""
    make = getattr(grpc, f"{_shape_of(handler)}_rpc_method_handler")
    return make(serve, handler.request_deserializer if is_read else None, handler.response_serializer)


@contextmanager
def _observed(method: str, context: Any) -> Generator[None]:  # noqa: ANN401 - grpc's own
    metadata: dict[str, str] = dict(context.invocation_metadata() or ())
    request_id.set_request_id(metadata.get(request_id.METADATA_KEY))
    in_flight, start = rpcs_in_flight.labels(method), time.perf_counter()
    in_flight.inc()
    code = "OK"
    try:
        yield
    except grpc.aio.AbortError:
        code = _code_name(context.code())
        raise
    except (asyncio.CancelledError, GeneratorExit):
        code = "CANCELLED"
        raise
    finally:
        in_flight.dec()
        seconds = time.perf_counter() - start
        rpc_seconds.labels(method, code).observe(seconds)
        if not method.startswith(FOR_EVERYBODY) and (code != "OK" or method not in HEARTBEATS):
            log.info("rpc", extra={"method": method, "code": code, "duration_ms": round(seconds * 1000, 2)})


def _code_name(code: object) -> str:
    return code.name if isinstance(code, grpc.StatusCode) else str(code)
