"""Runs the gateway: `python -m gateway`."""

from __future__ import annotations

import sys

import servicekit.server
from gateway.app import create_app
from gateway.config import GatewaySettings
from gateway.server import GatewayServer
from servicekit import logging, metrics


async def main() -> None:
    """Serve until SIGTERM or SIGINT; open streams end then, and their clients resume."""
    settings = GatewaySettings()
    logging.configure("gateway", settings.log_level)
    _, stop_metrics = metrics.serve_metrics(settings.host, settings.resolved_metrics_port())
    server = GatewayServer(create_app(settings), settings)
    try:
        await server.serve()
    finally:
        stop_metrics()
    if not server.started:
        sys.exit("the gateway could not start; the log above says why")


if __name__ == "__main__":
    servicekit.server.run(main)
