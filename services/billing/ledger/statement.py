"""An account's statement: what it was given and charged in a period, and for what."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from services.billing.ledger.books import PostingKind
from services.billing.ledger.holds import NO_PURPOSE, Purpose


@dataclass(frozen=True)
class StatementLine:
    """A movement of credit, or all charges of one hold; added is positive, spent is negative.

    `start_time` and `time` are those of the first and of the last charge: work that is charged in parts has several.
    `seq` is the number of the last one's transaction.
    """

    time: datetime
    kind: PostingKind
    amount_micros: int
    description: str
    reason: str = ""
    purpose: Purpose = NO_PURPOSE
    hold_id: str = ""
    start_time: datetime | None = None
    seq: int = 0


@dataclass(frozen=True)
class Usage:
    """Charges less refunds, in micro-dollars, and the number of works that they were for."""

    charged_micros: int
    works: int


@dataclass(frozen=True)
class Statement:
    """A period of an account: opening + the sum of all lines = closing. Credit on hold is not spent.

    `daily` has a line for the charges of each hold on each day, and `lines` one for each hold.
    """

    account_id: str
    account_name: str
    opening_micros: int
    closing_micros: int
    held_micros: int
    daily: Sequence[StatementLine]

    @property
    def lines(self) -> Sequence[StatementLine]:
        """The lines in the order of their last movement: charges of one hold together, other movements as they are."""
        charges: dict[str, StatementLine] = {}
        others: list[StatementLine] = []
        for line in self.daily:
            if line.kind is not PostingKind.CHARGE or not line.hold_id:
                others.append(line)
                continue
            # Days come in their order, so the last one has the last words about the work.
            earlier = charges.get(line.hold_id, replace(line, amount_micros=0))
            amount = earlier.amount_micros + line.amount_micros
            charges[line.hold_id] = replace(line, amount_micros=amount, start_time=earlier.start_time)
        return sorted([*others, *charges.values()], key=lambda line: line.seq)

    def usage_by(self, key: Callable[[StatementLine], str]) -> Mapping[str, Usage]:
        """Charges less refunds by `key`, such as a line's day or problem, sorted."""
        micros: Counter[str] = Counter()
        works: dict[str, set[str]] = {}
        for line in self.daily:
            if line.kind in {PostingKind.CHARGE, PostingKind.REFUND}:
                micros[key(line)] -= line.amount_micros
                works.setdefault(key(line), set()).add(line.purpose.subject)
        return {name: Usage(micros[name], len(works[name])) for name in sorted(works)}
