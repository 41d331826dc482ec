"""Starts `report` in a box, by path; see the cpu device's `boxed_build.py`, which has the same reasons."""

from __future__ import annotations

import sys
import traceback
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

_SERVICES = Path(__file__).parents[3]
_FAILED = 2


def main() -> int:
    """The exit status of the report."""
    try:
        _import_services()
        from services.executor.devices.gfx942.report import main as report  # noqa: PLC0415  can be found only now

        return report(sys.argv[1:])
    except Exception:  # noqa: BLE001  whatever it is, there is no report
        traceback.print_exc()
        return _FAILED


def _import_services() -> None:
    spec = spec_from_file_location("services", _SERVICES / "__init__.py", submodule_search_locations=[str(_SERVICES)])
    if spec is None or spec.loader is None:
        raise ImportError(f"no package in {_SERVICES}")
    sys.modules["services"] = module_from_spec(spec)
    spec.loader.exec_module(sys.modules["services"])


if __name__ == "__main__":
    sys.exit(main())
