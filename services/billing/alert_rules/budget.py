"""Decides when an account's spending deserves a warning."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from services.billing.ledger.books import Balance


class AlertChange(StrEnum):
    """Effect of a movement of credit on an account's alert."""

    NONE = "none"
    FIRE = "fire"
    REARM = "rearm"
    """Credit was added, so the share spent is below the threshold again and the next crossing will be announced."""


@dataclass(frozen=True)
class Budget:
    """A share of the granted credit, in thousandths; when it is spent, that is announced once."""

    threshold_permille: int

    def is_exceeded(self, balance: Balance) -> bool:
        """True if the charged credit has reached the threshold. Holds do not count: most of a hold comes back."""
        spent = balance.charged_micros * 1000
        return spent > 0 and spent >= balance.granted_micros * self.threshold_permille

    def alert_change(self, balance: Balance, *, fired: bool) -> AlertChange:
        """Says if the alert fires now, is armed again, or stays as it is."""
        exceeded = self.is_exceeded(balance)
        if exceeded and not fired:
            return AlertChange.FIRE
        if fired and not exceeded:
            return AlertChange.REARM
        return AlertChange.NONE
