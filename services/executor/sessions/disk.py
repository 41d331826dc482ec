"""How much of the machine's disk sessions may use, when they are warned, and which one ends if it runs short; pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

_STEPS = (100, 90)
"""Percent of its share at which a session's users are told."""
_RESTED = 80
"""Below this percentage, they will be told again."""
_GIB = 1 << 30


@dataclass(frozen=True)
class DiskRules:
    """A session's share for each of its GPUs, and what no session may take; both in bytes."""

    bytes_per_gpu: int
    reserve_bytes: int

    def share(self, gpus: int, free_bytes: int) -> int:
        """Return the share of a session that begins, in bytes: at most what is free beyond the reserve."""
        return max(0, min(self.bytes_per_gpu * gpus, free_bytes - self.reserve_bytes))


@dataclass(frozen=True)
class DiskUse:
    """What a session has written that still takes room, and its share; both in bytes."""

    used_bytes: int
    share_bytes: int

    @property
    def percent(self) -> int:
        """Used part of the share."""
        return self.used_bytes * 100 // max(self.share_bytes, 1)

    @property
    def words(self) -> str:
        """Both amounts, for people."""
        return f"{self.used_bytes / _GIB:.3g} GiB of its {self.share_bytes / _GIB:.3g} GiB of the disk"

    def step_after(self, told: int) -> int:
        """Return the last step that was told, or the one to tell now; 0 once the use has gone well below all."""
        if self.percent < _RESTED:
            return 0
        return max(told, next((step for step in _STEPS if self.percent >= step), 0))


def session_to_end(uses: Mapping[str, DiskUse], reserve_bytes: int) -> str | None:
    """Return which session ends because the disk runs short: the one that is furthest above its share.

    If none is above it, the one with the largest part of its own. Sessions within their share that use less than the
    reserve are spared: something else fills the disk.
    """
    able = {
        name: use for name, use in uses.items() if use.used_bytes > use.share_bytes or use.used_bytes >= reserve_bytes
    }
    excess = {name: (use.used_bytes - use.share_bytes, use.percent) for name, use in able.items()}
    over = {name: key for name, key in excess.items() if key[0] > 0}
    return max(over or able, key=lambda name: (over.get(name, (0, 0)), able[name].percent), default=None)
