"""The configuration of the dstack provider: dstack's server, the machines to rent there, and the executor on them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from servicekit.storage import IMAGE_GB
from services.vmpool.policy.offer_choice import SpotPolicy
from vocabulary.money import MICROSECOND

CPU, MEMORY, DISK = "x86:4..", "32GB..", f"{2 * IMAGE_GB}GB.."
"""The least that a machine must have. A run may use 4 CPUs and 16 GB, and the judge holds its answers besides. The
system and builds get as much of the disk as the image; dstack's own 100 GB would leave them nothing."""


@dataclass(frozen=True)
class Server:
    """The address of dstack's server, and our project and token there; `timeout` is for every request.

    `amddevcloud_key` is a key of AMD Developer Cloud, for a project that does not have that backend yet.
    """

    url: str
    project: str
    token: str = field(repr=False)
    timeout: timedelta
    amddevcloud_key: str = field(default="", repr=False)


@dataclass(frozen=True)
class Agent:
    """The executor on a machine: a container on the host's network, which listens on the host's loopback.

    It ends by itself after `orphan_timeout` without a pool; 0: never.
    """

    image: str
    commands: tuple[str, ...]
    user: str
    environment: Mapping[str, str]
    privileged: bool
    executor_port: int
    orphan_timeout: timedelta


@dataclass(frozen=True)
class Market:
    """Limits on machines to rent. Prices are in micro-dollars, 0 for no limit; sizes are ranges in dstack's words."""

    backends: tuple[str, ...]
    regions: tuple[str, ...]
    gpu_types: tuple[str, ...]
    gpu_counts: tuple[int, ...]
    spot_policy: SpotPolicy
    max_price_micros_per_gpu_hour: int
    minimum_billed: Mapping[str, timedelta]
    billing_increment: Mapping[str, timedelta]
    cpu: str = CPU
    memory: str = MEMORY
    disk: str = DISK

    def max_price_micros_per_hour(self, gpu_count: int) -> int:
        """The price limit for a whole machine with that many GPUs."""
        return self.max_price_micros_per_gpu_hour * gpu_count

    def minimum_of(self, backend: str) -> timedelta:
        """The least time that the backend bills for a machine."""
        return self.minimum_billed.get(backend, timedelta(0))

    def increment_of(self, backend: str) -> timedelta:
        """The step in which the backend bills a machine's time."""
        return self.billing_increment.get(backend, MICROSECOND)


@dataclass(frozen=True)
class Fleet:
    """dstack's fleet that holds the machines; `create` lets us make it if it is missing."""

    name: str
    size: int
    create: bool
    idle_duration: timedelta


@dataclass(frozen=True)
class Timeouts:
    """The poll interval, and the time limits."""

    poll_interval: timedelta
    start_timeout: timedelta
    stop_grace: timedelta
    release_timeout: timedelta


@dataclass(frozen=True)
class DstackConfig:
    """The whole configuration; `max_duration` is the longest life of a machine, the last guard against leaks."""

    pool_name: str
    data_dir: Path
    server: Server
    agent: Agent
    market: Market
    fleet: Fleet
    timeouts: Timeouts
    max_duration: timedelta
    ends_with_pool: bool
