"""A lease as the executor sees it; pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from services.executor.leases.errors import StaleLeaseError
from services.executor.leases.slot import Slot, overlap


@dataclass(frozen=True)
class Lease:
    """The right to run here. `fencing_token` 0 belongs to the administrator, who needs no lease."""

    fencing_token: int
    expire_time: datetime | None
    eighths: int
    slots: tuple[Slot, ...] = ()
    """Slots of the eighths; empty if the caller gave none and several are possible."""

    def check_alive(self, now: datetime) -> None:
        """Raise StaleLeaseError if the lease has expired."""
        if self.expire_time is not None and self.expire_time <= now:
            raise StaleLeaseError(f"it expired at {self.expire_time.isoformat()}")

    def check_token(self, fencing_token: int) -> None:
        """Raise StaleLeaseError if `fencing_token` is older than this lease's; the administrator's 0 never is."""
        if 0 < fencing_token < self.fencing_token:
            raise StaleLeaseError(f"its fencing token is {fencing_token}, and {self.fencing_token} holds the slot")

    def is_superseded_by(self, other: Lease) -> bool:
        """True if a run of `other` shows that this lease is over."""
        return 0 < self.fencing_token < other.fencing_token and overlap(self.slots, other.slots)
