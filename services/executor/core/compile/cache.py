"""Finished builds on disk, shared by processes.

An entry is a folder named by its key. It appears and disappears by rename, always whole, so readers need no lock. A
reader that finds an entry damaged or just being removed takes it as a miss. When the cache outgrows its limit, the
least recently used entries are evicted, by one process at a time.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import shutil
import tempfile
import time
import zlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from services.executor.core.compile.code_objects import CodeObject

_EXECUTABLE = "executable"
_PART = "part-"
_FACTS = "facts.json"
# Files in the staging folder that are older than this belong to a process that was killed.
_ABANDONED_SECONDS = 3600.0
# The time of an entry's last use is kept no more exactly than this.
_NOTED_SECONDS = 60.0


@dataclass(frozen=True)
class BuildFacts:
    """What is read from the files of a build once, when it is made."""

    symbols: tuple[str, ...] = ()
    """Symbols of the object files that were made from the source alone (`object_symbols.py`)."""
    libraries: tuple[str, ...] = ()
    """The shared libraries that the executable needs."""
    code_objects: tuple[CodeObject, ...] = ()
    """The executable's code sections, in the file's order."""


@dataclass(frozen=True)
class CachedBuild:
    """An executable, the compiler's warnings, and the other files of its build."""

    executable: bytes
    warnings: str
    sha256: str
    """SHA-256 of the executable, in hex."""
    facts: BuildFacts = field(default_factory=BuildFacts)
    parts: Mapping[str, bytes] = field(default_factory=dict[str, bytes], hash=False)
    """The build's other files by name: a solution's recorder and replayer, or the reason why it has none."""

    @classmethod
    def of(
        cls,
        executable: bytes,
        warnings: str,
        facts: BuildFacts | None = None,
        parts: Mapping[str, bytes] | None = None,
    ) -> CachedBuild:
        """Makes a new build, with the digest of its executable."""
        return cls(executable, warnings, hashlib.sha256(executable).hexdigest(), facts or BuildFacts(), parts or {})


class CompileCache:
    """A cache of at most `limit_bytes` of builds in `folder`."""

    def __init__(self, folder: Path, limit_bytes: int) -> None:
        self._entries = folder / "entries"
        self._staging = folder / "staging"
        self._limit_bytes = limit_bytes
        self._entries.mkdir(parents=True, exist_ok=True)
        self._staging.mkdir(exist_ok=True)

    def get(self, key: str) -> CachedBuild | None:
        """Returns the build of `key`, or None if it is not here or is damaged. Using a build delays its eviction."""
        entry = self._entries / key
        try:
            build = _read(entry)
        except FileNotFoundError:
            return None
        except (ValueError, KeyError, TypeError):
            self._remove(entry)
            return None
        _note_use(entry)
        return build

    def put(self, key: str, build: CachedBuild) -> None:
        """Publish a build; if another process published the key first, its entry stays."""
        staged = Path(tempfile.mkdtemp(dir=self._staging))
        (staged / _EXECUTABLE).write_bytes(build.executable)
        for name, content in build.parts.items():
            (staged / f"{_PART}{name}").write_bytes(content)
        facts = {
            "sha256": build.sha256,
            "crc32": zlib.crc32(build.executable),
            "warnings": build.warnings,
            **asdict(build.facts),
            "parts": _digests(build.parts),
        }
        (staged / _FACTS).write_text(json.dumps(facts))
        try:
            staged.rename(self._entries / key)
        except OSError:
            shutil.rmtree(staged, ignore_errors=True)
        self._evict()

    def _evict(self) -> None:
        descriptor = os.open(self._entries.parent / "eviction.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            with contextlib.suppress(BlockingIOError):
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                self._evict_alone()
        finally:
            os.close(descriptor)

    def _evict_alone(self) -> None:
        by_age = sorted((_use_time(entry), _size_bytes(entry), entry) for entry in self._entries.iterdir())
        excess = sum(size for _, size, _ in by_age) - self._limit_bytes
        for _, size, entry in by_age:
            if excess <= 0:
                break
            self._remove(entry)
            excess -= size
        for staged in self._staging.iterdir():
            if time.time() - _use_time(staged) > _ABANDONED_SECONDS:
                shutil.rmtree(staged, ignore_errors=True)

    def _remove(self, entry: Path) -> None:
        grave = Path(tempfile.mkdtemp(dir=self._staging))
        with contextlib.suppress(OSError):
            entry.rename(grave)
        shutil.rmtree(grave, ignore_errors=True)


def _read(entry: Path) -> CachedBuild:
    """The build of an entry; raises ValueError, KeyError or TypeError if it is damaged, or of an older form."""
    executable = (entry / _EXECUTABLE).read_bytes()
    facts = json.loads((entry / _FACTS).read_text())
    # A CRC is enough to find damage; it is no defence against malice. Every run waits for this.
    digests = facts["parts"]
    parts = {name: (entry / f"{_PART}{name}").read_bytes() for name in digests}
    if facts["crc32"] != zlib.crc32(executable) or digests != _digests(parts):
        raise ValueError("not the bytes that were written")
    read = BuildFacts(
        tuple(facts["symbols"]),
        tuple(facts["libraries"]),
        tuple(CodeObject(**one) for one in facts["code_objects"]),
    )
    return CachedBuild(executable, str(facts["warnings"]), str(facts["sha256"]), read, parts)


def _digests(parts: Mapping[str, bytes]) -> dict[str, int]:
    return {name: zlib.crc32(content) for name, content in parts.items()}


def _note_use(entry: Path) -> None:
    """Notes that the entry was used, but not at every run: a busy disk may be slow to write the new time."""
    with contextlib.suppress(FileNotFoundError):
        if time.time() - entry.stat().st_mtime > _NOTED_SECONDS:
            os.utime(entry)


def _use_time(folder: Path) -> float:
    try:
        return folder.stat().st_mtime
    except OSError:
        return 0.0


def _size_bytes(entry: Path) -> int:
    try:
        return sum(file.stat().st_size for file in entry.iterdir())
    except OSError:
        return 0
