"""The cost of machines to their operator, by reason, from vmpool's reports of intervals."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

from services.billing.errors import InvalidFieldError
from services.billing.ledger.books import MAX_AMOUNT_MICROS, OPERATOR, Book, Posting, PostingKind
from vocabulary.limits import LONGEST_BILLED
from vocabulary.money import MICROSECOND, Tariff

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

_NO_TIME = timedelta(0)


@dataclass(frozen=True)
class Use:
    """A lease's share of an interval: `gpu_time` is its time times its GPUs, so half a GPU for 2 s is 1 s.

    `subject` is the run that had the lease: `<job>:<attempt>`.
    """

    subject: str
    gpu_time: timedelta


@dataclass(frozen=True)
class MachineUsage:
    """One interval of one machine; `sequence` counts a machine's intervals from 1, `final` marks the last.

    `price_micros_per_hour` is the whole machine's price. The provider bills at least `minimum_billed`, in whole
    multiples of `billing_increment`, from `machine_start_time` on. The machine is provisioning until `ready_time`.
    """

    machine_id: str
    sequence: int
    provider: str
    gpu_type: str
    gpu_count: int
    start_time: datetime
    end_time: datetime
    price_micros_per_hour: int
    final: bool
    machine_start_time: datetime
    minimum_billed: timedelta = _NO_TIME
    billing_increment: timedelta = MICROSECOND
    ready_time: datetime | None = None
    uses: tuple[Use, ...] = ()

    @property
    def cost_micros(self) -> int:
        """The interval's share of the machine's cost; the intervals of a machine sum to its cost exactly."""
        return self._cost_by(Tariff(self.price_micros_per_hour, self.minimum_billed, self.billing_increment))

    def postings(self) -> Sequence[Posting]:
        """The cost, out of the cloud's credit, into the books of its reasons."""
        time_cost = self._cost_by(Tariff(self.price_micros_per_hour))
        gpus = max(1, self.gpu_count)
        ready_from = max(self.start_time, min(self.ready_time or self.end_time, self.end_time))
        provisioning = (ready_from - self.start_time) * gpus
        used = sum((use.gpu_time for use in self.uses), _NO_TIME)
        idle = max(_NO_TIME, (self.end_time - self.start_time) * gpus - provisioning - used)
        reasons = [(Book.PROVISIONING, provisioning, ""), (Book.IDLE, idle, "")]
        reasons += [(Book.USE, use.gpu_time, use.subject) for use in self.uses]
        parts = split(time_cost, [time // MICROSECOND for _, time, _ in reasons])
        lines = [(book, part, subject) for (book, _, subject), part in zip(reasons, parts, strict=True)]
        lines.append((Book.MINIMUM, self.cost_micros - sum(parts), ""))
        paid = Posting(OPERATOR, Book.CLOUD_CREDIT, PostingKind.COST, -self.cost_micros, self.machine_id)
        costs = [Posting(OPERATOR, book, PostingKind.COST, part, on or self.machine_id) for book, part, on in lines]
        return [line for line in (paid, *costs) if line.amount_micros]

    def _cost_by(self, tariff: Tariff) -> int:
        before, until = self.start_time - self.machine_start_time, self.end_time - self.machine_start_time
        return tariff.cost_micros(until) - tariff.cost_micros(before)


def split(amount: int, weights: Sequence[int]) -> Sequence[int]:
    """Parts of `amount` in proportion to `weights`, which are not negative; each is within one of its exact share.

    They sum to the amount, or are all 0 if there is no weight.
    """
    total = sum(weights)
    if total == 0:
        return [0] * len(weights)
    ends = [amount * weight // total for weight in accumulate(weights, initial=0)]
    return [end - start for start, end in pairwise(ends)]


def check_usage(usage: MachineUsage) -> MachineUsage:
    """Gives the usage back; raises InvalidFieldError with the name of a wrong field."""
    if not usage.machine_id:
        raise InvalidFieldError("machine_id", "must not be empty")
    if usage.sequence < 1:
        raise InvalidFieldError("sequence", f"must count from 1; it is {usage.sequence}")
    if usage.end_time < usage.start_time:
        raise InvalidFieldError("end_time", "must not be before start_time")
    if usage.machine_start_time > usage.start_time:
        raise InvalidFieldError("machine_start_time", "must not be after start_time")
    if not _NO_TIME <= usage.minimum_billed <= LONGEST_BILLED:
        raise InvalidFieldError("minimum_billed", f"must be from 0 to {LONGEST_BILLED}")
    if not _NO_TIME < usage.billing_increment <= LONGEST_BILLED:
        raise InvalidFieldError("billing_increment", f"must be more than 0 and at most {LONGEST_BILLED}")
    if not 0 <= usage.price_micros_per_hour <= MAX_AMOUNT_MICROS:
        raise InvalidFieldError("price_micros_per_hour", f"must be from 0 to {MAX_AMOUNT_MICROS}")
    return usage
