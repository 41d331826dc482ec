"""Amounts of memory and processors as people write them for containers."""

from __future__ import annotations

import re

LEAST_MEMORY_MIB, MOST_MEMORY_TIB = 256, 16
"""A runner with its channel fits in the least amount; no machine has the most."""
LEAST_CORES, MOST_CORES = 0.1, 1024.0
_UNITS = {"": 1, "b": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
_MEMORY = re.compile(r"(\d+(?:\.\d+)?) ?([bkmgt]?)(?:i?b)?", re.IGNORECASE)
_CORES = re.compile(r"\d+(?:\.\d+)?")


def mib_of(text: str) -> int:
    """MiB of an amount of memory such as `16g`, `16GB` or `512m` (powers of 1024, like Docker); raises ValueError."""
    found = _MEMORY.fullmatch(text.strip())
    mib = int(float(found[1]) * _UNITS[found[2].lower()]) >> 20 if found else 0
    if not LEAST_MEMORY_MIB <= mib <= MOST_MEMORY_TIB << 20:
        raise ValueError(
            f"must be an amount of memory with its unit, such as 16g, 16GB or 512m, from {LEAST_MEMORY_MIB}m to "
            f"{MOST_MEMORY_TIB}t; it is {text!r}"
        )
    return mib


def mib_setting(value: object) -> int:
    """MiB of a setting: a number is its default, and a text is as `mib_of` reads it; raises ValueError."""
    return value if isinstance(value, int) else mib_of(str(value))


def cores_of(text: str) -> float:
    """Number of processors from text such as `4` or `2.5`; raises ValueError."""
    cores = float(text) if _CORES.fullmatch(text.strip()) else 0.0
    if not LEAST_CORES <= cores <= MOST_CORES:
        raise ValueError(
            f"must be a number of processors from {LEAST_CORES:g} to {MOST_CORES:g}, such as 4 or 2.5; it is {text!r}"
        )
    return cores
