"""The RPCs about reservations: decode, ask, encode."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from weakref import WeakValueDictionary

from wavepool.scheduler.v1 import reservations_pb2, reservations_pb2_grpc

from servicekit.clock import Clock
from servicekit.rpc.proto_time import duration_to_proto, instant_to_proto
from services.scheduler import metrics
from services.scheduler.jobs.errors import InvalidFieldError, KeyOpensNothingError, WrongReservationStateError
from services.scheduler.jobs.job import Job
from services.scheduler.jobs.listing import JobFilter, PageEnd
from services.scheduler.jobs.reservation_checks import is_named, node_of
from services.scheduler.jobs.reservation_states import JOB_STATES, ReservationState
from services.scheduler.jobs.reservation_usage import usage_of
from services.scheduler.jobs.states import OVER_STATES, WAITING_STATES
from services.scheduler.queue.availability import AvailabilityReader
from services.scheduler.queue.forecast import Forecast
from services.scheduler.queue.waiting import WaitingJobs
from services.scheduler.reservations.admission import ReservationAdmission
from services.scheduler.reservations.changes import ReservationChanges
from services.scheduler.reservations.wire import reservations as wire
from services.scheduler.runs.canceller import Canceller
from services.scheduler.runs.watcher import Watcher
from services.scheduler.service.visible_job import reservation_for
from services.scheduler.store.job_reader import JobReader
from services.scheduler.store.job_store import JobStore
from services.scheduler.wire.messages import instant_from_proto, reservation_state_from_proto
from services.scheduler.wire.page_token import page_end, page_token
from services.scheduler.wire.queues import gpus
from vocabulary.rights import Right
from vocabulary.ssh_keys import KeyFault, key_line

DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE = 50, 200
MOST_REASON = 500
"""Characters of the reason for which somebody ends a reservation."""
LONGEST_PERIOD = timedelta(days=367)
"""Of a report of use."""
MOST_LOOKED_AT = 500
"""Events in which GetReservation looks for what people did."""
MOST_USER_ID = 100
"""Characters of the id of who asks."""
ID_PREFIX = "res_"


class ReservationServicer(reservations_pb2_grpc.ReservationServiceServicer):
    """The servicer. Every method may be called at any time; the interceptor maps its errors to statuses."""

    def __init__(
        self,
        *,
        admission: ReservationAdmission,
        store: JobStore,
        reader: JobReader,
        waiting: WaitingJobs,
        changes: ReservationChanges,
        canceller: Canceller,
        watcher: Watcher,
        forecast: Forecast,
        availability: AvailabilityReader,
        clock: Clock,
    ) -> None:
        self._admission = admission
        self._store = store
        self._reader = reader
        self._waiting = waiting
        self._changes = changes
        self._canceller = canceller
        self._watcher = watcher
        self._forecast = forecast
        self._availability = availability
        self._clock = clock
        self._extending = WeakValueDictionary[str, asyncio.Lock]()

    async def CreateReservation(
        self, request: reservations_pb2.CreateReservationRequest, context: object
    ) -> reservations_pb2.CreateReservationResponse:
        """Puts a reservation in the queue."""
        job = await self._admission.create(request)
        return reservations_pb2.CreateReservationResponse(reservation=self._proto(job))

    async def UploadBuildContext(
        self, request: reservations_pb2.UploadBuildContextRequest, context: object
    ) -> reservations_pb2.UploadBuildContextResponse:
        """Stores what an image is built from."""
        digest = await self._admission.upload(request.account_id, request.content)
        return reservations_pb2.UploadBuildContextResponse(digest=digest)

    async def QuoteReservation(
        self, request: reservations_pb2.QuoteReservationRequest, context: object
    ) -> reservations_pb2.QuoteReservationResponse:
        """Prices a reservation."""
        quote = await self._admission.quote(request)
        wait = None if quote.job.is_dated else quote.standing.wait
        return reservations_pb2.QuoteReservationResponse(
            gpu_type=quote.job.spec.gpu_type,
            gpus=quote.job.spec.gpus_in_all,
            machines=quote.job.spec.machines,
            duration=duration_to_proto(quote.reservation.duration),
            price_micros_per_hour=quote.job.price_micros_per_hour,
            hold_micros=quote.job.hold_micros,
            eta_p50=duration_to_proto(wait.p50) if wait else None,
            eta_p90=duration_to_proto(wait.p90) if wait else None,
            start_time=instant_to_proto(quote.reservation.start_time),
            borrowed_gpus=gpus(self._admission.borrowing.borrowed(quote.job)),
        )

    async def GetReservation(
        self, request: reservations_pb2.GetReservationRequest, context: object
    ) -> reservations_pb2.GetReservationResponse:
        """Gets a reservation."""
        job = await reservation_for(self._store, request, Right.SEE)
        reservation = self._proto(job)
        events = await self._reader.events(job.job_id, max(0, job.last_seq - MOST_LOOKED_AT), MOST_LOOKED_AT)
        reservation.acts.extend(wire.acts_of(events))
        return reservations_pb2.GetReservationResponse(reservation=reservation)

    async def ListReservations(
        self, request: reservations_pb2.ListReservationsRequest, context: object
    ) -> reservations_pb2.ListReservationsResponse:
        """Lists reservations, newest first."""
        for name, value in [("user_id", request.user_id), *(("account_ids", one) for one in request.account_ids)]:
            # PostgreSQL accepts no NUL character, not even in a comparison.
            if "\0" in value:
                raise InvalidFieldError(name, "has a NUL character; send plain text")
        states = frozenset(reservation_state_from_proto(state) for state in request.states)
        wanted = JobFilter(
            tuple(request.account_ids),
            # The index knows these.
            frozenset(job_state for state in states for job_state in JOB_STATES[state]),
            user_id=request.user_id,
            reservations=True,
            reservation_states=states,
        )
        size = min(request.page_size, MAX_PAGE_SIZE) if request.page_size > 0 else DEFAULT_PAGE_SIZE
        end = page_end(request.page_token, wanted)
        found = await self._reader.page(wanted, size + 1, end)
        page, more = found[:size], len(found) > size
        token = page_token(PageEnd(page[-1].create_time, page[-1].job_id), wanted) if more else ""
        return reservations_pb2.ListReservationsResponse(
            reservations=[self._proto(job) for job in page], next_page_token=token
        )

    async def WatchReservation(
        self, request: reservations_pb2.WatchReservationRequest, context: object
    ) -> AsyncIterator[reservations_pb2.WatchReservationResponse]:
        """Streams a reservation's events."""
        job = await reservation_for(self._store, request, Right.SEE)
        if not 0 <= request.after_seq <= job.last_seq:
            raise InvalidFieldError("after_seq", f"is {request.after_seq}; give 0 to {job.last_seq}, its last")
        with metrics.job_followers.track_inprogress():
            async for event in self._watcher.follow(job.job_id, request.after_seq):
                yield reservations_pb2.WatchReservationResponse(event=wire.reservation_event_to_proto(event))

    async def CancelReservation(
        self, request: reservations_pb2.CancelReservationRequest, context: object
    ) -> reservations_pb2.CancelReservationResponse:
        """Ends a reservation."""
        if len(request.reason) > MOST_REASON or "\0" in request.reason:
            fix = f"give at most {MOST_REASON}, without NUL characters"
            raise InvalidFieldError("reason", f"has {len(request.reason)} characters; {fix}")
        _check_user_id(request.user_id)
        job = await reservation_for(self._store, request, Right.END)
        job = await self._canceller.cancel(job, request.reason, request.user_id)
        return reservations_pb2.CancelReservationResponse(reservation=self._proto(job))

    async def ExtendReservation(
        self, request: reservations_pb2.ExtendReservationRequest, context: object
    ) -> reservations_pb2.ExtendReservationResponse:
        """Adds time to a reservation."""
        _check_user_id(request.user_id)
        job = await reservation_for(self._store, request, Right.CHANGE)
        reservation = job.reserved
        # One extension of a user at a time: each counts those before it.
        async with self._extending.setdefault(job.user_id, asyncio.Lock()):
            if not reservation.extension(request.idempotency_key):
                await self._admission.check_extension(job, reservation, request.duration.seconds)
            job = await self._changes.extend(job, reservation, request)
        return reservations_pb2.ExtendReservationResponse(reservation=self._proto(job))

    async def UpdateReservation(
        self, request: reservations_pb2.UpdateReservationRequest, context: object
    ) -> reservations_pb2.UpdateReservationResponse:
        """Changes a reservation's name, or who may log in."""
        _check_user_id(request.user_id)
        lets_in = request.add_keys or request.add_editors
        job = await reservation_for(self._store, request, Right.ENTER if lets_in else Right.CHANGE)
        job = await self._changes.update(job, request)
        return reservations_pb2.UpdateReservationResponse(reservation=self._proto(job))

    async def NotifyReservation(
        self, request: reservations_pb2.NotifyReservationRequest, context: object
    ) -> reservations_pb2.NotifyReservationResponse:
        """Writes a text to the terminals of a reservation."""
        _check_user_id(request.user_id)
        job = await reservation_for(self._store, request, Right.CHANGE)
        terminals = await self._changes.notify(job, request.text, request.user_id)
        return reservations_pb2.NotifyReservationResponse(terminals=terminals)

    async def GetTunnelTarget(
        self, request: reservations_pb2.GetTunnelTargetRequest, context: object
    ) -> reservations_pb2.GetTunnelTargetResponse:
        """Says where the session of a reservation is."""
        job = await reservation_for(self._store, request, Right.SEE)
        if not 0 <= request.node < job.spec.machines:
            raise InvalidFieldError("node", f"is {request.node}; {_machines_text(job)}")
        if not job.leases or not job.takes_logins:
            raise WrongReservationStateError(_why_no_tunnel(job, job.reservation_state))
        lease = job.leases[request.node]
        return reservations_pb2.GetTunnelTargetResponse(lease_id=lease.lease_id, session_id=job.run_id)

    async def FindTunnelTarget(
        self, request: reservations_pb2.FindTunnelTargetRequest, context: object
    ) -> reservations_pb2.FindTunnelTargetResponse:
        """Says where the session of a reservation is that a key may log in to."""
        try:
            line = key_line(request.public_key)
        except KeyFault as fault:
            raise InvalidFieldError("public_key", str(fault)) from fault
        name, rank = node_of(request.host)
        # Each connection at the front door asks again every few seconds, by the whole id.
        whole_id = name if request.host.startswith(ID_PREFIX) and "\0" not in request.host else ""
        jobs = await self._reader.running_reservations(whole_id)
        known = [(job, key) for job in jobs for key in job.reserved.keys if key.line == line]
        opened = [(job, key) for job, key in known if job.takes_logins]
        named = [
            (job, key)
            for job, key in opened
            if not request.host or (is_named(job.job_id, name) and rank < len(job.leases))
        ]
        if not named:
            if whole_id and known and not opened:
                raise WrongReservationStateError(_why_no_tunnel(known[0][0], known[0][0].reservation_state))
            raise KeyOpensNothingError(request.host if opened or whole_id else "")
        job, key = named[-1]
        if request.host and len(named) > 1:
            ids = ", ".join(one.job_id for one, _ in named)
            raise WrongReservationStateError(f"Several reservations have this name: {ids}. Give more of an id.")
        lease_id = job.leases[rank].lease_id if job.leases else ""
        return reservations_pb2.FindTunnelTargetResponse(
            reservation_id=job.job_id, user=key.user, lease_id=lease_id, session_id=job.run_id, node=rank
        )

    async def GetReservationUsage(
        self, request: reservations_pb2.GetReservationUsageRequest, context: object
    ) -> reservations_pb2.GetReservationUsageResponse:
        """Adds up the GPU time of reservations."""
        begin = instant_from_proto(request.begin_time, "begin_time")
        end = instant_from_proto(request.end_time, "end_time")
        if not timedelta(0) < end - begin <= LONGEST_PERIOD:
            raise InvalidFieldError("end_time", f"must be after begin_time, by {LONGEST_PERIOD.days} days at most")
        jobs = [job async for job in self._reader.reservations_between(begin, end, request.account_ids)]
        usage = usage_of(jobs, begin, end, self._clock.now())
        return reservations_pb2.GetReservationUsageResponse(
            usage=[wire.usage_to_proto(key, usage[key]) for key in sorted(usage)]
        )

    async def GetCalendar(
        self, request: reservations_pb2.GetCalendarRequest, context: object
    ) -> reservations_pb2.GetCalendarResponse:
        """Says what reservations have, and are to have."""
        entries = await self._availability.calendar(request.gpu_type)
        return reservations_pb2.GetCalendarResponse(entries=[wire.calendar_entry_to_proto(one) for one in entries])

    async def GetAvailability(
        self, request: reservations_pb2.GetAvailabilityRequest, context: object
    ) -> reservations_pb2.GetAvailabilityResponse:
        """Says what could be reserved now."""
        return reservations_pb2.GetAvailabilityResponse(
            gpu_types=[wire.availability_to_proto(one) for one in await self._availability.of(request.gpu_type)]
        )

    def _proto(self, job: Job) -> reservations_pb2.Reservation:
        reservation = job.reserved
        if job.state in OVER_STATES:
            return wire.reservation_to_proto(job, reservation)
        borrowed = gpus(self._admission.borrowing.borrowed(job))
        if job.state not in WAITING_STATES or job.job_id not in self._waiting:
            return wire.reservation_to_proto(job, reservation, borrowed)
        if job.is_dated:
            return wire.reservation_to_proto(job, reservation, borrowed, position=1)
        standing = self._forecast.standing(job, is_promise=False)
        return wire.reservation_to_proto(job, reservation, borrowed, standing.position, standing.wait)


def _check_user_id(user_id: str) -> None:
    if len(user_id) > MOST_USER_ID or "\0" in user_id:
        fix = f"give at most {MOST_USER_ID}, without NUL characters"
        raise InvalidFieldError("user_id", f"has {len(user_id)} characters; {fix}")


def _machines_text(job: Job) -> str:
    if job.spec.machines == 1:
        return "the reservation has one machine, of rank 0"
    return f"the reservation has {job.spec.machines} machines, of rank 0 to {job.spec.machines - 1}"


def _why_no_tunnel(job: Job, state: ReservationState) -> str:
    if state is ReservationState.PENDING:
        return f"The reservation starts at {job.reserved.start_time:%Y-%m-%d %H:%M:%S} UTC. Connect then."
    if state is ReservationState.QUEUED:
        return "The reservation waits for its GPUs. Connect when it is active: `wavepool reservations show` says when."
    if state is ReservationState.PREPARING:
        return "The session is being opened. Try again in a moment."
    if job.state in OVER_STATES:
        return f"The reservation is {state}: {job.message or 'it is over'} Reserve again to go on."
    return "The reservation is being ended. Reserve again to go on."
