"""Policy for orphans without our token: machines that a provider has but the record does not."""

from __future__ import annotations

from enum import StrEnum


class OrphanPolicy(StrEnum):
    """Choices for a machine that costs somebody money, if nothing shows that it is ours."""

    REPORT = "report"
    """Leave it alone, and say so in the log and in a metric."""
    RELEASE = "release"
    """End it: for accounts in which nobody else uses our pool's name."""
