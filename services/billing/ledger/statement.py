"""An account's statement: what it was given and charged in a period, and for what."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from services.billing.ledger.books import PostingKind
from services.billing.ledger.holds import NO_PURPOSE, Purpose

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime


@dataclass(frozen=True)
class StatementLine:
    """A movement of credit; added is positive, spent is negative."""

    time: datetime
    kind: PostingKind
    amount_micros: int
    description: str
    reason: str = ""
    purpose: Purpose = NO_PURPOSE


@dataclass(frozen=True)
class Usage:
    """Charges less refunds, in micro-dollars, and the number of works that they were for."""

    charged_micros: int
    works: int


@dataclass(frozen=True)
class Statement:
    """A period of an account: opening + the sum of all lines = closing. Credit on hold is not spent."""

    account_id: str
    account_name: str
    opening_micros: int
    closing_micros: int
    held_micros: int
    lines: Sequence[StatementLine]

    def usage_by(self, key: Callable[[StatementLine], str]) -> Mapping[str, Usage]:
        """Charges less refunds by `key`, such as a line's day or problem, sorted."""
        micros: Counter[str] = Counter()
        works: dict[str, set[str]] = {}
        for line in self.lines:
            if line.kind in {PostingKind.CHARGE, PostingKind.REFUND}:
                micros[key(line)] -= line.amount_micros
                works.setdefault(key(line), set()).add(line.purpose.subject)
        return {name: Usage(micros[name], len(works[name])) for name in sorted(works)}
