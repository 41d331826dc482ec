"""HIP's real headers and AMD's device library: found on this machine, or fetched from Debian without root.

They come with ROCm. Debian has several releases of HIP at a time, each in a suite of its own, so a machine with apt
gets one of each major version that counts, whatever its own release is.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from fcntl import LOCK_EX, flock
from pathlib import Path

from hipcpu.build_folder import ToolchainError
from services.executor.devices.rocm.home import rocm_home

MAJOR_VERSIONS = (7, 6)
"""The releases of HIP that are fetched, the newest first. They refuse different sources."""
REMEDY = (
    "install ROCm, or run `python -m services.executor.devices.gfx942.prepare --fetch`"
    " (it unpacks Debian's packages into the cache and installs nothing)"
)
_SUITES = ("testing", "experimental")
_CLANG = 22
"""The release of the `ziglang` wheel's clang, which needs its own headers for HIP."""
_HIP = "libamdhip64-dev"
_LIBRARIES = ("libhipcub-dev", "librocprim-dev", "librocthrust-dev", "librocwmma-dev")
"""Libraries of headers; a release of Debian may lack one."""
_CLANG_HEADERS = f"libclang-common-{_CLANG}-dev"
_DEVICE_LIBRARY = "rocm-device-libs-"
_KEPT = ("usr/include", "usr/lib/llvm-*")
_BITCODE = (
    "amdgcn/bitcode",
    "lib/llvm/lib/clang/*/lib/amdgcn/bitcode",
    "lib/llvm-*/lib/clang/*/amdgcn/bitcode",
    "lib/x86_64-linux-gnu/amdgcn/bitcode",
)
_WRAPPER = "__clang_hip_runtime_wrapper.h"
_WRAPPERS = ("lib/llvm/lib/clang/*/include", "lib/llvm-*/lib/clang/*/include")
_VERSION = re.compile(r"#define HIP_VERSION_(MAJOR|MINOR) (\d+)")
_FETCH_SECONDS = 120
_TRIED_SECONDS = 86400
_TRIED = "hip.tried"
# A machine without a network should not wait for it.
_TIMEOUTS = ("-o", "Acquire::Retries=0", "-o", "Acquire::http::Timeout=10", "-o", "Acquire::https::Timeout=10")


@dataclass(frozen=True)
class HipFiles:
    """One release of HIP with everything that a device pass reads; `origin` says whose packages it is from."""

    version: str
    headers: Path
    """Folder that has `hip/hip_runtime.h`."""
    wrappers: Path
    """Folder of clang's own headers for HIP."""
    bitcode: Path
    """Folder of AMD's device library."""
    origin: str

    @property
    def title(self) -> str:
        """Title in a few words, such as `HIP 7.2 (Debian's)`."""
        return f"HIP {self.version} ({self.origin})"

    @property
    def digest(self) -> str:
        """SHA-256 of all that decides about a compile, in hex; reads only names and sizes of most headers."""
        digest = hashlib.sha256(self.title.encode())
        for folder in (self.headers / "hip", self.wrappers, self.bitcode):
            for path in sorted(folder.rglob("*")):
                if path.is_file():
                    digest.update(f"{path.relative_to(folder)} {path.stat().st_size}\n".encode())
        return digest.hexdigest()

    def is_of(self, wanted: str) -> bool:
        """Return True if `wanted`, such as `7` or `6.4`, names this release; an empty one names any."""
        words = wanted.split(".") if wanted else []
        return self.version.split(".")[: len(words)] == words


def find(cache: Path, rocm: Path | None = None) -> tuple[HipFiles, ...]:
    """Find the releases on this machine: ROCm's own first, then those fetched into `cache`, the newest first."""
    fetched = [_found(fetched_folder(cache, major) / "usr", "Debian's") for major in MAJOR_VERSIONS]
    own = _found(rocm or rocm_home(), "ROCm's")
    return tuple(release for release in (own, *fetched) if release is not None)


def fetched_folder(cache: Path, major: int) -> Path:
    """Folder into which `fetch` unpacks a release."""
    return cache / f"hip-{major}"


def _found(root: Path, origin: str) -> HipFiles | None:
    headers = root / "include"
    try:
        text = (headers / "hip" / "hip_version.h").read_text(errors="replace")
    except OSError:
        return None
    parts = dict(_VERSION.findall(text))
    wrappers, bitcode = _first(root, _WRAPPERS, _WRAPPER), _first(root, _BITCODE, "ocml.bc")
    major, minor = (int(parts.get(name, 0)) for name in ("MAJOR", "MINOR"))
    # The headers of older releases do not compile with this clang.
    if wrappers is None or bitcode is None or major < min(MAJOR_VERSIONS):
        return None
    return HipFiles(f"{major}.{minor}", headers, wrappers, bitcode, origin)


def _first(root: Path, patterns: Sequence[str], name: str) -> Path | None:
    folders = (folder for pattern in patterns for folder in sorted(root.glob(pattern), reverse=True))
    return next((folder for folder in folders if (folder / name).is_file()), None)


def fetch(cache: Path) -> None:
    """Unpack Debian's packages, which apt verifies, into the cache; raises ToolchainError if there is no release.

    Of several processes, one fetches and the others wait for it.
    """
    cache.mkdir(parents=True, exist_ok=True)
    with (cache / "hip.lock").open("w") as lock, tempfile.TemporaryDirectory(dir=cache) as name:
        flock(lock, LOCK_EX)
        if any(_found(fetched_folder(cache, major) / "usr", "Debian's") for major in MAJOR_VERSIONS):
            return
        apt = _Apt(Path(name))
        apt.update()
        missing = [major for major in MAJOR_VERSIONS if not _fetch_release(apt, cache, major)]
    if len(missing) == len(MAJOR_VERSIONS):
        raise ToolchainError(f"Debian's mirror has no {_HIP} of HIP {' or '.join(map(str, missing))}")


def _fetch_release(apt: _Apt, cache: Path, major: int) -> bool:
    offered = apt.versions()
    compiler = [_newest(offered, _CLANG_HEADERS), _newest(offered, _device_library(offered))]
    hip = _newest(offered, _HIP, f"{major}.")
    if hip is None or None in compiler:
        return False
    libraries = [_newest(offered, name, f"{major}.") for name in _LIBRARIES]
    unpacked = apt.unpacked([one for one in (hip, *libraries, *compiler) if one])
    target = fetched_folder(cache, major)
    shutil.rmtree(target, ignore_errors=True)
    unpacked.rename(target)
    return True


def _device_library(offered: Sequence[tuple[str, str]]) -> str:
    """The newest device library that this clang can read: its name ends with the number of its LLVM."""
    numbers = [int(name.removeprefix(_DEVICE_LIBRARY)) for name, _ in offered if name.startswith(_DEVICE_LIBRARY)]
    return f"{_DEVICE_LIBRARY}{max((number for number in numbers if number <= _CLANG), default=_CLANG)}"


def _newest(offered: Sequence[tuple[str, str]], name: str, begin: str = "") -> str | None:
    """The first version of a package, as apt lists the newest first, in the form that apt downloads."""
    return next((f"{one}={version}" for one, version in offered if one == name and version.startswith(begin)), None)


class _Apt:
    """The apt of this machine, with its keys and mirror, but other suites and no installed packages."""

    def __init__(self, work: Path) -> None:
        self._work = work
        for folder in ("lists/partial", "archives/partial"):
            (work / folder).mkdir(parents=True)
        (work / "sources.list").write_text("".join(f"deb {_mirror(work)} {suite} main\n" for suite in _SUITES))
        settings = {
            "Dir::Etc::SourceList": work / "sources.list",
            "Dir::Etc::SourceParts": "/dev/null",
            "Dir::State::Lists": work / "lists",
            "Dir::State::Status": "/dev/null",
            "Dir::Cache": work,
            # A mirror that stands still is as good; what it has is Debian's by its signature.
            "Acquire::Check-Valid-Until": "false",
            # Root's apt would otherwise read our folder as a user who may not.
            "APT::Sandbox::User": "root",
        }
        self._options = [word for name, value in settings.items() for word in ("-o", f"{name}={value}")]

    def update(self) -> None:
        _run(["apt-get", "-qq", *_TIMEOUTS, *self._options, "update"], self._work)

    def versions(self) -> list[tuple[str, str]]:
        """The packages that we may need with their versions, the newest first."""
        found = _run(["apt-cache", *self._options, "--names-only", "search", f"^{_DEVICE_LIBRARY}[0-9]+$"], self._work)
        names = [_HIP, *_LIBRARIES, _CLANG_HEADERS, *(line.split()[0] for line in found.splitlines() if line)]
        lines = _run(["apt-cache", *self._options, "madison", *names], self._work).splitlines()
        rows = [[word.strip() for word in line.split("|")] for line in lines]
        return [(row[0], row[1]) for row in rows if len(row) > 1]

    def unpacked(self, packages: Sequence[str]) -> Path:
        folder = Path(tempfile.mkdtemp(dir=self._work))
        _run(["apt-get", "-qq", *_TIMEOUTS, *self._options, "download", *packages], folder)
        for package in folder.glob("*.deb"):
            _run(["dpkg-deb", "-x", str(package), "all"], folder)
        kept = folder / "kept"
        for found in (path for pattern in _KEPT for path in (folder / "all").glob(pattern)):
            target = kept / found.relative_to(folder / "all")
            target.parent.mkdir(parents=True, exist_ok=True)
            found.rename(target)
        kept.chmod(0o755)
        return kept


def _mirror(folder: Path) -> str:
    """The mirror of Debian that this machine uses; raises ToolchainError if it has none."""
    known = _run(["apt-get", "indextargets", "--no-release-info", "--format", "$(REPO_URI)"], folder).split()
    found = next((uri for uri in known if uri.rstrip("/").endswith("/debian")), None)
    if found is None:
        raise ToolchainError("apt has no mirror of Debian here")
    return found


def fetch_if_possible(cache: Path) -> str:
    """Fetch the files if possible; returns why not, or an empty string. A failed try is not repeated for a day."""
    tried = cache / _TRIED
    if shutil.which("apt-get") is None:
        return "there is no apt-get here"
    if tried.is_file() and time.time() - tried.stat().st_mtime < _TRIED_SECONDS:
        return tried.read_text()
    try:
        fetch(cache)
    except ToolchainError as error:
        cache.mkdir(parents=True, exist_ok=True)
        tried.write_text(str(error))
        return str(error)
    tried.unlink(missing_ok=True)
    return ""


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
