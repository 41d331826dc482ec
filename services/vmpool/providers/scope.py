"""An optional ability of a provider: to say all that it could ever offer, so that nobody waits for anything else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable


@dataclass(frozen=True)
class Scope:
    """All that a provider could ever offer by its settings, whatever it has now."""

    gpu_counts: tuple[int, ...]
    """GPU counts of a machine."""
    backends: tuple[str, ...] = ()


@runtime_checkable
class Scoped(Protocol):
    """A provider that knows its scope."""

    @property
    def scope(self) -> Scope:
        """The GPU counts and the backends that it could ever offer."""
        ...
