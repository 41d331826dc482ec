"""Lengths of time as people type them: `30d`, `12h`, `90m`, `45s`."""

from __future__ import annotations

import re

from wavepool_client.errors import InputError

SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 7 * 86_400}
_LENGTH = re.compile(r"(\d{1,9})([smhdw])")


def lifetime_seconds(text: str) -> int:
    """Seconds of a length of time; raises InputError if it is none, or not positive."""
    found = _LENGTH.fullmatch(text.strip().casefold())
    if found is None or int(found[1]) == 0:
        raise InputError(f"--lifetime: {text[:40]!r} is not a length of time; give one such as 45m, 12h, 30d or 52w")
    return int(found[1]) * SECONDS[found[2]]
