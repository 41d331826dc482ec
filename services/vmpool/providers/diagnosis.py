"""An optional ability of a provider: to look for faults that keep it from making machines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable


@dataclass(frozen=True)
class ProviderFinding:
    """The result of one check; `remedy` is the advice, if there is any."""

    check: str
    """Name of the check, in a word or two."""
    ok: bool
    message: str
    remedy: str = ""


@runtime_checkable
class Diagnosable(Protocol):
    """A provider that can look for its own faults."""

    async def diagnose(self) -> Sequence[ProviderFinding]:
        """Check everything that making machines needs, and change nothing.

        A fault is a finding. If ProviderError or OSError is raised, it is reported as a finding too.
        """
        ...
