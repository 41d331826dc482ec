"""The Python that problem definitions run on: one with torch, which is usually not our own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

SANDBOXED = Path(__file__).with_name("sandboxed")
_PROBE = """
import importlib.metadata, importlib.util, json, pathlib, sys
found = importlib.util.find_spec("torch")
print(json.dumps({
    "prefixes": [sys.prefix, sys.base_prefix],
    "packages": str(pathlib.Path(found.origin).parents[1]) if found else "",
    "version": importlib.metadata.version("torch") if found else "",
}))
"""
_PROBE_SECONDS = 60.0
INSTALLED = Path(__file__).parents[4] / ".cache" / "torch" / "bin" / "python"
"""The Python that deploy/setup-torch makes in a checkout."""
_INSTALL = (
    "run `make setup-torch` or `wavepool doctor --fix` in the checkout of Wavepool, or set EXECUTOR_TORCH_PYTHON to a "
    "Python with torch 2.13 and numpy"
)


class TorchMissingError(Exception):
    """Problem definitions cannot be evaluated on this machine; the message says what to install."""


@dataclass(frozen=True)
class TorchPython:
    """A Python program, the folders that it needs to see, and the version of its torch."""

    program: Path
    folders: tuple[Path, ...]
    version: str


def named_python() -> Path | None:
    """The Python that EXECUTOR_TORCH_PYTHON names; None if it is unset or empty."""
    named = os.environ.get("EXECUTOR_TORCH_PYTHON")
    return Path(named) if named else None


def torch_python(setting: Path | None) -> TorchPython:
    """The Python of `setting`; without one, the Python that deploy/setup-torch made, or else ours.

    Raises TorchMissingError.
    """
    # Not `is_file`: a Python of another user, which we may not reach, is as good as none.
    program = setting or (INSTALLED if os.access(INSTALLED, os.X_OK) else Path(sys.executable))
    found = _asked(program)
    if found is None:
        raise TorchMissingError(f"{program} has no torch: {_INSTALL}")
    return found


@cache
def _asked(program: Path) -> TorchPython | None:
    """Asks a Python for its torch; None if it has none. Raises TorchMissingError, uncached, if it is no Python."""
    try:
        done = subprocess.run(  # noqa: S603  the operator named it
            [str(program), "-I", "-c", _PROBE], capture_output=True, text=True, timeout=_PROBE_SECONDS, check=True
        )
        said = json.loads(done.stdout)
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        raise TorchMissingError(f"EXECUTOR_TORCH_PYTHON={program} does not run as a Python: {error}") from error
    if not said["packages"]:
        return None
    folders = [Path(folder) for folder in (*said["prefixes"], said["packages"])]
    return TorchPython(program, _outermost([*folders, SANDBOXED]), said["version"])


def _outermost(folders: list[Path]) -> tuple[Path, ...]:
    """Each folder once, without those inside another or in /usr, which sandboxes have anyway."""
    usr = Path("/usr")
    wanted = [folder for folder in dict.fromkeys(folders) if folder != usr and usr not in folder.parents]
    return tuple(folder for folder in wanted if not any(other in folder.parents for other in wanted))
