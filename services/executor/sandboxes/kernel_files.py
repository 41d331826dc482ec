"""Files in which the kernel tells something: in /proc, and in control groups."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def kernel_text(file: Path | str) -> str:
    """The text of such a file; empty if it is not there (any more) or cannot be read."""
    try:
        # Several times for each order of a runner: with a buffer and a decoder it would take twice as long.
        with open(file, "rb", buffering=0) as stream:  # noqa: PTH123 - a path object would cost as much again
            return stream.read().decode(errors="replace")
    except OSError:
        return ""
