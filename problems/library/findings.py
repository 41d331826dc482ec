"""What the linter says."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """One fault of a problem: which check found it, and what to do about it."""

    slug: str
    check: str
    message: str

    def __str__(self) -> str:
        return f"{self.slug}: {self.check}: {self.message}"
