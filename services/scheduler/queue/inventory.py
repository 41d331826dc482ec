"""The machines as vmpool last reported them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Container, Iterable, Sequence
from datetime import UTC, datetime

from wavepool.vmpool.v1 import vmpool_pb2
from wavepool.vmpool.v1.vmpool_pb2 import Machine, MachineEvent

from services.scheduler.fleet.machine import Machine as FleetMachine
from services.scheduler.fleet.machine import Use
from services.scheduler.jobs.resources import GpuMode, Resources
from services.scheduler.queue.placement import MachineOffer, MachineStage
from vocabulary.slots import WHOLE_GPU, Slot, covered

_STAGES = {
    vmpool_pb2.MACHINE_STATE_REQUESTED: MachineStage.STARTING,
    vmpool_pb2.MACHINE_STATE_PROVISIONING: MachineStage.STARTING,
    vmpool_pb2.MACHINE_STATE_STARTING: MachineStage.STARTING,
    vmpool_pb2.MACHINE_STATE_WARM: MachineStage.READY,
    vmpool_pb2.MACHINE_STATE_BUSY: MachineStage.READY,
}
ENDED_STATES = frozenset(
    {vmpool_pb2.MACHINE_STATE_STOPPED, vmpool_pb2.MACHINE_STATE_FAILED, vmpool_pb2.MACHINE_STATE_LOST}
)

ENDS_REMEMBERED = 100
"""Number of ended machines whose reason is kept: jobs ask for it within one pass of the dispatcher."""


def holds_nobody(machine: Machine) -> bool:
    """True if nobody can hold a lease of the machine any more: it is over, or it stops without waiting."""
    if machine.state == vmpool_pb2.MACHINE_STATE_DRAINING:
        return machine.HasField("leased_eighths") and not machine.leased_eighths
    return machine.state in ENDED_STATES


class Inventory:
    """The last event of each machine that is not over, and the reasons why the latest ones ended."""

    def __init__(self) -> None:
        self.is_complete = False
        """Every machine of the pool is in it. After a start or a break of the stream, it is not for a moment."""
        self._events: dict[str, MachineEvent] = {}
        self._offers: dict[str, MachineOffer] = {}
        """Of the machines of these events: they are asked for many times in each pass."""
        self._requests: dict[str, str] = {}
        self._ends: dict[str, str] = {}
        self._modes: defaultdict[str, set[GpuMode]] = defaultdict(set)
        """By GPU type, those that GPUs of machines had, also of machines that are over."""

    def apply(self, event: MachineEvent) -> None:
        """Takes in a change of a machine."""
        machine_id = event.machine.machine_id
        if event.machine.state not in ENDED_STATES:
            self._events[machine_id] = event
            offer = self._offers[machine_id] = _offer(event.machine)
            if offer.stage is MachineStage.READY:
                self._modes[offer.gpu_type].update(offer.modes)
            if event.machine.state == vmpool_pb2.MACHINE_STATE_REQUESTED:
                self._requests[machine_id] = event.machine.reason
            return
        self._events.pop(machine_id, None)
        self._offers.pop(machine_id, None)
        self._requests.pop(machine_id, None)
        self._ends[machine_id] = event.machine.reason
        while len(self._ends) > ENDS_REMEMBERED:
            del self._ends[next(iter(self._ends))]

    def request_reason(self, machine_id: str) -> str:
        """Why a machine was started, and why not another one; empty if no reason was given."""
        return self._requests.get(machine_id, "")

    def end_reason(self, machine_id: str) -> str:
        """Why a machine ended, in its provider's words; empty if it has not ended or the reason is unknown."""
        return self._ends.get(machine_id, "")

    def clear(self) -> None:
        """Forgets the machines, because vmpool is about to report all of them again."""
        self.is_complete = False
        self._events.clear()
        self._offers.clear()

    def event_of(self, machine_id: str) -> MachineEvent:
        """The last event of a machine that has an offer."""
        return self._events[machine_id]

    def offers(self) -> list[MachineOffer]:
        """All machines, in the form that placement uses."""
        return list(self._offers.values())

    def machine(self, machine_id: str, held: Iterable[Slot], uses: Iterable[Use] = ()) -> FleetMachine:
        """A machine that has an offer, of which our jobs have `held`; with `uses`, it is known until when.

        If it is ready and does not say what is free, nothing is.
        """
        offer, gpus = self._offers[machine_id], self.gpus(machine_id)
        ours, others = covered([0] * gpus, (slot for slot in held if slot.gpu < gpus)), tuple[int, ...]()
        is_ready = offer.stage is MachineStage.READY
        if is_ready:
            taken = offer.taken if len(offer.free_masks) == gpus else (WHOLE_GPU,) * gpus
            others = tuple(mask & ~own for mask, own in zip(taken, ours, strict=True))
        return FleetMachine(
            machine_id,
            gpus,
            tuple(uses),
            site=offer.site,
            is_ready=is_ready,
            ours=ours,
            others=others,
            life_end=offer.life_end,
        )

    def start_of(self, machine_id: str, now: datetime) -> tuple[float, float, float] | None:
        """Seconds since the order of a machine that is being started, p50 and p90 of a start.

        None if it is not being started, or its pool has no times of starts yet.
        """
        event = self._events[machine_id]
        if self._offers[machine_id].stage is not MachineStage.STARTING or not event.HasField("estimate"):
            return None
        elapsed = (now - event.machine.create_time.ToDatetime(UTC)).total_seconds()
        p50 = event.estimate.ToTimedelta().total_seconds()
        p90 = event.estimate_p90.ToTimedelta().total_seconds() if event.HasField("estimate_p90") else p50
        return max(0.0, elapsed), p50, max(p50, p90)

    def can_have(self, resources: Resources, gpu_types: Collection[str]) -> bool:
        """False if no machine of these types had GPUs in a mode that can give this; True before there was one."""
        modes = [self._modes.get(gpu_type) for gpu_type in gpu_types]
        return any(known is None or any(map(resources.fits, known)) for known in modes)

    def knows(self, gpu_types: Collection[str]) -> bool:
        """True if it is known what the GPUs of machines of these types can give."""
        return self.is_complete and all(gpu_type in self._modes for gpu_type in gpu_types)

    def suits(self, resources: Resources, gpu_types: Collection[str], own_job_id: str, waiting: Container[str]) -> bool:
        """True if a machine that is there, or on its way, can give this once it is free.

        `own_job_id` and `waiting` say whose machines count, as in `MachineOffer.is_for`.
        """
        return any(
            offer.gpu_type in gpu_types
            and offer.stage is not MachineStage.CLOSED
            and (
                offer.could_give(resources)
                if offer.stage is MachineStage.READY
                else self.can_have(resources, (offer.gpu_type,))
            )
            and self.gpus(offer.machine_id) >= resources.least.gpus
            and offer.is_for(own_job_id, waiting)
            for offer in self.offers()
        )

    def type_with(self, machines: int, gpus: int, gpu_types: Sequence[str]) -> str:
        """The first of these types with so many machines of so many GPUs, there or on their way; empty if none has."""
        numbers = Counter(
            offer.gpu_type
            for offer in self.offers()
            if offer.stage is not MachineStage.CLOSED and self.gpus(offer.machine_id) >= gpus
        )
        return next((gpu_type for gpu_type in gpu_types if numbers[gpu_type] >= machines), "")

    def gpus(self, machine_id: str) -> int:
        """Number of GPUs of a machine that has an offer."""
        return max(1, self._events[machine_id].machine.gpu_count)

    def starting_gpus(self) -> int:
        """Number of GPUs of machines that are being started."""
        starting = [offer for offer in self.offers() if offer.stage is MachineStage.STARTING]
        return sum(self.gpus(offer.machine_id) for offer in starting)


def _offer(machine: Machine) -> MachineOffer:
    create_time = machine.create_time.ToDatetime(UTC)
    used = machine.last_used_time.ToDatetime(UTC) if machine.HasField("last_used_time") else create_time
    return MachineOffer(
        machine_id=machine.machine_id,
        gpu_type=machine.gpu_type,
        stage=_STAGES.get(machine.state, MachineStage.CLOSED),
        free_masks=tuple(machine.free_masks),
        modes=_modes(machine),
        create_time=create_time,
        last_used_time=used,
        has_torch=bool(machine.inventory.torch_version),
        own_job_id="" if machine.jobs_run or machine.leased_eighths else machine.own_job_id,
        site=(machine.provider, machine.backend, machine.region),
        registries=tuple(machine.inventory.images.registries) if machine.inventory.HasField("images") else None,
        life_end=create_time + longest_life if (longest_life := machine.max_duration.ToTimedelta()) else None,
    )


def _modes(machine: Machine) -> tuple[GpuMode, ...]:
    inventory = machine.inventory
    runs = max(1, inventory.runs_per_device)
    devices = [max(1, gpu.device_count) for gpu in inventory.gpus] or [1] * machine.gpu_count
    return tuple(GpuMode(count, runs, inventory.masks_compute_units) for count in devices)
