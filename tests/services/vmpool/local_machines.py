"""Local machines that run the tiny executor."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

from services.vmpool.providers.local.config import LocalConfig
from services.vmpool.providers.local.provider import LocalProvider
from services.vmpool.providers.provider import Observation, Order, ProviderState

TINY_EXECUTOR = (sys.executable, str(Path(__file__).with_name("tiny_executor.py")))
DEADLINE_SECONDS = 30


def local_config(
    data_dir: Path, orphan_timeout: timedelta = timedelta(seconds=60), stop_grace: timedelta = timedelta(seconds=5)
) -> LocalConfig:
    return LocalConfig(
        data_dir=data_dir,
        command=TINY_EXECUTOR,
        preferred_port=0,
        gpu_types=("MI300X",),
        gpu_counts=(1,),
        price_micros_per_hour=0,
        start_timeout=timedelta(seconds=120),
        orphan_timeout=orphan_timeout,
        stop_grace=stop_grace,
    )


@asynccontextmanager
async def local_machines(config: LocalConfig) -> AsyncGenerator[LocalProvider]:
    """A provider; every machine that it still has at the end is released."""
    provider = LocalProvider(config)
    try:
        yield provider
    finally:
        for machine_id in await provider.list_all():
            await provider.release(machine_id)


def order(machine_id: str = "m1") -> Order:
    return Order(machine_id, "MI300X", 1, "token")


async def observed(provider: LocalProvider, state: ProviderState, machine_id: str = "m1") -> Observation:
    """Polls until the machine is in this state: the process that changes it cannot notify us."""
    async with asyncio.timeout(DEADLINE_SECONDS):
        while (seen := await provider.observe(machine_id)).state is not state:
            await asyncio.sleep(0.02)
    return seen


async def ended(pid: int) -> None:
    """Waits until a process that is not our child is gone (or a zombie that nobody reaps)."""
    async with asyncio.timeout(DEADLINE_SECONDS):
        while is_alive(pid):
            await asyncio.sleep(0.02)


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def process_ids(data_dir: Path, machine_id: str = "m1") -> tuple[int, int]:
    """Process ids of the keeper and its executor."""
    running = json.loads((data_dir / "machines" / machine_id / "process.json").read_text())
    return running["keeper_pid"], running["executor_pid"]
