"""The limits per process that the kernel enforces, as (RLIMIT_…, soft, hard)."""

from __future__ import annotations

import math
import resource

from services.executor.sandboxes.sandbox import Limits

_OPEN_FILES = 1024
# The kernel counts CPU time in whole seconds and per process. It is the backstop of the finer watchdog.
_SPARE_CPU_SECONDS = 1


def kernel_limits(limits: Limits) -> list[tuple[int, int, int]]:
    """Return all limits except the number of processes, as the kernel counts those differently in each sandbox."""
    cpu_seconds = math.ceil(limits.cpu.total_seconds()) + _SPARE_CPU_SECONDS
    file_bytes = limits.file_mib << 20
    return [
        (resource.RLIMIT_CPU, cpu_seconds, cpu_seconds + 1),
        (resource.RLIMIT_FSIZE, file_bytes, file_bytes),
        (resource.RLIMIT_NOFILE, _OPEN_FILES, _OPEN_FILES),
        (resource.RLIMIT_CORE, 0, 0),
    ]
