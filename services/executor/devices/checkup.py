"""What keeps a GPU of this machine from running submissions: `python -m services.executor.devices.checkup rocm`.

Prints the findings as a JSON list; `wavepool doctor` shows them.
"""

from __future__ import annotations

import json
import sys
from contextlib import redirect_stdout
from dataclasses import asdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from services.executor.devices.finding import DeviceFinding

    Check = Callable[[], Sequence[DeviceFinding]]


def _checks(device: str) -> Check:
    """The checks of a device, imported only now; raises ValueError."""
    if device == "rocm":
        from services.executor.devices.rocm.checkup import RocmCheckup  # noqa: PLC0415  another device's may be missing

        return RocmCheckup().findings
    if device == "nvidia":
        from services.executor.devices.nvidia.checkup import NvidiaCheckup  # noqa: PLC0415

        return NvidiaCheckup().findings
    raise ValueError(f"{device!r} is none of rocm, nvidia")


def main(arguments: Sequence[str]) -> int:
    """Look at the device that is named, and print what was found."""
    try:
        # amdsmi prints what it does not find.
        with redirect_stdout(sys.stderr):
            findings = _checks(" ".join(arguments))()
    except ValueError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    sys.stdout.write(json.dumps([asdict(finding) for finding in findings]) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
