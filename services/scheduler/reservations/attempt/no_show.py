"""Ends a reservation that nobody uses."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import timedelta

from services.scheduler.config import SchedulerSettings
from services.scheduler.jobs.errors import StaleJobError
from services.scheduler.jobs.job import Job
from services.scheduler.reservations.attempt.session import BACKOFF, Session
from services.scheduler.runs.leased_attempt import Duty
from services.scheduler.wire import payloads
from vocabulary.backoff import until

NO_SHOW_WARNING = timedelta(minutes=10)
"""A reservation that nobody has logged in to is warned so long before it is ended."""


class NoShow:
    """Warns the owner of a reservation that nobody has logged in to, and ends it."""

    def __init__(
        self, session: Session, settings: SchedulerSettings, end_early: Callable[[str], Awaitable[Job]]
    ) -> None:
        is_dated = session.job.is_dated
        self._session = session
        self._end_early = end_early
        self._after = settings.dated_no_show_after if is_dated else settings.no_show_after
        minutes, name = self._after / timedelta(minutes=1), "DATED_NO_SHOW_AFTER" if is_dated else "NO_SHOW_AFTER"
        self.reason = (
            f"For {minutes:g} minutes no user logged in, nor did its owner extend it, so it was ended "
            f"(SCHEDULER_{name})."
        )
        """What its owner reads then."""

    def duties(self) -> list[tuple[float, Duty]]:
        """What is to be done, and after how many seconds, once people can log in; nothing if it is used."""
        active_time = self._session.reservation.active_time
        if not self._after or active_time is None or self._is_used:
            return []
        end = active_time + self._after
        warning = end - min(NO_SHOW_WARNING, self._after / 2)
        return [(self._session.seconds_until(warning), self._warn), (self._session.seconds_until(end), self._end)]

    @property
    def _is_used(self) -> bool:
        return self._session.reservation.is_used(self._session.job.user_id)

    async def _warn(self) -> Job:
        """Says once that it is ended soon."""
        session = self._session
        async with session.turn:
            reservation = session.reservation
            is_told = reservation.no_show_warned or self._is_used
            if reservation.active_time and not is_told and not session.is_ending:
                with suppress(StaleJobError):
                    event = payloads.no_show(reservation.active_time + self._after)
                    await session.change(reservation.warned_of_no_show(), [event])
        return await asyncio.Future()

    async def _end(self) -> Job:
        # Somebody may have logged in while we were away, or while the machine was silent.
        await until(self._is_sure, BACKOFF)
        if not self._is_used:
            await self._end_early(self.reason)
        return await asyncio.Future()

    async def _is_sure(self) -> bool:
        return self._is_used or await self._session.has_heard_all()
