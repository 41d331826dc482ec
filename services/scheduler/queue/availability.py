"""What could be reserved now, and how long each size would wait."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

from wavepool.submission.v1.submission_pb2 import Submission

from servicekit.clock import Clock
from services.scheduler.jobs.availability import Availability, CalendarEntry
from services.scheduler.jobs.errors import InvalidFieldError
from services.scheduler.jobs.estimate import WaitEstimate
from services.scheduler.jobs.job import Job
from services.scheduler.jobs.reservation import Reservation
from services.scheduler.jobs.reservation_checks import Maintenance, maintenance_of
from services.scheduler.jobs.resources import LEGAL_GPUS, Resources
from services.scheduler.jobs.spec import JobSpec
from services.scheduler.jobs.states import WAITING_STATES, JobState
from services.scheduler.peers.billing import Billing
from services.scheduler.queue.dated_admission import DatedAdmission
from services.scheduler.queue.dated_book import DatedBook
from services.scheduler.queue.explanation import Explainer
from services.scheduler.queue.forecast import Forecast
from services.scheduler.queue.inventory import Inventory
from services.scheduler.queue.placement import MachineStage
from services.scheduler.queue.running import RunningJobs
from services.scheduler.queue.waiting import WaitingJobs
from vocabulary.names import known_name, none_of
from vocabulary.slots import EIGHTHS_PER_GPU, WHOLE_GPU

_USUAL = timedelta(hours=8)


class AvailabilityReader:
    """Looks at machines, runs and the queue as this scheduler knows them."""

    def __init__(
        self,
        billing: Billing,
        inventory: Inventory,
        running: RunningJobs,
        waiting: WaitingJobs,
        dated: DatedBook,
        admission: DatedAdmission,
        forecast: Forecast,
        clock: Clock,
        maintenance: Mapping[str, Maintenance],
        explainer: Explainer,
    ) -> None:
        self._explainer = explainer
        self._admission = admission
        self._maintenance = maintenance
        self._billing = billing
        self._inventory = inventory
        self._running = running
        self._waiting = waiting
        self._dated = dated
        self._forecast = forecast
        self._clock = clock

    async def of(self, gpu_type: str) -> list[Availability]:
        """What there is of the type, in any case, or else of all; raises InvalidFieldError, BillingUnreachableError."""
        await self._admission.pool_limits()
        prices = await self._prices_of(gpu_type)
        return [self._of(one, price) for one, price in prices.items()]

    async def calendar(self, gpu_type: str) -> list[CalendarEntry]:
        """The reservations that have GPUs, or are to have them, the earliest begin first; raises as `of` does."""
        entries = [entry for one in await self._prices_of(gpu_type) for entry in self._dated.entries(one)]
        return sorted(entries, key=lambda entry: (entry.begin, entry.end, entry.job.job_id))

    async def _prices_of(self, gpu_type: str) -> Mapping[str, int]:
        """The price of the type, in its own spelling, or else of all, in micro-dollars an hour; raises as `of` does."""
        known_prices = await self._billing.prices_micros_per_hour()
        prices = {name: price for name, price in known_prices.items() if self._dated.may_have(name)}
        if not gpu_type:
            return prices
        known = known_name(gpu_type, list(prices))
        if not known:
            raise InvalidFieldError("gpu_type", none_of(gpu_type, list(prices)))
        return {known: prices[known]}

    def _of(self, gpu_type: str, price_micros_per_hour: int) -> Availability:
        offers = [one for one in self._inventory.offers() if one.gpu_type == gpu_type]
        ready = [one for one in offers if one.stage is MachineStage.READY]
        free = [sum(mask == WHOLE_GPU for mask in one.free_masks) for one in ready]
        reserved = [
            job for job in self._running.jobs() if job.reservation and job.lease and job.machine_gpu_type == gpu_type
        ]
        ahead = [one for one in self._dated.entries(gpu_type) if one.job.state in WAITING_STATES]
        next_start = min((one.begin for one in ahead), default=None)
        closed = maintenance_of(gpu_type, self._maintenance)
        return Availability(
            gpu_type=gpu_type,
            maintenance=closed.text if closed else "",
            queue_head=self._explainer.head(gpu_type),
            total_gpus=sum(self._inventory.gpus(one.machine_id) for one in ready),
            free_gpus=sum(free),
            largest_free=max(free, default=0),
            reserved_gpus=sum(len({slot.gpu for slot in lease.slots}) for job in reserved for lease in job.leases),
            queue_length=sum(jobs for lane, jobs in self._waiting.lanes().items() if lane.gpu_types[0] == gpu_type),
            price_micros_per_hour=price_micros_per_hour,
            startable_gpus=self._dated.room([gpu_type]) * self._dated.limits.usual_gpus,
            next_dated_time=next_start,
            next_dated_gpus=sum(one.job.spec.gpus_in_all for one in ahead if one.begin == next_start),
            waits={
                gpus: self._wait(gpu_type, gpus) for gpus in LEGAL_GPUS if gpus <= max(1, self._dated.largest(gpu_type))
            },
        )

    def _wait(self, gpu_type: str, gpus: int) -> WaitEstimate | None:
        """How long a reservation would wait that somebody makes now, for the usual time."""
        limit = int(_USUAL.total_seconds())
        job = Job(
            job_id="",
            account_id="",
            idempotency_key=None,
            fingerprint="",
            spec=JobSpec(Submission(), gpu_type, time_limit_seconds=limit, resources=Resources(EIGHTHS_PER_GPU * gpus)),
            state=JobState.QUEUED,
            create_time=self._clock.now(),
            price_micros_per_hour=0,
            hold_micros=0,
            reservation=Reservation("", (), _USUAL),
        )
        return self._forecast.standing(job, is_promise=False).wait
