"""Reads the kernel's text files in /proc and in control groups."""

from __future__ import annotations

from pathlib import Path


def kernel_text(file: Path | str) -> str:
    """Return the text of a kernel file; empty if it does not exist or cannot be read."""
    try:
        # Called several times per order of a runner; a buffer and a decoder would double the time.
        with open(file, "rb", buffering=0) as stream:  # noqa: PTH123 - a path object would cost as much again
            return stream.read().decode(errors="replace")
    except OSError:
        return ""
