"""What becomes of machines that a provider has, the record has not, and our token does not open."""

from __future__ import annotations

from enum import StrEnum


class StrangerPolicy(StrEnum):
    """They cost somebody money, and nothing shows that it is us."""

    REPORT = "report"
    """Leave them alone, and say so in the log and in a metric."""
    RELEASE = "release"
    """End them: for accounts that nobody else uses under our pool's name."""
