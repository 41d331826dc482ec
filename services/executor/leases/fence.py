"""The fence that keeps holders of old leases out; pure.

vmpool gives every lease of a machine a higher token than those before, and an eighth to one lease at a time. So if a
token was seen on an eighth, every lease with a lower token that has this eighth is over. A lease that is still held
never meets a higher token on its own eighths, whatever the order in which runs arrive.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.executor.leases.errors import StaleLeaseError
from services.executor.leases.slot import places

if TYPE_CHECKING:
    from collections.abc import Sequence

    from services.executor.leases.lease import Lease


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
