"""The HTTP server, which ends open event streams cleanly when it stops."""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import Generator
from contextlib import contextmanager
from functools import partial
from typing import cast

import uvicorn
from fastapi import FastAPI
from sse_starlette.sse import AppStatus

from gateway.config import GatewaySettings
from gateway.http.connection import KEPT_ALIVE, HttpConnection, WebSocketConnection
from gateway.reservations.tunnel import MOST_MESSAGE_BYTES


class GatewayServer(uvicorn.Server):
    """Serves the application until SIGTERM or SIGINT."""

    def __init__(self, app: FastAPI, settings: GatewaySettings) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                host=settings.host,
                port=settings.port,
                http=cast("type[asyncio.Protocol]", partial(HttpConnection, settings)),
                ws=WebSocketConnection,
                # The bytes of SSH are encrypted, so nothing makes them smaller.
                ws_per_message_deflate=False,
                ws_max_size=MOST_MESSAGE_BYTES,
                # A session that does not read holds up its client, whose answers to pings then wait, too.
                ws_ping_timeout=None,
                access_log=False,
                log_config=None,
                server_header=False,
                # The library trusts 127.0.0.1 by itself; anybody on this host could then pretend to be anywhere.
                proxy_headers=bool(settings.trusted_proxies),
                forwarded_allow_ips=[str(network) for network in settings.trusted_proxies],
                timeout_keep_alive=round(KEPT_ALIVE.total_seconds()),
                timeout_graceful_shutdown=max(1, round(settings.drain.total_seconds())),
            )
        )
        self._app = app
        # The automatic drain would cut streams off in the middle; `shutdown` ends them.
        AppStatus.disable_automatic_graceful_drain()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Ends the streams, then waits for the other requests."""
        self._app.state.gateway.close()
        await super().shutdown(sockets)

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        """Stops on SIGTERM and SIGINT and exits with 0, because a requested stop is no failure."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self.handle_exit, number, None)
        try:
            yield
        finally:
            for number in (signal.SIGTERM, signal.SIGINT):
                loop.remove_signal_handler(number)
