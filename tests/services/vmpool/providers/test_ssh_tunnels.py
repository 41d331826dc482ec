"""Executors behind a real sshd."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import pytest

from services.vmpool.lifecycle.executor_client import ExecutorClient, ExecutorUnreachableError
from services.vmpool.providers.ssh.key import HostKeyPins, own_key, public_line
from services.vmpool.providers.ssh.tunnels import SshTarget, SshTunnels
from tests.services.vmpool.local_machines import TINY_EXECUTOR
from tests.services.vmpool.providers.real_sshd import DEADLINE_SECONDS, RealSshd, until_open
from vocabulary.ports import free_port

pytestmark = pytest.mark.sshd


@pytest.fixture
async def sshd(tmp_path: Path) -> AsyncIterator[RealSshd]:
    server = RealSshd(tmp_path / "sshd", public_line(own_key(tmp_path / "pool")))
    await server.start()
    yield server
    server.stop()


@pytest.fixture
async def executor_port() -> AsyncIterator[int]:
    port = free_port()
    process = subprocess.Popen(TINY_EXECUTOR, env={"EXECUTOR_PORT": str(port), "PYTHONPATH": ":".join(sys.path)})
    await until_open(port)
    yield port
    process.kill()
    process.wait()


@asynccontextmanager
async def tunnels_in(folder: Path) -> AsyncGenerator[SshTunnels]:
    tunnels = SshTunnels(folder / "sockets", own_key(folder), HostKeyPins(folder / "host_keys"))
    try:
        yield tunnels
    finally:
        await tunnels.close()


@pytest.fixture
async def tunnels(tmp_path: Path) -> AsyncIterator[SshTunnels]:
    async with tunnels_in(tmp_path / "pool") as tunnels:
        yield tunnels


@pytest.fixture
async def executors() -> AsyncIterator[ExecutorClient]:
    client = ExecutorClient(timedelta(seconds=5))
    yield client
    await client.close()


def target(sshd: RealSshd, executor_port: int) -> SshTarget:
    return SshTarget("127.0.0.1", sshd.port, sshd.username, executor_port)


async def up(tunnels: SshTunnels, machine_id: str = "m1") -> None:
    async with asyncio.timeout(DEADLINE_SECONDS):
        await tunnels.reachable(machine_id)


async def troubled(tunnels: SshTunnels, words: str) -> None:
    async with asyncio.timeout(DEADLINE_SECONDS):
        while words not in tunnels.trouble("m1"):
            await asyncio.sleep(0.02)


async def test_an_executor_answers_through_a_socket_of_this_host(
    sshd: RealSshd, executor_port: int, tunnels: SshTunnels, executors: ExecutorClient
) -> None:
    endpoint = tunnels.open("m1", target(sshd, executor_port))
    await up(tunnels)
    assert (await executors.health(endpoint, "any")).inventory.device_title == "Tiny"
    assert tunnels.trouble("m1") == ""


async def test_an_executor_behind_a_jump_host_answers_too_and_leaves_no_keys(
    sshd: RealSshd, executor_port: int, tunnels: SshTunnels, executors: ExecutorClient, tmp_path: Path
) -> None:
    direct = target(sshd, executor_port)
    endpoint = tunnels.open("m1", SshTarget("127.0.0.1", sshd.port, sshd.username, executor_port, jump=direct))
    await up(tunnels)
    assert (await executors.health(endpoint, "any")).inventory.device_title == "Tiny"
    pins = tmp_path / "pool" / "host_keys"
    assert {path.name for path in pins.iterdir()} == {"m1.pub", "m1.jump.pub"}
    await tunnels.drop("m1")
    assert not any(pins.iterdir())


async def test_asking_again_keeps_the_connection_and_its_endpoint(
    sshd: RealSshd, executor_port: int, tunnels: SshTunnels
) -> None:
    first = tunnels.open("m1", target(sshd, executor_port))
    await up(tunnels)
    assert tunnels.open("m1", target(sshd, executor_port)) == first
    assert tunnels.trouble("m1") == ""


async def test_a_broken_connection_is_made_anew_at_the_same_endpoint(
    sshd: RealSshd, executor_port: int, tunnels: SshTunnels, executors: ExecutorClient
) -> None:
    endpoint = tunnels.open("m1", target(sshd, executor_port))
    await up(tunnels)
    sshd.stop()
    await troubled(tunnels, "SSH to 127.0.0.1")
    with pytest.raises(ExecutorUnreachableError):
        await executors.health(endpoint, "any")
    await sshd.start()
    await up(tunnels)
    assert (await executors.health(endpoint, "any")).inventory.device_title == "Tiny"


async def test_a_machine_that_shows_another_host_key_is_not_believed(
    sshd: RealSshd, executor_port: int, tunnels: SshTunnels, tmp_path: Path
) -> None:
    tunnels.open("m1", target(sshd, executor_port))
    await up(tunnels)
    await tunnels.close()
    sshd.stop()
    sshd.new_host_key()
    await sshd.start()
    async with tunnels_in(tmp_path / "pool") as restarted:
        restarted.open("m1", target(sshd, executor_port))
        await troubled(restarted, "Host key is not trusted")
        await restarted.drop("m1")
        restarted.open("m1", target(sshd, executor_port))
        await up(restarted)


async def test_an_unknown_key_is_refused_and_the_reason_is_reported(
    sshd: RealSshd, executor_port: int, tmp_path: Path
) -> None:
    async with tunnels_in(tmp_path / "unknown") as unknown:
        unknown.open("m1", target(sshd, executor_port))
        await troubled(unknown, "Permission denied")


async def test_a_dropped_machine_leaves_no_socket(sshd: RealSshd, executor_port: int, tunnels: SshTunnels) -> None:
    endpoint = tunnels.open("m1", target(sshd, executor_port))
    await up(tunnels)
    for _ in range(2):
        await tunnels.drop("m1")
    assert not Path(endpoint.removeprefix("unix:")).exists()
    assert tunnels.trouble("m1") == "it has no tunnel"


async def test_a_data_folder_with_a_long_name_still_gives_a_socket_that_the_kernel_takes(
    sshd: RealSshd, executor_port: int, tmp_path: Path, executors: ExecutorClient
) -> None:
    own_key(tmp_path / "pool")
    deep = tmp_path / "pool" / ("d" * 80)
    tunnels = SshTunnels(deep, own_key(tmp_path / "pool"), HostKeyPins(tmp_path / "pins"))
    endpoint = tunnels.open("m1", target(sshd, executor_port))
    await up(tunnels)
    assert (await executors.health(endpoint, "any")).inventory.device_title == "Tiny"
    await tunnels.close()
    Path(endpoint.removeprefix("unix:")).parent.rmdir()


def test_the_pool_s_key_is_made_once_and_is_nobody_else_s(tmp_path: Path) -> None:
    first = public_line(own_key(tmp_path))
    assert public_line(own_key(tmp_path)) == first
    assert first.startswith("ssh-ed25519 ")
    assert (tmp_path / "ssh_key").stat().st_mode & 0o077 == 0
