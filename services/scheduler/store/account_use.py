"""The use that accounts make of their limits, counted from rows."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.ext.asyncio import AsyncConnection

from services.scheduler.jobs.allowance import WINDOW, Allowance, SubmissionLimits
from services.scheduler.store import statements


@dataclass
class AccountUse:
    """An account's jobs in flight, and its submissions after `since` with the time of the first.

    Submissions that were created after the one in question count too: times of creation are taken before the
    transaction, so they may be stored in another order.
    """

    since: datetime
    jobs_in_flight: int = 0
    submissions: int = 0
    first_time: datetime | None = None

    def is_same_after(self, since: datetime) -> bool:
        """True if the same submissions are after `since`, as far as can be told without the rows."""
        return self.since <= since and (self.first_time is None or self.first_time > since)

    def is_above(self, limits: SubmissionLimits) -> bool:
        """True if the hourly limit was lowered below what was already submitted."""
        return 0 < limits.submissions_per_hour < self.submissions

    def add(self, create_time: datetime) -> None:
        """Counts one more submission, but not as a job in flight."""
        self.submissions += 1
        self.first_time = min(self.first_time or create_time, create_time)


async def uses_of(connection: AsyncConnection, account_ids: Collection[str], since: datetime) -> dict[str, AccountUse]:
    """The use that each of these accounts makes of its limits."""
    uses = {account_id: AccountUse(since) for account_id in account_ids}
    parameters = {"account_ids": sorted(uses), "since": since}
    for row in await connection.execute(statements.USES, parameters):
        use = uses[row.account_id]
        use.jobs_in_flight += row.jobs_in_flight
        use.submissions += row.submissions
        use.first_time = use.first_time or row.first_time
    return uses


async def allowance_of(
    connection: AsyncConnection, account_id: str, use: AccountUse, limits: SubmissionLimits, now: datetime
) -> Allowance:
    """What the account may submit at `now`. Reads rows only if the limit was lowered."""
    first_time = use.first_time
    if use.is_above(limits):
        # More than one must leave the window before there is room.
        newer = {"account_id": account_id, "newer": limits.submissions_per_hour - 1}
        first_time = (await connection.execute(statements.NEWEST_BUT, newer)).scalar_one()
    renew_after = first_time + WINDOW - now if first_time else None
    return Allowance(limits, use.jobs_in_flight, use.submissions, renew_after)
