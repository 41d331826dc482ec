"""A private root for a sandbox, built with plain mounts; for machines without bubblewrap that allow namespaces."""

from __future__ import annotations

from pathlib import Path

from services.executor.sandboxes.kernel_calls import enter_root, mount, set_mount_attributes
from services.executor.sandboxes.launch_order import LaunchOrder

_NOSUID, _NODEV, _NOEXEC = 0x2, 0x4, 0x8
_BIND, _RECURSIVE, _PRIVATE = 0x1000, 0x4000, 0x40000
_ATTRIBUTE_READ_ONLY, _ATTRIBUTE_NOSUID, _ATTRIBUTE_NODEV = 0x1, 0x2, 0x4
_DEVICES = ("null", "zero", "full", "random", "urandom")
_DEVICE_LINKS = {"fd": "/proc/self/fd", "stdin": "fd/0", "stdout": "fd/1", "stderr": "fd/2"}
_MOST_FILES = 20_000
"""Maximum number of files in /tmp and in /dev/shm, each."""
SYSTEM_FOLDERS = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
SYSTEM_FILES = ("/etc/ld.so.cache", "/etc/alternatives")


def enter_private_root(order: LaunchOrder) -> None:
    """Enter a root that holds only the system's programs, the order's mounts, /proc, /dev and /tmp.

    Needs our own mount and pid namespaces; raises OSError if the kernel refuses a mount.
    """
    mount("none", "/", "", _RECURSIVE | _PRIVATE)
    root = Path(order.scratch)
    mount("tmpfs", str(root), "tmpfs", _NOSUID | _NODEV, "mode=755,size=1m")
    for name in SYSTEM_FOLDERS:
        _add_system_folder(root, Path(name))
    for name in SYSTEM_FILES:
        if Path(name).exists():
            _bind(root, name, name, writable=False)
    _add_proc_and_devices(root, order)
    for source, target, writable in order.mounts:
        _bind(root, source, target, writable=writable)
    set_mount_attributes(str(root / "dev"), _ATTRIBUTE_READ_ONLY, recursive=False)
    set_mount_attributes(str(root), _ATTRIBUTE_READ_ONLY, recursive=False)
    enter_root(str(root))


def _add_system_folder(root: Path, folder: Path) -> None:
    if folder.is_symlink():
        (root / folder.name).symlink_to(folder.readlink())
    elif folder.is_dir():
        _bind(root, str(folder), str(folder), writable=False)


def _bind(root: Path, source: str, target: str, *, writable: bool) -> None:
    inside = root / target.lstrip("/")
    inside.parent.mkdir(parents=True, exist_ok=True)
    if Path(source).is_dir():
        inside.mkdir(exist_ok=True)
    else:
        inside.touch()
    mount(source, str(inside), "", _BIND | _RECURSIVE)
    attributes = _ATTRIBUTE_NOSUID | _ATTRIBUTE_NODEV | (0 if writable else _ATTRIBUTE_READ_ONLY)
    set_mount_attributes(str(inside), attributes, recursive=True)


def _add_proc_and_devices(root: Path, order: LaunchOrder) -> None:
    for name in ("proc", "dev", "tmp"):
        (root / name).mkdir()
    mount("proc", str(root / "proc"), "proc", _NOSUID | _NODEV | _NOEXEC)
    mount("tmpfs", str(root / "dev"), "tmpfs", _NOSUID, "mode=755,size=1m")
    for device in (*(f"/dev/{name}" for name in _DEVICES), *order.devices):
        inside = root / device.lstrip("/")
        inside.parent.mkdir(parents=True, exist_ok=True)
        inside.touch()
        mount(device, str(inside), "", _BIND)
    for name, goal in _DEVICE_LINKS.items():
        (root / "dev" / name).symlink_to(goal)
    (root / "dev/shm").mkdir()
    for name in ("dev/shm", "tmp"):
        mount(
            "tmpfs",
            str(root / name),
            "tmpfs",
            _NOSUID | _NODEV,
            f"mode=1777,size={order.tmp_bytes},nr_inodes={_MOST_FILES}",
        )
