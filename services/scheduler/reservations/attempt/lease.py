"""Keeps the machines of a reservation for as long as it lasts, and gives up those that do not do their part in time."""

from __future__ import annotations

import asyncio
from datetime import timedelta

from servicekit.logging import get_logger
from services.scheduler.jobs.errors import MachineUnreachableError, WrongReservationStateError
from services.scheduler.jobs.job import Job
from services.scheduler.jobs.reservation import GRACE, LONGEST_PREPARING, SILENCE_AFTER_END, Reservation
from services.scheduler.peers.pool import LeaseGoneError, Pool, PoolError, PoolUnreachableError
from services.scheduler.reservations.attempt.session import BACKOFF, Session
from services.scheduler.runs.leased_attempt import AttemptLostError
from vocabulary.backoff import again_and_again

log = get_logger(__name__)


class SessionLease:
    """The lease of a session: vmpool renews those of several machines together."""

    def __init__(self, session: Session, pool: Pool, renewal: timedelta) -> None:
        self._session = session
        self._pool = pool
        self.renewal = renewal

    async def renew_for(self, reservation: Reservation) -> None:
        """Renews the lease for as long as the reservation needs it; raises PoolError."""
        if term := reservation.lease_left(self._session.started, self._session.clock.now()):
            await self._pool.renew(self._session.lease.lease_id, term)

    async def lengthen(self, reservation: Reservation) -> None:
        """Renews it for people who read why not; raises MachineUnreachableError, WrongReservationStateError."""
        try:
            await self.renew_for(reservation)
        except PoolUnreachableError as error:
            raise MachineUnreachableError("The pool of machines does not answer. Try again.") from error
        except PoolError as error:
            raise WrongReservationStateError(f"Its machine is not available for that long: {error}") from error

    async def is_renewed(self) -> bool:
        """Renews the lease; False if the pool does not do it now. Raises AttemptLostError if the lease is gone."""
        try:
            await self.renew_for(self._session.reservation)
        except LeaseGoneError as error:
            raise AttemptLostError(f"its lease is gone ({error})") from error
        except PoolError as error:
            log.info("a lease is not renewed", extra={"job_id": self._session.job.job_id, "reason": str(error)})
            return False
        return True

    async def keep(self) -> Job:
        """Renews it again and again."""

        async def renew() -> float | None:
            return self.renewal.total_seconds() if await self.is_renewed() else None

        return await again_and_again(renew, BACKOFF)

    async def exceed_preparing(self) -> Job:
        """Gives up a machine that has not opened its session in time."""
        reservation = self._session.reservation
        if reservation.active_time is None:
            rank = [reservation.ready_time, *(node.ready_time for node in reservation.nodes)].index(None)
            reason = f"{self._session.machine(rank)} did not open the session within {LONGEST_PREPARING}"
            raise AttemptLostError(reason, machine_suspect=True, lease=self._session.leases[rank])
        return await asyncio.Future()

    async def exceed_time(self) -> Job:
        """Gives up a machine that has not told the end long after that was due."""
        session = self._session
        while True:
            expire_time = session.reservation.expire_time or session.clock.now()
            left = session.seconds_until(expire_time + GRACE + SILENCE_AFTER_END)
            if not left:
                raise AttemptLostError("the machine did not report the end of the session", machine_suspect=True)
            # It may be extended meanwhile.
            await asyncio.sleep(left)
