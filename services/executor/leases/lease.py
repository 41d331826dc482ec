"""Leases as the executor sees them, and the fence that keeps holders of old ones out; pure.

vmpool gives every lease of a machine a higher token than those before, and an eighth to one lease at a time. So where
a token was seen on an eighth, every lease with a lower token that has this eighth is over; and a lease that holds still
never meets a higher token on its own eighths, whatever the order in which runs arrive.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from services.executor.leases.errors import StaleLeaseError
from services.executor.leases.slot import Slot, places

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime


@dataclass(frozen=True)
class Lease:
    """The right to run here. `fencing_token` 0 is the administrator's, who needs no lease."""

    fencing_token: int
    expire_time: datetime | None
    eighths: int
    slot: Slot | None = None
    """Where the eighths lie; None if the caller did not say and there are several places."""

    def check_alive(self, now: datetime) -> None:
        """Raises StaleLeaseError once it has expired."""
        if self.expire_time is not None and self.expire_time <= now:
            raise StaleLeaseError(f"it expired at {self.expire_time.isoformat()}")

    def is_superseded_by(self, other: Lease) -> bool:
        """Whether a run of `other` shows that this lease is over."""
        if self.slot is None or other.slot is None or self.fencing_token == 0:
            return False
        return self.fencing_token < other.fencing_token and self.slot.overlaps(other.slot)


class Fence:
    """Remembers, for each eighth of one machine, the highest token that was seen on it."""

    def __init__(self, capacity_eighths: int, newest: Sequence[int] = ()) -> None:
        """`newest` is what an earlier fence of this machine remembered."""
        kept = list(newest[:capacity_eighths])
        self._newest = kept + [0] * (capacity_eighths - len(kept))

    @property
    def newest(self) -> tuple[int, ...]:
        """The highest token that was seen on each eighth."""
        return tuple(self._newest)

    def admit(self, lease: Lease) -> None:
        """Let a run of `lease` begin; raises StaleLeaseError where a newer lease shows that it is over.

        A lease that did not say where it lies is kept out only where it is over wherever that is, and keeps out nobody.
        """
        token = lease.fencing_token
        if token == 0:
            return
        possible = [lease.slot] if lease.slot else places(lease.eighths, len(self._newest))
        seen = min((max(self._newest[eighth] for eighth in slot.range) for slot in possible), default=0)
        if token < seen:
            raise StaleLeaseError(
                f"its fencing token is {token}, and {seen} was seen already on its slot; the lease has passed on"
            )
        if lease.slot is not None:
            for eighth in lease.slot.range:
                self._newest[eighth] = token
