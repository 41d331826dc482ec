"""Runs the gateway: `python -m gateway`."""

from __future__ import annotations

import uvicorn

from gateway.app import create_app
from gateway.config import GatewaySettings
from servicekit import logging, metrics


def main() -> None:
    """Serve until SIGTERM or SIGINT; open streams end then, and their clients resume elsewhere or later."""
    settings = GatewaySettings()
    logging.configure("gateway", settings.log_level)
    _, stop_metrics = metrics.serve_metrics(settings.host, settings.resolved_metrics_port())
    config = uvicorn.Config(
        create_app(settings),
        host=settings.host,
        port=settings.port,
        loop="uvloop",
        access_log=False,
        log_config=None,
        server_header=False,
        timeout_graceful_shutdown=max(1, round(settings.drain.total_seconds())),
    )
    try:
        uvicorn.Server(config).run()
    finally:
        stop_metrics()


if __name__ == "__main__":
    main()
