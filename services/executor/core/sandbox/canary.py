"""The canary, a program that runs between two runs; see `canary.hip`. It is an ordinary job of the sandbox mode."""

from __future__ import annotations

from pathlib import Path

from services.executor.core.model.job import CoreJob
from services.executor.devices.device import DeviceDescription
from submissions.modes import Mode

# The memory of the cpu device and of simulated ones is the host's own, which the kernel hands out cleared: a small part
# is enough to prove that memory works.
_CPU_SCRUB_BYTES = 8 << 20


_LEAST_FREE_PERCENT = 90
"""The share of free memory on a device without a run; the canary leaves out the memory of runtimes and drivers."""


def canary_job(device: DeviceDescription, *, is_shared: bool = False) -> CoreJob:
    """The canary job for `device`; a healthy device ends it with ACCEPTED.

    If runs share a device, others may be on it meanwhile, and hold any part of its memory.
    """
    bound = "" if device.has_own_memory else f"#define SCRUB_BYTES {_CPU_SCRUB_BYTES}\n"
    return CoreJob(f"{bound}{_source(0 if is_shared else _LEAST_FREE_PERCENT)}", Mode.SANDBOX)


def memory_probe() -> str:
    """The canary as a program that overwrites nothing; it ends well if the device's memory is free for a run."""
    return f"#define SCRUB_BYTES 0\n{_source(_LEAST_FREE_PERCENT)}"


def _source(least_free_percent: int) -> str:
    text = Path(__file__).with_name("canary.hip").read_text("utf-8")
    return f"#define LEAST_FREE_PERCENT {least_free_percent}\n{text}"
