"""Describes an executor's container to the engine, and reads the state of the container."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from services.vmpool.fault import Fault
from services.vmpool.providers.provider import Observation, Order, ProviderState, Resource

POOL_LABEL = "wavepool.pool"
MACHINE_LABEL = "wavepool.machine"
GPU_TYPE_LABEL = "wavepool.gpu_type"
TOKEN_VARIABLE = "EXECUTOR_TOKEN"  # noqa: S105 - a variable's name
OUT_OF_MEMORY = "the kernel killed it for want of memory: raise VMPOOL_DOCKER_MEMORY_MIB"
LIFE_LABEL = "wavepool.max_duration_seconds"
TIMED_OUT = 124
"""Exit status of `timeout` for a command that it ended."""
COMMAND_NOT_RUN = frozenset({126, 127})
"""Exit statuses by which the engine says that it could not run, or not find, the command."""

_SANDBOX_MAKER = (
    # Mounts and namespaces, and the loopback device of an empty network.
    *("SYS_ADMIN", "NET_ADMIN"),
    # A user for each sandbox, the ownership of its files, and the end of its processes.
    *("SETUID", "SETGID", "SETPCAP", "CHOWN", "FOWNER", "DAC_OVERRIDE", "KILL"),
    # slirp4netns keeps it in its own sandbox, and makes no network for a session without it.
    "NET_BIND_SERVICE",
)
"""Capabilities that making sandboxes needs. Without root's in its user namespace, a sandbox cannot mount /proc."""

_ON_THE_WAY = frozenset({"created", "restarting"})
_OVER = frozenset({"exited", "dead", "removing"})


@dataclass(frozen=True)
class ContainerPlan:
    """The properties of all containers of a pool; `settings.py` describes the fields."""

    pool_name: str
    image: str
    command: Sequence[str]
    executor_port: int
    publish_address: str
    devices: Sequence[str] = ()
    groups: Sequence[str] = ()
    environment: Mapping[str, str] | None = None
    volumes: Sequence[str] = ()
    memory_mib: int = 0
    privileged_sandboxes: bool = False
    init: bool = True
    orphan_timeout: timedelta = timedelta(0)
    max_duration: timedelta = timedelta(0)
    stop_grace: timedelta = timedelta(seconds=15)

    def name(self, machine_id: str) -> str:
        """The container's name by the present settings. No two machines share one."""
        return f"{self.pool_name}-{machine_id}"

    def arguments(self, order: Order) -> dict[str, Any]:
        """The arguments for the engine client's `create`."""
        life_seconds = math.ceil((order.max_duration or self.max_duration).total_seconds())
        return {
            "image": self.image,
            "command": [*self._guard(life_seconds), *self.command],
            "name": order.name or self.name(order.machine_id),
            "labels": {
                POOL_LABEL: self.pool_name,
                MACHINE_LABEL: order.machine_id,
                GPU_TYPE_LABEL: order.gpu_type,
                **({LIFE_LABEL: str(life_seconds)} if life_seconds else {}),
            },
            "environment": self._environment(order),
            "ports": {f"{self.executor_port}/tcp": (self.publish_address, None)},
            "devices": [f"{device}:{device}:rwm" for device in self.devices],
            "group_add": [*self.groups],
            "volumes": [*self.volumes],
            "mem_limit": f"{self.memory_mib}m" if self.memory_mib else None,
            "init": self.init,
            **self._privileges(),
        }

    def _guard(self, life_seconds: int) -> Sequence[str]:
        """Command prefix that ends the executor after its longest life without vmpool. Engines have no such limit."""
        grace_seconds = math.ceil(self.stop_grace.total_seconds())
        return ["timeout", f"--kill-after={grace_seconds}", str(life_seconds)] if life_seconds else []

    def _environment(self, order: Order) -> dict[str, str]:
        # In this order: the operator cannot change the variables that make it this machine's executor.
        return {
            **(self.environment or {}),
            "EXECUTOR_HOST": "0.0.0.0",  # noqa: S104 - inside the container; what is published is another matter
            "EXECUTOR_PORT": str(self.executor_port),
            "EXECUTOR_GPU_COUNT": str(order.gpu_count),
            TOKEN_VARIABLE: order.token,
            "EXECUTOR_POOL_TIMEOUT": f"{self.orphan_timeout.total_seconds():g}",
        }

    def _privileges(self) -> dict[str, Any]:
        lesser = {"cap_drop": ["ALL"], "security_opt": ["no-new-privileges:true"]}
        if not self.privileged_sandboxes:
            return lesser
        lifted = ["seccomp=unconfined", "apparmor=unconfined"]
        return {
            **lesser,
            "user": "0:0",
            "cap_add": [*_SANDBOX_MAKER],
            "security_opt": [*lesser["security_opt"], *lifted],
        }


def observed(attributes: Mapping[str, Any], port: int, reach_address: str) -> Observation:
    """A machine's state by the engine's answer to `inspect`. An unknown word, of a newer engine, means UNKNOWN."""
    resource = Resource(str(attributes.get("Name", "")).removeprefix("/"), str(attributes.get("Id", "")))
    return replace(_state(attributes, port, reach_address), resource=resource)


def _state(attributes: Mapping[str, Any], port: int, reach_address: str) -> Observation:
    state: Mapping[str, Any] = attributes.get("State") or {}
    status = str(state.get("Status", ""))
    if status in _ON_THE_WAY:
        return Observation(ProviderState.PENDING, stage=f"the container is {status}")
    if status in _OVER:
        return _over(state, _labels(attributes))
    published = _published(attributes, port)
    if status == "running" and published:
        return Observation(ProviderState.RUNNING, endpoint=f"{reach_address}:{published}")
    if status == "running":
        return Observation(ProviderState.PENDING, stage="the engine is publishing the executor's port")
    return Observation(ProviderState.UNKNOWN, stage=f"the container is {status or 'in no state'}")


def order_in(attributes: Mapping[str, Any], machine_id: str, gpu_count: int) -> Order | None:
    """The order in a container's labels and environment; None if they are incomplete."""
    config: Mapping[str, Any] = attributes.get("Config") or {}
    labels = _labels(attributes)
    environment = dict(str(line).split("=", 1) for line in config.get("Env") or () if "=" in str(line))
    if GPU_TYPE_LABEL not in labels or TOKEN_VARIABLE not in environment:
        return None
    return Order(machine_id, labels[GPU_TYPE_LABEL], gpu_count, environment[TOKEN_VARIABLE])


def _over(state: Mapping[str, Any], labels: Mapping[str, str]) -> Observation:
    exit_status = int(state.get("ExitCode") or 0)
    if exit_status == TIMED_OUT and LIFE_LABEL in labels:
        lived = f"it has reached its longest life of {labels[LIFE_LABEL]} s"
        return Observation(ProviderState.STOPPED, reason=lived, fault=Fault.EXPIRED, exit_status=exit_status)
    words = [f"its container ended with status {exit_status}"]
    words += [OUT_OF_MEMORY] if state.get("OOMKilled") else []
    words += [str(state["Error"])] if state.get("Error") else []
    fault = Fault.MISCONFIGURED if exit_status in COMMAND_NOT_RUN else Fault.EXECUTOR_EXITED
    return Observation(ProviderState.ENDED, reason="; ".join(words), fault=fault, exit_status=exit_status)


def _labels(attributes: Mapping[str, Any]) -> Mapping[str, str]:
    config: Mapping[str, Any] = attributes.get("Config") or {}
    return config.get("Labels") or {}


def _published(attributes: Mapping[str, Any], port: int) -> str:
    networks: Mapping[str, Any] = attributes.get("NetworkSettings") or {}
    bindings: Mapping[str, Any] = networks.get("Ports") or {}
    return next((str(binding["HostPort"]) for binding in bindings.get(f"{port}/tcp") or ()), "")
