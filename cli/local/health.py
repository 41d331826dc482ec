"""Asks running processes if they are ready: gRPC health for services, `/readyz` for the gateway.

`python -m cli.local.health ADDRESS [SERVICE [METRICS]]` asks one, for health checks of containers. With
WAVEPOOL_TLS_DIR it shows services the certificate of `operator`, and takes the certificate of SERVICE alone. A spare
vmpool, which serves nothing until it leads, is healthy if its metrics at the address METRICS say so.
"""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import Any, cast

import grpc
import httpx
from grpc_health.v1 import health_pb2, health_pb2_grpc

from servicekit.rpc.tls import TlsFiles, client_credentials, dns_name
from wavepool_client.http.connection import verification_for

TIMEOUT_SECONDS = 2.0
OPTIONS = (("grpc.enable_http_proxy", 0),)


async def grpc_is_serving(address: str, name: str = "") -> bool:
    """True if the service `name` at `host:port` reports SERVING; raises TlsFilesError."""
    async with _opened(address, name) as channel:
        stub = cast("Any", health_pb2_grpc).HealthStub(channel)
        try:
            answer = await stub.Check(health_pb2.HealthCheckRequest(), timeout=TIMEOUT_SECONDS)
        except grpc.aio.AioRpcError:
            return False
    return answer.status == health_pb2.HealthCheckResponse.SERVING


def _opened(address: str, name: str) -> grpc.aio.Channel:
    folder = os.environ.get("WAVEPOOL_TLS_DIR")
    if not folder:
        return grpc.aio.insecure_channel(address, options=OPTIONS)
    credentials = client_credentials(TlsFiles(Path(folder), "operator").current())
    options = (*OPTIONS, ("grpc.ssl_target_name_override", dns_name(name)))
    return grpc.aio.secure_channel(address, credentials, options=options)


async def http_is_ready(endpoint: str) -> bool:
    """True if the gateway at `http://host:port` reports that it and the services behind it are ready."""
    verify = verification_for(endpoint)
    async with httpx.AsyncClient(trust_env=False, timeout=TIMEOUT_SECONDS, verify=verify) as client:
        try:
            response = await client.get(f"{endpoint}/readyz")
        except httpx.TransportError:
            return False
    return response.is_success


async def is_spare(metrics_address: str) -> bool:
    """True if the process whose metrics are at `host:port` waits for the one that leads."""
    async with httpx.AsyncClient(trust_env=False, timeout=TIMEOUT_SECONDS) as client:
        try:
            return "wavepool_vmpool_spare 1" in (await client.get(f"http://{metrics_address}/metrics")).text
        except httpx.TransportError:
            return False


async def is_healthy(address: str, name: str = "", metrics_address: str = "") -> bool:
    """True if the service at `host:port`, or the gateway at a URL, is ready, or the process is a spare."""
    is_ready = http_is_ready(address) if address.startswith("http") else grpc_is_serving(address, name)
    return await is_ready or bool(metrics_address and await is_spare(metrics_address))


def main() -> None:
    """Exits with 0 if the process that the arguments name is healthy; else with 1."""
    sys.exit(0 if asyncio.run(is_healthy(*sys.argv[1:])) else 1)


if __name__ == "__main__":
    main()
