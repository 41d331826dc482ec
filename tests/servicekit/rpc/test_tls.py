"""TLS between services, over real connections, with certificates as `make certs` makes them."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import grpc
import pytest
from wavepool.billing.v1 import billing_pb2, billing_pb2_grpc

from servicekit.rpc.callers import Callers
from servicekit.rpc.channels import open_channel
from servicekit.rpc.credentials import OpenToOthersError, ServiceCredentials, check_network
from servicekit.rpc.server import ServiceServer
from servicekit.rpc.tls import TlsFiles, TlsFilesError
from servicekit.service_token import service_token_of
from servicekit.settings.config import ServiceSettings
from tests.certificates import make
from tests.service_token import SERVICE_TOKEN

EXPIRED = timedelta(seconds=-1)
BALANCE = billing_pb2.GetBalanceResponse(account_name="demo")


class Servicer(billing_pb2_grpc.BillingServiceServicer):
    def __init__(self) -> None:
        self.leave = asyncio.Event()

    async def GetBalance(self, request: Any, context: Any) -> Any:  # noqa: N802 - grpc's own
        if request.account_id == "wait":
            await self.leave.wait()
        return BALANCE


@asynccontextmanager
async def billing_in(folder: Path, port: int = 0) -> AsyncGenerator[tuple[str, Servicer]]:
    """A server with billing's certificate; it knows no API tokens."""

    async def nobody(_: str) -> None:
        return None

    files = TlsFiles(folder, "billing")
    callers = Callers(ServiceCredentials("billing", SERVICE_TOKEN, files), nobody)
    server = ServiceServer("billing", ServiceSettings(port=port, metrics_port=0), {}, callers.identify, files)
    servicer = Servicer()
    billing_pb2_grpc.add_BillingServiceServicer_to_server(servicer, server.grpc)
    server.expose("wavepool.billing.v1.BillingService")
    await server.start()
    try:
        yield f"127.0.0.1:{server.port}", servicer
    finally:
        await server.stop(timedelta(0))


async def call(channel: grpc.aio.Channel, account_id: str = "") -> Any:
    request = billing_pb2.GetBalanceRequest(account_id=account_id)
    return await billing_pb2_grpc.BillingServiceStub(channel).GetBalance(request, timeout=30)


async def failure(target: str, credentials: ServiceCredentials | None, server: str = "billing") -> Any:
    async with open_channel(target, credentials, server) as channel:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await call(channel)
    return caught.value


def credentials(folder: Path, name: str = "gateway") -> ServiceCredentials:
    return ServiceCredentials(name, SERVICE_TOKEN, TlsFiles(folder, name))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    make(tmp_path / "tls")
    return tmp_path / "tls"


async def test_the_name_of_a_caller_is_that_of_its_certificate_whatever_it_says(folder: Path) -> None:
    async with billing_in(folder) as (target, _):
        async with open_channel(target, credentials(folder), "billing") as channel:
            assert await call(channel) == BALANCE
        lying = ServiceCredentials("gateway", SERVICE_TOKEN, TlsFiles(folder, "vmpool"))
        refused = await failure(target, lying)
        assert (refused.code(), "you call as the service vmpool" in refused.details()) == (
            grpc.StatusCode.PERMISSION_DENIED,
            True,
        )


async def test_a_certificate_of_no_service_proves_no_service(folder: Path) -> None:
    async with billing_in(folder) as (target, _):
        person = ServiceCredentials("gateway", SERVICE_TOKEN, TlsFiles(folder, "operator"))
        refused = await failure(target, person)
        assert refused.code() is grpc.StatusCode.PERMISSION_DENIED
        assert "your certificate says 'operator'" in refused.details()


async def test_a_token_without_a_certificate_and_plain_text_get_nowhere(folder: Path) -> None:
    async with billing_in(folder) as (target, _):
        plain = await failure(target, ServiceCredentials("gateway", SERVICE_TOKEN))
        assert plain.code() is grpc.StatusCode.UNAVAILABLE
        authority = (folder / "ca.pem").read_bytes()
        options = (("grpc.ssl_target_name_override", "billing.wavepool"),)
        async with grpc.aio.secure_channel(target, grpc.ssl_channel_credentials(authority), options) as channel:
            stub = billing_pb2_grpc.BillingServiceStub(channel)
            metadata = ServiceCredentials("gateway", SERVICE_TOKEN).metadata()
            with pytest.raises(grpc.aio.AioRpcError) as refused:
                await stub.GetBalance(billing_pb2.GetBalanceRequest(), metadata=metadata, timeout=30)
        assert refused.value.code() is grpc.StatusCode.UNAVAILABLE


async def test_a_certificate_without_the_token_is_not_enough(folder: Path, tmp_path: Path) -> None:
    async with billing_in(folder) as (target, _):
        refused = await failure(
            target, ServiceCredentials("gateway", service_token_of(tmp_path), TlsFiles(folder, "gateway"))
        )
        assert refused.code() is grpc.StatusCode.UNAUTHENTICATED


async def test_a_server_that_is_another_service_is_named_with_the_fix(folder: Path) -> None:
    async with billing_in(folder) as (target, _):
        refused = await failure(target, credentials(folder), "vmpool")
        assert "vmpool: it has the certificate of another service; give it vmpool.pem" in refused.details()


async def test_a_server_of_another_authority_is_named_with_the_file_and_the_fix(folder: Path, tmp_path: Path) -> None:
    make(tmp_path / "other")
    async with billing_in(folder) as (target, _):
        refused = await failure(target, credentials(tmp_path / "other"))
        assert f"no authority in {tmp_path / 'other' / 'ca.pem'} has signed its certificate" in refused.details()


async def test_a_client_of_another_authority_hears_which_file_the_server_may_not_take(
    folder: Path, tmp_path: Path
) -> None:
    make(tmp_path / "other")
    both = (tmp_path / "other" / "ca.pem").read_bytes() + (folder / "ca.pem").read_bytes()
    (tmp_path / "other" / "ca.pem").write_bytes(both)
    async with billing_in(folder) as (target, _):
        refused = await failure(target, credentials(tmp_path / "other"))
        assert f"it does not take {tmp_path / 'other' / 'gateway.pem'}" in refused.details()


async def test_a_server_whose_certificate_has_expired_is_named(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder, tmp_path / "renewed")
    make(folder, EXPIRED)
    expired = (folder / "billing.pem").read_bytes()
    server = grpc.aio.server()
    shown = grpc.ssl_server_credentials([(expired, expired)], (folder / "ca.pem").read_bytes(), True)
    target = f"127.0.0.1:{server.add_secure_port('127.0.0.1:0', shown)}"
    await server.start()
    refused = await failure(target, credentials(tmp_path / "renewed"))
    assert "billing: its certificate has expired; run `make certs`" in refused.details()
    await server.stop(0)


async def test_a_server_without_tls_is_named(folder: Path, serve: Any) -> None:
    async def answer(request: Any, context: Any) -> Any:
        return BALANCE

    async with serve(answer) as (server, _):
        refused = await failure(f"127.0.0.1:{server.port}", credentials(folder))
        assert "billing: it serves without TLS; set WAVEPOOL_TLS_DIR for it, too" in refused.details()


async def test_both_sides_take_new_certificates_while_calls_go_on(folder: Path) -> None:
    async with (
        billing_in(folder) as (target, servicer),
        open_channel(target, credentials(folder), "billing") as channel,
    ):
        waiting = asyncio.create_task(call(channel, "wait"))
        for step in ({}, {"new_authority": True}, {}):
            await call(channel)
            make(folder, **step)
            assert await call(channel) == BALANCE
        # Nobody trusts the first authority any more, but the call that began under it goes on.
        servicer.leave.set()
        assert await waiting == BALANCE
        async with open_channel(target, credentials(folder), "billing") as fresh:
            assert await call(fresh) == BALANCE


async def test_a_server_hands_out_its_new_certificate_and_refuses_the_old_authority(
    folder: Path, tmp_path: Path
) -> None:
    shutil.copytree(folder, tmp_path / "left behind")
    async with billing_in(folder) as (target, _):
        async with open_channel(target, credentials(tmp_path / "left behind"), "billing") as channel:
            assert await call(channel) == BALANCE
        make(folder, new_authority=True)
        make(folder)
        refused = await failure(target, credentials(tmp_path / "left behind"))
        assert "no authority in" in refused.details()


async def test_a_client_whose_authority_is_gone_connects_again_with_its_new_certificate(folder: Path) -> None:
    async with billing_in(folder) as (target, _):
        channel = open_channel(target, credentials(folder), "billing")
        assert await call(channel) == BALANCE
    make(folder, new_authority=True)
    make(folder)
    async with billing_in(folder, int(target.rpartition(":")[2])):
        assert await call(channel) == BALANCE
    await channel.close()


CERTIFICATE = b"-----BEGIN CERTIFICATE"


def parts_of(folder: Path, name: str) -> tuple[bytes, bytes]:
    """The key and the certificate of a process."""
    key, mark, certificate = (folder / f"{name}.pem").read_bytes().partition(CERTIFICATE)
    return key, mark + certificate


def other_authority(folder: Path) -> None:
    make(folder / "other")
    (folder / "other" / "ca.pem").replace(folder / "ca.pem")


SPOIL = {
    "missing": lambda folder: (folder / "gateway.pem").unlink(),
    "no authority": lambda folder: (folder / "ca.pem").unlink(),
    "no certificate": lambda folder: (folder / "gateway.pem").write_text("no"),
    "no key": lambda folder: (folder / "gateway.pem").write_bytes(parts_of(folder, "gateway")[1]),
    "another key": lambda folder: (folder / "gateway.pem").write_bytes(
        parts_of(folder, "vmpool")[0] + parts_of(folder, "gateway")[1]
    ),
    "another name": lambda folder: (folder / "vmpool.pem").replace(folder / "gateway.pem"),
    "another authority": other_authority,
    "expired": lambda folder: make(folder, EXPIRED),
}
FAULTS = {
    "missing": r"gateway\.pem cannot be read \(No such file",
    "no authority": r"ca\.pem cannot be read \(No such file",
    "no certificate": r"gateway\.pem holds no certificate",
    "no key": r"gateway\.pem holds no key",
    "another key": r"gateway\.pem holds a key and the certificate of another one",
    "another name": r"gateway\.pem holds no certificate for gateway\.wavepool",
    "another authority": r"gateway\.pem is signed by no authority in .*ca\.pem",
    "expired": r"gateway\.pem is valid from .* to .* UTC, and it is",
}


@pytest.mark.parametrize("how", FAULTS)
def test_a_wrong_file_is_named_with_the_fix_at_the_start(folder: Path, how: str) -> None:
    SPOIL[how](folder)
    with pytest.raises(TlsFilesError, match=f"WAVEPOOL_TLS_DIR: .*{FAULTS[how]}.*; run `make certs CERTS="):
        TlsFiles(folder, "gateway")


@pytest.mark.parametrize("how", FAULTS)
def test_a_file_that_breaks_later_is_logged_and_the_certificate_stays(
    folder: Path, how: str, caplog: pytest.LogCaptureFixture
) -> None:
    files = TlsFiles(folder, "gateway")
    before = files.current()
    SPOIL[how](folder)
    assert files.current() is before
    assert files.current() is before
    assert [record.message for record in caplog.records] == ["the certificate stays as it was"]


def test_a_certificate_that_ends_soon_and_a_key_that_others_can_read_are_logged(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    make(folder, timedelta(days=10))
    (folder / "gateway.pem").chmod(0o644)
    TlsFiles(folder, "gateway")
    assert [record.message for record in caplog.records] == [
        "other users can read a key",
        "a certificate ends soon: run `make certs`",
    ]


@pytest.mark.parametrize("host", ["127.0.0.1", "127.1.2.3", "::1", "[::1]", "localhost"])
def test_loopback_needs_no_tls(host: str) -> None:
    check_network(ServiceSettings(port=0, host=host), "billing")


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.0.0.1", "billing.example"])  # noqa: S104 - not bound to
def test_an_address_that_others_reach_needs_tls(host: str, folder: Path) -> None:
    with pytest.raises(OpenToOthersError, match=r"BILLING_HOST: other hosts may reach .*WAVEPOOL_TLS_DIR"):
        check_network(ServiceSettings(port=0, host=host), "billing")
    check_network(ServiceSettings(port=0, host=host, tls_dir=folder), "billing")
