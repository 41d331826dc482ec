"""Starts `report` in a sandbox by its path; `hipcpu/sandboxed_build.py` does the same for a build and says why."""

from __future__ import annotations

import sys
import traceback
from pathlib import Path
from runpy import run_path

_HIPCPU = Path(__file__).parents[4] / "hipcpu"
_FAILED = 2


def main() -> int:
    """Return the exit status of the report."""
    try:
        run_path(str(_HIPCPU / "sandboxed_build.py"))["make_known"]("hipcpu", "services", "vocabulary")
        from services.executor.devices.gfx942.report import main as report  # noqa: PLC0415  can be found only now

        return report(sys.argv[1:])
    except Exception:  # noqa: BLE001  whatever it is, there is no report
        traceback.print_exc()
        return _FAILED


if __name__ == "__main__":
    sys.exit(main())
