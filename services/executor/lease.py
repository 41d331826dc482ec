"""Leases as the executor sees them, and the fence that keeps holders of old ones out; pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from services.executor.errors import StaleLeaseError

if TYPE_CHECKING:
    from datetime import datetime

EIGHTHS_OF_A_GPU = 8
"""The unit in which parts of a GPU are leased: an MI300X has eight dies."""


@dataclass(frozen=True)
class Lease:
    """The right to run here. `fencing_token` 0 is the administrator's, who needs no lease; `eighths` are of one GPU."""

    fencing_token: int
    expire_time: datetime | None
    eighths: int

    def check_alive(self, now: datetime) -> None:
        """Raises StaleLeaseError once it has expired."""
        if self.expire_time is not None and self.expire_time <= now:
            raise StaleLeaseError(f"it expired at {self.expire_time.isoformat()}")


class Fence:
    """Remembers the newest leases of one machine.

    Parts of a machine are leased side by side, and their runs may arrive in any order. But a lease of the whole
    machine is only given out when every older lease is over, so nothing older may follow it, and it may not follow
    anything newer.
    """

    def __init__(self, capacity_eighths: int) -> None:
        self._capacity_eighths = capacity_eighths
        self._newest = 0
        self._newest_whole = 0

    def is_whole(self, lease: Lease) -> bool:
        """Whether the lease is for all of the machine."""
        return lease.eighths >= self._capacity_eighths

    def admit(self, lease: Lease) -> None:
        """Let a run of `lease` begin; raises StaleLeaseError where a newer lease shows that it is over."""
        token = lease.fencing_token
        if token == 0:
            return
        newer = self._newest if self.is_whole(lease) else self._newest_whole
        if token < newer:
            raise StaleLeaseError(f"its fencing token is {token}, and {newer} was seen already")
        self._newest = max(self._newest, token)
        if self.is_whole(lease):
            self._newest_whole = max(self._newest_whole, token)
