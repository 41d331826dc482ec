"""When a session's users are warned, and when it ends; pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from vocabulary.readings import RESERVATION_WARNINGS

WARNINGS = (*RESERVATION_WARNINGS, 0)
"""Minutes before the end at which users are warned; 0 is for the last words."""
LONGEST_SIGNALS = timedelta(seconds=30)
"""Longest time between the first signal to a session's processes and SIGKILL, if it ends by its time."""


@dataclass(frozen=True)
class Timetable:
    """A session's end, and which of its warnings are still to come.

    The session lives on for `grace` after `end_time`. Nothing of it is left then: its programs get SIGTERM
    at `hang_up_time`, and SIGKILL at `kill_time`.
    """

    end_time: datetime
    grace: timedelta
    armed: tuple[int, ...]

    @classmethod
    def of(cls, end_time: datetime, grace: timedelta, now: datetime) -> Timetable:
        """Return the timetable of a session that begins, or whose end is moved, now; earlier warnings are left out."""
        return cls(end_time, grace, tuple(n for n in WARNINGS if end_time - timedelta(minutes=n) > now))

    @property
    def kill_time(self) -> datetime:
        """When nothing of the session may be left."""
        return self.end_time + self.grace

    @property
    def hang_up_time(self) -> datetime:
        """When its processes are asked to end."""
        return self.kill_time - min(LONGEST_SIGNALS, self.grace / 2)

    def due(self, now: datetime) -> int | None:
        """Return the warning that is due: of several, the one with the fewest minutes left; None if none is."""
        return min((n for n in self.armed if self.end_time - timedelta(minutes=n) <= now), default=None)

    def without(self, warning: int) -> Timetable:
        """Return the timetable after a warning, with which earlier ones are over, too."""
        return Timetable(self.end_time, self.grace, tuple(n for n in self.armed if n < warning))

    def words(self, warning: int) -> str:
        """Return a warning as its users read it."""
        if warning:
            return (
                f"This session ends in {warning} minutes, at {self.end_time:%H:%M} UTC. Save your work, or extend it."
            )
        asked = (self.hang_up_time - self.end_time).total_seconds()
        return (
            f"The time of this session is up. Save your work: its programs are asked to end in {asked:.0f} s, and "
            f"what is left ends in {self.grace.total_seconds():.0f} s, with the connections."
        )
