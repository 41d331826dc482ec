"""What keeps a GPU of this machine from running submissions: `python -m services.executor.devices.checkup rocm`.

Also whether an image for it could be pulled here, which a machine needs only if it is to run one.

Prints the findings as a JSON list; `wavepool doctor` shows them.
"""

from __future__ import annotations

import json
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
IMAGES = Path("/var/lib/docker")
"""Where Docker keeps images unless `data-root` says otherwise."""


def _checks(device: str) -> Check:
    """The checks of a device, imported only now; raises ValueError."""
    if device == "rocm":
        from services.executor.devices.rocm.checkup import RocmCheckup  # noqa: PLC0415  another device's may be missing

        return RocmCheckup().findings
    if device == "nvidia":
        from services.executor.devices.nvidia.checkup import NvidiaCheckup  # noqa: PLC0415

        return NvidiaCheckup().findings
    raise ValueError(f"{device!r} is none of rocm, nvidia")


def room_for_image(images: Path = IMAGES, needed_gb: int = IMAGE_GB) -> DeviceFinding:
    """Whether the disk where images are kept has room for one with ROCm or CUDA."""
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


def main(arguments: Sequence[str]) -> int:
    """Look at the device that is named, and print what was found."""
    try:
        # amdsmi prints what it does not find.
        with redirect_stdout(sys.stderr):
            findings = [*_checks(" ".join(arguments))(), room_for_image()]
    except ValueError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    sys.stdout.write(json.dumps([asdict(finding) for finding in findings]) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
