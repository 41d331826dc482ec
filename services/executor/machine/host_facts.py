"""Facts of the host, as its kernel reports them."""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass
from pathlib import Path

_CPUINFO = Path("/proc/cpuinfo")
_MEMINFO = Path("/proc/meminfo")
_CGROUPS = Path("/sys/fs/cgroup")
_CONTAINER_LIMITS = ("memory.max", "memory/memory.limit_in_bytes")
"""Where a container finds its own limit, by version 2 and 1 of control groups. A host has no such file, or no limit."""


@dataclass(frozen=True)
class HostFacts:
    """Facts of the host; empty and 0 stand for unknown values. In a container its memory is that of the container."""

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
        memory_mib=usable_mib(mib_of(value_of(_read(_MEMINFO), "MemTotal")), _CGROUPS),
    )


def usable_mib(total_mib: int, cgroups: Path) -> int:
    """Return the memory that we may use of the host's, where its control groups are in that folder."""
    limits = [_read(cgroups / name).strip() for name in _CONTAINER_LIMITS]
    return min([total_mib, *(int(limit) >> 20 for limit in limits if limit.isdecimal())])


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
