"""Hosts in this process, each with the tiny executor, and the provider that has them as machines."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from servicekit.rpc.server import ServiceServer
from servicekit.service_token import ServiceToken
from services.vmpool.providers.hosts.host import HostSettings, build_server
from services.vmpool.providers.hosts.provider import Host, HostsProvider
from tests.services.vmpool.local_machines import TINY_EXECUTOR

TOKEN = "a-token-of-this-laboratory"  # noqa: S105 - of the tests


@dataclass(frozen=True)
class RunningHost:
    """A host that serves; `token_file` is its own."""

    server: ServiceServer
    token_file: Path

    def listed(self, token_file: Path | None = None, gpu_type: str = "MI300X", price_micros_per_hour: int = 0) -> Host:
        """As a list of hosts has it."""
        return Host(
            address="127.0.0.1",
            port=self.server.port,
            token=ServiceToken(token_file or self.token_file),
            gpu_type=gpu_type,
            gpu_count=1,
            price_micros_per_hour=price_micros_per_hour,
        )


@asynccontextmanager
async def running_host(folder: Path) -> AsyncGenerator[RunningHost]:
    """A host whose machines are ended at the end."""
    token_file = token_in(folder / "host-token", TOKEN)
    settings = HostSettings(
        port=0,
        data_dir=folder,
        token_file=token_file,
        executor_command=TINY_EXECUTOR,
        executor_port=0,
        stop_grace=timedelta(seconds=5),
    )
    machines = settings.machines()
    server = build_server(settings, machines)
    await server.start()
    try:
        yield RunningHost(server, token_file)
    finally:
        await server.stop(timedelta(0))
        for machine_id in await machines.list_all():
            await machines.release(machine_id)


@asynccontextmanager
async def hosts_provider(**hosts: Host) -> AsyncGenerator[HostsProvider]:
    """A provider of these hosts."""
    provider = HostsProvider(hosts, start_timeout=timedelta(seconds=120), request_timeout=timedelta(seconds=10))
    try:
        yield provider
    finally:
        await provider.close()


def token_in(file: Path, token: str) -> Path:
    """A file that holds a token, readable by its owner alone."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.touch(mode=0o600)
    file.write_text(f"{token}\n")
    return file
