"""Streaming calls to services, which last as long as a client's request."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Protocol, TypeVar

import grpc

from servicekit.logging import get_logger

log = get_logger(__name__)

T_co = TypeVar("T_co", covariant=True)
T = TypeVar("T")


class StreamingCall(Protocol[T_co]):
    """gRPC's object for an RPC with a stream of answers."""

    def __aiter__(self) -> AsyncIterator[T_co]:
        """The answers as they come."""
        ...

    def cancel(self) -> bool:
        """Ends the call."""
        ...


class OpenCalls:
    """All open calls. They end when the gateway stops, so that their clients' streams end cleanly."""

    def __init__(self) -> None:
        self._calls: set[StreamingCall[object]] = set()
        self._is_closed = False

    async def answers(self, call: StreamingCall[T]) -> AsyncGenerator[T]:
        """A call's answers until it ends or the gateway stops; raises AioRpcError if it fails before the first.

        If it fails later, the stream just ends: the client has the beginning, and asks for the rest.
        """
        begun = False
        self._calls.add(call)
        try:
            if self._is_closed:
                return
            async for answer in call:
                begun = True
                yield answer
        except asyncio.CancelledError:
            if not self._is_closed:
                raise
        except grpc.aio.AioRpcError as error:
            if not begun:
                raise
            log.info("a stream broke", extra={"code": error.code().name, "detail": error.details()})
        finally:
            self._calls.discard(call)
            call.cancel()

    def close(self) -> None:
        """Ends all calls, and later ones too."""
        self._is_closed = True
        for call in self._calls:
            call.cancel()
