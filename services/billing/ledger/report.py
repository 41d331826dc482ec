"""Cost beside charge: what machines cost in a period, what accounts were charged, and why the two differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from services.billing.ledger.books import Book
from services.billing.ledger.machine_usage import split


class OverheadPolicy(StrEnum):
    """Who bears the overhead in a report. Nobody is charged for it."""

    OPERATOR = "operator"
    SHARED = "shared"
    """The accounts, in proportion to the cost of their use."""


@dataclass(frozen=True)
class RunCost:
    """What the GPUs cost while a run had leases on them. `account_id` is empty if no hold was made for the job."""

    job: str
    attempt: int
    account_id: str
    micros: int


@dataclass(frozen=True)
class WorkCost:
    """What the GPUs of one job or reservation cost, and what was charged for it less refunds, in micro-dollars."""

    cost_micros: int
    charged_micros: int

    @property
    def overhead_micros(self) -> int:
        """Cost less charge; 0 if more was charged than the GPUs cost."""
        return max(0, self.cost_micros - self.charged_micros)

    @property
    def surplus_micros(self) -> int:
        """What was charged beyond their cost."""
        return max(0, self.charged_micros - self.cost_micros)


@dataclass(frozen=True)
class CostReport:
    """A period of the ledger, in micro-dollars.

    `charged_by_account` is less refunds. `uncharged_reasons` says of jobs that were charged nothing why not.
    """

    cost_by_book: Mapping[Book, int]
    charged_by_account: Mapping[str, int]
    runs: Sequence[RunCost] = ()
    uncharged_reasons: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def cost_micros(self) -> int:
        """What machines cost."""
        return sum(self.cost_by_book.values())

    @property
    def charged_micros(self) -> int:
        """What accounts were charged."""
        return sum(self.charged_by_account.values())

    @property
    def overhead_micros(self) -> int:
        """Cost less charge; 0 if more was charged than machines cost."""
        return max(0, self.cost_micros - self.charged_micros)

    @property
    def surplus_micros(self) -> int:
        """What was charged beyond the cost, such as the price of machines that cost nothing."""
        return max(0, self.charged_micros - self.cost_micros)

    def overheads(self) -> Mapping[str, int]:
        """The overhead by reason; the reasons sum to it exactly.

        The cost of a run that was charged nothing has the reason of its settlement, and attempts before a job's last
        are `lost attempts`. The rest of the cost of use, less all charges, is `price and time`: the user's price is not
        the machine's, a lease is longer than its run, a charge ends at its hold, and one of the two may fall into the
        next period. It may be below zero, and makes up for no more than the other reasons: what goes beyond is surplus.
        """
        reasons: Counter[str] = Counter(
            {book.value: micros for book, micros in self.cost_by_book.items() if book is not Book.USE}
        )
        last: dict[str, int] = {}
        for run in self.runs:
            last[run.job] = max(run.attempt, last.get(run.job, 0))
        explained = 0
        for run in self.runs:
            reason = self._reason_of(run, last[run.job])
            if reason:
                reasons[reason] += run.micros
                explained += run.micros
        price_and_time = self.cost_by_book.get(Book.USE, 0) - explained - self.charged_micros
        reasons["price and time"] = price_and_time + self.surplus_micros
        return {reason: micros for reason, micros in reasons.items() if micros}

    def _reason_of(self, run: RunCost, last_attempt: int) -> str:
        if not run.account_id:
            return "no job"
        if run.attempt < last_attempt:
            return "lost attempts"
        return self.uncharged_reasons.get(run.job, "")

    def use_by_account(self) -> Mapping[str, int]:
        """The cost of the runs of each account."""
        uses: Counter[str] = Counter()
        for run in self.runs:
            if run.account_id:
                uses[run.account_id] += run.micros
        return uses

    def overhead_by_account(self, policy: OverheadPolicy) -> Mapping[str, int]:
        """Each account's part of the overhead; together all of it if it is shared and anything was used."""
        uses = self.use_by_account()
        if policy is OverheadPolicy.OPERATOR or not uses:
            return {}
        accounts = sorted(uses)
        parts = split(self.overhead_micros, [uses[account] for account in accounts])
        return dict(zip(accounts, parts, strict=True))
