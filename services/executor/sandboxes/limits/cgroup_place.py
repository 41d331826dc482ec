"""Where a sandbox's control groups can be made: one folder for version 2, one for each controller for version 1.

A container often has its groups mounted read-only, and its processes sit in the one group of version 2 that it has. A
group with processes cannot hand controllers to its children, so that `open_cgroup_place` moves them one level down, as
systemd asks of whoever was delegated a group.
"""

from __future__ import annotations

import contextlib
import errno
import os
from pathlib import Path
from typing import TYPE_CHECKING

from services.executor.sandboxes.kernel_calls import remount_writable
from services.executor.sandboxes.kernel_files import kernel_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MOUNT = Path("/sys/fs/cgroup")
_HOST_GROUP = "wavepool-host"
_V1_CONTROLLERS = ("memory", "pids", "cpuacct")
_V2_CONTROLLERS = {"memory", "pids"}
_CPU_CONTROLLER = "cpu"
_V1_QUOTA = "cpu.cfs_quota_us"
_MOST_MOVES = 10
"""Of the processes of a group; new ones may be started meanwhile."""


def cgroup_of(pid: int, mount: Path = MOUNT) -> list[Path]:
    """The folders of the groups that a process of ours is in: one for version 2, several for version 1."""
    own = _memberships(kernel_text(Path("/proc", str(pid), "cgroup")))
    return _v1_folders(mount, own) or [mount / own.get("", "")]


def cgroup_parents(mount: Path = MOUNT, membership: str | None = None) -> list[Path]:
    """The folders under which we may make a sandbox's groups: one for version 2, several for version 1, or none."""
    own = _memberships(membership or kernel_text(Path("/proc/self/cgroup")))
    unified = _unified_parent(mount, own.get("", ""))
    if unified:
        return [unified] if os.access(unified, os.W_OK) else []
    needed = _v1_folders(mount, own)
    if not all(os.access(folder, os.W_OK) for folder in needed):
        return []
    cpu = _v1_folder(mount, own, _CPU_CONTROLLER)
    limits_cpu = bool(needed) and (cpu / _V1_QUOTA).exists() and os.access(cpu, os.W_OK)
    # First, as the last is where processor time is counted; on many machines they are one.
    return list(dict.fromkeys([*needed[:-1], *([cpu] if limits_cpu else []), needed[-1]])) if needed else []


def are_limited_in_cpu(parents: Iterable[Path]) -> bool:
    """Whether groups made under `parents` can be limited to a number of processors."""
    return any(
        _CPU_CONTROLLER in kernel_text(parent / "cgroup.subtree_control").split() or (parent / _V1_QUOTA).exists()
        for parent in parents
    )


def open_cgroup_place(mount: Path = MOUNT) -> list[Path]:
    """As `cgroup_parents`, after doing what can be done for an answer that is not empty."""
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
    """Let `group`, of version 2, hand down what it has, its processes being moved one level down.

    Raises OSError where the group is not ours to change.
    """
    offered = set(kernel_text(group / "cgroup.controllers").split()) & {*_V2_CONTROLLERS, _CPU_CONTROLLER}
    # Whoever may not do the last step is to change nothing.
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
    """From the lines of /proc/PID/cgroup: the path below the mount for each list of controllers, "" for version 2."""
    return {names: path.lstrip("/") for names, path in (line.split(":", 2)[1:] for line in text.splitlines())}


def _unified_parent(mount: Path, own: str) -> Path | None:
    """The nearest group at or above our own that hands the controllers to its children."""
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
    """Our own group of one controller; a container has it mounted as if there were nothing above."""
    paths = {name: path for names, path in own.items() for name in names.split(",")}
    hierarchy = (mount / controller).resolve()
    folder = hierarchy / paths.get(controller, "")
    return folder if folder.is_dir() else hierarchy


def _mounted_under(mount: Path) -> Iterator[Path]:
    """The mount points at `mount` and below it."""
    points = (Path(line.split()[4]) for line in kernel_text(Path("/proc/self/mountinfo")).splitlines())
    return (point for point in points if point == mount or mount in point.parents)
