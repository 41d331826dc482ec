"""Asks running processes if they are ready: gRPC health for services, `/readyz` for the gateway.

`python -m cli.local.health ADDRESS` asks one, for health checks of containers.
"""

from __future__ import annotations

import asyncio
import sys
from typing import Any, cast

import grpc
import httpx
from grpc_health.v1 import health_pb2, health_pb2_grpc

TIMEOUT_SECONDS = 2.0
OPTIONS = (("grpc.enable_http_proxy", 0),)


async def grpc_is_serving(address: str) -> bool:
    """True if the service at `host:port` reports SERVING."""
    async with grpc.aio.insecure_channel(address, options=OPTIONS) as channel:
        stub = cast("Any", health_pb2_grpc).HealthStub(channel)
        try:
            answer = await stub.Check(health_pb2.HealthCheckRequest(), timeout=TIMEOUT_SECONDS)
        except grpc.aio.AioRpcError:
            return False
    return answer.status == health_pb2.HealthCheckResponse.SERVING


async def http_is_ready(endpoint: str) -> bool:
    """True if the gateway at `http://host:port` reports that it and the services behind it are ready."""
    async with httpx.AsyncClient(trust_env=False, timeout=TIMEOUT_SECONDS) as client:
        try:
            response = await client.get(f"{endpoint}/readyz")
        except httpx.TransportError:
            return False
    return response.is_success


def main() -> None:
    """Exits with 0 if the service at the given `host:port`, or the gateway at the given URL, is ready; else with 1."""
    address = sys.argv[1]
    probe = http_is_ready if address.startswith("http") else grpc_is_serving
    sys.exit(0 if asyncio.run(probe(address)) else 1)


if __name__ == "__main__":
    main()
