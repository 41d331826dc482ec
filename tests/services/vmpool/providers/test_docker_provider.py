"""Behaviour particular to containers; the contract suite tests the behaviour of all providers."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from services.vmpool.errors import ProviderError
from services.vmpool.fault import Fault
from services.vmpool.lifecycle.executor_client import ExecutorClient, ExecutorUnreachableError
from services.vmpool.machines.machine import Inventory
from services.vmpool.providers.docker import settings
from services.vmpool.providers.docker.containers import COMMAND_NOT_RUN, TIMED_OUT, ContainerPlan, observed
from services.vmpool.providers.docker.provider import DockerProvider
from services.vmpool.providers.docker.settings import DockerSettings
from services.vmpool.providers.provider import Observation, Order, ProviderState
from tests.services.vmpool.providers.docker_machines import CONFIG, container_plan, docker_machines

ORDER = Order("mach_1", "MI300X", 1, "a-token")
DEADLINE_SECONDS = 60


async def seen_in(provider: DockerProvider, state: ProviderState) -> Observation:
    async with asyncio.timeout(DEADLINE_SECONDS):
        while (seen := await provider.observe("mach_1")).state is not state:
            await asyncio.sleep(0.05)
    return seen


@pytest.mark.docker
async def test_an_executor_that_ends_leaves_its_status_and_the_end_of_its_log() -> None:
    command = ("/bin/sh", "-c", "echo the GPU is missing; exit 3")
    async with docker_machines(container_plan(command=command)) as provider:
        await provider.provision(ORDER)
        seen = await seen_in(provider, ProviderState.ENDED)
        printed = [piece async for piece in provider.logs("mach_1", follow=True)]
    assert (seen.exit_status, seen.fault) == (3, Fault.EXECUTOR_EXITED)
    assert "status 3" in seen.reason
    assert "the GPU is missing" in seen.reason
    assert b"".join(printed) == b"the GPU is missing\n"


@pytest.mark.docker
async def test_a_command_that_the_image_does_not_have_is_the_operator_s_to_mend() -> None:
    async with docker_machines(container_plan(command=("no-such-program",))) as provider:
        with pytest.raises(ProviderError, match="no-such-program") as caught:
            await provider.provision(ORDER)
        assert caught.value.fault is Fault.MISCONFIGURED


@pytest.mark.docker
async def test_a_container_ends_by_itself_after_its_longest_life() -> None:
    command = ("/bin/sh", "-c", "echo ready; exec sleep 600")
    async with docker_machines(container_plan(command=command)) as provider:
        # From here on only the engine knows of the limit, as if vmpool were dead.
        await provider.provision(replace(ORDER, max_duration=timedelta(seconds=1)))
        seen = await seen_in(provider, ProviderState.STOPPED)
    assert (seen.fault, seen.exit_status) == (Fault.EXPIRED, TIMED_OUT)
    assert seen.reason.startswith("it has reached its longest life of 1 s")


@pytest.mark.docker
async def test_an_executor_that_does_not_end_when_asked_is_killed_after_its_longest_life() -> None:
    command = ("/bin/sh", "-c", "trap '' TERM; while :; do sleep 1; done")
    plan = container_plan(command=command, max_duration=timedelta(seconds=1), stop_grace=timedelta(seconds=1))
    async with docker_machines(plan) as provider:
        await provider.provision(ORDER)
        assert (await seen_in(provider, ProviderState.ENDED)).exit_status == 137


@pytest.mark.docker
async def test_those_who_follow_logs_keep_nobody_from_looking_at_machines() -> None:
    command = ("/bin/sh", "-c", "echo ready; exec sleep 600")
    followers = 40
    async with docker_machines(container_plan(command=command)) as provider:
        await provider.provision(ORDER)
        logs = [provider.logs("mach_1", follow=True) for _ in range(followers)]
        assert await asyncio.gather(*(anext(log) for log in logs)) == [b"ready\n"] * followers
        waiting = [asyncio.ensure_future(anext(log, b"")) for log in logs]
        await seen_in(provider, ProviderState.RUNNING)
        await provider.release("mach_1")
        assert await asyncio.gather(*waiting) == [b""] * followers


@pytest.mark.docker
async def test_a_missing_image_is_reported_at_the_start() -> None:
    provider = DockerProvider(CONFIG, container_plan(image="wavepool-no-such-image"))
    with pytest.raises(ProviderError, match=r"VMPOOL_DOCKER_IMAGE: the engine at .* has no image"):
        await provider.start()
    await provider.close()


@pytest.mark.docker
async def test_a_killed_container_is_noticed_and_another_pool_s_are_left_alone() -> None:
    async with docker_machines(container_plan()) as provider, docker_machines(container_plan()) as other:
        await provider.provision(ORDER)
        await other.provision(ORDER)
        await seen_in(provider, ProviderState.RUNNING)
        await other.release("mach_1")
        assert await provider.list_all() == ["mach_1"]
        name = provider._plan.name("mach_1")
        subprocess.run(["docker", "kill", name], check=True, capture_output=True)
        assert (await seen_in(provider, ProviderState.ENDED)).exit_status == 137


@pytest.mark.docker
async def test_a_full_host_makes_no_offer_that_can_be_had() -> None:
    async with docker_machines(container_plan(), replace(CONFIG, max_containers=1)) as provider:
        assert all(offer.available for offer in await provider.offers())
        await provider.provision(ORDER)
        assert not any(offer.available for offer in await provider.offers())


@pytest.mark.docker
async def test_the_pool_of_a_later_process_finds_the_machine_at_work() -> None:
    plan = container_plan()
    async with docker_machines(plan) as provider:
        await provider.provision(ORDER)
        first = await seen_in(provider, ProviderState.RUNNING)
        async with docker_machines(plan) as later:
            assert await later.observe("mach_1") == first
            assert (await inventory_of(first.endpoint)).device_title == "Tiny"


async def inventory_of(endpoint: str, seconds: float = DEADLINE_SECONDS) -> Inventory:
    """The inventory reported by an executor that may still be starting."""
    client = ExecutorClient(timedelta(seconds=DEADLINE_SECONDS))
    try:
        async with asyncio.timeout(seconds):
            while True:
                # Docker's proxy accepts connections before the executor listens, and closes them again.
                with suppress(ExecutorUnreachableError):
                    return (await client.health(endpoint, ORDER.token)).inventory
                await asyncio.sleep(0.05)
    finally:
        await client.close()


EXECUTOR = (sys.executable, "-m", "services.executor")


def executor_plan(*, privileged_sandboxes: bool) -> ContainerPlan:
    """The real executor on the processor, with a real sandbox or none."""
    plan = container_plan(command=EXECUTOR, privileged_sandboxes=privileged_sandboxes)
    cache = os.environ.get("WAVEPOOL_CACHE_DIR") or str(Path.home() / ".cache" / "wavepool")
    environment = {
        **(plan.environment or {}),
        "EXECUTOR_SANDBOX": "required",
        "EXECUTOR_DATA_DIR": "/var/data",
        "EXECUTOR_CACHE_DIR": "/var/builds",
        "EXECUTOR_METRICS_PORT": "0",
        "PATH": "/usr/bin:/bin",
        "WAVEPOOL_CACHE_DIR": cache,
    }
    return replace(plan, environment=environment, volumes=[*plan.volumes, f"{cache}:{cache}"])


@pytest.mark.docker
@pytest.mark.bubblewrap
@pytest.mark.timeout(300)
async def test_an_executor_in_its_container_has_the_real_sandbox() -> None:
    async with docker_machines(executor_plan(privileged_sandboxes=True)) as provider:
        await provider.provision(ORDER)
        seen = await seen_in(provider, ProviderState.RUNNING)
        # It may have to make the compiler's libraries first.
        assert (await inventory_of(seen.endpoint, seconds=240)).sandbox == "bubblewrap"


@pytest.mark.docker
@pytest.mark.bubblewrap
async def test_a_container_that_cannot_make_the_real_sandbox_ends_with_the_setting_s_name() -> None:
    async with docker_machines(executor_plan(privileged_sandboxes=False)) as provider:
        await provider.provision(ORDER)
        seen = await seen_in(provider, ProviderState.ENDED)
    assert seen.fault is Fault.EXECUTOR_EXITED
    assert "EXECUTOR_SANDBOX=required" in seen.reason
    assert "VMPOOL_DOCKER_PRIVILEGED_BOXES=true" in seen.reason


async def test_an_engine_that_is_not_there_is_no_reason_to_end_but_says_nothing_of_machines() -> None:
    provider = DockerProvider(replace(CONFIG, host="tcp://127.0.0.1:1"), container_plan())
    await provider.start()
    with pytest.raises(OSError, match="does not answer"):
        await provider.observe("mach_1")
    await provider.close()


RUNNING = {
    "State": {"Status": "running"},
    "NetworkSettings": {"Ports": {"50063/tcp": [{"HostIp": "127.0.0.1", "HostPort": "49153"}]}},
}


@pytest.mark.parametrize(
    ("attributes", "state"),
    [
        ({"State": {"Status": "created"}}, ProviderState.PENDING),
        ({"State": {"Status": "restarting"}}, ProviderState.PENDING),
        ({"State": {"Status": "running"}, "NetworkSettings": {"Ports": {}}}, ProviderState.PENDING),
        (RUNNING, ProviderState.RUNNING),
        ({"State": {"Status": "exited", "ExitCode": 0}}, ProviderState.ENDED),
        ({"State": {"Status": "dead", "ExitCode": 1}}, ProviderState.ENDED),
        ({"State": {"Status": "removing"}}, ProviderState.ENDED),
        ({"State": {"Status": "paused"}}, ProviderState.UNKNOWN),
        ({"State": {"Status": "hibernating"}}, ProviderState.UNKNOWN),
        ({}, ProviderState.UNKNOWN),
    ],
)
def test_every_state_of_a_container_means_something(attributes: Mapping[str, object], state: ProviderState) -> None:
    assert observed(attributes, 50063, "127.0.0.1").state is state


def test_the_endpoint_is_where_the_port_is_published() -> None:
    assert observed(RUNNING, 50063, "10.0.0.7").endpoint == "10.0.0.7:49153"


def test_an_executor_killed_for_memory_says_which_setting_to_raise() -> None:
    killed = {"State": {"Status": "exited", "ExitCode": 137, "OOMKilled": True}}
    assert "VMPOOL_DOCKER_MEMORY_MIB" in observed(killed, 1, "").reason


@given(st.integers(0, 255))
def test_only_a_command_that_cannot_run_is_the_operator_s_fault(status: int) -> None:
    seen = observed({"State": {"Status": "exited", "ExitCode": status}}, 1, "")
    assert (seen.fault is Fault.MISCONFIGURED) == (status in COMMAND_NOT_RUN)
    assert seen.exit_status == status


def test_the_operator_s_environment_cannot_change_whose_executor_it_is() -> None:
    plan = ContainerPlan(
        "p", "i", ("c",), 1, "127.0.0.1", environment={"EXECUTOR_TOKEN": "x", "EXECUTOR_DEVICE": "rocm"}
    )
    environment = plan.arguments(ORDER)["environment"]
    assert (environment["EXECUTOR_TOKEN"], environment["EXECUTOR_DEVICE"]) == ("a-token", "rocm")


def test_settings_are_read_by_name_with_commas_between(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "TUN", Path("/nowhere"))
    monkeypatch.setenv("VMPOOL_DOCKER_DEVICES", "/dev/kfd, /dev/dri")
    monkeypatch.setenv("VMPOOL_DOCKER_ENVIRONMENT", '{"EXECUTOR_DEVICE": "rocm"}')
    monkeypatch.setenv("VMPOOL_DOCKER_VOLUMES", "/srv/builds:/builds:rw")
    arguments = DockerSettings().plan("pool").arguments(ORDER)
    assert arguments["devices"] == ["/dev/kfd:/dev/kfd:rwm", "/dev/dri:/dev/dri:rwm"]
    assert arguments["environment"]["EXECUTOR_DEVICE"] == "rocm"
    assert arguments["volumes"] == ["/srv/builds:/builds:rw"]


@pytest.mark.parametrize(
    ("name", "value"),
    [("VOLUMES", "builds:/builds"), ("MAX_CONTAINERS", "0"), ("HOURLY_RATE", "-1")],
)
def test_senseless_settings_are_refused_by_name(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv(f"VMPOOL_DOCKER_{name}", value)
    with pytest.raises(ValidationError, match=f"(?i){name}"):
        DockerSettings()


def test_an_executor_in_a_container_is_given_how_long_its_pool_may_be_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    assert DockerSettings().plan("pool").arguments(ORDER)["environment"]["EXECUTOR_POOL_TIMEOUT"] == "900"
    monkeypatch.setenv("VMPOOL_DOCKER_ORPHAN_TIMEOUT", "0")
    assert DockerSettings().plan("pool").arguments(ORDER)["environment"]["EXECUTOR_POOL_TIMEOUT"] == "0"
