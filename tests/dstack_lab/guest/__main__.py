"""The system of a VM of the lab: dstack's agents on their ports of the VM's own loopback, and the relay into it."""

from __future__ import annotations

import asyncio
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import uvicorn

from tests.dstack_lab.guest.agents import Agents
from tests.dstack_lab.guest.relay import serve_relay

if TYPE_CHECKING:
    from starlette.applications import Starlette

SHIM_PORT = 10998
RUNNER_PORT = 10999


async def boot(folder: Path) -> None:
    agents = Agents(folder)
    asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, agents.exceed_max_duration)
    await serve_relay(folder / "relay.sock")
    servers = [_server(agents.shim(), SHIM_PORT), _server(agents.runner(), RUNNER_PORT)]
    running = [asyncio.create_task(each.serve()) for each in servers]
    while not all(each.started for each in servers):
        await asyncio.sleep(0.01)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    await asyncio.gather(*running)


def _server(app: Starlette, port: int) -> uvicorn.Server:
    return uvicorn.Server(uvicorn.Config(app, "127.0.0.1", port, log_level="warning", lifespan="off"))


if __name__ == "__main__":
    asyncio.run(boot(Path(sys.argv[1])))
