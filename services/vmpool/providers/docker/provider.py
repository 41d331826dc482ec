"""Machines that are containers of a Docker engine, here or on another host."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TypeVar, cast

import docker
from docker.errors import APIError, DockerException, ImageNotFound, NotFound
from docker.models.containers import Container
from docker.types.daemon import CancellableStream

from servicekit.logging import get_logger
from services.vmpool.errors import ProviderError
from services.vmpool.fault import Fault
from services.vmpool.providers.docker.containers import MACHINE_LABEL, POOL_LABEL, ContainerPlan, observed, order_in
from services.vmpool.providers.last_words import LAST_LOG_LINES, last_words
from services.vmpool.providers.provider import UNNAMED, Observation, Offer, Order, ProviderState, Resource, Scope

log = get_logger(__name__)

T = TypeVar("T")
CONFLICT_STATUS = 409
REFUSED_FROM, REFUSED_TO = 400, 500
CALL_THREADS = 16
"""Calls at a time. If the engine hangs, each call takes a thread until the timeout."""
LOG_THREADS = 64
"""Threads for following logs. They are separate, so that followers hold up no other call."""


@dataclass(frozen=True)
class DockerConfig:
    """The engine's address, and the terms of its containers; `settings.py` describes the fields."""

    host: str
    reach_address: str
    gpu_types: Sequence[str]
    gpu_count: int
    max_containers: int
    price_micros_per_hour: int
    start_timeout: timedelta
    stop_grace: timedelta
    request_timeout: timedelta
    ends_with_pool: bool


class DockerProvider:
    """Runs executors in containers. The engine's client blocks, so each call runs in a thread."""

    name = "docker"
    keeps_reserved = True

    def __init__(self, config: DockerConfig, plan: ContainerPlan) -> None:
        self.ends_with_pool = config.ends_with_pool
        self.start_timeout = config.start_timeout
        self.scope = Scope((config.gpu_count,), (), plan.max_duration, "VMPOOL_DOCKER_MAX_DURATION", is_spot=False)
        self._config = config
        self._plan = plan
        self._client: docker.DockerClient | None = None
        self._threads = ThreadPoolExecutor(CALL_THREADS, thread_name_prefix="docker")
        self._log_threads = ThreadPoolExecutor(LOG_THREADS, thread_name_prefix="docker-log")

    async def start(self) -> None:
        """Look for the engine and its image; raises ProviderError if the engine answers and has no such image."""
        try:
            await self._ask(lambda client: client.images.get(self._plan.image))
        except ProviderError as error:
            raise ProviderError(
                f"VMPOOL_DOCKER_IMAGE: the engine at {self._config.host} has no image {self._plan.image!r}; "
                f"build or load it there first ({error})",
                Fault.MISCONFIGURED,
            ) from error
        except OSError as error:
            log.warning("the Docker engine does not answer yet", extra={"host": self._config.host, "error": str(error)})

    async def close(self) -> None:
        """Close the connections to the engine."""
        for threads in (self._threads, self._log_threads):
            threads.shutdown(wait=False, cancel_futures=True)
        if self._client is not None:
            self._client.close()  # type: ignore[no-untyped-call]

    async def offers(self) -> Sequence[Offer]:
        """An offer for each GPU type of the settings; none is available while the host is full."""
        available = len(await self._containers()) < self._config.max_containers
        price = self._config.price_micros_per_hour
        return [
            Offer(
                self.name,
                gpu_type,
                self._config.gpu_count,
                price,
                available=available,
                longest_life=self.scope.longest_life,
                life_setting=self.scope.life_setting,
            )
            for gpu_type in self._config.gpu_types
        ]

    def resource_name(self, machine_id: str) -> str:
        """The name of its container."""
        return self._plan.name(machine_id)

    async def provision(self, order: Order) -> None:
        """Create the container and start it."""

        def create_and_start(client: docker.DockerClient) -> None:
            try:
                client.containers.create(**self._plan.arguments(order))
            except APIError as error:
                if error.status_code != CONFLICT_STATUS:
                    raise
            self._find(client, order.machine_id, Resource(order.name)).start()

        await self._ask(create_and_start)

    async def observe(self, machine_id: str, resource: Resource = UNNAMED) -> Observation:
        """The engine's view of the container; if it has ended, with the end of its log."""
        try:
            container = await self._ask(lambda client: self._find(client, machine_id, resource))
        except _NotThereError:
            return Observation(ProviderState.GONE, reason="the engine has no such container")
        seen = observed(container.attrs, self._plan.executor_port, self._config.reach_address)
        if seen.state not in {ProviderState.ENDED, ProviderState.STOPPED}:
            return replace(seen, price_micros_per_hour=self._config.price_micros_per_hour)
        reported = await self._ask(lambda _: bytes(container.logs(tail=LAST_LOG_LINES)))
        return replace(seen, reason=f"{seen.reason}; its log ends: {last_words(reported) or '(empty)'}")

    async def release(self, machine_id: str, resource: Resource = UNNAMED) -> None:
        """Ask the executor to end, then remove its container and the container's volumes."""
        grace_seconds = int(self._config.stop_grace.total_seconds())

        def stop_and_remove(client: docker.DockerClient) -> None:
            container = self._find(client, machine_id, resource)
            container.stop(timeout=grace_seconds)
            container.remove(force=True, v=True)

        try:
            await self._ask(stop_and_remove)
        except _NotThereError:
            return

    async def list_all(self) -> Sequence[str]:
        """Ids of the machines that have a container with this pool's label, running or not."""
        # The client types this only as `Any`.
        labels = [cast("dict[str, str]", container.labels) for container in await self._containers()]  # pyright: ignore[reportUnknownMemberType]
        return sorted(of_container[MACHINE_LABEL] for of_container in labels)

    async def order_of(self, machine_id: str) -> Order | None:
        """The order in the container's labels and environment."""
        try:
            container = await self._ask(lambda client: self._find(client, machine_id, UNNAMED))
        except _NotThereError:
            return None
        return order_in(container.attrs, machine_id, self._config.gpu_count)

    async def logs(self, machine_id: str, resource: Resource = UNNAMED, *, follow: bool) -> AsyncIterator[bytes]:
        """The container's output, with both streams in one."""

        def read(client: docker.DockerClient) -> CancellableStream[bytes]:
            return self._find(client, machine_id, resource).logs(stream=True, follow=follow)

        pieces = await self._ask(read)
        try:
            while (piece := await self._ask(lambda _: next(pieces, None), self._log_threads)) is not None:
                yield piece
        finally:
            # This ends a thread that still waits for the next piece.
            pieces.close()

    async def _containers(self) -> Sequence[Container]:
        labels = [f"{POOL_LABEL}={self._plan.pool_name}", MACHINE_LABEL]
        return await self._ask(
            lambda client: client.containers.list(all=True, filters={"label": labels}, ignore_removed=True)
        )

    def _find(self, client: docker.DockerClient, machine_id: str, resource: Resource) -> Container:
        found = client.containers.get(resource.resource_id or resource.name or self._plan.name(machine_id))
        # The client types this only as `Any`.
        labels = cast("dict[str, str]", found.labels)  # pyright: ignore[reportUnknownMemberType]
        if labels.get(MACHINE_LABEL) != machine_id:
            raise _NotThereError(f"container {found.name} has machine {machine_id}'s name, and is not that machine")
        return found

    async def _ask(self, question: Callable[[docker.DockerClient], T], threads: ThreadPoolExecutor | None = None) -> T:
        """Ask in a thread; raises ProviderError if the engine refuses, OSError if it does not answer."""
        try:
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(threads or self._threads, lambda: question(self._connected()))
        except ImageNotFound as error:
            raise ProviderError(_words(error), Fault.MISCONFIGURED) from error
        except NotFound as error:
            raise _NotThereError(_words(error)) from error
        except APIError as error:
            if REFUSED_FROM <= (error.status_code or 0) < REFUSED_TO:
                raise ProviderError(_words(error), Fault.MISCONFIGURED) from error
            raise ProviderError(_words(error)) from error
        except DockerException as error:
            raise ConnectionError(f"the Docker engine at {self._config.host} does not answer: {error}") from error

    def _connected(self) -> docker.DockerClient:
        if self._client is None:
            timeout_seconds = int(self._config.request_timeout.total_seconds())
            self._client = docker.DockerClient(base_url=self._config.host, timeout=timeout_seconds, use_ssh_client=True)
        return self._client


class _NotThereError(ProviderError):
    """The engine has no such container."""


def _words(error: APIError) -> str:
    return str(error.explanation or error)
