"""Machines that are hosts of a list; what all providers promise is in test_provider_contract.py."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import grpc
import pytest
from wavepool.vmpool.v1 import machine_host_pb2 as pb
from wavepool.vmpool.v1 import machine_host_pb2_grpc as pb_grpc

from servicekit.service_token import NoServiceTokenError
from servicekit.settings.config import WrongSettingsError
from services.vmpool.errors import ProviderError
from services.vmpool.fault import Fault
from services.vmpool.providers.hosts.settings import hosts_in
from services.vmpool.providers.provider import Order, ProviderState, Resource
from tests.services.vmpool.providers.hosts_machines import TOKEN, RunningHost, hosts_provider, running_host, token_in
from vocabulary.bearer import authorization
from vocabulary.ports import free_port

ORDER = Order("mach_1", "MI300X", 1, "token")
LISTED = """
[lab-1]
address = "10.0.0.7"
token_file = "{token}"
gpu_type = "MI300X"
gpu_count = 8
hourly_rate = 1.5

[lab-2]
address = "lab-2.example:50099"
token_file = "{token}"
gpu_type = "MI210"
gpu_count = 1
"""


@pytest.fixture
async def host(tmp_path: Path) -> AsyncIterator[RunningHost]:
    async with running_host(tmp_path / "one") as running:
        yield running


async def test_a_host_that_is_a_machine_or_does_not_answer_is_listed_as_not_to_be_had(host: RunningHost) -> None:
    away = replace(host.listed(price_micros_per_hour=5), port=free_port())
    async with hosts_provider(here=host.listed(), away=away) as provider:
        assert [(offer.backend, offer.available) for offer in await provider.offers()] == [
            ("here", True),
            ("away", False),
        ]
        await provider.provision(replace(ORDER, backend="here"))
        assert [offer.available for offer in await provider.offers()] == [False, False]


async def test_no_second_machine_is_made_on_a_host(host: RunningHost) -> None:
    async with hosts_provider(here=host.listed()) as provider:
        await provider.provision(ORDER)
        for backend in ("", "here"):
            with pytest.raises(ProviderError) as refused:
                await provider.provision(replace(ORDER, machine_id="mach_2", backend=backend))
            assert refused.value.fault is Fault.NO_CAPACITY
        assert await provider.list_all() == ["mach_1"]


async def test_a_machine_takes_the_host_of_its_order(host: RunningHost, tmp_path: Path) -> None:
    async with running_host(tmp_path / "two") as other, hosts_provider(a=host.listed(), b=other.listed()) as provider:
        await provider.provision(replace(ORDER, backend="b"))
        seen = await provider.observe("mach_1")
        assert (seen.backend, seen.resource.resource_id) == ("b", "b")


async def test_while_a_host_that_may_have_the_machine_is_away_nothing_is_known_of_it(host: RunningHost) -> None:
    async with hosts_provider(here=host.listed(), away=replace(host.listed(), port=free_port())) as provider:
        with pytest.raises(OSError, match="host away"):
            await provider.observe("mach_1")
        with pytest.raises(OSError, match="host away"):
            await provider.release("mach_1")
        # Otherwise there could be two of it.
        with pytest.raises(OSError, match="host away"):
            await provider.provision(ORDER)
        # What is known to be on another host is not held up.
        await provider.provision(replace(ORDER, backend="here"))
        assert (await provider.observe("mach_1", Resource(resource_id="here"))).state is not ProviderState.UNKNOWN


async def test_a_machine_whose_host_left_the_list_is_gone(host: RunningHost) -> None:
    async with hosts_provider(here=host.listed()) as provider:
        known = Resource(resource_id="taken-away")
        assert (await provider.observe("mach_1", known)).state is ProviderState.GONE
        await provider.release("mach_1", known)


async def test_a_host_that_refuses_the_token_is_found_by_doctor_and_holds_up_no_other(
    host: RunningHost, tmp_path: Path
) -> None:
    wrong = host.listed(token_in(tmp_path / "wrong", "another-token-of-20-characters"))
    async with running_host(tmp_path / "two") as other, hosts_provider(wrong=wrong, right=other.listed()) as provider:
        assert [offer.backend for offer in await provider.offers() if offer.available] == ["right"]
        first, second = await provider.diagnose()
        assert (first.ok, second.ok) == (False, True)
        assert "MACHINE_HOST_TOKEN_FILE" in first.message
        assert str(tmp_path / "wrong") in first.remedy


async def test_a_host_that_is_away_is_found_by_doctor(host: RunningHost) -> None:
    port = free_port()
    async with hosts_provider(away=replace(host.listed(), port=port)) as provider:
        (finding,) = await provider.diagnose()
        assert not finding.ok
        assert f"127.0.0.1:{port}" in finding.remedy


async def test_something_else_at_a_hosts_address_is_no_matter_of_tokens(host: RunningHost) -> None:
    other = grpc.aio.server()
    port = other.add_insecure_port("127.0.0.1:0")
    await other.start()
    async with hosts_provider(other=replace(host.listed(), port=port)) as provider:
        (finding,) = await provider.diagnose()
    await other.stop(None)
    assert f"answers at 127.0.0.1:{port}" in finding.remedy


async def test_a_machine_goes_on_while_the_process_of_its_host_starts_again(tmp_path: Path) -> None:
    async with running_host(tmp_path) as host, hosts_provider(here=host.listed()) as provider:
        await provider.provision(ORDER)
        await host.server.stop(timedelta(0))
        async with running_host(tmp_path) as again, hosts_provider(here=again.listed()) as later:
            assert await later.order_of("mach_1") == ORDER
            assert (await later.observe("mach_1")).state in {ProviderState.PENDING, ProviderState.RUNNING}


@pytest.mark.parametrize(
    ("wrong", "said"),
    [({"machine_id": "../x"}, "machine_id"), ({"gpu_count": 0}, "gpu_count"), ({"token": ""}, "token")],
)
async def test_a_bad_order_is_refused_with_its_field(host: RunningHost, wrong: dict[str, Any], said: str) -> None:
    async with grpc.aio.insecure_channel(f"127.0.0.1:{host.server.port}") as channel:
        stub = pb_grpc.MachineHostServiceStub(channel)
        fields: dict[str, Any] = {"machine_id": "m", "gpu_count": 1, "token": "t", **wrong}
        order = pb.StartMachineRequest(**fields)
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await stub.StartMachine(order, metadata=(authorization(TOKEN),))
        assert refused.value.code() is grpc.StatusCode.INVALID_ARGUMENT
        assert said in str(refused.value.details())
        assert not (await stub.GetHost(pb.GetHostRequest(), metadata=(authorization(TOKEN),))).machine_id


async def test_nothing_is_answered_without_the_token(host: RunningHost) -> None:
    async with grpc.aio.insecure_channel(f"127.0.0.1:{host.server.port}") as channel:
        stub = pb_grpc.MachineHostServiceStub(channel)
        for metadata, code in ((), "UNAUTHENTICATED"), ((authorization("x" * 30),), "PERMISSION_DENIED"):
            with pytest.raises(grpc.aio.AioRpcError) as refused:
                await stub.EndMachine(pb.EndMachineRequest(machine_id="m"), metadata=metadata)
            assert refused.value.code().name == code


def test_the_list_of_hosts_is_read(tmp_path: Path) -> None:
    file = tmp_path / "hosts.toml"
    file.write_text(LISTED.format(token=token_in(tmp_path / "token", TOKEN)))
    hosts = hosts_in(file, ("MI300X", "MI210"))
    assert [(host.address, host.port, host.gpu_count) for host in hosts.values()] == [
        ("10.0.0.7", 50065, 8),
        ("lab-2.example", 50099, 1),
    ]
    assert hosts["lab-1"].price_micros_per_hour == 1_500_000


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("[lab-1]", "[Lab 1", "is not TOML"),
        ("[lab-1]", "[LAB]", "LAB"),
        ('address = "10.0.0.7"', 'adress = "10.0.0.7"', "lab-1.adress"),
        ('"10.0.0.7"', '"http://10.0.0.7"', "lab-1.address"),
        ("gpu_count = 8", "gpu_count = 0", "lab-1.gpu_count"),
        ("hourly_rate = 1.5", "hourly_rate = -1", "lab-1.hourly_rate"),
        ('"MI300X"', '"H100"', "lab-1.gpu_type: 'H100' is not in VMPOOL_GPU_TYPES (MI300X, MI210)"),
    ],
)
def test_a_fault_of_the_list_is_named(tmp_path: Path, before: str, after: str, said: str) -> None:
    file = tmp_path / "hosts.toml"
    file.write_text(LISTED.format(token=token_in(tmp_path / "token", TOKEN)).replace(before, after))
    with pytest.raises(WrongSettingsError) as refused:
        hosts_in(file, ("MI300X", "MI210"))
    assert str(file) in str(refused.value)
    assert said in str(refused.value)


def test_a_list_that_is_empty_or_missing_or_names_a_missing_token_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "hosts.toml"
    with pytest.raises(WrongSettingsError, match="cannot be read"):
        hosts_in(file, ("MI300X",))
    file.touch()
    with pytest.raises(WrongSettingsError, match="lists no host"):
        hosts_in(file, ("MI300X",))
    file.write_text(LISTED.format(token=tmp_path / "none"))
    with pytest.raises(NoServiceTokenError, match="VMPOOL_HOSTS_FILE, token_file"):
        hosts_in(file, ("MI300X", "MI210"))
