"""What a provider may tell beyond its duties: all that it could ever have, so that nobody waits for anything else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable


@dataclass(frozen=True)
class Scope:
    """By the provider's settings, whatever can be had of it now."""

    gpu_counts: tuple[int, ...]
    """GPUs of a machine."""
    backends: tuple[str, ...] = ()


@runtime_checkable
class Scoped(Protocol):
    """A provider that knows its scope."""

    @property
    def scope(self) -> Scope:
        """The numbers of GPUs and the backends that it could ever offer."""
        ...
