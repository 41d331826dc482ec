"""The processes of a Wavepool on this machine: their programs, ports and environments.

The executor is missing here on purpose: vmpool starts one for each machine of its local provider.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import psutil

from cli.local.health import grpc_is_serving, http_is_ready
from cli.local.program import Program
from vocabulary.ports import LOOPBACK, METRICS_PORT_OFFSET, USUAL_PORTS, free_ports, is_free
from wavepool_client.errors import InputError

GATEWAY = "gateway"
PROCESSES = ("billing", "vmpool", "scheduler", GATEWAY)
"""The processes, in the order in which they start."""
CALLS = {"vmpool": ("billing",), "scheduler": ("vmpool", "billing"), GATEWAY: ("scheduler", "vmpool", "billing")}
"""The services that each process calls."""


@dataclass(frozen=True)
class Ports:
    """Ports of the processes and of their metrics, by process name."""

    serving: Mapping[str, int]
    metrics: Mapping[str, int]
    executor: int
    """Port for vmpool's first executor, if it is free then; 0: any port."""

    @classmethod
    def usual(cls, gateway: int | None = None) -> Ports:
        """The documented ports."""
        serving = {name: USUAL_PORTS[name] for name in PROCESSES} | ({GATEWAY: gateway} if gateway else {})
        return cls(
            serving, {name: port + METRICS_PORT_OFFSET for name, port in serving.items()}, USUAL_PORTS["executor"]
        )

    @classmethod
    def free(cls, gateway: int | None = None) -> Ports:
        """Ports that nothing else uses, so that any number of Wavepools run side by side."""
        names = PROCESSES
        ports = free_ports(2 * len(names))
        serving = dict(zip(names, ports[: len(names)], strict=True)) | ({GATEWAY: gateway} if gateway else {})
        return cls(serving, dict(zip(names, ports[len(names) :], strict=True)), executor=0)

    def check(self) -> None:
        """Raises InputError that names each taken port with its holder, and the fix."""
        named = {f"{name} port {port}": port for name, port in self.serving.items()}
        named |= {f"{name} metrics port {port}": port for name, port in self.metrics.items()}
        taken = {name: f"held by {holder(port)}" for name, port in named.items() if not is_free(port)}
        if taken:
            fix = "end it, choose the gateway's port with --port, or take free ones for all services with --free-ports"
            raise InputError(f"ports that Wavepool needs are taken; {fix}", taken)


def holder(port: int) -> str:
    """The process that listens on a port, in words, if we may see it."""
    for connection in psutil.net_connections(kind="tcp"):
        address = connection.laddr
        if address and address.port == port and connection.status == psutil.CONN_LISTEN and connection.pid:
            return f"process {connection.pid} ({psutil.Process(connection.pid).name()})"
    return "another process"


@dataclass(frozen=True)
class Stack:
    """A Wavepool on this machine."""

    data_dir: Path
    ports: Ports

    @property
    def endpoint(self) -> str:
        """The gateway's URL."""
        return f"http://{LOOPBACK}:{self.ports.serving[GATEWAY]}"

    @property
    def logs(self) -> Path:
        """The folder with a log file for each process."""
        return self.data_dir / "logs"

    def programs(self) -> list[Program]:
        """The programs to run, in starting order."""
        return [self._program(name) for name in self.ports.serving]

    def _program(self, name: str) -> Program:
        is_gateway = name == GATEWAY
        address = self.endpoint if is_gateway else f"{LOOPBACK}:{self.ports.serving[name]}"
        return Program(
            name=name,
            arguments=(sys.executable, "-m", GATEWAY if is_gateway else f"services.{name}"),
            address=address,
            log=self.logs / f"{name}.log",
            is_ready=partial(http_is_ready, address) if is_gateway else partial(grpc_is_serving, address, name),
            environment=self._environment(name),
        )

    def _environment(self, name: str) -> dict[str, str]:
        own = {
            "HOST": LOOPBACK,
            "PORT": str(self.ports.serving[name]),
            "METRICS_PORT": str(self.ports.metrics[name]),
            "DATA_DIR": str(self.data_dir),
        }
        ports = self.ports.serving
        others = {f"{other.upper()}_TARGET": f"{LOOPBACK}:{ports[other]}" for other in CALLS.get(name, ())}
        executor = {"LOCAL_EXECUTOR_PORT": str(self.ports.executor)} if name == "vmpool" else {}
        return {f"{name.upper()}_{key}": value for key, value in (own | others | executor).items()}
