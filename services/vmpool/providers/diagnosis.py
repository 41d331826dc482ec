"""What a provider may do beyond its duties: look for whatever keeps it from making machines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class ProviderFinding:
    """What came of looking at one thing; `remedy` says what to do, where there is something to do."""

    check: str
    """What was looked at, in a word or two."""
    ok: bool
    message: str
    remedy: str = ""


@runtime_checkable
class Diagnosable(Protocol):
    """A provider that can say what is wrong with it."""

    async def diagnose(self) -> Sequence[ProviderFinding]:
        """Look at everything that making machines needs, and change nothing.

        A fault is a finding; what is raised all the same (ProviderError, OSError) is reported as one.
        """
        ...
