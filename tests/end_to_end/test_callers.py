"""Nobody but the services of an installation calls its services, whatever process of the host it is."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from wavepool.billing.v1 import billing_pb2
from wavepool.scheduler.v1 import scheduler_pb2
from wavepool.vmpool.v1 import vmpool_pb2

from servicekit.service_token import service_token_of

if TYPE_CHECKING:
    from google.protobuf.descriptor import ServiceDescriptor

    from tests.end_to_end.wavepool_processes import Wavepool

SERVICES: dict[str, ServiceDescriptor] = {
    "billing": billing_pb2.DESCRIPTOR.services_by_name["BillingService"],
    "scheduler": scheduler_pb2.DESCRIPTOR.services_by_name["SchedulerService"],
    "vmpool": vmpool_pb2.DESCRIPTOR.services_by_name["VmPoolService"],
}


def target_of(wavepool: Wavepool, service: str) -> str:
    """Where it serves, as it logged."""
    lines = (wavepool.data_dir / "logs" / f"{service}.log").read_text().splitlines()
    (entry,) = (json.loads(line) for line in lines if '"serving"' in line)
    return f"{entry['host']}:{entry['port']}"


def status_of(channel: grpc.Channel, method: Any, *authorization: tuple[str, str]) -> grpc.StatusCode:
    """The status of a call with an empty request."""
    path = f"/{method.containing_service.full_name}/{method.name}"
    try:
        if method.server_streaming:
            next(channel.unary_stream(path)(b"", metadata=authorization, timeout=10), None)
        else:
            channel.unary_unary(path)(b"", metadata=authorization, timeout=10)
    except grpc.RpcError as error:
        return error.code()  # pyright: ignore - grpc's types lack it
    return grpc.StatusCode.OK


@pytest.mark.parametrize("service", SERVICES)
def test_no_method_serves_a_process_of_the_host_that_has_no_credentials_or_a_users(
    wavepool: Wavepool, service: str
) -> None:
    user = (wavepool.data_dir / "token").read_text().strip()
    with grpc.insecure_channel(target_of(wavepool, service)) as channel:
        answers = {
            (method.name, token): status_of(channel, method, *([("authorization", f"Bearer {token}")] if token else []))
            for method in SERVICES[service].methods
            for token in ("", user, "guess")
        }
        assert set(answers.values()) == {grpc.StatusCode.UNAUTHENTICATED}, answers
        health = health_pb2_grpc.HealthStub(channel)
        assert health.Check(health_pb2.HealthCheckRequest()).status == health_pb2.HealthCheckResponse.SERVING
        token = service_token_of(wavepool.data_dir).current()
        some = SERVICES[service].methods[0]
        assert status_of(channel, some, ("authorization", f"Bearer {token}")) is not grpc.StatusCode.UNAUTHENTICATED
