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
from typing import Any

import asyncpg

SERVER_FOLDERS = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
START_SECONDS = 60
IN_MEMORY = Path("/dev/shm")  # noqa: S108 - its folder has a name that nobody can guess
ROOM_BYTES = 2 << 30
"""Much more than a server for tests has at a time: some 40 MB, and 8 MB for each database."""


def program(name: str) -> str | None:
    """The newest installed server program of this name."""
    path = os.pathsep.join([*map(str, SERVER_FOLDERS), os.environ.get("PATH", "")])
    return shutil.which(name, path=path)


class PostgresServer:
    """Runs as an ordinary user, since PostgreSQL refuses root; leaves nothing after `stop`.

    Without `durable` it does not wait for the disk, as tests need not outlive a power cut, and is in memory if there is
    room: a database has 300 files, and a disk may take minutes to remove those of a whole run.
    """

    def __init__(self, *, durable: bool = False) -> None:
        self._setting = f"fsync={'on' if durable else 'off'}"
        in_memory = not durable and IN_MEMORY.is_dir() and shutil.disk_usage(IN_MEMORY).free > ROOM_BYTES
        self.folder = Path(tempfile.mkdtemp(prefix="wavepool-postgres-", dir=IN_MEMORY if in_memory else None))
        self._user = "postgres" if os.geteuid() == 0 else pwd.getpwuid(os.geteuid()).pw_name
        if os.geteuid() == 0:
            shutil.chown(self.folder, self._user)
        as_user = {"user": self._user} if os.geteuid() == 0 else {}
        self.as_user: dict[str, Any] = {"cwd": self.folder, **as_user}
        self.data = self.folder / "data"
        self.process: subprocess.Popen[bytes] | None = None
        self._port = 5432
        self._templates: dict[str, str] = {}

    def start(self) -> None:
        command = [program("initdb") or "initdb", "-D", self.data, "-U", "wavepool", "-A", "trust", "-E", "UTF8"]
        subprocess.run([*command, "--no-sync"], check=True, capture_output=True, **self.as_user)
        self.run()

    def run(self, *settings: str, host: str = "", port: int = 5432) -> None:
        """Starts the process on the files that are there; also on a TCP address if `host` names one."""
        options = [word for setting in (self._setting, *settings) for word in ("-c", setting)]
        command = [program("postgres") or "postgres", "-D", self.data, "-k", self.folder, "-h", host, "-p", str(port)]
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen([*command, *options], stdout=log, stderr=log, **self.as_user)
        self._port = port
        asyncio.run(self._until_it_answers())

    def kill(self) -> None:
        """Ends the process at once, and leaves the files."""
        if self.process:
            self.process.send_signal(signal.SIGQUIT)
            self.process.wait()

    def stop(self) -> None:
        self.kill()
        shutil.rmtree(self.folder)

    def create_database(self, schema: str = "") -> str:
        """Creates a database, empty or with the schema of these migrations; returns its SQLAlchemy URL."""
        if schema and schema not in self._templates:
            from tests.schemas import migrate_now  # noqa: PLC0415 - it loads SQLAlchemy, which most tests do without

            self._templates[schema] = self._copy_of("template1")
            migrate_now(self._url(self._templates[schema]), schema)
        return self._url(self._copy_of(self._templates.get(schema, "template1")))

    def drop_database(self, url: str) -> None:
        """Removes a database that `create_database` made, whoever has a connection to it."""
        asyncio.run(self._execute(f'DROP DATABASE "{_name_in(url)}" WITH (FORCE)'))

    def execute(self, statement: str, url: str) -> None:
        """Executes a statement in a database, as the superuser."""
        asyncio.run(self._execute(statement, _name_in(url)))

    def own(self, path: Path) -> None:
        """Gives a file to the user that the server runs as."""
        if os.geteuid() == 0:
            shutil.chown(path, self._user)

    def _url(self, name: str) -> str:
        return f"postgresql+asyncpg://wavepool@/{name}?host={self.folder}"

    def _copy_of(self, template: str) -> str:
        name = f"test_{secrets.token_hex(6)}"
        asyncio.run(self._execute(f'CREATE DATABASE "{name}" TEMPLATE "{template}" STRATEGY file_copy'))
        return name

    async def _execute(self, statement: str, database: str = "postgres") -> None:
        connection = await asyncpg.connect(host=str(self.folder), port=self._port, user="wavepool", database=database)
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


def _name_in(url: str) -> str:
    return url.partition("@/")[2].partition("?")[0]
