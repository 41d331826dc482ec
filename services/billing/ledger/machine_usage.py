"""The cost of machines to their operator, by reason, from vmpool's reports of intervals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import accumulate, pairwise

from services.billing.errors import InvalidFieldError
from services.billing.ledger.books import MAX_AMOUNT_MICROS, OPERATOR, Book, Posting, PostingKind
from vocabulary.limits import LONGEST_BILLED
from vocabulary.money import MICROSECOND, Tariff

MAX_GPUS = 1024
"""Far more than a machine has."""

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
    for field, is_right, rule in _rules(usage):
        if not is_right:
            raise InvalidFieldError(field, rule)
    return usage


def _rules(usage: MachineUsage) -> Iterator[tuple[str, bool, str]]:
    """Each rule with its field; one may count on those before it."""
    minimum, increment, price = usage.minimum_billed, usage.billing_increment, usage.price_micros_per_hour
    yield "machine_id", bool(usage.machine_id), "must not be empty"
    yield "sequence", usage.sequence >= 1, f"must count from 1; it is {usage.sequence}"
    yield "gpu_count", 0 <= usage.gpu_count <= MAX_GPUS, f"must be from 0 to {MAX_GPUS}; it is {usage.gpu_count}"
    yield "end_time", usage.end_time >= usage.start_time, "must not be before start_time"
    length = usage.end_time - usage.start_time
    yield "end_time", length <= LONGEST_BILLED, f"must be at most {LONGEST_BILLED} after start_time"
    yield "machine_start_time", usage.machine_start_time <= usage.start_time, "must not be after start_time"
    yield "minimum_billed", _NO_TIME <= minimum <= LONGEST_BILLED, f"must be from 0 to {LONGEST_BILLED}"
    rule = f"must be more than 0 and at most {LONGEST_BILLED}"
    yield "billing_increment", _NO_TIME < increment <= LONGEST_BILLED, rule
    yield "price_micros_per_hour", 0 <= price <= MAX_AMOUNT_MICROS, f"must be from 0 to {MAX_AMOUNT_MICROS}"
    rule = f"makes the interval cost more than {MAX_AMOUNT_MICROS} micro-dollars"
    yield "price_micros_per_hour", usage.cost_micros <= MAX_AMOUNT_MICROS, rule
