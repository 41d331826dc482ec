"""The real dstack server as a process of the lab: it can be killed, restarted on the same data, and hung."""

from __future__ import annotations

import http.client
import json
import os
import shutil
import signal
import subprocess
import time
from contextlib import suppress
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING

import psutil

from tests.dstack_lab.amddevcloud_api import CLOUD_KEY
from tests.dstack_lab.hotaisle_api import TEAM
from tests.dstack_lab.own_folder import own_folder
from tests.dstack_lab.server_python import server_python
from tests.dstack_lab.virtual_machine import sandboxed
from vocabulary.ports import free_port

if TYPE_CHECKING:
    from typing import Self

    from tests.dstack_lab.fake_cloud import FakeCloud

START_SECONDS = 90
POLL_SECONDS = 0.1
TOKEN = "lab-admin-token"  # noqa: S105 - of a server on loopback that lives for a test
PROJECT = "main"


class DstackServer:
    """A context manager. `prepared` is a data folder to start from, which saves the migrations.

    `interval_seconds` is how often the server's pipelines poll; None leaves it, and the two limits after it, at
    dstack's own values (2 to 15 s, 120 s, 30 s). `unreachable_seconds` is how long a VM may be silent before its job
    fails. `termination_seconds` is how long a stopped job has to end; the server waits as long for an aborted one.
    `offers_seconds` is how long offers are cached (dstack's own: 180 s). `backends` are those that its config.yml
    names.
    """

    token = TOKEN
    project = PROJECT

    def __init__(
        self,
        cloud: FakeCloud,
        *,
        prepared: Path | None = None,
        interval_seconds: float | None = 0.4,
        unreachable_seconds: float = 4,
        termination_seconds: float = 5,
        offers_seconds: float = 1,
        backends: tuple[str, ...] = ("amddevcloud", "hotaisle"),
    ) -> None:
        self._cloud = cloud
        self._prepared = prepared
        self._backends = backends
        self._pace = {
            "interval_seconds": interval_seconds,
            "unreachable_seconds": unreachable_seconds,
            "termination_seconds": termination_seconds,
            "offers_seconds": offers_seconds,
        }
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self._folder = own_folder("dst")
        for name in ("home", "tmp", "server"):
            (self._folder / name).mkdir()
        if self._prepared:
            shutil.copytree(self._prepared, self.data, dirs_exist_ok=True)
        (self.data / "config.yml").write_text(json.dumps(_config(self._backends)), encoding="utf-8")
        # The port stays ours through kills and starts; an ephemeral port could be taken by a connection meanwhile.
        self._port = free_port()
        self.url = f"http://127.0.0.1:{self._port}"
        try:
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
        shutil.rmtree(self._folder, ignore_errors=True)

    @property
    def data(self) -> Path:
        """DSTACK_SERVER_DIR: database, logs of jobs, config."""
        return self._folder / "server"

    @property
    def log(self) -> str:
        """Everything the server has printed since this object was made."""
        return (self._folder / "log").read_text(encoding="utf-8", errors="replace")

    def start(self) -> None:
        """Starts the server on its data and port, and waits until it answers."""
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                # A sandbox so that the server's own background ssh processes end with it.
                [*sandboxed(network=True), str(server_python()), str(Path(__file__).with_name("server_launch.py"))],
                env=self._environment(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        deadline = time.monotonic() + START_SECONDS
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"dstack's server did not start:\n{self.log[-5000:]}")
            time.sleep(POLL_SECONDS)

    def kill(self) -> None:
        """Sends SIGKILL to it and all its children; returns when all have ended.

        Those inside the sandbox end a moment after it: until then the server still answers, and has its port.
        """
        if self._process:
            inside = self._children()
            self._process.kill()
            self._process.wait()
            self._process = None
            deadline = time.monotonic() + START_SECONDS
            while not all(map(_has_ended, inside)):
                assert time.monotonic() < deadline, "a killed server goes on"
                time.sleep(POLL_SECONDS / 10)

    def lose_data(self) -> None:
        """Deletes its database, as if its volume was not kept; the server must not be running."""
        assert self._process is None
        for file in self.data.glob("data/sqlite.db*"):
            file.unlink()
        if self._prepared:
            shutil.copytree(self._prepared, self.data, dirs_exist_ok=True)

    def hang(self) -> None:
        """Hangs the server until `resume`: connections are accepted, nothing is answered."""
        self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        self._signal(signal.SIGCONT)

    def _signal(self, number: int) -> None:
        for each in self._children():
            # Its ssh children come and go.
            with suppress(psutil.NoSuchProcess):
                each.send_signal(number)

    def _children(self) -> list[psutil.Process]:
        """Its processes inside the sandbox."""
        assert self._process is not None
        with suppress(psutil.NoSuchProcess):
            return psutil.Process(self._process.pid).children(recursive=True)
        return []

    def _answers(self) -> bool:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=5)
        try:
            connection.request("GET", "/healthcheck")
            return connection.getresponse().status == HTTPStatus.OK
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

    def _environment(self) -> dict[str, str]:
        settings = {
            "cloud_url": self._cloud.url,
            "ssh_port": self._cloud.ssh_port,
            "port": self._port,
            **self._pace,
        }
        return {
            "PATH": os.environ.get("PATH", os.defpath),
            "HOME": str(self._folder / "home"),
            "TMPDIR": str(self._folder / "tmp"),
            "DSTACK_SERVER_DIR": str(self.data),
            "DSTACK_SERVER_HOST": "127.0.0.1",
            "DSTACK_SERVER_PORT": str(self._port),
            "DSTACK_SERVER_ADMIN_TOKEN": TOKEN,
            "DSTACK_SERVER_LOG_LEVEL": "INFO",
            "DSTACK_SERVER_LOG_FORMAT": "standard",
            "DSTACK_DO_NOT_UPDATE_DEFAULT_PROJECT": "1",
            "DSTACK_LAB": json.dumps(settings),
        }


def _has_ended(process: psutil.Process) -> bool:
    try:
        return process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def _config(names: tuple[str, ...]) -> dict[str, object]:
    credentials = {"type": "api_key", "api_key": CLOUD_KEY}
    backends = [
        {"type": "amddevcloud", "creds": credentials},
        {"type": "hotaisle", "team_handle": TEAM, "creds": credentials},
    ]
    return {"projects": [{"name": PROJECT, "backends": [each for each in backends if each["type"] in names]}]}
