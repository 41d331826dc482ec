"""AMD's device library (ocml): finds its bitcode on this machine, and fetches it without root.

It comes with ROCm, with Debian's rocm-device-libs and with Triton's wheel. Without it, functions like `sinf` and
`tanhf` are counted as calls (`math/as_calls.hip`).
"""

from __future__ import annotations

import hashlib
import importlib.util
import shutil
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from hipcpu.build_folder import ToolchainError

PACKAGE = "rocm-device-libs"
REMEDY = (
    "install Debian's rocm-device-libs or ROCm, or run `python -m services.executor.devices.gfx942.prepare --fetch`"
    " (it unpacks the package into the cache and installs nothing)"
)
_FOLDERS = (
    "opt/rocm/amdgcn/bitcode",
    "opt/rocm/lib/llvm/lib/clang/*/lib/amdgcn/bitcode",
    "opt/rocm-*/amdgcn/bitcode",
    "usr/lib/x86_64-linux-gnu/amdgcn/bitcode",
    "usr/lib/llvm-*/lib/clang/*/amdgcn/bitcode",
    "usr/lib/llvm-*/lib/clang/*/lib/amdgcn/bitcode",
)
_FETCH_SECONDS = 120
_TRIED_SECONDS = 86400
# A machine without a network should not wait for it.
_TIMEOUTS = ("-o", "Acquire::Retries=0", "-o", "Acquire::http::Timeout=10", "-o", "Acquire::https::Timeout=10")


@dataclass(frozen=True)
class DeviceLibrary:
    """A device library; `title` names its origin."""

    bitcode: Path
    title: str

    @property
    def digest(self) -> str:
        """SHA-256 of the bitcode, in hex."""
        return hashlib.sha256(self.bitcode.read_bytes()).hexdigest()


def find(cache: Path, root: Path = Path("/")) -> DeviceLibrary | None:
    """Find the library: ROCm's own first, then the distribution's, the one fetched into `cache`, and Triton's."""
    for base in (root, fetched_folder(cache)):
        for pattern in _FOLDERS:
            for folder in sorted(base.glob(pattern), reverse=True):
                if (folder / "ocml.bc").is_file():
                    return DeviceLibrary(folder / "ocml.bc", _title(folder.relative_to(base), fetched=base != root))
    return _triton()


def fetched_folder(cache: Path) -> Path:
    """Folder into which `fetch` unpacks the package."""
    return cache / PACKAGE


def fetch(cache: Path) -> Path:
    """Unpack Debian's package, which apt verifies, into the cache; raises ToolchainError."""
    target = fetched_folder(cache)
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache) as name:
        work = Path(name)
        _run(["apt-get", *_TIMEOUTS, "download", _package(work)], work)
        packages = list(work.glob(f"{PACKAGE}*.deb"))
        if not packages:
            raise ToolchainError(f"apt-get downloaded no {PACKAGE}")
        _run(["dpkg-deb", "-x", str(packages[0]), "new"], work)
        shutil.rmtree(target, ignore_errors=True)
        (work / "new").rename(target)
    return target


def _package(folder: Path) -> str:
    """The newest package of it that apt knows: since Debian 13 its name ends with the number of its LLVM."""
    found = _run(["apt-cache", "--names-only", "search", f"^{PACKAGE}(-[0-9]+)?$"], folder)
    names = [line.split()[0] for line in found.splitlines() if line]
    return max(names, key=lambda name: int(name.removeprefix(PACKAGE).removeprefix("-") or 0), default=PACKAGE)


def fetch_if_possible(cache: Path) -> str:
    """Fetch the library if possible; returns why not, or an empty string. A failed try is not repeated for a day."""
    tried = cache / f"{PACKAGE}.tried"
    if shutil.which("apt-get") is None:
        return "there is no apt-get here"
    if tried.is_file() and time.time() - tried.stat().st_mtime < _TRIED_SECONDS:
        return tried.read_text()
    try:
        fetch(cache)
    except ToolchainError as error:
        tried.write_text(str(error))
        return str(error)
    tried.unlink(missing_ok=True)
    return ""


def _title(folder: Path, *, fetched: bool) -> str:
    if folder.parts[0] == "opt":
        return "ROCm's device library"
    return f"Debian's {PACKAGE}{' (unpacked)' if fetched else ''}"


def _triton() -> DeviceLibrary | None:
    spec = importlib.util.find_spec("triton")
    folder = Path(spec.origin).parent / "backends" / "amd" / "lib" if spec and spec.origin else None
    if folder is None or not (folder / "ocml.bc").is_file():
        return None
    return DeviceLibrary(folder / "ocml.bc", "Triton's device library")


def _run(command: list[str], folder: Path) -> str:
    try:
        done = subprocess.run(  # noqa: S603  fixed words
            command, cwd=folder, capture_output=True, text=True, timeout=_FETCH_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ToolchainError(f"{command[0]}: {error}") from error
    if done.returncode:
        raise ToolchainError(f"{' '.join(command)} failed: {done.stderr.strip()[-2000:]}")
    return done.stdout
