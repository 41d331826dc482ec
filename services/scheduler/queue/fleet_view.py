"""Describes machines, runs and the limits of queues as estimates of waits see them, for jobs of some GPU types."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from services.scheduler.fairness.settings import Queues
from services.scheduler.fleet.machine import Machine
from services.scheduler.jobs.job import Job
from services.scheduler.jobs.played_machines import Asked, Busy, Kept, Need, PlayedMachines
from services.scheduler.jobs.reservation import GRACE
from services.scheduler.jobs.resources import GpuMode, Resources
from services.scheduler.jobs.run_history import RunHistory, RunKind, Sample, kind_of
from services.scheduler.queue.dated_book import USUAL_PREPARING
from services.scheduler.queue.inventory import Inventory
from services.scheduler.queue.ordering import Claim
from services.scheduler.queue.placement import MachineOffer, MachineStage
from vocabulary.counts import counted
from vocabulary.limits import LONGEST_RUN
from vocabulary.slots import EIGHTH_MILLI, EIGHTHS_PER_GPU, LEGAL_EIGHTHS, WHOLE_GPU, Slot

Limit = tuple[str, str]
"""Queue and GPU type."""


class Further(NamedTuple):
    """Machines that the pool may still start, all alike: p50 and p90 of a start in seconds, None if not known."""

    number: int = 0
    gpu_type: str = ""
    gpus: int = 1
    start: tuple[float, float] | None = None


_NO_FURTHER = Further()


class FleetView:
    """The machines that are there or on their way, the fullest first, as jobs are packed; without `queues`, no limits.

    Those that the pool may still start come last, as if they were ordered now. Machines whose pool has no times of
    starts yet are only counted while they start.
    """

    def __init__(
        self,
        machines: Iterable[Machine],
        inventory: Inventory,
        running: Collection[Job],
        history: RunHistory,
        queues: Queues | None,
        gpu_types: Collection[str],
        now: datetime,
        claims: Mapping[str, Claim] | None = None,
        further: Further = _NO_FURTHER,
    ) -> None:
        self._machines = {one.machine_id: one for one in machines if one.is_known}
        self._samples: dict[tuple[RunKind, float], Sample] = {}
        self._running = [job for job in running if job.machine_gpu_type in gpu_types]
        # A queue that was removed may still have a claim, until the next turn.
        self._claims = {name: claim for name, claim in (claims or {}).items() if not queues or name in queues.by_name}
        self._history = history
        self._queues = queues
        self._gpu_type, self._gpu_types = next(iter(gpu_types)), frozenset(gpu_types)
        self._now = now
        self._needs: dict[tuple[str, tuple[str, ...], Resources, int, timedelta], Need] = {}
        self._limits: dict[Limit, tuple[Limit, ...]] = {}
        self._most: dict[Hashable, int] = {}
        self._numbers: dict[tuple[str, int], int] = {}
        offers = {offer.machine_id: offer for offer in inventory.offers() if offer.machine_id in self._machines}
        starts = {name: inventory.start_of(name, now) for name in offers}
        for name, offer in _to_start(further, [offer.site for offer in offers.values()], now):
            offers[name] = offer
            self._machines[name] = Machine(name, further.gpus, is_ready=False, ours=(0,) * further.gpus)
            starts[name] = (0.0, *further.start) if further.start else None
        there = [one for one in offers.values() if one.stage is MachineStage.READY or starts[one.machine_id]]
        self._unknown_starts = len(offers) - len(there)
        self._offers = sorted(
            there,
            key=lambda one: (one.stage is MachineStage.STARTING, self._machines[one.machine_id].occupied.count(0)),
        )
        for offer in self._offers:
            masks = self._machines[offer.machine_id].occupied
            for gpu in sorted(range(len(masks)), key=lambda gpu: -masks[gpu].bit_count()):
                self._numbers[offer.machine_id, gpu] = len(self._numbers)
        self._has_ends = any(offer.life_end for offer in self._offers)
        self.eighths = len(self._numbers) * EIGHTHS_PER_GPU
        """All that there is."""
        self._gpus = [self._machines[offer.machine_id].gpus for offer in self._offers]
        self._starting = {
            number: start for number, offer in enumerate(self._offers) if (start := starts[offer.machine_id])
        }
        self._busy = [*self._runs(running, gpu_types, offers, now), *self._others()]

    def fleet(self) -> PlayedMachines:
        """The machines with their runs, and the limits of all jobs that were asked about."""
        sites = [offer.site for offer in self._offers]
        shares: dict[Hashable, int] = {queue: self._share_of(queue, claim) for queue, claim in self._claims.items()}
        kept, coming = list(self._kept()), [self._coming(days) for days in self._history.whole_days(self._now)]
        return PlayedMachines(
            self._gpus, self._busy, self._starting, self._most, sites, shares, kept, coming, self._unknown_starts
        )

    def _coming(self, those: Iterable[tuple[timedelta, Job]]) -> list[tuple[float, Need]]:
        """Those that would come, as they came some days ago, if they want a GPU type of these machines."""
        types = self._gpu_types
        return [(after.total_seconds(), self.need(job)) for after, job in those if types.issuperset(job.spec.gpu_types)]

    def _kept(self) -> Iterator[Kept]:
        """What is kept of these machines for reservations that start later."""
        for number, offer in enumerate(self._offers):
            for one in self._machines[offer.machine_id].promised:
                gpus = frozenset(self._numbers[offer.machine_id, gpu] for gpu in one.gpus)
                begin = max(0.0, (one.begin - self._now).total_seconds())
                yield Kept(number, gpus, begin, max(0.0, (one.end - one.begin).total_seconds()))

    def _share_of(self, queue: str, claim: Claim) -> int:
        """What a queue is owed, in eighths: its quota or, if that is more, its fair share."""
        quota = self._queues.share(queue, self._gpu_type).quota if self._queues else None
        return max(quota or 0, claim.fair_share) // EIGHTH_MILLI

    def need(self, job: Job) -> Need:
        """What a waiting job takes of these machines."""
        spec, lasts = job.spec, timedelta(0)
        if job.reservation and self._has_ends:
            lasts = job.reservation.longest_lease
        key = spec.queue, spec.gpu_types, spec.resources, spec.machines, lasts
        known = self._needs.get(key)
        if known is None:
            # A range starts with the least when that is the first to be free.
            eighths, gpus = self._able_to_give(spec.gpu_types, spec.resources.least, lasts)
            limits = self.limits(spec.queue, spec.gpu_type)
            known = self._needs[key] = Need((), eighths, gpus, limits, spec.resources.least.eighths, spec.machines)
        longest = spec.longest_run(LONGEST_RUN) + (USUAL_PREPARING if job.reservation else timedelta(0))
        return known._replace(
            times=self._times(job), asked=_asked(job), queue=spec.queue, longest=longest.total_seconds()
        )

    def _times(self, job: Job) -> Sequence[float]:
        """How long runs like the job's took, or which part of their time people used."""
        if job.reservation:
            return self._history.parts(job.reservation.duration)
        return self._sample(job).times

    def _sample(self, job: Job) -> Sample:
        key = kind_of(job), job.spec.longest_run(LONGEST_RUN).total_seconds()
        if key not in self._samples:
            self._samples[key] = self._history.sample(*key)
        return self._samples[key]

    def basis(self, ahead: Iterable[Job]) -> str:
        """What an estimate behind these and the present runs is made of, for people; empty if that is nothing."""
        samples = [self._sample(job) for job in (*self._running, *ahead) if not job.reservation]
        sources = {one.source: one for one in samples if one.runs}
        numbers = Counter[str]()
        for one in sources.values():
            numbers[one.what] += one.runs
        return ", ".join(f"{counted(number, 'run')} {what}" for what, number in sorted(numbers.items()))

    def limits(self, queue: str, gpu_type: str) -> tuple[Limit, ...]:
        """The limits that hold the queue's jobs back before the machines do."""
        key = queue, gpu_type
        if key not in self._limits:
            self._limits[key] = tuple(self._limits_of(*key))
        return self._limits[key]

    def _limits_of(self, queue: str, gpu_type: str) -> Iterator[Limit]:
        if self._queues is None:
            return
        for above in self._queues.upwards(self._queues.known(queue)):
            limit = self._queues.share(above.name, gpu_type).limit
            if limit is not None and limit < self.eighths * EIGHTH_MILLI:
                self._most[above.name, gpu_type] = limit // EIGHTH_MILLI
                yield above.name, gpu_type

    def most_at_once(self, job: Job) -> int:
        """How many eighths the job's queue may have of these machines at once."""
        return min([self.eighths, *(self._most[limit] for limit in self.limits(job.spec.queue, job.spec.gpu_type))])

    def _able_to_give(
        self, gpu_types: tuple[str, ...], resources: Resources, lasts: timedelta
    ) -> tuple[int, frozenset[int] | None]:
        """What a job of these resources takes of a GPU, and the GPUs that can give it for so long; None for all.

        A run that shares a device takes so much of it that no more runs fit than may share it.
        """
        able: set[int] = set()
        sizes: list[int] = []
        for offer in self._offers:
            if offer.life_end and self._now + lasts > offer.life_end:
                continue
            for gpu, mode in enumerate(offer.modes):
                number = self._numbers.get((offer.machine_id, gpu))
                # In which mode the GPUs of a machine are that is being started is not known.
                fits = offer.stage is MachineStage.STARTING or resources.fits(mode)
                if number is not None and offer.gpu_type in gpu_types and (resources.is_plain or fits):
                    able.add(number)
                    sizes.append(_size_on(mode, resources))
        return min(sizes, default=resources.eighths), None if len(able) == len(self._numbers) else frozenset(able)

    def _runs(
        self, running: Iterable[Job], gpu_types: Collection[str], offers: dict[str, MachineOffer], now: datetime
    ) -> Iterator[Busy]:
        sharing: Counter[tuple[str, int, int]] = Counter()
        for job in running:
            if job.machine_gpu_type not in gpu_types:
                continue
            slots: list[Slot] = []
            for machine_id, slot in ((lease.machine_id, slot) for lease in job.leases for slot in lease.slots):
                offer, number = offers.get(machine_id), self._numbers.get((machine_id, slot.gpu))
                if offer is not None and number is not None:
                    played = _played(job.spec.resources, offer, slot, sharing)
                    slots.append(Slot(number, played.first, played.eighths))
            begin = job.reservation.active_time if job.reservation else job.start_time
            elapsed = max(0.0, (now - begin).total_seconds()) if begin else 0.0
            limits = self.limits(job.spec.queue, job.machine_gpu_type)
            if slots or limits:
                rest = max(0.0, ((job.start_time or now) + job.longest_run(LONGEST_RUN) - now).total_seconds())
                yield Busy(slots, elapsed, self._times(job), limits, job.eighths, _asked(job), rest, job.spec.queue)

    def _others(self) -> Iterator[Busy]:
        """What somebody else uses, or is given back just now, is taken for busy with a run of any kind."""
        for offer in self._offers:
            for gpu, mask in enumerate(self._machines[offer.machine_id].others):
                if slots := _slots_of(self._numbers[offer.machine_id, gpu], mask):
                    yield Busy(slots, 0.0, self._history.all_times())


def _to_start(further: Further, sites: Sequence[tuple[str, ...]], now: datetime) -> Iterator[tuple[str, MachineOffer]]:
    """The offers of machines that are not there yet; they are where the others are."""
    for number in range(further.number):
        name, modes = f"new machine {number}", (GpuMode(),) * further.gpus
        site = sites[0] if sites else ()
        yield name, MachineOffer(name, further.gpu_type, MachineStage.STARTING, (), now, now, modes=modes, site=site)


def _asked(job: Job) -> Asked | None:
    """The time that people asked for, with extensions, and what they have their GPUs for beside it."""
    if job.reservation is None:
        return None
    begun = job.reservation.active_time
    beside = GRACE if begun else GRACE + USUAL_PREPARING
    # A dated one ends at its start and its hours, however late people can log in.
    asked = job.reservation.end_if_opened(begun) - begun if begun else job.reservation.total
    return Asked(asked.total_seconds(), beside.total_seconds())


def _slots_of(gpu: int, mask: int) -> list[Slot]:
    """The largest aligned slots that make up a mask."""
    if mask in {0, WHOLE_GPU}:
        return [Slot(gpu, 0, EIGHTHS_PER_GPU)] if mask else []
    slots: list[Slot] = []
    for size in reversed(LEGAL_EIGHTHS):
        for first in range(0, EIGHTHS_PER_GPU, size):
            slot = Slot(gpu, first, size)
            if slot.mask & mask == slot.mask:
                slots.append(slot)
                mask &= ~slot.mask
    return slots


def _size_on(mode: GpuMode, resources: Resources) -> int:
    """What a job takes of a GPU: its share of a device if it may share one, or else its size."""
    if not resources.isolation.may_share:
        return resources.eighths
    share = max(resources.eighths, -(-EIGHTHS_PER_GPU // (mode.devices * mode.runs_per_device)))
    return next(size for size in LEGAL_EIGHTHS if size >= share)


def _played(resources: Resources, offer: MachineOffer, slot: Slot, sharing: Counter[tuple[str, int, int]]) -> Slot:
    """The slot of a run, as large as its share of a device if that is larger; `sharing` counts the runs of each."""
    mode = offer.modes[slot.gpu] if slot.gpu < len(offer.modes) else GpuMode()
    size = _size_on(mode, resources)
    if size <= slot.eighths:
        return slot
    width = max(size, EIGHTHS_PER_GPU // mode.devices)
    device = slot.first - slot.first % width
    key = offer.machine_id, slot.gpu, device
    sharing[key] += 1
    return Slot(slot.gpu, device + (sharing[key] - 1) * size % width, size)
