"""Machines on this host: an executor process for each, with a keeper beside it (see `keeper.py`)."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import sys
from collections.abc import AsyncIterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, BinaryIO

from services.vmpool.errors import ProviderError
from services.vmpool.fault import Fault
from services.vmpool.providers.local import keeper as local_keeper
from services.vmpool.providers.local import machine_folder
from services.vmpool.providers.local.checkup import findings_on
from services.vmpool.providers.local.config import LocalConfig
from services.vmpool.providers.provider import (
    UNNAMED,
    Observation,
    Offer,
    Order,
    ProviderFinding,
    ProviderState,
    Resource,
    Scope,
)

STOP_MARGIN_SECONDS = 5.0
"""Time that a keeper may take beyond its executor's grace, on a host under load."""

_SECRET = ("VMPOOL_", "DSTACK_", "MACHINE_HOST_")
ORDER_FILE = "order.json"
LOG_PIECE_BYTES = 65536
LOG_POLL_SECONDS = 0.2


class LocalProvider:
    """Starts executors as processes of this host."""

    name = "local"
    ends_with_pool = True

    def __init__(self, config: LocalConfig) -> None:
        self.start_timeout = config.start_timeout
        self.scope = Scope(tuple(config.gpu_counts), is_spot=False)
        """This host stands in for each of the sizes of the settings."""
        self._config = config
        self._machines = config.data_dir.resolve() / "machines"
        self._logs = config.data_dir.resolve() / "logs"

    async def start(self) -> None:
        """Do nothing: there is nothing to prepare."""

    async def close(self) -> None:
        """Do nothing. Executors go on until the pool or their orphan timeout ends them."""

    async def offers(self) -> Sequence[Offer]:
        """An offer for every GPU type and size of machine, because this host stands in for all of them."""
        price = self._config.price_micros_per_hour
        return [
            Offer(self.name, gpu_type, gpu_count, price)
            for gpu_type in self._config.gpu_types
            for gpu_count in self._config.gpu_counts
        ]

    def resource_name(self, machine_id: str) -> str:
        """The name of its folder, which no setting changes."""
        return machine_id

    async def provision(self, order: Order) -> None:
        """Start a keeper. If the machine has a keeper already, the new one ends at once."""
        self._prepare(order)
        status = await self._start_keeper(order)
        if status not in {0, local_keeper.LOCK_HELD_STATUS}:
            raise ProviderError(
                f"the keeper of the executor ended with status {status}: {self._last_words(order.machine_id)}"
            )

    async def observe(self, machine_id: str, resource: Resource = UNNAMED) -> Observation:  # noqa: ARG002 - the protocol's
        """The state that the machine's folder and lock show. Looking keeps the machine alive."""
        return self._observe(machine_id)

    async def release(self, machine_id: str, resource: Resource = UNNAMED) -> None:  # noqa: ARG002 - the protocol's
        """Have the keeper end the executor, wait for both, and remove the machine's folder. Its log stays."""
        await asyncio.to_thread(self._release, machine_id)

    async def list_all(self) -> Sequence[str]:
        """Ids of all machines with a folder, because ended ones have to be released too."""
        return sorted(folder.name for folder in self._machines.glob("*"))

    async def logs(self, machine_id: str, resource: Resource = UNNAMED, *, follow: bool) -> AsyncIterator[bytes]:  # noqa: ARG002 - the protocol's
        """The machine's log file and, with `follow`, later additions until the machine is over."""
        path = self._log(machine_id)
        if not path.exists():
            raise ProviderError(f"this host has no log of machine {machine_id}")
        with path.open("rb") as log:
            while True:
                # In this order: everything written before the machine ended is read afterwards.
                goes_on = follow and machine_folder.is_locked(self._folder(machine_id))
                while piece := log.read(LOG_PIECE_BYTES):
                    yield piece
                if not goes_on:
                    return
                await asyncio.sleep(LOG_POLL_SECONDS)

    async def diagnose(self) -> Sequence[ProviderFinding]:
        """Check that executors can be started here."""
        return await asyncio.to_thread(findings_on, self._config)

    async def order_of(self, machine_id: str) -> Order | None:
        """The order, as far as the machine's folder keeps it."""
        kept = machine_folder.read_json(self._folder(machine_id) / ORDER_FILE)
        return None if kept is None else Order(machine_id, kept["gpu_type"], kept["gpu_count"], kept["token"])

    def _prepare(self, order: Order) -> None:
        machine_id = order.machine_id
        folder = self._folder(machine_id)
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._logs.mkdir(parents=True, exist_ok=True)
        job = local_keeper.Job(
            command=[*self._config.command],
            preferred_port=self._config.preferred_port,
            orphan_timeout_seconds=self._config.orphan_timeout.total_seconds(),
            stop_grace_seconds=self._config.stop_grace.total_seconds(),
            log=str(self._log(machine_id)),
        )
        kept: dict[str, object] = {"gpu_type": order.gpu_type, "gpu_count": order.gpu_count, "token": order.token}
        local_keeper.write_json(folder / ORDER_FILE, kept)
        local_keeper.write_json(folder / "job.json", asdict(job))
        machine_folder.touch(folder)

    def _observe(self, machine_id: str) -> Observation:
        folder = self._folder(machine_id)
        if not folder.exists():
            return Observation(ProviderState.GONE, reason="this host has no such machine")
        # In this order: a keeper records how the executor ended before it lets go of the lock.
        locked = machine_folder.is_locked(folder)
        if ended := machine_folder.read_json(folder / "exit.json"):
            return Observation(
                ProviderState.ENDED,
                reason=self._story(machine_id, ended),
                fault=Fault.EXECUTOR_EXITED,
                exit_status=ended["status"],
            )
        if not locked:
            killed = "its executor and keeper were killed"
            return Observation(ProviderState.ENDED, reason=killed, fault=Fault.EXECUTOR_EXITED)
        machine_folder.touch(folder)
        running = machine_folder.read_json(folder / "process.json")
        if running is None:
            return Observation(ProviderState.PENDING, stage="starting the executor process")
        price = self._config.price_micros_per_hour
        return Observation(ProviderState.RUNNING, endpoint=str(running["endpoint"]), price_micros_per_hour=price)

    def _release(self, machine_id: str) -> None:
        folder = self._folder(machine_id)
        timeout_seconds = self._config.stop_grace.total_seconds() + STOP_MARGIN_SECONDS
        machine_folder.stop_keeper(folder, timeout_seconds)
        if machine_folder.is_locked(folder):
            raise ProviderError(f"machine {machine_id} did not end within {timeout_seconds:g} s")
        shutil.rmtree(folder, ignore_errors=True)

    async def _start_keeper(self, order: Order) -> int:
        environment = {
            # Our own settings have secrets of the pool and of clouds in them, and untrusted code runs over there.
            **{name: value for name, value in os.environ.items() if not name.startswith(_SECRET)},
            "EXECUTOR_HOST": "127.0.0.1",
            "EXECUTOR_DATA_DIR": str(self._config.data_dir.resolve()),
            "EXECUTOR_WORK_DIR": str(self._folder(order.machine_id) / "work"),
            "EXECUTOR_FENCE_FILE": str(self._folder(order.machine_id) / "fence.json"),
            "EXECUTOR_GPU_COUNT": str(order.gpu_count),
            # The host's storage lasts, and all machines here share it.
            "EXECUTOR_DISKS": os.environ.get("EXECUTOR_DISKS", f"folder:{self._config.data_dir.resolve() / 'disks'}"),
            **self._config.environment,
            "EXECUTOR_TOKEN": order.token,
        }
        with self._open_log(order.machine_id) as output:
            keeper = await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                local_keeper.__name__,
                str(self._folder(order.machine_id)),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                env=environment,
            )
            return await keeper.wait()

    def _story(self, machine_id: str, ended: dict[str, Any]) -> str:
        status = ended["status"]
        how = f"signal {signal.Signals(-status).name}" if status < 0 else f"status {status}"
        return f"its executor ended with {how} ({ended['reason']}); its log ends: {self._last_words(machine_id)}"

    def _last_words(self, machine_id: str) -> str:
        return machine_folder.tail(self._log(machine_id))

    def _folder(self, machine_id: str) -> Path:
        return self._machines / machine_id

    def _open_log(self, machine_id: str) -> BinaryIO:
        return self._log(machine_id).open("ab")

    def _log(self, machine_id: str) -> Path:
        return self._logs / f"executor-{machine_id}.log"
