"""Starts `build` in a sandbox by its path; `hipcpu/sandboxed_build.py` does the same and says why."""

from __future__ import annotations

import sys
import traceback
from pathlib import Path
from runpy import run_path

_HIPCPU = Path(__file__).parents[4] / "hipcpu"
_TOOLCHAIN_AT_FAULT = 2


def main() -> int:
    """Return the exit status of the build."""
    try:
        run_path(str(_HIPCPU / "sandboxed_build.py"))["make_known"]("hipcpu", "services")
        from services.executor.devices.sim.build import main as build  # noqa: PLC0415 - it can be found only now

        return build(sys.argv[1:])
    except Exception:  # noqa: BLE001 - whatever it is, it is not the source
        traceback.print_exc()
        return _TOOLCHAIN_AT_FAULT


if __name__ == "__main__":
    sys.exit(main())
