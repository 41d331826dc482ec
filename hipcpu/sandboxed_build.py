"""Starts `build` in a sandbox, by path: `python …/sandboxed_build.py FOLDER KIND`.

A sandbox may show the folders of our packages without their parent, which Python's path search must list; so each
package is found by its own folder. Every exception on the way is a fault of the toolchain: Python's own exit status
would blame the source.
"""

from __future__ import annotations

import sys
import traceback
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

_ROOT = Path(__file__).parents[1]
_TOOLCHAIN_AT_FAULT = 2


def main() -> int:
    """Return the exit status of the build."""
    try:
        make_known("hipcpu")
        from hipcpu.build import main as build  # noqa: PLC0415 - it can be found only now

        return build(sys.argv[1:])
    except Exception:  # noqa: BLE001 - whatever it is, it is not the source
        traceback.print_exc()
        return _TOOLCHAIN_AT_FAULT


def make_known(*packages: str) -> None:
    """Import packages beside this one by their own folders."""
    for name in packages:
        folder = _ROOT / name
        spec = spec_from_file_location(name, folder / "__init__.py", submodule_search_locations=[str(folder)])
        if spec is None or spec.loader is None:
            raise ImportError(f"no package in {folder}")
        sys.modules[name] = module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])


if __name__ == "__main__":
    sys.exit(main())
