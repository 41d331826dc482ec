"""What becomes of an orphan that our token does not open: a machine that a provider has and the record does not."""

from __future__ import annotations

from enum import StrEnum


class OrphanPolicy(StrEnum):
    """They cost somebody money, and nothing shows that it is us."""

    REPORT = "report"
    """Leave them alone, and say so in the log and in a metric."""
    RELEASE = "release"
    """End them: for accounts that nobody else uses under our pool's name."""
