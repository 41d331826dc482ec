"""How busy a machine is, at a heartbeat and on average."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Self


@dataclass(frozen=True)
class Load:
    """Shares from 0 to 1 at a heartbeat; None for what the machine does not report.

    `leased_share` is the share of its GPUs' eighths that jobs hold.
    """

    cpu_share: float | None = None
    memory_share: float | None = None
    gpu_share: float | None = None
    leased_share: float | None = None


_SHARES = tuple(one.name for one in fields(Load))


@dataclass
class Sums:
    """The sum and the number of each share since `start`."""

    start: datetime
    sums: dict[str, float] = field(default_factory=dict[str, float])
    counts: dict[str, int] = field(default_factory=dict[str, int])

    def add(self, load: Load) -> None:
        """Add the shares of a heartbeat that it reports."""
        for name in _SHARES:
            share = getattr(load, name)
            if share is not None:
                self.sums[name] = self.sums.get(name, 0.0) + share
                self.counts[name] = self.counts.get(name, 0) + 1


@dataclass(frozen=True)
class MeanLoad:
    """A machine's mean shares; None for what it did not report. The names are those of Load."""

    cpu_share: float | None = None
    memory_share: float | None = None
    gpu_share: float | None = None
    leased_share: float | None = None

    @classmethod
    def of(cls, recent: Iterable[Sums], within: Iterable[Sums]) -> Self:
        """Processors and memory of the recent sums, GPUs and leases of those within the window."""
        recent, within = list(recent), list(within)
        return cls(
            _mean(recent, "cpu_share"),
            _mean(recent, "memory_share"),
            _mean(within, "gpu_share"),
            _mean(within, "leased_share"),
        )


def _mean(sums: Iterable[Sums], name: str) -> float | None:
    found = [(one.sums[name], one.counts[name]) for one in sums if name in one.counts]
    count = sum(number for _, number in found)
    return min(1.0, max(0.0, sum(total for total, _ in found) / count)) if count else None
