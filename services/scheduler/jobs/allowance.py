"""The submissions that an account may make: the limits, their use at an instant, and what is left."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta

WINDOW = timedelta(hours=1)
"""The time over which submissions are counted: any hour, not only one of the clock."""


@dataclass(frozen=True)
class SubmissionLimits:
    """The limits of each account."""

    jobs_in_flight: int
    submissions_per_hour: int = 0
    """0 if there is no limit."""


@dataclass(frozen=True)
class Allowance:
    """The use that an account makes of its limits at an instant."""

    limits: SubmissionLimits
    jobs_in_flight: int
    submissions: int
    """Number of submissions within the last hour."""
    renew_after: timedelta | None
    """Time until one more submission than now is within the hourly limit; None if no submission counts now."""

    @property
    def is_hour_used_up(self) -> bool:
        """True if the hourly limit allows no submission now."""
        return 0 < self.limits.submissions_per_hour <= self.submissions

    @property
    def remaining(self) -> int:
        """Number of submissions that both limits allow now."""
        left = [self.limits.jobs_in_flight - self.jobs_in_flight]
        if self.limits.submissions_per_hour:
            left.append(self.limits.submissions_per_hour - self.submissions)
        return max(0, min(left))

    def after_one_more(self) -> Allowance:
        """The use right after another submission."""
        return replace(
            self,
            jobs_in_flight=self.jobs_in_flight + 1,
            submissions=self.submissions + 1,
            renew_after=self.renew_after or WINDOW,
        )
