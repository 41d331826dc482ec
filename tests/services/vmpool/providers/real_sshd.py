"""A real sshd on loopback, for one user with one key."""

from __future__ import annotations

import asyncio
import contextlib
import getpass
import os
import shutil
import signal
import subprocess
from pathlib import Path

from tests.ssh_keys import new_key
from vocabulary.ports import free_port

DEADLINE_SECONDS = 30
PROGRAM = shutil.which("sshd", path=f"{os.environ.get('PATH', '')}:/usr/sbin")

CONFIG = """
ListenAddress 127.0.0.1
Port {port}
HostKey {folder}/host_key
AuthorizedKeysFile {folder}/authorized_keys
PidFile none
StrictModes no
PasswordAuthentication no
KbdInteractiveAuthentication no
AllowTcpForwarding yes
Subsystem sftp internal-sftp
"""


class RealSshd:
    """The test starts and stops it and gives it a new host key; the port stays the same."""

    def __init__(self, folder: Path, authorized: str) -> None:
        self._folder = folder
        folder.mkdir(mode=0o700)
        (folder / "authorized_keys").write_text(authorized + "\n")
        self.username = getpass.getuser()
        self.port = free_port()
        self._process: subprocess.Popen[bytes] | None = None
        self.new_host_key()

    def new_host_key(self) -> None:
        """Replaces the host key, as if another machine had taken the address."""
        new_key().keep(self._folder / "host_key")

    async def start(self) -> None:
        assert PROGRAM is not None
        if os.getuid() == 0:
            Path("/run/sshd").mkdir(exist_ok=True)
        config = self._folder / "sshd_config"
        config.write_text(CONFIG.format(port=self.port, folder=self._folder))
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen([PROGRAM, "-D", "-e", "-f", str(config)], stderr=log)
        await until_open(self.port)

    def stop(self) -> None:
        """Ends the server and every connection."""
        if self._process is not None:
            for pid in [self._process.pid, *descendants(self._process.pid)]:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            self._process.wait()
            self._process = None


def descendants(pid: int) -> list[int]:
    try:
        children = [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except FileNotFoundError:
        return []
    return children + [below for child in children for below in descendants(child)]


async def until_open(port: int) -> None:
    async with asyncio.timeout(DEADLINE_SECONDS):
        while True:
            with contextlib.suppress(ConnectionRefusedError):
                _, writer = await asyncio.open_connection("127.0.0.1", port)
                writer.close()
                return
            await asyncio.sleep(0.02)
