"""A channel that takes new certificates without a restart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import grpc.aio

if TYPE_CHECKING:
    from collections.abc import Callable

    from servicekit.rpc.tls import Certificates, TlsFiles


class RenewedChannel(grpc.aio.Channel):
    """Opens a channel again when the certificates have changed, for the next call.

    gRPC for Python has no credentials of clients that change. Calls in flight end on the connection that they began on:
    it lasts as long as they do.
    """

    def __init__(self, files: TlsFiles, opened: Callable[[Certificates], grpc.aio.Channel]) -> None:
        self._files = files
        self._opened = opened
        self._certificates = files.current()
        self._channel = opened(self._certificates)

    def unary_unary(self, *args: Any, **options: Any) -> Any:  # noqa: ANN401 - as grpc passes them
        """A method with one request and one answer."""
        return self._renewed("unary_unary", *args, **options)

    def unary_stream(self, *args: Any, **options: Any) -> Any:  # noqa: ANN401 - as grpc passes them
        """A method that streams its answers."""
        return self._renewed("unary_stream", *args, **options)

    def stream_unary(self, *args: Any, **options: Any) -> Any:  # noqa: ANN401 - as grpc passes them
        """A method that streams its requests."""
        return self._renewed("stream_unary", *args, **options)

    def stream_stream(self, *args: Any, **options: Any) -> Any:  # noqa: ANN401 - as grpc passes them
        """A method that streams both ways."""
        return self._renewed("stream_stream", *args, **options)

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
        await self._channel.close(grace)

    async def __aenter__(self) -> grpc.aio.Channel:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def _renewed(self, shape: str, *args: object, **options: object) -> Callable[..., Any]:
        def call(*request: Any, **how: Any) -> Any:  # noqa: ANN401 - as grpc passes them
            return getattr(self._current(), shape)(*args, **options)(*request, **how)

        return call

    def _current(self) -> grpc.aio.Channel:
        certificates = self._files.current()
        if certificates is not self._certificates:
            self._certificates = certificates
            self._channel = self._opened(certificates)
        return self._channel
