"""Facts of the host, as its kernel reports them."""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass
from pathlib import Path

_CPUINFO = Path("/proc/cpuinfo")
_MEMINFO = Path("/proc/meminfo")


@dataclass(frozen=True)
class HostFacts:
    """Facts of the host; empty and 0 stand for unknown values."""

    kernel: str
    operating_system: str
    processor: str
    cpu_count: int
    memory_mib: int


def read_host() -> HostFacts:
    """Read the host's processors, memory and kernel now."""
    return HostFacts(
        kernel=f"{platform.system()} {platform.release()}",
        operating_system=_operating_system(),
        processor=value_of(_read(_CPUINFO), "model name"),
        cpu_count=len(os.sched_getaffinity(0)),
        memory_mib=mib_of(value_of(_read(_MEMINFO), "MemTotal")),
    )


def value_of(text: str, name: str) -> str:
    """Return the value of the first line `name: value`, or an empty string."""
    for line in text.splitlines():
        key, _, value = line.partition(":")
        if key.strip() == name:
            return value.strip()
    return ""


def mib_of(text: str) -> int:
    """Return the MiB in the kernel's `12345 kB`; 0 for any other text."""
    number, _, unit = text.partition(" ")
    return int(number) >> 10 if number.isdecimal() and unit == "kB" else 0


def _operating_system() -> str:
    try:
        return platform.freedesktop_os_release().get("PRETTY_NAME", "")
    except OSError:
        return ""


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""
