"""A data folder of dstack's server with its migrations done, made once and kept beside the server's Python."""

from __future__ import annotations

import fcntl
import shutil
from typing import TYPE_CHECKING

from tests.dstack_lab.server import DstackServer
from tests.dstack_lab.server_python import server_python

if TYPE_CHECKING:
    from pathlib import Path

    from tests.dstack_lab.fake_cloud import FakeCloud

VERSION = "0.22.5"


def prepared_data(cloud: FakeCloud) -> Path:
    """The prepared data folder, made if it is missing; processes that need it at the same time wait for the first."""
    python = server_python()
    assert python is not None, "no Python with dstack's server: see tests/conftest.py"
    folder = python.parents[1] / f"lab-data-{VERSION}"
    with (python.parents[1] / "lab-data.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            _prepare(cloud, folder)
    return folder


def _prepare(cloud: FakeCloud, folder: Path) -> None:
    unfinished = folder.with_name(folder.name + "-unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    with DstackServer(cloud) as server:
        server.kill()
        shutil.copytree(server.data, unfinished)
    unfinished.rename(folder)
