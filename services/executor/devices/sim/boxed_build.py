"""Starts `build` in a box, by path, as the cpu device's own program does."""

from __future__ import annotations

import sys
import traceback
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

_DEVICES = Path(__file__).parents[1]
_TOOLCHAIN_AT_FAULT = 2


def main() -> int:
    """The exit status of the build."""
    try:
        _import_services()
        from services.executor.devices.sim.build import main as build  # noqa: PLC0415 - it can be found only now

        return build(sys.argv[1:])
    except Exception:  # noqa: BLE001 - whatever it is, it is not the source
        traceback.print_exc()
        return _TOOLCHAIN_AT_FAULT


def _import_services() -> None:
    spec = spec_from_file_location("cpu_boxed_build", _DEVICES / "cpu" / "boxed_build.py")
    if spec is None or spec.loader is None:
        raise ImportError(f"no build program in {_DEVICES}")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    module.import_services()


if __name__ == "__main__":
    sys.exit(main())
