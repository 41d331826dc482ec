"""When an account's spending deserves a warning."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from services.billing.ledger import Balance


class AlertChange(StrEnum):
    """What a movement of credit does to an account's alert."""

    NONE = "none"
    FIRE = "fire"
    REARM = "rearm"
    """Credit was added and the share spent is below the threshold again: the next crossing is news."""


@dataclass(frozen=True)
class Budget:
    """The share of the granted credit, in thousandths, whose spending is announced once."""

    threshold_permille: int

    def is_exceeded(self, balance: Balance) -> bool:
        """Charged credit has reached the threshold. Holds do not count: most of a hold comes back."""
        spent = balance.charged_micros * 1000
        return spent > 0 and spent >= balance.granted_micros * self.threshold_permille

    def alert_change(self, balance: Balance, *, fired: bool) -> AlertChange:
        """Whether the alert fires now, is armed again, or stays as it is."""
        exceeded = self.is_exceeded(balance)
        if exceeded and not fired:
            return AlertChange.FIRE
        if fired and not exceeded:
            return AlertChange.REARM
        return AlertChange.NONE
