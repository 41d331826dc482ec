"""Control groups for boxes: the kernel's own limit on memory and processes of a whole tree, and its whole-tree kill.

Version 2 has one hierarchy; version 1 has one for each controller, so a box is one folder there and three here. A group
can be made where we may write (as root, or where systemd delegated a subtree). The name carries our process id, so
that groups left behind by a process that was killed are recognised and removed.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import signal
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from services.executor.sandboxes.process_tree import Usage

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_PREFIX = "wavepool-box"
_V1_CONTROLLERS = ("memory", "pids", "cpuacct")
_V2_CONTROLLERS = {"memory", "pids"}
_SERIAL = itertools.count()
_EMPTYING_INTERVAL_SECONDS = 0.001


class CgroupCounters:
    """What the kernel has counted in one group, or in the three groups of version 1."""

    def __init__(self, folders: Iterable[Path]) -> None:
        self.folders = list(folders)

    @property
    def ran_out_of_memory(self) -> bool:
        """Whether the kernel has killed a process here for memory."""
        counts = itertools.chain.from_iterable(
            _pairs(folder / name) for folder in self.folders for name in ("memory.events", "memory.oom_control")
        )
        return any(key == "oom_kill" and value > 0 for key, value in counts)

    @property
    def peak_memory_mib(self) -> int:
        """The most that was ever filled at once; 0 where the kernel does not tell."""
        names = ("memory.peak", "memory.max_usage_in_bytes")
        return max((_number(folder / name) for folder in self.folders for name in names), default=0) >> 20

    @property
    def refused_processes(self) -> bool:
        """Whether the kernel has refused a process or thread here for their number."""
        counts = itertools.chain.from_iterable(_pairs(folder / "pids.events") for folder in self.folders)
        return any(key == "max" and value > 0 for key, value in counts)

    def usage(self) -> Usage:
        """What all processes that ever ran here have used; memory is left to the kernel and not counted."""
        folder = self.folders[-1]
        microseconds = dict(_pairs(folder / "cpu.stat")).get("usage_usec") or _number(folder / "cpuacct.usage") // 1000
        return Usage(timedelta(microseconds=microseconds), 0)

    def pids(self) -> list[int]:
        """The processes that live here: each enters the first group first."""
        return [int(line) for line in _text(self.folders[0] / "cgroup.procs").split()]


class Cgroup(CgroupCounters):
    """The group, or the three groups, of one box."""

    def __init__(self, parents: Iterable[Path], *, memory_mib: int, processes: int) -> None:
        name = f"{_PREFIX}-{os.getpid()}-{next(_SERIAL)}"
        super().__init__(parent / name for parent in parents)
        try:
            for folder in self.folders:
                folder.mkdir()
                _limit(folder, memory_mib << 20, processes)
        except OSError:
            self.remove_folders()
            raise

    @property
    def procs_files(self) -> list[str]:
        """The files that a process writes 0 to in order to enter."""
        return [str(folder / "cgroup.procs") for folder in self.folders]

    async def remove(self) -> None:
        """Kill what is left, wait until it is gone, and remove the groups."""
        while pids := self.pids():
            for pid in pids:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
            await asyncio.sleep(_EMPTYING_INTERVAL_SECONDS)
        self.remove_folders()

    def remove_folders(self) -> None:
        """Remove the groups if they are empty."""
        for folder in self.folders:
            with contextlib.suppress(OSError):
                folder.rmdir()


def cgroup_of(pid: int, mount: Path = Path("/sys/fs/cgroup")) -> list[Path]:
    """The folders of the groups that a process of ours is in: one for version 2, three for version 1."""
    own = _memberships(_text(Path("/proc", str(pid), "cgroup")))
    return _v1_parents(mount, own) or [mount / own.get("", "")]


def cgroup_parents(mount: Path = Path("/sys/fs/cgroup"), membership: str | None = None) -> list[Path]:
    """The folders under which we may make a box's groups: one for version 2, three for version 1, or none."""
    own = _memberships(membership or _text(Path("/proc/self/cgroup")))
    unified = _unified_parent(mount, own.get("", ""))
    parents = [unified] if unified else _v1_parents(mount, own)
    return parents if parents and all(os.access(parent, os.W_OK) for parent in parents) else []


def remove_leftover_cgroups(parents: Iterable[Path]) -> None:
    """Remove groups whose maker is dead; where processes are left, kill them and leave the group to the next time."""
    for folder in itertools.chain.from_iterable(parent.glob(f"{_PREFIX}-*") for parent in parents):
        maker = folder.name.split("-")[2]
        if Path("/proc", maker).exists():
            continue
        for pid in _text(folder / "cgroup.procs").split():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(int(pid), signal.SIGKILL)
        with contextlib.suppress(OSError):
            folder.rmdir()


def _memberships(text: str) -> dict[str, str]:
    """From the lines of /proc/PID/cgroup: the path below the mount for each list of controllers, "" for version 2."""
    return {names: path.lstrip("/") for names, path in (line.split(":", 2)[1:] for line in text.splitlines())}


def _unified_parent(mount: Path, own: str) -> Path | None:
    """The nearest group at or above our own that hands the controllers to its children."""
    here = mount / own
    for folder in (here, *here.parents):
        if set(_text(folder / "cgroup.subtree_control").split()) >= _V2_CONTROLLERS:
            return folder
        if folder == mount:
            break
    return None


def _v1_parents(mount: Path, own: dict[str, str]) -> list[Path]:
    paths = {name: path for names, path in own.items() for name in names.split(",")}
    folders = [mount / name / paths.get(name, "") for name in _V1_CONTROLLERS]
    return folders if all((folder / "cgroup.procs").exists() for folder in folders) else []


def _limit(folder: Path, memory_bytes: int, processes: int) -> None:
    limits = {
        "pids.max": processes,
        "memory.max": memory_bytes,
        "memory.swap.max": 0,
        "memory.oom.group": 1,
        "memory.limit_in_bytes": memory_bytes,
        "memory.memsw.limit_in_bytes": memory_bytes,
    }
    for name, value in limits.items():
        if (folder / name).exists():
            (folder / name).write_text(str(value))


def _pairs(file: Path) -> Iterator[tuple[str, int]]:
    for line in _text(file).splitlines():
        key, _, value = line.partition(" ")
        if value.isdecimal():
            yield key, int(value)


def _number(file: Path) -> int:
    text = _text(file).strip()
    return int(text) if text.isdecimal() else 0


def _text(file: Path) -> str:
    try:
        return file.read_text()
    except OSError:
        return ""
