"""AMD Developer Cloud and Hot Aisle on this machine: real HTTP, and VMs that are processes behind an SSH server."""

from __future__ import annotations

import asyncio
import shutil
import signal
import socket
import threading
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import psutil
import uvicorn
from starlette.applications import Starlette
from starlette.routing import Mount

from tests.dstack_lab.amddevcloud_api import AmdDevCloudApi
from tests.dstack_lab.client import until
from tests.dstack_lab.datacenter import Datacenter, Fault, Instance, RefusedError, Size
from tests.dstack_lab.hotaisle_api import HotAisleApi
from tests.dstack_lab.loop_thread import LoopThread
from tests.dstack_lab.own_folder import own_folder

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

WAIT_SECONDS = 120


class FakeCloud:
    """A context manager for tests to script and query from any thread; each method blocks until it has taken effect.

    Leak checks use the ledger: `existing()` must be empty after everything was released.
    """

    def __enter__(self) -> Self:
        self._folder = own_folder("lab")
        self._changed = threading.Condition()
        # Every VM's sshd uses this port on its own address. Holding it here keeps other labs from taking it.
        self._ssh_port_holder = socket.create_server(("127.0.0.1", 0))
        self.ssh_port: int = self._ssh_port_holder.getsockname()[1]
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._loop = LoopThread("fake-cloud")
        self._loop.call(self._start())
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self._loop.call(self._stop())
        finally:
            self._loop.stop()
            self._ssh_port_holder.close()
            shutil.rmtree(self._folder, ignore_errors=True)

    # The ledger

    def ledger(self) -> list[Instance]:
        """Every instance that was ever created, oldest first, as it is now."""
        return [replace(each) for each in self._datacenter.ledger]

    def existing(self, backend: str | None = None) -> list[Instance]:
        """The instances that are rented and billed now."""
        return [each for each in self.ledger() if each.status != "deleted" and backend in (None, each.backend)]

    def wait_until(self, holds: Callable[[FakeCloud], bool], seconds: float = WAIT_SECONDS) -> None:
        """Blocks until `holds` is true of the cloud; raises TimeoutError with the ledger's state otherwise."""
        with self._changed:
            if not self._changed.wait_for(lambda: holds(self), seconds):
                raise TimeoutError(f"still not so after {seconds} s: {self.ledger()}")

    # Faults

    def refuse(
        self, operation: str, status: int, message: str, *, backend: str | None = None, times: int | None = None
    ) -> None:
        """Answers `create`, `get` or `delete` with this HTTP status, this many times or until `heal`."""
        self._do(
            lambda: self._datacenter.faults.fault.append(
                Fault(operation, RefusedError(status, message), backend, times)
            )
        )

    def hold_creates(self) -> None:
        """Leaves create requests unanswered until `heal` (dstack gives up after 30 s)."""
        self._do(self._datacenter.faults.creates.clear)

    def hold_boots(self) -> None:
        """Keeps created VMs in `new`, without an address, until `heal`."""
        self._do(self._datacenter.faults.boots.clear)

    def release_creates(self) -> None:
        """Ends `hold_creates` only."""
        self._do(self._datacenter.faults.creates.set)

    def break_containers(self, message: str) -> None:
        """Makes VMs that boot from now on fail to create containers: dstack's creating_container_error."""
        self._do(lambda: setattr(self._datacenter.faults, "container_error", message))

    def heal(self) -> None:
        """Ends all scripted faults; dead machines stay dead."""
        self._do(self._datacenter.faults.heal)

    def reset(self) -> None:
        """Heals, restores the first offers and ends every instance; the ledger starts anew."""
        self._loop.call(self._datacenter.reset())

    def offer(self, backend: str, sizes: list[Size]) -> None:
        """Replaces that backend's offers; an empty list is a sold-out cloud."""
        self._do(lambda: self._datacenter.sizes.update({backend: sizes}))

    def power_off(self, id_: str) -> None:
        """Kills the VM without notice; the cloud still lists and bills it."""
        self._loop.call(self._datacenter.machine(id_).power_off())

    def freeze(self, id_: str) -> None:
        """Freezes everything in the VM until `thaw`: SSH accepts connections, but nothing behind it answers.

        Parents are frozen before their children: a running shell would take a stopped child for an ended one.
        """
        for each in self.processes(id_):
            with suppress(psutil.NoSuchProcess):
                each.suspend()
                until(lambda each=each: each.status() in (psutil.STATUS_STOPPED, psutil.STATUS_ZOMBIE))

    def thaw(self, id_: str) -> None:
        """Wakes children first: a shell that woke before its child would take the stopped child for an ended one."""
        for each in reversed(self.processes(id_)):
            with suppress(psutil.NoSuchProcess):
                each.resume()

    def processes(self, id_: str) -> list[psutil.Process]:
        """The VM's processes, as this machine sees them, so that a test can kill one."""
        return self._datacenter.machine(id_).processes()

    def exceed_max_duration(self, id_: str) -> None:
        """Has the VM's runner end its job as it does after the job's `max_duration`, which may be hours off."""
        guest = next(each for each in self.processes(id_) if each.cmdline()[1:3] == ["-m", "tests.dstack_lab.guest"])
        guest.send_signal(signal.SIGUSR1)

    def destroy(self, id_: str) -> None:
        """Removes the VM from the cloud too, as if its owner deleted it in the web console."""
        self._loop.call(self._datacenter.destroy(id_))

    # Internals

    def _do(self, action: Callable[[], Any]) -> None:
        async def act() -> None:
            action()

        self._loop.call(act())

    async def _start(self) -> None:
        self._datacenter = Datacenter(self._folder, self.ssh_port, self._notify)
        apps = {"/amddevcloud": AmdDevCloudApi(self._datacenter), "/hotaisle": HotAisleApi(self._datacenter)}
        app = Starlette(routes=[Mount(path, api.app()) for path, api in apps.items()])
        self._server = uvicorn.Server(uvicorn.Config(app, log_level="warning", lifespan="off"))
        self._serving = asyncio.create_task(self._server.serve(sockets=[self._listener]))

    async def _stop(self) -> None:
        try:
            await self._datacenter.close()
        finally:
            self._server.should_exit = True
            self._server.force_exit = True
            await self._serving

    def _notify(self) -> None:
        with self._changed:
            self._changed.notify_all()
