"""The fence that refuses holders of old leases; pure.

vmpool gives each lease of a machine a higher token than those before, and leases an eighth to one holder at a time. So
if a token was seen on an eighth, every lease of this eighth with a lower token is over. A lease that is still held
never meets a higher token on its own eighths, whatever order runs arrive in.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from services.executor.leases.errors import StaleLeaseError
from services.executor.leases.lease import Lease
from services.executor.leases.slot import Slot, places


class Fence:
    """Remembers the highest token that was seen on each eighth of one machine."""

    def __init__(self, capacity_eighths: int, newest: Sequence[int] = ()) -> None:
        """Start from `newest`, the tokens that an earlier fence of this machine remembered."""
        kept = list(newest[:capacity_eighths])
        self._newest = kept + [0] * (capacity_eighths - len(kept))

    @property
    def newest(self) -> tuple[int, ...]:
        """The highest token seen on each eighth."""
        return tuple(self._newest)

    def admit(self, lease: Lease) -> None:
        """Let a run of `lease` begin; raises StaleLeaseError if a newer lease shows that it is over.

        A lease without slots is refused only if it would be over in every possible slot, and it makes no other lease
        stale.
        """
        token = lease.fencing_token
        if token == 0:
            return
        possible = [lease.slots] if lease.slots else [(slot,) for slot in places(lease.eighths, len(self._newest))]
        seen = min((max(map(self._newest.__getitem__, _eighths(slots))) for slots in possible), default=0)
        if token < seen:
            raise StaleLeaseError(
                f"its fencing token is {token}, and {seen} was seen already on its slot; the lease has passed on"
            )
        for eighth in _eighths(lease.slots):
            self._newest[eighth] = token


def _eighths(slots: Sequence[Slot]) -> Iterator[int]:
    return (eighth for slot in slots for eighth in slot.range)
