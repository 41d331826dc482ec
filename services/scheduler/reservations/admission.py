"""Turns requests into reservations in the queue, and prices them before."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from wavepool.scheduler.v1 import reservations_pb2

from servicekit.clock import Clock, new_id
from servicekit.request_id import current_request_id
from services.scheduler.jobs.dated_limits import latest_start, start_of, wrong_start
from services.scheduler.jobs.disk import NO_DISK
from services.scheduler.jobs.errors import (
    InvalidFieldError,
    InvalidRequestError,
    MaintenanceError,
    TooMuchReservedError,
)
from services.scheduler.jobs.job import Job
from services.scheduler.jobs.reservation import Reservation, ReservedDisk
from services.scheduler.jobs.reservation_checks import (
    ReservationLimits,
    admit_reservation,
    free_name,
    in_maintenance,
    reservation_fingerprint,
    wrong_length,
    wrong_machines,
    wrong_reserver,
    wrong_size,
    wrong_source,
)
from services.scheduler.jobs.reservation_usage import WEEK, UserLimits, above_limits
from services.scheduler.jobs.retries import FIRST_AGAIN, replaced
from services.scheduler.jobs.states import JobState
from services.scheduler.peers.billing import Billing
from services.scheduler.queue.admission import Admission
from services.scheduler.queue.dated_admission import DatedAdmission
from services.scheduler.queue.forecast import Forecast, Standing
from services.scheduler.queue.queue_book import QueueBook
from services.scheduler.store.build_store import SessionStores
from services.scheduler.store.job_reader import JobReader
from submissions.checks import Violations
from vocabulary.build_contexts import WrongContextError, context_digest, dockerfile_of

MOST_SECONDS = 366 * 24 * 3600
"""More than any reservation may have, so that the check of it names its own limit."""


@dataclass(frozen=True)
class Quote:
    """A reservation that was checked and not stored, and how long it would wait."""

    job: Job
    reservation: Reservation
    standing: Standing


class ReservationAdmission:
    """Turns requests into reservations; `admission` puts them on hold and into the queue, as it does submissions."""

    def __init__(
        self,
        *,
        admission: Admission,
        reader: JobReader,
        billing: Billing,
        book: QueueBook,
        forecast: Forecast,
        clock: Clock,
        limits: ReservationLimits,
        user_limits: UserLimits,
        dated: DatedAdmission,
        stores: SessionStores,
    ) -> None:
        self.borrowing = dated.borrowing
        self._admission = admission
        self._reader = reader
        self._billing = billing
        self._book = book
        self._forecast = forecast
        self._clock = clock
        self.limits = limits
        self._user_limits = user_limits
        self._dated = dated
        self._disks = stores.disks
        self._builds = stores.builds
        self._naming = asyncio.Lock()

    async def upload(self, account_id: str, content: bytes) -> str:
        """Stores what an image is built from; gives its digest. Raises InvalidRequestError, TooManyBuildsError."""
        if not account_id:
            raise InvalidFieldError("account_id", "is empty; give the account that pays")
        try:
            dockerfile_of(content)
        except WrongContextError as error:
            raise InvalidFieldError("content", str(error)) from error
        digest = context_digest(content)
        await self._builds.add(account_id, digest, content, self._clock.now())
        return digest

    async def create(self, request: reservations_pb2.CreateReservationRequest) -> Job:
        """The reservation in the queue, or the earlier one with the same key.

        Raises the errors of `Admission.submit`.
        """
        is_repeated = await self._admission.is_repeated(request.account_id, request.idempotency_key)
        job, reservation = await self._draft(
            request, wrong_reserver(request), key=request.idempotency_key, is_repeated=is_repeated
        )
        if not is_repeated:
            await self._check_can_be_had(job)
        # Only the scheduler that leads creates any, so that nobody else takes the name meanwhile.
        async with self._naming:
            await self._check_limits(job, self._user_limits, job.create_time, request.idempotency_key)
            taken = await self._reader.reservation_names(request.account_id, request.user_id)
            reservation = replace(reservation, name=free_name(reservation.name, taken))
            named = job.changed(reservation=replace(reservation, instead_of=await self._instead_of(job)))
            if disk := named.reserved.disk:
                await self._disks.take(disk.disk_id, named, job.create_time)
            if job.is_dated and not is_repeated:
                self._dated.admit(named)
            stored, _ = await self._admission.enter(named)
        return stored

    async def check_extension(self, job: Job, reservation: Reservation, seconds: int) -> None:
        """Raises TooMuchReservedError if so much more is above what the reservation's user may have in a week.

        Raises CalendarConflictError if somebody is to have the GPUs by then, or waits for them now as for its own.
        """
        wanted = timedelta(seconds=max(0, min(seconds, MOST_SECONDS)))
        more = replace(reservation, duration=wanted, extensions=())
        limits = UserLimits(0, self._user_limits.gpu_time_per_week)
        await self._check_limits(job.changed(reservation=more), limits, self._clock.now())
        # Last, so that the calendar has the added time before anybody else looks at it.
        if reservation.total + wanted <= self.limits.most_in_all:
            self._dated.check_extension(job, wanted)

    async def _check_can_be_had(self, job: Job) -> None:
        """Raises MaintenanceError, and InvalidRequestError if the pool never has such a machine, or so many."""
        if closed := in_maintenance(job.spec.gpu_types, job.user_id, self.limits.maintenance):
            raise MaintenanceError(*closed[0])
        limits, largest = await self._dated.pool_limits(), self._dated.largest_machine(job.spec.gpu_types)
        gpus, machines = job.spec.resources.gpus, job.spec.machines
        longest_time = self._dated.longest_time(job)
        wrong = wrong_machines(machines, limits.machines, limits.network) or wrong_size(gpus, machines, largest)
        wrong = [*wrong, *wrong_source(job.reserved, self._dated.image_sources(job.spec.gpu_types))]
        if wrong := [*wrong, *wrong_length(job.reserved, longest_time, limits.life_setting)]:
            raise InvalidRequestError(wrong)
        self._admission.check_possible(job, "spec.gpus")

    async def _instead_of(self, job: Job) -> str:
        """The id of the user's lost reservation that this one goes on with; empty if there is none."""
        if not job.user_id:
            return ""
        now = job.create_time
        recent = self._reader.reservations_between(now - FIRST_AGAIN, now, [job.account_id], job.user_id)
        return replaced(job, [one async for one in recent], self.limits.least, now)

    async def _check_limits(self, job: Job, limits: UserLimits, now: datetime, repeated_key: str | None = None) -> None:
        if not job.user_id or not (limits.gpus or limits.gpu_time_per_week):
            return
        others = [
            one
            async for one in self._reader.reservations_between(now - WEEK, now, user_id=job.user_id)
            # A repeated call gets the first reservation, whatever the limits are by then.
            if repeated_key is None or one.idempotency_key != repeated_key
        ]
        if why := above_limits(job, others, limits, now):
            raise TooMuchReservedError(f"{why[0].upper()}{why[1:]}.")

    async def quote(self, request: reservations_pb2.QuoteReservationRequest) -> Quote:
        """Checks and prices a reservation; raises as `create`, but for keys and limits of numbers."""
        job, reservation = await self._draft(request, [], needs_keys=False)
        await self._check_can_be_had(job)
        if job.is_dated:
            self._dated.check(job)
        held = await self._billing.quote(job)
        priced = job.priced(held.amount_micros, held.prices_micros_per_hour)
        return Quote(priced, reservation, self._forecast.standing(job, is_promise=False))

    async def _draft(
        self,
        request: reservations_pb2.CreateReservationRequest | reservations_pb2.QuoteReservationRequest,
        wrong: Violations,
        *,
        key: str = "",
        is_repeated: bool = False,
        needs_keys: bool = True,
    ) -> tuple[Job, Reservation]:
        asked, now = request.spec, self._clock.now()
        prices = await self._billing.prices_micros_per_hour()
        start = start_of(asked)
        if not is_repeated:
            wrong = [*wrong, *wrong_start(start, asked, self._dated.limits, now)]
        spec, reservation = admit_reservation(asked, list(prices), self.limits, wrong, needs_keys=needs_keys)
        reservation = replace(reservation, start_time=start)
        if asked.build_digest and not await self._builds.has(request.account_id, asked.build_digest):
            fault = f"{asked.build_digest} is not here, or no more: send the folder again, and then reserve at once"
            raise InvalidFieldError("spec.build_digest", fault)
        if asked.disk not in {"", NO_DISK}:
            disk = await self._disks.named(request.user_id, asked.disk)
            reserved = ReservedDisk(disk.disk_id, disk.name, disk.safe_time)
            reservation = replace(reservation, disk=reserved)
        queue = self._book.taking_jobs(asked.queue)
        await self._admission.check_priority(spec.priority, queue, request)
        # It waits for so long at most: what can no longer end before its deadline is cancelled.
        longest = spec.longest_run(reservation.duration)
        latest = latest_start(start, reservation, self._dated.limits) if start else now + self.limits.longest_wait
        spec = replace(spec, queue=queue, deadline=latest + longest)
        job = Job(
            job_id=new_id("res"),
            account_id=request.account_id,
            user_id=request.user_id,
            idempotency_key=key,
            fingerprint=reservation_fingerprint(asked),
            spec=spec,
            state=JobState.RESERVING,
            create_time=now,
            price_micros_per_hour=0,
            hold_micros=0,
            request_id=current_request_id(),
            reservation=reservation,
        )
        # Billing says the price with the hold.
        return job.priced(0, prices), reservation
