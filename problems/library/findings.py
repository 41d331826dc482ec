"""Findings of the linter."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """One fault of a problem: the check that found it, and the fault with its fix."""

    slug: str
    check: str
    message: str

    def __str__(self) -> str:
        return f"{self.slug}: {self.check}: {self.message}"
