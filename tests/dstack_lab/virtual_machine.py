"""A VM of the lab: processes in a process and a network namespace of their own, behind a real sshd.

Everything in it ends with it, whatever a job does; two VMs may use the same ports.
"""

from __future__ import annotations

import asyncio
import os
import socket
import sys
from pathlib import Path
from typing import Any

import asyncssh
import psutil

from tests.dstack_lab.ssh_front import SshFront

REPOSITORY = Path(__file__).parents[2]
BOOT_SECONDS = 60


class VirtualMachine:
    """`address` is a loopback address of its own; jobs find the project's Python first on their PATH."""

    def __init__(self, folder: Path, address: str, ssh_port: int, cloud_keys: list[str], *, shim_starts: bool) -> None:
        self.folder = folder
        self.address = address
        self._ssh_port = ssh_port
        self._cloud_keys = cloud_keys
        self._shim_runs = shim_starts
        self._process: asyncio.subprocess.Process | None = None
        self._listeners: list[asyncssh.SSHAcceptor] = []
        self._connections: set[Any] = set()
        self._switch = asyncio.Lock()
        self._off = False

    async def boot(self, container_error: str | None = None) -> None:
        """Boots the VM's system, then starts its SSH server; does nothing if the VM was powered off before."""
        async with self._switch:
            if not self._off:
                await self._boot(container_error)

    async def power_off(self) -> None:
        """Ends the VM as a power cut does: nothing is sent, nothing answers."""
        async with self._switch:
            self._off = True
            self._close_ssh()
            if self._process and self._process.returncode is None:
                self._process.kill()
                await self._process.wait()

    def processes(self) -> list[psutil.Process]:
        """The VM's processes, by the process numbers of this machine: the guest's system first, then the jobs'."""
        return psutil.Process(self._process.pid).children(recursive=True) if self._process else []

    async def _boot(self, container_error: str | None) -> None:
        (self.folder / "home").mkdir(parents=True)
        if container_error is not None:
            (self.folder / "container_error").write_text(container_error, encoding="utf-8")
        await self._start_guest()
        key = asyncssh.generate_private_key("ssh-ed25519")
        await self._listen(key, "host", host=self.address, port=self._ssh_port)
        container = socket.socket(socket.AF_UNIX)
        container.bind(str(self.folder / "container.sock"))
        await self._listen(key, "container", sock=container)

    def _close_ssh(self) -> None:
        for listener in self._listeners:
            listener.close()
        for connection in list(self._connections):
            connection.abort()
        self._listeners.clear()

    async def _start_guest(self) -> None:
        with (self.folder / "console.log").open("wb") as console:
            self._process = await asyncio.create_subprocess_exec(
                *sandboxed(),
                *(sys.executable, "-m", "tests.dstack_lab.guest", str(self.folder)),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=console,
                cwd=REPOSITORY,
                env=self._environment(),
            )
        async with asyncio.timeout(BOOT_SECONDS):
            if await self._process.stdout.readline() != b"ready\n":
                raise RuntimeError(f"the VM did not boot: {(self.folder / 'console.log').read_text()}")

    def _environment(self) -> dict[str, str]:
        programs = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
        return {
            "PATH": programs,
            "PYTHONPATH": str(REPOSITORY),
            "LANG": "C.UTF-8",
            "HOME": str(self.folder / "home"),
            # The prepared compiler, which an executor's image would contain.
            "WAVEPOOL_CACHE_DIR": os.environ.get("WAVEPOOL_CACHE_DIR") or str(Path.home() / ".cache" / "wavepool"),
        }

    async def _listen(self, key: asyncssh.SSHKey, where: str, **address: Any) -> None:
        listener = await asyncssh.listen(
            **address,
            server_factory=lambda: SshFront(
                self.folder, lambda: self._authorized_keys(where), lambda: self._shim_runs, self._connections
            ),
            server_host_keys=[key],
            process_factory=self._execute,
        )
        self._listeners.append(listener)

    def _authorized_keys(self, where: str) -> list[str]:
        own = self.folder / f"{where}_authorized_keys"
        of_tasks = own.read_text(encoding="utf-8").splitlines() if own.exists() else []
        return [*of_tasks, *(self._cloud_keys if where == "host" else [])]

    def _execute(self, process: asyncssh.SSHServerProcess[str]) -> None:
        """Handles dstack's one command: it installs and starts the shim (hotaisle's VMs boot without it)."""
        if "dstack-shim" in (process.command or ""):
            self._shim_runs = True
            process.exit(0)
        else:
            process.stderr.write("a VM of the lab runs no commands over SSH\n")
            process.exit(127)


def sandboxed(*, network: bool = False) -> list[str]:
    """The command-line prefix for a program whose children all end with it, on this machine's network or on none."""
    options = ["--unshare-pid", "--unshare-ipc", "--die-with-parent"]
    if not network:
        options.append("--unshare-net")
    if os.geteuid() == 0:
        options += ["--cap-add", "ALL"]
    return ["bwrap", "--dev-bind", "/", "/", "--proc", "/proc", *options, "--"]
