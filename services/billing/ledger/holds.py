"""Holds: credit put aside for work whose price is not known yet.

    OPEN ──> SETTLED   charged for the last time, and the rest given back
    OPEN ──> EXPIRED   its time ran out, and the rest was given back

While it is open a hold can be extended, and charged in parts. All its charges together never exceed it: a hold is the
most that its owner agreed to pay. What the work cost beyond it is the operator's (docs/decisions/0019-ledger.md).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum

from services.billing.errors import HoldExpiredError, HoldSettledError, InvalidFieldError
from services.billing.ledger.books import MAX_AMOUNT_MICROS
from vocabulary.money import Tariff
from vocabulary.names import known_name


class HoldState(StrEnum):
    """A hold's state."""

    OPEN = "open"
    SETTLED = "settled"
    EXPIRED = "expired"


LEGAL_MOVES: Mapping[HoldState, frozenset[HoldState]] = {
    HoldState.OPEN: frozenset({HoldState.SETTLED, HoldState.EXPIRED}),
    HoldState.SETTLED: frozenset(),
    HoldState.EXPIRED: frozenset(),
}


@dataclass(frozen=True)
class Purpose:
    """The use of a hold, for statements and budgets: a job or reservation, whose it is, and what it asks for."""

    subject: str = ""
    user_id: str = ""
    queue: str = ""
    problem: str = ""
    gpu_type: str = ""


NO_PURPOSE = Purpose()


@dataclass(frozen=True)
class Hold:
    """Credit put aside. `amount_micros` includes extensions, `charged_micros` is the part that was charged.

    `billed` is the time that was charged by parts: the price's minimum and increment count once for all of them, and so
    does rounding, because a part costs what the time costs with it less what it costs without it.
    `tariffs` has the price of one GPU of each type that the work may run on, as it was when the hold was made: a later
    price never changes it.
    """

    hold_id: str
    account_id: str
    amount_micros: int
    charged_micros: int = 0
    refunded_micros: int = 0
    billed: timedelta = timedelta(0)
    state: HoldState = HoldState.OPEN
    expire_time: datetime | None = None
    tariffs: Mapping[str, Tariff] = field(default_factory=dict[str, Tariff])
    purpose: Purpose = NO_PURPOSE

    @property
    def remaining_micros(self) -> int:
        """Credit that it still holds."""
        return self.amount_micros - self.charged_micros if self.state is HoldState.OPEN else 0

    def gpu_type_of(self, gpu_type: str) -> str:
        """A GPU type as the hold spells it; raises InvalidFieldError if it has no price for it."""
        known = known_name(gpu_type, list(self.tariffs))
        if not known:
            has = ", ".join(self.tariffs) or "none"
            raise InvalidFieldError("gpu_type", f"the hold has no price for {gpu_type!r}; it has: {has}")
        return known

    def used_on(self, gpu_type: str) -> Hold:
        """The hold with the GPU type that the work got, which may be another than it asked for."""
        return replace(self, purpose=replace(self.purpose, gpu_type=self.gpu_type_of(gpu_type)))

    def price_of(self, billable: timedelta, gpu_type: str, gpus: int = 0) -> int:
        """Micro-dollars for `billable` time more on a GPU of this type; raises InvalidFieldError without a price.

        Work that takes a range of GPUs pays for as many as it got; `gpus` 0: for all that the hold is for.
        """
        if not billable:
            return 0
        tariff = self.tariffs[self.gpu_type_of(gpu_type)]
        if gpus and not 1 <= gpus <= tariff.gpus:
            raise InvalidFieldError("gpu_count", f"is {gpus}; the hold is for {tariff.gpus}, give 1 to as many, or 0")
        tariff = replace(tariff, gpus=gpus or tariff.gpus)
        return tariff.cost_micros(self.billed + billable) - tariff.cost_micros(self.billed)

    def unbilled(self, total: timedelta) -> timedelta:
        """What parts have not charged yet of the time that the work took so far; zero if that is known already."""
        return max(timedelta(0), total - self.billed)

    def missing_for(self, longest: timedelta) -> int:
        """Micro-dollars to add, so that it pays for the longest time on each GPU type; raises InvalidFieldError."""
        if not self.tariffs:
            raise InvalidFieldError("longest_time", "the hold has no prices; give amount_micros")
        return max(0, max(tariff.cost_micros(longest) for tariff in self.tariffs.values()) - self.amount_micros)

    def extend(self, amount_micros: int, expire_time: datetime | None) -> Hold:
        """Put more aside, and move its end if `expire_time` is given. Raises HoldSettledError, HoldExpiredError."""
        self._check_open()
        if self.amount_micros + amount_micros > MAX_AMOUNT_MICROS:
            raise InvalidFieldError("amount_micros", f"would make the hold larger than {MAX_AMOUNT_MICROS}")
        return replace(
            self, amount_micros=self.amount_micros + amount_micros, expire_time=expire_time or self.expire_time
        )

    def charge(self, amount_micros: int, *, final: bool, billable: timedelta = timedelta(0)) -> Hold:
        """Charge a part, at most what remains; `final` settles it. Raises HoldSettledError, HoldExpiredError."""
        self._check_open()
        charged = self.charged_micros + min(amount_micros, self.remaining_micros)
        state = HoldState.SETTLED if final else HoldState.OPEN
        # A last charge that is repeated must get the same price again.
        billed = self.billed if final else self.billed + billable
        return replace(self, charged_micros=charged, billed=billed, state=state)

    def expire(self) -> Hold:
        """End it without another charge. Raises HoldSettledError, HoldExpiredError."""
        self._check_open()
        return replace(self, state=HoldState.EXPIRED)

    def refund(self, amount_micros: int) -> Hold:
        """Give a charge back, in whole or in part; raises InvalidFieldError if it is more than was charged."""
        most = self.charged_micros - self.refunded_micros
        if not 0 < amount_micros <= most:
            raise InvalidFieldError("amount_micros", f"must be from 1 to {most}, what is charged and not refunded yet")
        return replace(self, refunded_micros=self.refunded_micros + amount_micros)

    def _check_open(self) -> None:
        if self.state is HoldState.SETTLED:
            raise HoldSettledError(self.hold_id, self.charged_micros)
        if self.state is HoldState.EXPIRED:
            raise HoldExpiredError(self.hold_id)
