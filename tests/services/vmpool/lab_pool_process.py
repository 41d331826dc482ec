"""vmpool as a process, on the lab's dstack: machines of a fake cloud that run the tiny executor."""

from __future__ import annotations

import json
import signal
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from tests.dstack_lab.server import DstackServer
from tests.services.vmpool.pool_process import PoolProcess
from tests.services.vmpool.providers.dstack.lab_provider import PYTHON_PATH, TINY_COMMAND


class LabPool(PoolProcess):
    """The executors of its machines start once `let_executors_start` was called."""

    def __init__(self, folder: Path, server: DstackServer, billing_target: str, settings: dict[str, str]) -> None:
        self._gate = folder / "executors-may-start"
        commands = (f"until [ -e '{self._gate}' ]; do sleep 0.1; done", TINY_COMMAND)
        super().__init__(
            folder,
            {
                "VMPOOL_PROVIDERS": "dstack",
                "VMPOOL_BILLING_TARGET": billing_target,
                "VMPOOL_DSTACK_SERVER_URL": server.url,
                "VMPOOL_DSTACK_PROJECT": server.project,
                "VMPOOL_DSTACK_TOKEN": server.token,
                "VMPOOL_DSTACK_COMMANDS": json.dumps(commands),
                "VMPOOL_DSTACK_ENVIRONMENT": json.dumps({"PYTHONPATH": PYTHON_PATH}),
                "VMPOOL_DSTACK_POLL_INTERVAL": "0.2",
                "VMPOOL_DSTACK_STOP_GRACE": "10",
                **settings,
            },
        )

    def let_executors_start(self) -> None:
        self._gate.touch()


@contextmanager
def lab_pool(
    folder: Path, server: DstackServer, billing_target: str, settings: dict[str, str] | None = None
) -> Generator[LabPool]:
    """A pool that is not started yet; at the end, every process of it is stopped and its machines are released."""
    pool = LabPool(folder, server, billing_target, settings or {})
    try:
        yield pool
    finally:
        pool.end(signal.SIGTERM)
