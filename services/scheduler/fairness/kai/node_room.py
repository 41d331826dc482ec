"""What one node has free now, and what it will have when stopping tasks are gone.

Both count whole GPUs. A GPU that is shared is a group of tasks; it counts as one whole GPU in use until its last task
is gone. Pipelined tasks take from what is being released, so `later` is what nobody has been promised.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from services.scheduler.fairness.kai.cluster import Node, Request, TaskState
from services.scheduler.fairness.queue_tree import WHOLE_GPU_MILLI


class Holding(NamedTuple):
    """Where a task is, in which state, and on which shared GPUs."""

    node: str
    state: TaskState
    gpu_groups: tuple[str, ...] = ()


@dataclass(slots=True)
class SharedGpu:
    """Memory in MiB of the tasks on one GPU, by what they do."""

    active: int = 0
    releasing: int = 0
    pipelined: int = 0

    @property
    def is_leaving(self) -> bool:
        """True if the GPU is whole again when the stopping tasks are gone."""
        return not self.active and not self.pipelined and self.releasing > 0

    @property
    def later(self) -> int:
        """Memory in use when the stopping tasks are gone."""
        return self.active + self.pipelined

    def whole_gpus(self) -> tuple[int, int]:
        """What the group adds to the idle and to the releasing GPUs of its node."""
        in_use = self.active + self.releasing > 0
        return -int(in_use), int(self.is_leaving) - int(not in_use and self.pipelined > 0)


class NodeRoom:
    """The room of one node."""

    def __init__(self, node: Node) -> None:
        self.node = node
        self.shared: dict[str, SharedGpu] = {}
        self.idle = _Vector(node.gpus, node.cpu_milli, node.memory_bytes, dict(node.partitions))
        self.releasing = _Vector(0, 0, 0, dict.fromkeys(node.partitions, 0))

    @property
    def gpus_later(self) -> int:
        """Whole GPUs that are free when the stopping tasks are gone."""
        return self.idle.gpus + self.releasing.gpus

    @property
    def cpu_later_milli(self) -> int:
        """The same for the CPU."""
        return self.idle.cpu_milli + self.releasing.cpu_milli

    @property
    def gpu_milli_later(self) -> int:
        """The same with the free parts of shared GPUs, in thousandths."""
        memory = max(1, self.node.gpu_memory_mib)
        parts = sum(
            (memory - gpu.later) * WHOLE_GPU_MILLI // memory for gpu in self.shared.values() if not gpu.is_leaving
        )
        return self.gpus_later * WHOLE_GPU_MILLI + parts

    def is_shared_later(self, name: str) -> bool:
        """True if the GPU has tasks that stay."""
        return name in self.shared and not self.shared[name].is_leaving

    def shares_now(self, request: Request) -> bool:
        """True if the request fits on GPUs that are shared already, at once."""
        memory = request.gpu_memory_on(self.node.gpu_memory_mib)
        groups = self.groups_that_fit(request)
        return sum(self._has_room_now(name, memory) for name in groups) >= request.devices

    def add(self, request: Request, holding: Holding, sign: int = 1) -> None:
        """Counts a task in, or out with a sign of -1."""
        if holding.state is TaskState.PIPELINED:
            self.releasing.take(request, sign)
        else:
            self.idle.take(request, sign)
            if holding.state is TaskState.RELEASING:
                self.releasing.take(request, -sign)
        if request.is_shared:
            memory = sign * request.gpu_memory_on(self.node.gpu_memory_mib)
            for name in holding.gpu_groups:
                self._share(name, holding.state, memory)

    def fits_later(self, request: Request) -> bool:
        """True if the request fits when the stopping tasks are gone."""
        idle, releasing = self.idle, self.releasing
        return (
            request.cpu_milli <= idle.cpu_milli + releasing.cpu_milli
            and request.memory_bytes <= idle.memory_bytes + releasing.memory_bytes
            and all(
                count <= idle.partitions.get(profile, 0) + releasing.partitions.get(profile, 0)
                for profile, count in request.partitions
            )
            and self._gpus_fit(request, self.gpus_later)
        )

    def fits_now(self, request: Request) -> bool:
        """True if it fits on what is free; for parts of GPUs, on GPUs that are shared already or free."""
        idle = self.idle
        return (
            request.cpu_milli <= idle.cpu_milli
            and request.memory_bytes <= idle.memory_bytes
            and all(count <= idle.partitions.get(profile, 0) for profile, count in request.partitions)
            and self._gpus_fit(request, idle.gpus)
        )

    def groups_that_fit(self, request: Request) -> list[str]:
        """Shared GPUs with room for the request, the fullest first. Those that become whole again are left out."""
        memory = request.gpu_memory_on(self.node.gpu_memory_mib)
        fitting = [
            (-(gpu.active + gpu.releasing + gpu.pipelined), name)
            for name, gpu in self.shared.items()
            if not gpu.is_leaving and gpu.later + memory <= self.node.gpu_memory_mib
        ]
        return [name for _, name in sorted(fitting)]

    def choose_groups(self, request: Request, preferred: Sequence[str] = (), *, spread: bool = False) -> Holding:
        """GPUs for a request for parts that fits. The state says if it must wait.

        First those that are preferred, then shared ones, then whole ones; with `spread`, whole ones before shared ones.
        """
        fitting = self.groups_that_fit(request)
        groups = [name for name in preferred if name in fitting]
        groups += [name for name in preferred if name not in self.shared][: self.gpus_later]
        whole_gpus = self.gpus_later - sum(name not in self.shared for name in groups)
        lacking = request.devices - len(groups)
        others = [name for name in fitting if name not in groups]
        groups += others[: max(0, lacking - whole_gpus) if spread else lacking]
        number = 0
        while len(groups) < request.devices:
            while str(number) in self.shared or str(number) in groups:
                number += 1
            groups.append(str(number))
        memory = request.gpu_memory_on(self.node.gpu_memory_mib)
        shared = (name for name in groups if name in self.shared)
        waits = not self.fits_now(request) or any(not self._has_room_now(name, memory) for name in shared)
        return Holding(self.node.name, TaskState.PIPELINED if waits else TaskState.BINDING, tuple(groups))

    def is_overcommitted(self) -> bool:
        """True if more was promised than there will be."""
        return (
            self.gpus_later < 0
            or self.cpu_later_milli < 0
            or self.idle.memory_bytes + self.releasing.memory_bytes < 0
            or any(count + self.releasing.partitions[profile] < 0 for profile, count in self.idle.partitions.items())
            or any(gpu.later > self.node.gpu_memory_mib for gpu in self.shared.values())
        )

    def _gpus_fit(self, request: Request, whole_gpus: int) -> bool:
        if not request.is_shared:
            return request.gpus <= whole_gpus or not request.gpus
        if request.gpu_memory_on(self.node.gpu_memory_mib) > self.node.gpu_memory_mib:
            return False
        return whole_gpus >= request.devices or whole_gpus + len(self.groups_that_fit(request)) >= request.devices

    def _has_room_now(self, name: str, memory: int) -> bool:
        gpu = self.shared[name]
        return gpu.active + gpu.releasing > 0 and gpu.active + gpu.releasing + memory <= self.node.gpu_memory_mib

    def _share(self, name: str, state: TaskState, memory: int) -> None:
        gpu = self.shared.setdefault(name, SharedGpu())
        idle_before, releasing_before = gpu.whole_gpus()
        if state is TaskState.PIPELINED:
            gpu.pipelined += memory
        elif state is TaskState.RELEASING:
            gpu.releasing += memory
        else:
            gpu.active += memory
        idle_after, releasing_after = gpu.whole_gpus()
        self.idle.gpus += idle_after - idle_before
        self.releasing.gpus += releasing_after - releasing_before
        if not gpu.active + gpu.releasing + gpu.pipelined:
            del self.shared[name]


@dataclass(slots=True)
class _Vector:
    gpus: int
    cpu_milli: int
    memory_bytes: int
    partitions: dict[str, int]

    def take(self, request: Request, sign: int) -> None:
        self.gpus -= sign * request.gpus
        self.cpu_milli -= sign * request.cpu_milli
        self.memory_bytes -= sign * request.memory_bytes
        for profile, count in request.partitions:
            self.partitions[profile] -= sign * count
