"""The result of one check of a device."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class DeviceFinding:
    """The result of a check; `remedy` says what to do, if anything can be done."""

    check: str
    """Subject of the check, in a few words."""
    ok: bool
    message: str
    remedy: str = ""
    hinders: bool = True
    """True if nothing runs on the device until this is fixed; otherwise it is a mere warning."""
