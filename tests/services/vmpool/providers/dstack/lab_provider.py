"""The provider on the lab: a real dstack server, and clouds whose machines run the tiny executor."""

from __future__ import annotations

import asyncio
import shlex
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from services.vmpool.providers.dstack import config
from services.vmpool.providers.dstack.provider import DstackProvider
from services.vmpool.providers.provider import UNNAMED, Observation, Order, ProviderState, Resource
from tests.dstack_lab.server import DstackServer
from tests.services.vmpool.local_machines import TINY_EXECUTOR
from tests.services.vmpool.providers.dstack.dstack_words import CONFIG

DEADLINE_SECONDS = 90
TINY_COMMAND = f"exec {shlex.join(TINY_EXECUTOR)}"
PYTHON_PATH = ":".join(path for path in sys.path if path)


def lab_config(server: DstackServer, data_dir: Path, **changes: Any) -> config.DstackConfig:
    """Settings as for a cloud, with the lab's address and short timeouts."""
    return replace(
        CONFIG,
        data_dir=data_dir,
        server=config.Server(server.url, server.project, server.token, timedelta(seconds=30)),
        agent=lab_agent(TINY_COMMAND),
        timeouts=config.Timeouts(
            poll_interval=timedelta(seconds=0.1),
            start_timeout=timedelta(seconds=DEADLINE_SECONDS),
            stop_grace=timedelta(seconds=10),
            release_timeout=timedelta(seconds=DEADLINE_SECONDS),
        ),
        **changes,
    )


def lab_agent(*commands: str, **environment: str) -> config.Agent:
    """The agent on the lab's machines; they have no containers, so the image is only a name."""
    return replace(CONFIG.agent, commands=commands, environment={"PYTHONPATH": PYTHON_PATH, **environment})


@asynccontextmanager
async def lab_provider(settings: config.DstackConfig) -> AsyncGenerator[DstackProvider]:
    """A provider that has started; every machine that it still has at the end is released."""
    provider = DstackProvider(settings)
    try:
        await provider.start()
        yield provider
    finally:
        for machine_id in await provider.list_all():
            await provider.release(machine_id)
        await provider.close()


async def submit(settings: config.DstackConfig, order: Order, command: str = TINY_COMMAND) -> None:
    """Orders a machine that runs this command, by a provider of its own."""
    provider = DstackProvider(replace(settings, agent=lab_agent(command)))
    await provider.provision(order)
    await provider.close()


def an_order(machine_id: str = "mach_1", backend: str = "amddevcloud", **more: Any) -> Order:
    """An order for a machine of the lab."""
    return Order(machine_id, "MI300X", 1, "token", backend=backend, **more)


async def observed(
    provider: DstackProvider, *states: ProviderState, machine_id: str = "mach_1", resource: Resource = UNNAMED
) -> Observation:
    """Polls until the machine is in one of the states."""
    async with asyncio.timeout(DEADLINE_SECONDS):
        while (seen := await provider.observe(machine_id, resource)).state not in states:
            await asyncio.sleep(0.1)
    return seen
