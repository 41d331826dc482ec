"""Checks a GPU device for submissions: `python -m services.executor.devices.checkup rocm`.

It also checks whether the host has the memory that a run may take, and whether an image for the GPU could be pulled
here; a machine needs the latter only if it is to run one.

Prints the findings as a JSON list; `wavepool doctor` shows them.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from contextlib import redirect_stdout
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from servicekit.storage import IMAGE_GB
from services.executor.devices.finding import DeviceFinding

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Check = Callable[[], Sequence[DeviceFinding]]

GB = 10**9
GIB = 2**30
RUN_GIB = 58
"""Largest use of the host's memory seen in a run at GPU sizes (docs/operations.md)."""
IMAGES = Path("/var/lib/docker")
"""Docker's folder for images unless `data-root` names another."""


def _checks(device: str) -> Check:
    """Return the checks of a device, which are imported only here; raises ValueError."""
    if device == "rocm":
        from services.executor.devices.rocm.checkup import RocmCheckup  # noqa: PLC0415  another device's may be missing

        return RocmCheckup().findings
    if device == "nvidia":
        from services.executor.devices.nvidia.checkup import NvidiaCheckup  # noqa: PLC0415

        return NvidiaCheckup().findings
    raise ValueError(f"{device!r} is not valid; choose rocm or nvidia")


def room_for_image(images: Path = IMAGES, needed_gb: int = IMAGE_GB) -> DeviceFinding:
    """Check that the disk with the images has room for one with ROCm or CUDA."""
    place = next(folder for folder in (images, *images.parents) if folder.exists())
    free_gb = shutil.disk_usage(place).free // GB
    if free_gb >= needed_gb:
        return DeviceFinding("image", ok=True, message=f"{free_gb} GB free for one at {place}")
    return DeviceFinding(
        "image",
        ok=False,
        message=f"{free_gb} GB free at {place}, and pulling an image with ROCm or CUDA takes up to {needed_gb} GB",
        remedy=(
            f"to run the executor from an image, free {needed_gb} GB there, or name a folder of a larger disk as"
            " `data-root` in /etc/docker/daemon.json; without an image nothing is amiss"
        ),
        hinders=False,
    )


def memory_for_a_run(total_bytes: int, needed_gib: int = RUN_GIB) -> DeviceFinding:
    """Check that a host with this much memory has enough for one run."""
    if total_bytes >= needed_gib * GIB:
        return DeviceFinding(
            "host memory", ok=True, message=f"{total_bytes // GIB} GiB; a run takes up to {needed_gib}"
        )
    return DeviceFinding(
        "host memory",
        ok=False,
        message=f"{total_bytes // GIB} GiB, and a run of a large problem takes up to {needed_gib} GiB",
        remedy="use a host with 64 GiB for each run at once; most problems take less",
        hinders=False,
    )


def main(arguments: Sequence[str]) -> int:
    """Check the named device and print the findings; returns the exit status."""
    try:
        # amdsmi prints messages about things that it does not find.
        with redirect_stdout(sys.stderr):
            total_bytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
            findings = [*_checks(" ".join(arguments))(), memory_for_a_run(total_bytes), room_for_image()]
    except ValueError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    sys.stdout.write(json.dumps([asdict(finding) for finding in findings]) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
