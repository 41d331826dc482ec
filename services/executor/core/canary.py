"""The program that runs between two strangers' runs; see `canary.hip`. It is an ordinary job of the sandbox mode."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from services.executor.core.job import CoreJob, Mode

if TYPE_CHECKING:
    from services.executor.devices.device import DeviceDescription

# The memory of the cpu device and of simulated ones is the host's own, which the kernel hands out cleared: some of it
# is enough to prove that memory works.
_CPU_SCRUB_BYTES = 8 << 20


def canary_job(device: DeviceDescription) -> CoreJob:
    """The job for `device`; healthy ones end it with ACCEPTED."""
    source = Path(__file__).with_name("canary.hip").read_text("utf-8")
    bound = "" if device.has_own_memory else f"#define SCRUB_BYTES {_CPU_SCRUB_BYTES}\n"
    return CoreJob(f"{bound}{source}", Mode.SANDBOX)
