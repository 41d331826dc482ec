from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from datetime import timedelta
from typing import Any

import grpc
import httpx
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2
from wavepool.billing.v1 import billing_pb2

from servicekit.request_id import METADATA_KEY, current_request_id, set_request_id
from servicekit.rpc import interceptors
from servicekit.rpc.credentials import ServiceCredentials
from servicekit.rpc.errors import rpc_failure
from servicekit.rpc.server import PortTakenError, ServiceServer
from servicekit.settings.config import ServiceSettings
from tests.service_token import SERVICE_TOKEN, AllowedCaller, services_alone
from tests.servicekit.conftest import SERVICE, BadFieldError, Serve, UnknownThingError

BALANCE = billing_pb2.GetBalanceResponse(account_name="demo", available_micros=1_990_000)


async def balance(request: Any, context: Any) -> billing_pb2.GetBalanceResponse:
    del request, context
    return BALANCE


async def failure_when(serve: Serve, error: Exception) -> Any:
    async def fail(request: Any, context: Any) -> None:
        raise error

    async with serve(fail) as (_, stub):
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await stub.GetBalance(billing_pb2.GetBalanceRequest(), timeout=60)
        return rpc_failure(caught.value)


async def test_a_heartbeat_is_logged_when_it_fails_only(
    serve: Serve, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def balance_of_known(request: Any, context: Any) -> billing_pb2.GetBalanceResponse:
        del context
        if not request.account_id:
            raise UnknownThingError("none")
        return BALANCE

    monkeypatch.setattr(interceptors, "HEARTBEATS", {f"/{SERVICE}/GetBalance"})
    caplog.set_level("INFO")
    async with serve(balance_of_known) as (_, stub):
        await stub.GetBalance(billing_pb2.GetBalanceRequest(account_id="demo"), timeout=60)
        with pytest.raises(grpc.aio.AioRpcError):
            await stub.GetBalance(billing_pb2.GetBalanceRequest(), timeout=60)
    assert [vars(record)["code"] for record in caplog.records if record.getMessage() == "rpc"] == ["NOT_FOUND"]


async def test_health_reports_each_service_as_serving(serve: Serve) -> None:
    async with serve(balance) as (server, _), grpc.aio.insecure_channel(f"127.0.0.1:{server.port}") as channel:
        for name in ("", SERVICE):
            answer = await health_pb2_grpc.HealthStub(channel).Check(health_pb2.HealthCheckRequest(service=name))
            assert answer.status == health_pb2.HealthCheckResponse.SERVING


async def test_health_lists_all_services_and_follows_them_until_the_server_stops(serve: Serve) -> None:
    async with serve(balance) as (server, _), grpc.aio.insecure_channel(f"127.0.0.1:{server.port}") as channel:
        stub = health_pb2_grpc.HealthStub(channel)
        listed = (await stub.List(health_pb2.HealthListRequest(), timeout=60)).statuses
        assert {name: health.status for name, health in listed.items()} == {"": 1, SERVICE: 1}
        watched, unknown = (stub.Watch(health_pb2.HealthCheckRequest(service=name)) for name in (SERVICE, "none"))
        assert (await unknown.read()).status == health_pb2.HealthCheckResponse.SERVICE_UNKNOWN
        assert (await watched.read()).status == health_pb2.HealthCheckResponse.SERVING
        await server.stop(timedelta(minutes=1))
        assert (await watched.read()).status == health_pb2.HealthCheckResponse.NOT_SERVING
        assert await watched.code() is grpc.StatusCode.OK


@pytest.mark.parametrize("version", ["v1", "v1alpha"])
async def test_reflection_lists_and_describes_the_services(serve: Serve, version: str) -> None:
    reflection = f"grpc.reflection.{version}.ServerReflection"
    asked = [reflection_pb2.ServerReflectionRequest(list_services="")]
    asked += [reflection_pb2.ServerReflectionRequest(file_containing_symbol=name) for name in (SERVICE, reflection)]

    async with serve(balance) as (server, _), grpc.aio.insecure_channel(f"127.0.0.1:{server.port}") as channel:
        call = channel.stream_stream(f"/{reflection}/ServerReflectionInfo")
        answers = call(iter([question.SerializeToString() for question in asked]))
        listed, *described = [reflection_pb2.ServerReflectionResponse.FromString(answer) async for answer in answers]
    names = {service.name for service in listed.list_services_response.service}
    assert {SERVICE, reflection, "grpc.health.v1.Health"} <= names
    assert all(answer.file_descriptor_response.file_descriptor_proto for answer in described)


async def test_metrics_count_the_rpcs_by_method_and_code(serve: Serve) -> None:
    async with serve(balance) as (server, stub):
        await stub.GetBalance(billing_pb2.GetBalanceRequest(), timeout=60)
        async with httpx.AsyncClient(trust_env=False) as client:
            page = (await client.get(f"http://127.0.0.1:{server.metrics_port}/metrics")).text
    assert f'wavepool_rpc_seconds_count{{code="OK",method="/{SERVICE}/GetBalance"}}' in page


async def test_a_mapped_error_keeps_its_message(serve: Serve) -> None:
    failure = await failure_when(serve, UnknownThingError("no such thing: x"))
    assert (failure.code, failure.message) == (grpc.StatusCode.NOT_FOUND, "no such thing: x")


async def test_fields_at_fault_and_retry_time_reach_the_client(serve: Serve) -> None:
    failure = await failure_when(serve, BadFieldError("bad amount"))
    assert failure.code is grpc.StatusCode.INVALID_ARGUMENT
    assert failure.violations == BadFieldError.violations
    assert failure.retry_after == BadFieldError.retry_after


async def test_more_faults_than_a_status_takes_are_counted(serve: Serve) -> None:
    error = BadFieldError("a sentence of each. " * 1000)
    error.violations = tuple((f"keys.{number}", f"key {number} is none. " * 10) for number in range(1000))
    failure = await failure_when(serve, error)
    assert failure.code is grpc.StatusCode.INVALID_ARGUMENT
    assert failure.message.startswith("a sentence of each.")
    assert failure.message.endswith("…")
    *first, (field, rest) = failure.violations
    assert tuple(first) == error.violations[: len(first)]
    assert (field, rest) == (f"keys.{len(first)}", f"… and {1000 - len(first)} more")
    assert len(first) > 5


async def test_an_unmapped_error_tells_the_client_nothing_but_the_request_id(serve: Serve) -> None:
    set_request_id("trace-me")
    failure = await failure_when(serve, RuntimeError("password=hunter2"))
    assert failure.code is grpc.StatusCode.INTERNAL
    assert "hunter2" not in failure.message
    assert "trace-me" in failure.message


async def test_the_request_id_travels_with_the_call(serve: Serve) -> None:
    seen: list[str] = []

    async def note(request: Any, context: Any) -> billing_pb2.GetBalanceResponse:
        del request, context
        seen.append(current_request_id())
        return BALANCE

    async with serve(note) as (server, stub):
        set_request_id("from-the-caller")
        await stub.GetBalance(billing_pb2.GetBalanceRequest(), timeout=60)
        async with grpc.aio.insecure_channel(f"127.0.0.1:{server.port}") as bare:
            call = bare.unary_unary(f"/{SERVICE}/GetBalance")
            credentials = ServiceCredentials("gateway", SERVICE_TOKEN).metadata()
            await call(b"", metadata=((METADATA_KEY, "x" * 500), *credentials))
            await call(b"", metadata=credentials)
    assert seen[0] == "from-the-caller"
    assert seen[1] == "x" * 64
    assert len(seen[2]) == 16


async def test_a_call_in_flight_finishes_while_the_server_stops(serve: Serve) -> None:
    entered, leave = asyncio.Event(), asyncio.Event()

    async def slow(request: Any, context: Any) -> billing_pb2.GetBalanceResponse:
        del request, context
        entered.set()
        await leave.wait()
        return BALANCE

    async with serve(slow) as (server, stub):
        call = asyncio.ensure_future(stub.GetBalance(billing_pb2.GetBalanceRequest(), timeout=60))
        await entered.wait()
        stopping = asyncio.create_task(server.stop())
        await asyncio.sleep(0)
        leave.set()
        assert await call == BALANCE
        await stopping


async def test_a_taken_port_is_named(serve: Serve) -> None:
    async with serve(balance) as (server, _):
        settings = ServiceSettings(port=server.port, metrics_port=0)
        second = ServiceServer("second", settings, {}, services_alone)
        with pytest.raises(PortTakenError, match=f"second cannot listen on 127.0.0.1:{server.port}"):
            await second.start()


async def test_a_token_travels_as_authorization(serve: Serve) -> None:
    seen: list[Any] = []

    async def note(request: Any, context: Any) -> billing_pb2.GetBalanceResponse:
        del request
        seen.append(dict(context.invocation_metadata()).get("authorization"))
        return BALANCE

    async with serve(note) as (server, _):
        channel = AllowedCaller(f"127.0.0.1:{server.port}")
        await channel.unary_unary(f"/{SERVICE}/GetBalance")(b"", timeout=60)
        await channel.close()
    assert seen == [f"Bearer {SERVICE_TOKEN.current()}"]


PROGRAM = """
import asyncio
from servicekit.settings.config import ServiceSettings
from servicekit.rpc.server import ServiceServer, run
from servicekit import logging
async def main():
    logging.configure("demo", "INFO")
    await ServiceServer("demo", ServiceSettings(port=0), {}, None).run_until_signalled(asyncio.Event().wait())
run(main, dict)
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_stops_the_process_cleanly(number: signal.Signals) -> None:
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", PROGRAM, stdout=pipe, stderr=pipe, env=os.environ
    )
    assert process.stdout
    assert b'"serving"' in await process.stdout.readline()
    process.send_signal(number)
    stdout, stderr = await process.communicate()
    assert process.returncode == 0, stderr
    assert b'"stopped"' in stdout


LOOKS_FOR_GARBAGE = """
import gc
from servicekit.rpc.server import run
imported = len(gc.get_objects())
async def main():
    print(imported, len(gc.get_objects()))
run(main, dict)
"""


async def test_what_was_imported_is_not_looked_through_for_garbage() -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", LOOKS_FOR_GARBAGE, stdout=asyncio.subprocess.PIPE, env=os.environ
    )
    stdout, _ = await process.communicate()

    before, within = map(int, stdout.split())
    assert within < before / 10


@pytest.mark.parametrize("program", ["gateway", "services.billing", "services.executor", "services.scheduler"])
async def test_a_program_looks_for_garbage_when_it_runs_and_not_while_it_imports(program: str) -> None:
    # The module as `python -m` would run it, up to what it calls at the end.
    looks = f"import gc, {program}.__main__\nprint(gc.isenabled())\n" + LOOKS_FOR_GARBAGE.replace(
        "imported, len(gc.get_objects())", "gc.isenabled()"
    )
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", looks, stdout=asyncio.subprocess.PIPE, env=os.environ
    )
    stdout, _ = await process.communicate()

    assert stdout.split() == [b"False", b"True"]


def test_a_service_without_a_database_does_not_load_sqlalchemy() -> None:
    program = "import sys, gateway.app, services.executor.server; sys.exit('sqlalchemy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
