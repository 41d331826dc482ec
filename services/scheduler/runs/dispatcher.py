"""Gives waiting jobs their machines, in order, as soon as something changes."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from secrets import token_hex

from servicekit.clock import Clock
from servicekit.logging import get_logger
from servicekit.request_id import set_request_id
from services.scheduler import metrics
from services.scheduler.config import SchedulerSettings
from services.scheduler.fairness.situation import Hold, Plan, Stop
from services.scheduler.jobs.errors import StaleJobError
from services.scheduler.jobs.job import Job
from services.scheduler.jobs.outcome import Ending
from services.scheduler.jobs.spec import Placement
from services.scheduler.jobs.states import WAITING_STATES, JobState
from services.scheduler.peers.pool import (
    JobHasLeaseError,
    Placed,
    Pool,
    PoolBusyError,
    PoolError,
    PoolRefusalError,
)
from services.scheduler.queue.demand import DemandReporter
from services.scheduler.queue.ordering import Claim
from services.scheduler.queue.provisioning import ProvisioningReporter, placed_payload, start_kind_name
from services.scheduler.queue.running import RunningJobs
from services.scheduler.queue.situations import Situations
from services.scheduler.queue.waiting import WaitingJobs
from services.scheduler.runs.job_runner import JobRunner
from services.scheduler.store.job_store import JobStore
from services.scheduler.wire import payloads
from vocabulary.gang_nodes import SEED_BYTES
from vocabulary.verdicts import INFRA_ERROR

log = get_logger(__name__)

ASKED_FOR_AT_ONCE = 50
"""Of more jobs, the first ones of each kind will do: if these get nothing, those behind them do not either."""
_SPLIT_UP = "the free parts of GPUs are enough, but they are split up, or on GPUs in another mode"


class Dispatcher:
    """The loop that places waiting jobs.

    A lease is acquired before the row records it. A lease that no row records is acquired again by the same job and
    attempt, or expires.
    """

    name = "dispatcher"

    def __init__(
        self,
        store: JobStore,
        pool: Pool,
        waiting: WaitingJobs,
        running: RunningJobs,
        situations: Situations,
        runner: JobRunner,
        demand: DemandReporter,
        provisioning: ProvisioningReporter,
        clock: Clock,
        settings: SchedulerSettings,
    ) -> None:
        self._store = store
        self._pool = pool
        self._waiting = waiting
        self._running = running
        self._situations = situations
        self._runner = runner
        self._demand = demand
        self._provisioning = provisioning
        self._dated = situations.dated
        self._clock = clock
        self._settings = settings
        self.reasons: Mapping[str, str] = {}
        """Why each of the first jobs waits, by job, as the last pass found."""

    async def run_once(self) -> None:
        """Places the jobs that can be placed, reports the rest to the pool, and tells those who wait for a machine."""
        if not self._dated.is_loaded:
            return
        try:
            await self._place_dated()
            await self._place_all(await self._place_gangs())
            await self._demand.report()
        except PoolError as error:
            log.warning("vmpool does not answer as it should", extra={"reason": str(error)})
        await self._provisioning.report()

    async def _place_dated(self) -> None:
        """Starts the reservations whose start has come, where their GPUs are free."""
        for job in sorted(self._waiting.dated.values(), key=lambda job: (job.reserved.start_time, job.job_id)):
            if placements := self._dated.placements(job):
                await self._place(job, placements)

    async def _place_gangs(self) -> dict[str, str]:
        """Starts jobs of several machines, each on all of them, or has others give way; gives why each other waits."""
        reasons: dict[str, str] = {}
        for gpu_type in self._types():
            for seat in self._situations.gangs(gpu_type):
                job, placements = self._waiting.get(seat.job_id), self._situations.gang_placements(seat)
                if job and not (placements and await self._place(job, placements)):
                    reasons[job.job_id] = seat.why(job.spec.machines)
                    self._stop(self._situations.room_for(seat))
        return reasons

    def _types(self) -> set[str]:
        return {*self._situations.wanted_types(), *self._situations.fallback_types()}

    async def _place_all(self, reasons: dict[str, str]) -> None:
        promises: dict[str, str] = {}
        holds: dict[str, Mapping[str, Hold]] = {}
        self._situations.forget_ended(self._runner.has)
        for gpu_type in self._situations.wanted_types():
            decided = await self._carry_out(self._situations.plan(gpu_type))
            holds[gpu_type] = decided.holds
            reasons |= decided.waiting
            promises |= decided.promises
        self._situations.keep_promises(promises)
        for gpu_type in self._situations.fallback_types():
            elsewhere = self._situations.gangs_elsewhere(gpu_type, holds.get(gpu_type, {}).values())
            for job_id, placements in elsewhere.items():
                if placements and (gang := self._waiting.get(job_id)):
                    await self._place(gang, placements)
            await self._carry_out(self._situations.plan(gpu_type, fallback=True), holds.get(gpu_type, {}).values())
        self._situations.holds = {job_id: hold for kept in holds.values() for job_id, hold in kept.items()}
        self.reasons = reasons
        self._waiting.claims = {
            gpu_type: {name: Claim(state.used, state.fair_share) for name, state in queues.items()}
            for gpu_type, queues in self._situations.states.items()
        }
        kept_types = {one for one in self._types() if holds.get(one) or self._situations.gang_seats(one)}
        await self._ask_for_more(kept_types | self._situations.returning_types())

    def _stop(self, stops: Sequence[Stop]) -> None:
        for stop in stops:
            self._running.give_way(stop.job_id, stop.winner)
            winner = self._waiting.get(stop.winner)
            if self._runner.give_way(stop, winner.spec.queue if winner else ""):
                self._situations.expect_back(stop)
        if stops:
            # More may be owed than one pass takes back.
            self._waiting.changed.set()

    async def _carry_out(self, decided: Plan, holds: Collection[Hold] = ()) -> Plan:
        self._stop(decided.stops)
        placements = self._situations.placements(decided, holds)
        placing = (
            self._place(job, [placements[job_id]]) for job_id in placements if (job := self._waiting.get(job_id))
        )
        for failure in await asyncio.gather(*placing, return_exceptions=True):
            if isinstance(failure, BaseException):
                raise failure
        split_up = dict.fromkeys(decided.starts.keys() - placements.keys(), _SPLIT_UP)
        return replace(decided, waiting={**decided.waiting, **split_up})

    async def _ask_for_more(self, kept_types: set[str]) -> None:
        """Asks the pool for a GPU for the next job of each kind: what we know of the machines may be out of date.

        Not where slots are kept for a job: the pool does not know which, and would give them away.
        """
        full: set[str] = set()
        for job in self._next_jobs():
            if not kept_types.isdisjoint(job.spec.gpu_types):
                continue
            # A job that finds no machine holds up the jobs behind it that can take no other GPU type.
            if full.issuperset(job.spec.gpu_types):
                continue
            if not await self._place(job, []):
                full.update(job.spec.gpu_types)
            elif self._waiting.changed.is_set():
                # The next pass knows more, and asks for all it can have at once.
                return

    def _next_jobs(self) -> list[Job]:
        """The first waiting jobs that no limit holds back, those first that others give way to."""
        jobs = self._waiting.in_turn(ASKED_FOR_AT_ONCE, able=True)
        promised = [job for job_id in self._situations.promises if (job := self._waiting.get(job_id))]
        return self._situations.askable(list({job.job_id: job for job in [*promised, *jobs]}.values()))

    async def _place(self, job: Job, placements: Sequence[Placement]) -> bool:
        """Starts the job if it gets these slots, or any if there are none; False if it does not."""
        if self._situations.is_too_late(job):
            # It is about to be cancelled, and those behind it need not wait for that.
            return True
        set_request_id(job.request_id)
        try:
            with self._dated.starting(job, placements):
                await self._start(job, await self._lease(job, placements))
                return True
        except PoolBusyError:
            return False
        except JobHasLeaseError:
            # A lease from before a restart, perhaps of another machine; or it has expired, and its run may still be
            # ending: the pool reports when it is over.
            # Those of several machines expire soon, as nobody renews them.
            return not placements or (job.spec.machines == 1 and await self._place(job, []))
        except PoolRefusalError as error:
            await self._refuse(job, str(error))
            return True

    async def _lease(self, job: Job, placements: Sequence[Placement]) -> Sequence[Placed]:
        # A reservation's too: it makes its lease longer once its row has it. One that no row has, nobody gives back.
        term = self._settings.lease_duration
        if not placements:
            return [await self._pool.acquire(job, term)]
        return await self._pool.place(job, placements, term)

    async def _start(self, job: Job, placed: Sequence[Placed]) -> None:
        now = self._clock.now()
        first, *more = placed
        seed = token_hex(SEED_BYTES) if more else ""
        addresses = [one.address for one in placed]
        gpu_type, device = first.machine.gpu_type, first.machine.device
        started = job.start(first.lease, now, gpu_type, [one.lease for one in more], seed, addresses, device)
        events = [placed_payload(one, job.spec.gpu_type) for one in placed]
        try:
            # Somebody may have changed who may log in while the pool was asked, and this writes the whole reservation.
            started = await self._store.move(job, started, events, now, keeps_reservation=bool(more))
        except StaleJobError:
            await self._give_back(job, placed)
            return
        self._waiting.remove(job.job_id)
        self._situations.is_back(job.job_id)
        self._runner.run(started)
        if job.attempt == 1 and not job.is_dated:
            waited = (now - job.create_time).total_seconds()
            if job.reservation:
                metrics.reservation_waits.labels(first.machine.gpu_type).observe(waited)
            else:
                start = start_kind_name(first.start_kind)
                metrics.queue_seconds.labels(start, first.machine.gpu_type).observe(waited)

    async def _refuse(self, job: Job, reason: str) -> None:
        message = f"No machine can run this: {reason}"
        outcome = payloads.outcome(Ending(JobState.FAILED, INFRA_ERROR, message), reason)
        try:
            settling = await self._store.move(job, job.settle(outcome), [], self._clock.now())
        except StaleJobError:
            await self._look_again(job)
            return
        self._waiting.remove(job.job_id)
        self._runner.run(settling)

    async def _give_back(self, job: Job, placed: Sequence[Placed]) -> None:
        row = await self._look_again(job)
        # The pool gives the same leases to one attempt: if the row has them already, they are in use.
        in_use = {lease.lease_id for lease in row.leases} if row else set[str]()
        for one in placed:
            if one.lease.lease_id not in in_use:
                await self._runner.give_back(one.lease, "the job did not wait for it")

    async def _look_again(self, job: Job) -> Job | None:
        row = await self._store.get(job.job_id)
        if row and row.state in WAITING_STATES:
            self._waiting.put(row)
        else:
            self._waiting.remove(job.job_id)
        return row
