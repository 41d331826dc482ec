"""Our own PostgreSQL server on loopback, for the tests of one pytest process."""

from __future__ import annotations

import asyncio
import os
import pwd
import secrets
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

import asyncpg

SERVER_FOLDERS = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
START_SECONDS = 60


def program(name: str) -> str | None:
    """The newest installed server program of this name."""
    path = os.pathsep.join([*map(str, SERVER_FOLDERS), os.environ.get("PATH", "")])
    return shutil.which(name, path=path)


class PostgresServer:
    """Runs as an ordinary user, since PostgreSQL refuses root; leaves nothing after `stop`.

    Without `durable` it does not wait for the disk, as tests need not outlive a power cut.
    """

    def __init__(self, *, durable: bool = False) -> None:
        self._setting = f"fsync={'on' if durable else 'off'}"
        self._folder = Path(tempfile.mkdtemp(prefix="wavepool-postgres-"))
        self._user = "postgres" if os.geteuid() == 0 else pwd.getpwuid(os.geteuid()).pw_name
        if os.geteuid() == 0:
            shutil.chown(self._folder, self._user)
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        data = self._folder / "data"
        as_user = {"user": self._user, "cwd": self._folder} if os.geteuid() == 0 else {"cwd": self._folder}
        subprocess.run(
            [program("initdb") or "initdb", "-D", data, "-U", "wavepool", "-A", "trust", "-E", "UTF8", "--no-sync"],
            check=True,
            capture_output=True,
            **as_user,
        )
        with (self._folder / "log").open("wb") as log:
            self._process = subprocess.Popen(
                [
                    program("postgres") or "postgres",
                    "-D",
                    data,
                    "-k",
                    self._folder,
                    "-h",
                    "",
                    "-c",
                    self._setting,
                ],
                stdout=log,
                stderr=log,
                **as_user,
            )
        asyncio.run(self._until_it_answers())

    def stop(self) -> None:
        if self._process:
            self._process.send_signal(signal.SIGQUIT)
            self._process.wait()
        shutil.rmtree(self._folder)

    def create_database(self) -> str:
        """Creates an empty database; returns its SQLAlchemy URL."""
        name = f"test_{secrets.token_hex(6)}"
        asyncio.run(self._execute(f'CREATE DATABASE "{name}" STRATEGY file_copy'))
        return f"postgresql+asyncpg://wavepool@/{name}?host={self._folder}"

    async def _execute(self, statement: str) -> None:
        connection = await asyncpg.connect(host=str(self._folder), user="wavepool", database="postgres")
        try:
            await connection.execute(statement)
        finally:
            await connection.close()

    async def _until_it_answers(self) -> None:
        async with asyncio.timeout(START_SECONDS):
            while True:
                try:
                    await self._execute("SELECT 1")
                except (OSError, asyncpg.PostgresError):
                    await asyncio.sleep(0.05)
                else:
                    return
