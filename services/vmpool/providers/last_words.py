"""The end of what an executor printed, which says why it ended."""

from __future__ import annotations

LAST_LOG_LINES = 2


def last_words(printed: bytes) -> str:
    """The last lines that are not empty, on one; empty where there are none."""
    lines = [line.strip() for line in printed.decode(errors="replace").splitlines() if line.strip()]
    return " | ".join(lines[-LAST_LOG_LINES:])
