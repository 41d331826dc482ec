"""A process's connection to the Docker engine, and the guardian that removes the containers it leaves there."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from services.executor.sandboxes.docker.owner import SandboxOwner
from services.executor.sandboxes.sandbox import SandboxError

# The name is an older one, so that containers of dead executors of earlier versions are still found.
OWNER_LABEL = "wavepool.box.owner"
_SOCKET_SCHEME = "unix://"
_GUARDIAN = Path(__file__).with_name("guardian.py")
_STARTED_APART = '"$@" >/dev/null 2>&1 &'
_TIMEOUT_SECONDS = 60

_connections: dict[tuple[int, str], DockerConnection] = {}
_opening = threading.Lock()


@dataclass(frozen=True)
class DockerConnection:
    """A connection to the engine: `client` is a docker.APIClient, `missing` its not-found error; both are untyped."""

    client: Any
    missing: type[Exception]
    guardian: int
    owner: SandboxOwner

    def tell_guardian(self, word: str) -> None:
        """Send `+NAME` before a container is made, or `-NAME` after it was removed."""
        with contextlib.suppress(BrokenPipeError):
            os.write(self.guardian, f"{word}\n".encode("ascii"))

    def remove(self, name: str) -> None:
        """Kill and remove a container if it exists; raises SandboxError."""
        try:
            self.client.remove_container(name, v=True, force=True)
        except self.missing:
            return
        except Exception as error:
            raise SandboxError(f"the Docker engine does not remove {name}: {engine_words(error)}") from error

    def sweep(self) -> None:
        """Remove the containers of dead owners."""
        for container in self.client.containers(all=True, filters={"label": OWNER_LABEL}):
            owner = SandboxOwner.from_label(container["Labels"][OWNER_LABEL])
            if owner is not None and owner.is_dead:
                # Another process may sweep at the same time.
                with contextlib.suppress(SandboxError):
                    self.remove(container["Id"])


def connection_to(address: str) -> DockerConnection:
    """Return the calling process's connection, which is opened on first use; raises SandboxError."""
    with _opening:
        # A connection that a parent process opened is left alone: to close it here could close files that now have its
        # numbers.
        key = os.getpid(), address
        if key not in _connections:
            _connections[key] = _open(address)
        return _connections[key]


def _open(address: str) -> DockerConnection:
    """Connect, start the guardian, and remove the containers of dead owners."""
    if not address.startswith(_SOCKET_SCHEME):
        raise SandboxError(
            f"DOCKER_HOST is {address!r}, but sandboxes show folders of this machine: the engine must be here, at a "
            "socket like unix:///var/run/docker.sock"
        )
    try:
        with socket.socket(socket.AF_UNIX) as trial:
            trial.connect(address.removeprefix(_SOCKET_SCHEME))
        # The import takes a quarter of a second, and most machines never need it.
        import docker  # noqa: PLC0415
        import docker.errors  # noqa: PLC0415

        client = docker.APIClient(base_url=address, timeout=_TIMEOUT_SECONDS)
    except Exception as error:
        raise SandboxError(
            f"no Docker engine answers at {address}: {engine_words(error)}. Start one, or name it in DOCKER_HOST"
        ) from error
    guardian = _start_guardian(address.removeprefix(_SOCKET_SCHEME))
    connection = DockerConnection(client, docker.errors.NotFound, guardian, SandboxOwner.this_process())
    connection.sweep()
    return connection


def engine_words(error: Exception) -> str:
    """Return the engine's own explanation if the library has it."""
    return str(getattr(error, "explanation", None) or error).strip()


def _start_guardian(engine_socket: str) -> int:
    """Start the guardian and return the pipe to it. It is no child of ours, so nobody has to wait for its end."""
    listening, telling = os.pipe()
    program = [sys.executable, "-I", "-S", str(_GUARDIAN), str(listening), engine_socket]
    command = ["/bin/sh", "-c", _STARTED_APART, "sh", *program]
    try:
        subprocess.run(command, pass_fds=[listening], env={}, start_new_session=True, check=True)  # noqa: S603
    finally:
        os.close(listening)
    return telling
