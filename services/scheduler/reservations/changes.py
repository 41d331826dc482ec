"""Changes reservations on request: in the queue by a move of their row, later by their attempt."""

from __future__ import annotations

import asyncio
import unicodedata
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from datetime import timedelta

from wavepool.scheduler.v1 import reservations_pb2

from servicekit.clock import Clock
from services.scheduler.jobs.errors import InvalidFieldError, StaleJobError, WrongReservationStateError
from services.scheduler.jobs.job import Job
from services.scheduler.jobs.reservation import Extension, Reservation
from services.scheduler.jobs.reservation_checks import (
    ReservationLimits,
    changed_users,
    extension_of,
    free_name,
    wrong_name,
)
from services.scheduler.jobs.states import OVER_STATES, WAITING_STATES, JobState
from services.scheduler.jobs.submission_checks import MAX_KEY_CHARACTERS
from services.scheduler.queue.dated_book import DatedBook
from services.scheduler.queue.waiting import WaitingJobs
from services.scheduler.reservations.admission import MOST_SECONDS
from services.scheduler.reservations.attempt.session_attempt import session_of
from services.scheduler.runs.job_runner import JobRunner
from services.scheduler.store.job_reader import JobReader
from services.scheduler.store.job_store import JobStore
from services.scheduler.wire import payloads

MOST_TEXT = 2000
"""Characters of a message to the terminals, as executors take them."""


class ReservationChanges:
    """Carries out ExtendReservation and UpdateReservation."""

    def __init__(
        self,
        *,
        store: JobStore,
        reader: JobReader,
        waiting: WaitingJobs,
        dated: DatedBook,
        runner: JobRunner,
        clock: Clock,
        limits: ReservationLimits,
    ) -> None:
        self._store = store
        self._reader = reader
        self._waiting = waiting
        self._dated = dated
        self._runner = runner
        self._clock = clock
        self._limits = limits
        self._turn = asyncio.Lock()
        """For changes of reservations that wait: each begins with what the one before it has stored."""

    async def extend(
        self, job: Job, reservation: Reservation, request: reservations_pb2.ExtendReservationRequest
    ) -> Job:
        """Adds time once for each key; see `SessionAttempt.extend`. Raises InvalidFieldError, too."""
        key = request.idempotency_key
        if not 0 < len(key) <= MAX_KEY_CHARACTERS:
            fix = f"give 1 to {MAX_KEY_CHARACTERS}, unique for each extension"
            raise InvalidFieldError("idempotency_key", f"has {len(key)} characters; {fix}")
        if earlier := reservation.extension(key):
            if int(earlier.duration.total_seconds()) != request.duration.seconds:
                raise InvalidFieldError("idempotency_key", "was used for another time; give a new one")
            return job
        if job.state in OVER_STATES | WAITING_STATES:
            state = job.reservation_state
            said = f"The reservation is {state}; only one that is prepared or active can be extended."
            raise WrongReservationStateError(said)

        def extension(now: Reservation) -> Extension:
            duration = extension_of(request.duration.seconds, now, self._limits)
            return Extension(duration, self._clock.now(), request.user_id, key)

        more = timedelta(seconds=max(0, min(request.duration.seconds, MOST_SECONDS)))
        with _not_stale(), self._dated.prolonging(job.job_id, more):
            job = await session_of(self._runner, job.job_id).extend(key, extension)
        self._runner.note(job)
        return job

    async def update(self, job: Job, request: reservations_pb2.UpdateReservationRequest) -> Job:
        """Changes the name, who may log in, or who may change it; see `SessionAttempt.change`.

        Raises InvalidRequestError, too.
        """
        if request.name and (fault := wrong_name(request.name)):
            raise InvalidFieldError("name", fault)
        taken = await self._reader.reservation_names(job.account_id, job.user_id) if request.name else frozenset[str]()

        def change(reservation: Reservation) -> Reservation:
            changed = changed_users(reservation, request)
            is_same = request.name in {"", reservation.name}
            return changed if is_same else changed.named(free_name(request.name, taken))

        async with self._turn:
            job = await self._store.get(job.job_id) or job
            while job.state in WAITING_STATES:
                try:
                    return await self._change_waiting(job, job.reserved, change, request.user_id)
                except StaleJobError:
                    job = await self._store.get(job.job_id) or job
        if job.state in OVER_STATES:
            raise WrongReservationStateError(f"The reservation is {job.reservation_state} and cannot be changed.")
        with _not_stale():
            return await session_of(self._runner, job.job_id).change(change, request.user_id)

    async def come_due(self, job: Job, event: bytes) -> None:
        """Puts a dated reservation in the queue, as its start is near; changes nothing if it is over."""
        async with self._turn:
            row = await self._store.get(job.job_id)
            if row is None or not row.is_pending:
                self._dated.remove(job.job_id)
                return
            with suppress(StaleJobError):
                due = row.changed(reservation=row.reserved.come_due())
                self._waiting.put(await self._store.move(row, due, [event], self._clock.now()))
                self._dated.remove(job.job_id)

    async def tell_late(self, job: Job, event: bytes) -> None:
        """Tells the owner of a dated reservation, once, that there are no GPUs for it at its start."""
        async with self._turn:
            row = await self._store.get(job.job_id)
            if row and row.state in WAITING_STATES and not row.reserved.is_late and row.job_id in self._waiting:
                late = row.changed(reservation=row.reserved.told_late())
                with suppress(StaleJobError):
                    self._waiting.put(await self._store.move(row, late, [event], self._clock.now()))

    async def notify(self, job: Job, text: str, user_id: str) -> int:
        """Writes a user's text to the terminals; see `SessionAttempt.notify`. Raises InvalidFieldError, too."""
        if not 1 <= len(text) <= MOST_TEXT or any(_is_control(character) for character in text):
            fix = f"give 1 to {MOST_TEXT}, of which only line breaks and tabs may be control characters"
            raise InvalidFieldError("text", f"has {len(text)} characters; {fix}")
        if job.state is not JobState.RUNNING:
            raise WrongReservationStateError(f"The reservation is {job.reservation_state}: no user is logged in.")
        return await session_of(self._runner, job.job_id).notify(text, user_id)

    async def _change_waiting(
        self, job: Job, before: Reservation, change: Callable[[Reservation], Reservation], user_id: str
    ) -> Job:
        after = change(before)
        events = [payloads.users_changed(before, after, user_id)] if after.who != before.who else []
        changed = await self._store.move(job, job.changed(reservation=after), events, self._clock.now())
        if changed.job_id in self._waiting:
            self._waiting.put(changed)
        elif changed.is_pending and self._dated.get(changed.job_id):
            self._dated.put(changed)
        return changed


@contextmanager
def _not_stale() -> Generator[None]:
    try:
        yield
    except StaleJobError as error:
        said = "The reservation has just ended, or has lost its machine. Look at it again."
        raise WrongReservationStateError(said) from error


def _is_control(character: str) -> bool:
    return unicodedata.category(character) == "Cc" and character not in "\n\t"
