"""Charges a reservation while it goes on."""

from __future__ import annotations

from services.scheduler.jobs.errors import BillingUnreachableError, StaleJobError
from services.scheduler.jobs.job import Job
from services.scheduler.peers.billing import Billing
from services.scheduler.reservations.attempt.session import BACKOFF, Session
from vocabulary.backoff import again_and_again

_MINUTE = 60.0


class Charging:
    """Charges each minute once it is over: the books, alerts and the owner see it in time, whatever dies."""

    def __init__(self, session: Session, billing: Billing) -> None:
        self._session = session
        self._billing = billing

    async def charge_each_minute(self) -> Job:
        """Goes on until the attempt ends."""
        return await again_and_again(self._charge, BACKOFF)

    async def _charge(self) -> float | None:
        """Charges what is due; gives the seconds until the next minute is over, None if billing does not answer."""
        session = self._session
        try:
            await self._charge_minutes()
        except BillingUnreachableError:
            return None
        except StaleJobError:
            # The follower finds out what became of it.
            return BACKOFF.first.total_seconds()
        # What is cancelled is charged at its end, and its minutes are over long before.
        next_end = None if session.is_ending else session.reservation.next_minute_end()
        return min(_MINUTE, session.seconds_until(next_end) if next_end else _MINUTE)

    async def _charge_minutes(self) -> None:
        session = self._session
        async with session.turn:
            reservation, hold_id = session.reservation, session.job.hold_id
            minutes = reservation.minutes_due(session.clock.now())
            if not minutes or not hold_id or session.is_ending:
                return
            cost_micros = await self._billing.settle_part(session.job, hold_id, minutes)
            charged = session.job.changed(reservation=reservation.charged(minutes), cost_micros=cost_micros)
            await session.write(charged, [])
