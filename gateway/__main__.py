"""Runs the gateway: `python -m gateway`."""

from __future__ import annotations

import gc
import sys
from typing import TYPE_CHECKING

gc.disable()  # until `run`: it would look through all that is imported again and again, a tenth of the time

import servicekit.rpc.server
from gateway.app import create_app
from gateway.config import GatewaySettings
from gateway.server import GatewayServer
from servicekit import logging, metrics
from servicekit.rpc.credentials import credentials_of, tls_files_of
from servicekit.settings.setting_names import warn_of_settings

if TYPE_CHECKING:
    from collections.abc import Callable
    from logging import LogRecord


async def main() -> None:
    """Serves until SIGTERM or SIGINT; then open streams end, and their clients resume."""
    settings = GatewaySettings()
    logging.configure("gateway", settings.log_level)
    warn_of_settings(logging.get_logger("gateway"))
    # Reports a file that cannot be read before anything is served; raises NoServiceTokenError, TlsFilesError.
    credentials_of(settings, "gateway")
    logging.get_logger("uvicorn.error").addFilter(_without_colours)
    server = GatewayServer(create_app(settings), settings)
    stop_metrics = _serve_metrics(settings)
    try:
        await server.serve()
    finally:
        stop_metrics()


def _serve_metrics(settings: GatewaySettings) -> Callable[[], None]:
    port = settings.resolved_metrics_port()
    try:
        return metrics.serve_metrics(settings.host, port)[1]
    except OSError as error:
        sys.exit(f"gateway cannot serve metrics on {settings.host}:{port} (GATEWAY_METRICS_PORT): {error}")


def _without_colours(record: LogRecord) -> bool:
    """Removes the coloured copy that the HTTP server adds to some messages for terminals."""
    vars(record).pop("color_message", None)
    return True


if __name__ == "__main__":
    servicekit.rpc.server.run(main, lambda: tls_files_of(GatewaySettings(), "gateway"))
