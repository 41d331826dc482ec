"""The machines behind both clouds of the lab: the ledger of rented machines, and the faults that a test scripts."""

from __future__ import annotations

import asyncio
import itertools
import shutil
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from tests.dstack_lab.virtual_machine import VirtualMachine

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


class RefusedError(Exception):
    """A refusal by the cloud: an HTTP status and its message."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(f"{status}: {message}")
        self.status = status
        self.message = message


@dataclass(frozen=True)
class Size:
    """A kind of machine on offer; memory and disk of the whole machine, memory of one GPU, price in US dollars."""

    slug: str
    gpu: str
    gpu_count: int
    gpu_memory_gib: int
    cpus: int
    memory_gib: int
    disk_gib: int
    price_per_hour: float


MI300X_1 = Size("gpu-mi300x1-192gb", "MI300X", 1, 192, 20, 240, 720, 1.99)
MI300X_8 = Size("gpu-mi300x8-1536gb", "MI300X", 8, 192, 160, 1920, 2046, 15.92)
HOT_MI300X_1 = Size("vm-mi300x-1", "MI300X", 1, 192, 13, 224, 12288, 2.10)
HOT_MI300X_8 = Size("vm-mi300x-8", "MI300X", 8, 192, 104, 1792, 98304, 16.80)
FIRST_OFFERS = {"amddevcloud": [MI300X_1, MI300X_8], "hotaisle": [HOT_MI300X_1, HOT_MI300X_8]}


@dataclass
class Instance:
    """One rented machine, kept in the ledger after its end. `status` is new, active or deleted."""

    id: str
    name: str
    backend: str
    size: Size
    machine: VirtualMachine = field(repr=False)
    create_time: datetime
    status: str = "new"
    delete_time: datetime | None = None


@dataclass
class Fault:
    """A failure to return instead of doing the operation, this many times (None: until healed)."""

    operation: str
    refusal: RefusedError
    backend: str | None
    remaining: int | None

    def strikes(self, operation: str, backend: str) -> bool:
        return self.operation == operation and self.backend in (None, backend) and self.remaining != 0


@dataclass
class Faults:
    """The faults in force until they are healed. The two gates are open unless something is held."""

    fault: list[Fault] = field(default_factory=list)
    container_error: str | None = None
    creates: asyncio.Event = field(default_factory=asyncio.Event)
    boots: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self.heal()

    def heal(self) -> None:
        self.fault.clear()
        self.container_error = None
        self.creates.set()
        self.boots.set()

    def check(self, operation: str, backend: str) -> None:
        for each in self.fault:
            if each.strikes(operation, backend):
                if each.remaining is not None:
                    each.remaining -= 1
                raise each.refusal


class Datacenter:
    """Lives on the lab's loop. `changed` is called after every change of the ledger."""

    def __init__(self, folder: Path, ssh_port: int, changed: Callable[[], None]) -> None:
        self._folder = folder
        self._ssh_port = ssh_port
        self._changed = changed
        self._numbers = itertools.count(1)
        self._boots: set[asyncio.Task[None]] = set()
        self.faults = Faults()
        self.ledger: list[Instance] = []
        self.sizes = dict(FIRST_OFFERS)

    async def create(self, backend: str, slug: str, keys: list[str], name: str = "") -> Instance:
        await self.faults.creates.wait()
        self.faults.check("create", backend)
        size = next((each for each in self.sizes[backend] if each.slug == slug), None)
        if size is None:
            raise RefusedError(422, f"{slug or 'the wanted machine'} is not available")
        number = next(self._numbers)
        id_ = str(100_000 + number) if backend == "amddevcloud" else f"enc1-gpuvm{number:03d}"
        machine = VirtualMachine(
            self._folder / f"vm{number}",
            f"127.0.{1 + number // 250}.{1 + number % 250}",
            self._ssh_port,
            list(keys),
            shim_starts=backend != "hotaisle",
        )
        instance = Instance(id_, name or id_, backend, size, machine, datetime.now(UTC))
        self.ledger.append(instance)
        boot = asyncio.get_running_loop().create_task(self._boot(instance))
        self._boots.add(boot)
        boot.add_done_callback(self._boots.discard)
        self._changed()
        return instance

    async def get(self, id_: str) -> Instance:
        instance = self._existing(id_)
        self.faults.check("get", instance.backend)
        return instance

    async def delete(self, id_: str) -> None:
        instance = self._existing(id_)
        self.faults.check("delete", instance.backend)
        await self.destroy(id_)

    async def destroy(self, id_: str) -> None:
        """Ends the instance, whether the cloud itself or its customer asks."""
        instance = self._existing(id_)
        instance.status, instance.delete_time = "deleted", datetime.now(UTC)
        await instance.machine.power_off()
        shutil.rmtree(instance.machine.folder, ignore_errors=True)
        self._changed()

    def machine(self, id_: str) -> VirtualMachine:
        return self._existing(id_).machine

    async def reset(self) -> None:
        await self.close()
        self.ledger.clear()
        self.sizes = dict(FIRST_OFFERS)

    async def close(self) -> None:
        """Ends every instance. Raises the error that kept one from booting, since that is a fault of the lab."""
        self.faults.heal()
        for each in self.ledger:
            if each.status != "deleted":
                await self.destroy(each.id)
        await asyncio.gather(*self._boots)

    async def _boot(self, instance: Instance) -> None:
        await self.faults.boots.wait()
        await instance.machine.boot(self.faults.container_error)
        if instance.status == "new":
            instance.status = "active"
            self._changed()

    def _existing(self, id_: str) -> Instance:
        for each in self.ledger:
            if each.id == id_ and each.status != "deleted":
                return each
        raise RefusedError(404, "The resource you were accessing could not be found.")
