"""What came of looking at one thing that a device needs."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class DeviceFinding:
    """An answer; `remedy` says what to do, if there is something to do."""

    check: str
    """What was looked at, in a word."""
    ok: bool
    message: str
    remedy: str = ""
    hinders: bool = True
    """Whether nothing runs on the device until it is mended; else it is worth knowing."""
