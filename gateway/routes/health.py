"""`/healthz` reports on this process, `/readyz` also on the services behind it."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any, Literal

import grpc
from fastapi import APIRouter, Response
from grpc_health.v1.health_pb2 import HealthCheckRequest, HealthCheckResponse
from pydantic import BaseModel, Field

from gateway.dependencies import TheGateway
from gateway.http.route_docs import Responses
from servicekit.rpc.health import REASON_KEY

router = APIRouter(tags=["health"])

CHECK_TIMEOUT_SECONDS = 1.0
SERVING = HealthCheckResponse.SERVING


class Health(BaseModel):
    """The process is alive."""

    status: Literal["ok"]


class Readiness(BaseModel):
    """Whether every service behind the gateway is serving."""

    status: Literal["ready", "not ready"]
    services: Annotated[dict[str, str], Field(description="`serving`, or what is wrong, by service.")]


NOT_READY: Responses = {503: {"description": "`services` says what is wrong.", "model": Readiness}}


@router.head("/healthz", include_in_schema=False)
@router.get("/healthz")
async def get_health() -> Health:
    """Report that the process is alive."""
    return Health(status="ok")


@router.head("/readyz", include_in_schema=False)
@router.get("/readyz", responses=NOT_READY)
async def get_readiness(response: Response, gateway: TheGateway) -> Readiness:
    """Report if every service behind the gateway is serving."""
    health = gateway.upstreams.health
    answers = await asyncio.gather(*(_state(stub) for stub in health.values()))
    states = dict(zip(health, answers, strict=True))
    ready = all(state == "serving" for state in answers)
    response.status_code = 200 if ready else 503
    return Readiness(status="ready" if ready else "not ready", services=states)


async def _state(stub: Any) -> str:  # noqa: ANN401 - grpc_health has no types
    call = stub.Check(HealthCheckRequest(), timeout=CHECK_TIMEOUT_SECONDS)
    try:
        answer = await call
        reasons = [str(value) for key, value in await call.trailing_metadata() if key == REASON_KEY]
    except grpc.aio.AioRpcError as error:
        return f"unreachable: {error.code().name}"
    return "serving" if answer.status == SERVING else ": ".join(["not serving", *reasons])
