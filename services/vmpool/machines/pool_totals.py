"""Sums over machines and leases that the record has forgotten."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True)
class PoolTotals:
    """Sums over forgotten machines, and over forgotten leases by their kind of start."""

    machines: int = 0
    idle: timedelta = timedelta(0)
    cost_micros: int = 0
    cold_starts: int = 0
    warm_reuses: int = 0
