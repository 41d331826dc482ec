"""The session of an attempt: the row of its reservation, which is changed here alone, and what machines are told."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime, timedelta

from servicekit.cancellation import uncut
from servicekit.clock import Clock
from services.scheduler.jobs.errors import MachineUnreachableError, WrongReservationStateError
from services.scheduler.jobs.job import Job
from services.scheduler.jobs.reservation import Reservation
from services.scheduler.jobs.reservation_states import ReservationState
from services.scheduler.jobs.spec import Lease
from services.scheduler.jobs.states import JobState
from services.scheduler.peers.executors import ExecutorError, Executors, RunInterruptedError
from services.scheduler.runs.leased_attempt import Held
from services.scheduler.store.job_store import JobStore
from vocabulary.backoff import Backoff, again_and_again

BACKOFF = Backoff(first=timedelta(seconds=0.1), longest=timedelta(seconds=5))
SILENT = "The machine of the reservation does not answer. Try again."


class Session(Held):
    """A reservation that has machines. Whoever writes it has the `turn`, so that changes come one at a time."""

    def __init__(
        self,
        job: Job,
        lease: Lease,
        *,
        store: JobStore,
        executors: Executors,
        clock: Clock,
        note: Callable[[Job], None],
        cancel: Callable[[], None],
    ) -> None:
        super().__init__(job, lease)
        self.executors = executors
        self.clock = clock
        self.turn = asyncio.Lock()
        self._store = store
        self._note = note
        self._cancel = cancel
        self._untold = asyncio.Event()
        """Set while a machine may have something else than is stored, because it did not answer a change."""

    @property
    def reservation(self) -> Reservation:
        """What people reserved, as it is stored."""
        return self.job.reserved

    @property
    def is_ending(self) -> bool:
        """True if it does not run any more, or somebody has asked for its end."""
        return self.is_cancelled or self.job.cancel_time is not None or self.job.state is not JobState.RUNNING

    @property
    def started(self) -> datetime:
        """When it got its machines."""
        return self.job.start_time or self.clock.now()

    def seq(self, rank: int) -> int:
        """The last event of the session on a machine that is in the log; 0 before there is a session."""
        return self.reservation.nodes[rank - 1].seq if rank else self.job.run_seq

    def machine(self, rank: int) -> str:
        """A machine in what people read: if there are several, they are told which."""
        return f"the machine {self.leases[rank].machine_id} (node {rank})" if self.job.more_leases else "the machine"

    def seconds_until(self, when: datetime) -> float:
        """Seconds from now on; 0 if it is past."""
        return max(0.0, (when - self.clock.now()).total_seconds())

    def check_open(self) -> None:
        """Raises WrongReservationStateError if it cannot be changed any more."""
        state = self.job.reservation_state
        if self.is_cancelled or state not in {ReservationState.PREPARING, ReservationState.ACTIVE}:
            raise WrongReservationStateError(f"The reservation is {state} and cannot be changed. Make another one.")

    async def stored(self) -> Job | None:
        """The row as it is now, which others may have asked to end."""
        return await self._store.get(self.job.job_id)

    async def write(self, after: Job, events: Sequence[bytes]) -> Job:
        """Stores a change and its events; raises StaleJobError."""
        self.job = await uncut(self._store.move(self.job, after, events, self.clock.now()))
        self._note(self.job)
        if self.job.cancel_time and self.job.state is JobState.RUNNING:
            # Perhaps nobody could tell us, as we were being taken on just then.
            self._cancel()
        return self.job

    async def change(self, after: Reservation, events: Sequence[bytes]) -> Job:
        """Stores what has changed of the reservation; raises StaleJobError."""
        return await self.write(self.job.changed(reservation=after), events)

    async def tell_machines(self, reservation: Reservation) -> None:
        """Gives the sessions that there are their users and their end.

        Raises MachineUnreachableError, and then `keep_told` goes on, or WrongReservationStateError.
        """
        try:
            for rank, lease in enumerate(self.leases):
                if self.seq(rank):
                    await self.executors.update_session(self.job, reservation, lease)
        except RunInterruptedError as error:
            self._untold.set()
            raise MachineUnreachableError(SILENT) from error
        except ExecutorError as error:
            raise WrongReservationStateError(f"The session cannot be changed any more: {error}") from error

    async def keep_told(self) -> Job:
        """Tells the machine again what is stored: it may have taken a change that was not, as its answer was lost."""

        async def tell() -> float | None:
            await self._untold.wait()
            async with self.turn:
                self._untold.clear()
                with suppress(MachineUnreachableError, WrongReservationStateError):
                    await self.tell_machines(self.reservation)
            return None if self._untold.is_set() else 0.0

        return await again_and_again(tell, BACKOFF)

    async def has_heard_all(self) -> bool:
        """True if the machines say that we know all that happened in the sessions."""
        async with self.turn:
            for rank, lease in enumerate(self.leases):
                try:
                    last_seq = await self.executors.update_session(self.job, self.reservation, lease)
                except ExecutorError:
                    return False
                if self.seq(rank) < last_seq:
                    return False
            return True
