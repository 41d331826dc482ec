"""The Docker engine of this machine, called from threads.

Each process has its own connection and guardian: judges are forked, and two processes on one connection would mix their
answers. Opening a connection also removes the containers of dead owners.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import socket
from collections.abc import Callable, Mapping
from typing import Any, TypeVar, cast

from services.executor.sandboxes.docker.connection import OWNER_LABEL, DockerConnection, connection_to, engine_words
from services.executor.sandboxes.sandbox import SandboxError

_DEFAULT_ADDRESS = "unix:///var/run/docker.sock"
_REMOVAL_ATTEMPTS = 50
_REMOVAL_INTERVAL_SECONDS = 0.1


_SERIAL = itertools.count()
_Answer = TypeVar("_Answer")


class DockerEngine:
    """The engine's operations. Each raises SandboxError if the engine does not answer or refuses, with its words."""

    def __init__(self, address: str | None = None) -> None:
        self._address = address or os.environ.get("DOCKER_HOST") or _DEFAULT_ADDRESS

    async def runtimes(self) -> list[str]:
        """Return the names of the engine's OCI runtimes."""
        info = await self._ask(lambda client: client.info())
        return sorted(info.get("Runtimes") or ())

    async def image_labels(self, image: str) -> Mapping[str, str] | None:
        """Return the labels of an image, or None if the engine does not have it."""
        found = await self._ask(lambda client: client.images(name=image))
        return (found[0].get("Labels") or {}) if found else None

    async def create(self, configuration: Mapping[str, object]) -> str:
        """Make a container that is removed even if we are killed; returns its name."""
        connection = await self._own_connection()
        name = f"wavepool-sandbox-{os.getpid()}-{connection.owner.start_ticks}-{next(_SERIAL)}"
        labelled = {**configuration, "Labels": {OWNER_LABEL: connection.owner.label}}
        connection.tell_guardian(f"+{name}")
        try:
            await self._ask(lambda client: client.create_container_from_config(labelled, name))
        except SandboxError:
            connection.tell_guardian(f"-{name}")
            raise
        return name

    async def attach(self, name: str) -> socket.socket:
        """Return a connection to the three streams of a container, in frames."""
        wanted = {"stdin": 1, "stdout": 1, "stderr": 1, "stream": 1}
        stream = await self._ask(lambda client: client.attach_socket(name, params=wanted))
        # The library gives no other way to the socket that its answer came over.
        with contextlib.closing(stream), contextlib.closing(stream._sock) as raw:  # noqa: SLF001
            return cast("socket.socket", raw.dup())

    async def start(self, name: str) -> None:
        """Start a container."""
        await self._ask(lambda client: client.start(name))

    async def state(self, name: str) -> Mapping[str, Any]:
        """Return the engine's state of a container: Pid, Running, ExitCode, OOMKilled."""
        return (await self._ask(lambda client: client.inspect_container(name)))["State"]

    async def exit_code(self, name: str) -> int:
        """Wait for the end of a container and return its exit code."""
        return int((await self._ask(lambda client: client.wait(name)))["StatusCode"])

    async def remove(self, name: str) -> None:
        """Kill and remove a container, if it exists; returns once nothing of it is left."""
        connection = await self._own_connection()
        for attempt in itertools.count(1):
            try:
                await asyncio.to_thread(connection.remove, name)
            except SandboxError:
                # Somebody else may be removing it: a sweep, or the engine after an earlier request.
                if attempt == _REMOVAL_ATTEMPTS:
                    raise
                await asyncio.sleep(_REMOVAL_INTERVAL_SECONDS)
            else:
                connection.tell_guardian(f"-{name}")
                return

    async def _ask(self, question: Callable[[Any], _Answer]) -> _Answer:
        connection = await self._own_connection()
        try:
            return await asyncio.to_thread(question, connection.client)
        except Exception as error:
            raise SandboxError(f"the Docker engine refuses: {engine_words(error)}") from error

    async def _own_connection(self) -> DockerConnection:
        return await asyncio.to_thread(connection_to, self._address)
