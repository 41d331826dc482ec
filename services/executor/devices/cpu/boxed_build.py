"""Starts `build` in a box, by path: `python …/boxed_build.py FOLDER KIND`.

A box may show the folder `services` and not let its parent be listed, which Python's path search needs; so the package
is found by its own folder. And whatever breaks on the way is the toolchain's fault: Python's own status for it would
say that the source is.
"""

from __future__ import annotations

import sys
import traceback
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

_SERVICES = Path(__file__).parents[3]
_TOOLCHAIN_AT_FAULT = 2


def main() -> int:
    """The exit status of the build."""
    try:
        import_services()
        from services.executor.devices.cpu.build import main as build  # noqa: PLC0415 - it can be found only now

        return build(sys.argv[1:])
    except Exception:  # noqa: BLE001 - whatever it is, it is not the source
        traceback.print_exc()
        return _TOOLCHAIN_AT_FAULT


def import_services() -> None:
    """Make the package known by its own folder."""
    spec = spec_from_file_location("services", _SERVICES / "__init__.py", submodule_search_locations=[str(_SERVICES)])
    if spec is None or spec.loader is None:
        raise ImportError(f"no package in {_SERVICES}")
    sys.modules["services"] = module_from_spec(spec)
    spec.loader.exec_module(sys.modules["services"])


if __name__ == "__main__":
    sys.exit(main())
