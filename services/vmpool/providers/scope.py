"""An optional ability of a provider: to say all that it could ever offer, so that nobody waits for anything else."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol, runtime_checkable


@dataclass(frozen=True)
class Scope:
    """All that a provider could ever offer by its settings, whatever it has now."""

    gpu_counts: tuple[int, ...]
    """GPU counts of a machine."""
    backends: tuple[str, ...] = ()
    longest_life: timedelta = timedelta(0)
    """It ends its machines after that time, which `life_setting` sets; 0: no limit."""
    life_setting: str = ""


@runtime_checkable
class Scoped(Protocol):
    """A provider that knows its scope."""

    @property
    def scope(self) -> Scope:
        """The GPU counts, the backends and the life of machines that it could ever offer."""
        ...
