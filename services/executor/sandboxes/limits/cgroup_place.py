"""The parents of sandboxes' control groups: one folder for version 2, one per controller for version 1.

A container often has its groups mounted read-only, and its processes are in its only group of version 2. A group with
processes cannot pass controllers on to its children. So `open_cgroup_place` moves the processes one level down, as
systemd asks of owners of a delegated group.
"""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from services.executor.sandboxes.kernel_calls import remount_writable
from services.executor.sandboxes.kernel_files import kernel_text

MOUNT = Path("/sys/fs/cgroup")
_HOST_GROUP = "wavepool-host"
_V1_CONTROLLERS = ("memory", "pids", "cpuacct")
_V2_CONTROLLERS = {"memory", "pids"}
_CPU_CONTROLLER = "cpu"
_V1_QUOTA = "cpu.cfs_quota_us"
_MOST_MOVES = 10
"""Number of attempts to move a group's processes; new ones may be started meanwhile."""


def cgroup_of(pid: int, mount: Path = MOUNT) -> list[Path]:
    """Return the folders of a process's groups: one for version 2, several for version 1."""
    own = _memberships(kernel_text(Path("/proc", str(pid), "cgroup")))
    return _v1_folders(mount, own) or [mount / own.get("", "")]


def cgroup_parents(mount: Path = MOUNT, membership: str | None = None) -> list[Path]:
    """Return the folders in which we may make a sandbox's groups: one for version 2, several for version 1, or none."""
    own = _memberships(membership or kernel_text(Path("/proc/self/cgroup")))
    unified = _unified_parent(mount, own.get("", ""))
    if unified:
        return [unified] if os.access(unified, os.W_OK) else []
    needed = _v1_folders(mount, own)
    if not all(os.access(folder, os.W_OK) for folder in needed):
        return []
    cpu = _v1_folder(mount, own, _CPU_CONTROLLER)
    limits_cpu = bool(needed) and (cpu / _V1_QUOTA).exists() and os.access(cpu, os.W_OK)
    # The cpu folder goes before the last one, which must count processor time; on many machines they are the same.
    return list(dict.fromkeys([*needed[:-1], *([cpu] if limits_cpu else []), needed[-1]])) if needed else []


def are_limited_in_cpu(parents: Iterable[Path]) -> bool:
    """Return True if groups made under `parents` can be limited to a number of processors."""
    return any(
        _CPU_CONTROLLER in kernel_text(parent / "cgroup.subtree_control").split() or (parent / _V1_QUOTA).exists()
        for parent in parents
    )


def open_cgroup_place(mount: Path = MOUNT) -> list[Path]:
    """Return the same as `cgroup_parents`, after trying to make the answer non-empty."""
    if parents := cgroup_parents(mount):
        return parents
    for folder in _mounted_under(mount):
        with contextlib.suppress(OSError):
            remount_writable(str(folder))
    own = _memberships(kernel_text(Path("/proc/self/cgroup"))).get("")
    if own is not None:
        with contextlib.suppress(OSError):
            hand_down_controllers(mount / own)
    return cgroup_parents(mount)


def hand_down_controllers(group: Path) -> None:
    """Let `group`, of version 2, pass its controllers on, after moving its processes one level down.

    Raises OSError if we may not change the group.
    """
    offered = set(kernel_text(group / "cgroup.controllers").split()) & {*_V2_CONTROLLERS, _CPU_CONTROLLER}
    # If the last step is not allowed, nothing may be changed.
    if not offered >= _V2_CONTROLLERS or not os.access(group / "cgroup.subtree_control", os.W_OK):
        return
    below = group / _HOST_GROUP
    for _ in range(_MOST_MOVES):
        try:
            (group / "cgroup.subtree_control").write_text(" ".join(f"+{name}" for name in sorted(offered)))
        except OSError as error:
            if error.errno != errno.EBUSY:
                raise
        else:
            return
        below.mkdir(exist_ok=True)
        for pid in kernel_text(group / "cgroup.procs").split():
            with contextlib.suppress(ProcessLookupError):
                (below / "cgroup.procs").write_text(pid)


def _memberships(text: str) -> dict[str, str]:
    """Parse /proc/PID/cgroup: the path below the mount for each list of controllers, "" for version 2."""
    return {names: path.lstrip("/") for names, path in (line.split(":", 2)[1:] for line in text.splitlines())}


def _unified_parent(mount: Path, own: str) -> Path | None:
    """Return the nearest group, from our own upwards, that passes the controllers on to its children."""
    here = mount / own
    for folder in (here, *here.parents):
        if set(kernel_text(folder / "cgroup.subtree_control").split()) >= _V2_CONTROLLERS:
            return folder
        if folder == mount:
            break
    return None


def _v1_folders(mount: Path, own: dict[str, str]) -> list[Path]:
    folders = [_v1_folder(mount, own, name) for name in _V1_CONTROLLERS]
    return folders if all((folder / "cgroup.procs").exists() for folder in folders) else []


def _v1_folder(mount: Path, own: dict[str, str], controller: str) -> Path:
    """Return our group of one controller; in a container the group itself is often the mount's root."""
    paths = {name: path for names, path in own.items() for name in names.split(",")}
    hierarchy = (mount / controller).resolve()
    folder = hierarchy / paths.get(controller, "")
    return folder if folder.is_dir() else hierarchy


def _mounted_under(mount: Path) -> Iterator[Path]:
    """Return the mount points at and below `mount`."""
    points = (Path(line.split()[4]) for line in kernel_text(Path("/proc/self/mountinfo")).splitlines())
    return (point for point in points if point == mount or mount in point.parents)
