"""Memory use of a process tree, as far as /proc shows it without root.

This counts private pages, the sandbox's own /tmp and /dev/shm, and memory files (memfd, shared anonymous memory, System
V segments) that a process has open or mapped. Only a control group also counts memory in pipes and sockets, and in
memory files that no process shows as open any more.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from functools import cache
from typing import NamedTuple

from services.executor.sandboxes.kernel_files import kernel_text

_BYTES_PER_BLOCK = 512
_OWN_FOLDERS = ("tmp", "dev/shm")


class _Mapping(NamedTuple):
    """A mapped part of a file."""

    device: int
    inode: int
    size_kib: int


def memory_kib(pids: Iterable[int]) -> int:
    """Return the memory of these processes in KiB, each file counted once; processes that end meanwhile count as 0."""
    pids = list(pids)
    open_files = dict(file for pid in pids for file in _open_memory_files(pid))
    folders = dict(folder for pid in pids for folder in _own_folders(pid))
    alone = sum(_process_kib(pid, open_files, folders) for pid in pids)
    return alone + sum(open_files.values()) + sum(folders.values())


def _process_kib(pid: int, open_files: dict[int, int], folders: dict[int, int]) -> int:
    """Return a process's private pages, and its shared ones without files that are counted already."""
    status = dict(line.split(":", 1) for line in kernel_text(f"/proc/{pid}/status").splitlines() if ":" in line)
    private, shared = _kib(status, "RssAnon") + _kib(status, "HugetlbPages"), _kib(status, "RssShmem")
    if shared and (open_files or folders):
        shared -= sum(_counted_kib(mapping, open_files, folders) for mapping in _mappings(pid))
    return private + max(shared, 0)


def _counted_kib(mapping: _Mapping, open_files: dict[int, int], folders: dict[int, int]) -> int:
    if mapping.device == _memory_device():
        return min(mapping.size_kib, open_files.get(mapping.inode, 0))
    return min(mapping.size_kib, folders.get(mapping.device, 0))


def _open_memory_files(pid: int) -> Iterator[tuple[int, int]]:
    """Yield the inode and the KiB of each memory file that a process has open."""
    for number in _listed(f"/proc/{pid}/fd"):
        try:
            status = os.stat(f"/proc/{pid}/fd/{number}")  # noqa: PTH116  a path object for each descriptor would cost as much
        except OSError:
            continue
        if status.st_dev == _memory_device():
            yield status.st_ino, status.st_blocks * _BYTES_PER_BLOCK >> 10


def _own_folders(pid: int) -> Iterator[tuple[int, int]]:
    """Yield the device and the KiB of each temporary folder of a process with a root of its own."""
    root = f"/proc/{pid}/root"
    try:
        if os.path.samefile(root, "/"):  # noqa: PTH121  as above
            return
        for name in _OWN_FOLDERS:
            folder = f"{root}/{name}"
            if (device := os.stat(folder).st_dev) != os.stat(root).st_dev:  # noqa: PTH116  as above
                use = os.statvfs(folder)
                yield device, (use.f_blocks - use.f_bfree) * use.f_frsize >> 10
    except OSError:
        return


def _mappings(pid: int) -> Iterator[_Mapping]:
    for line in kernel_text(f"/proc/{pid}/maps").splitlines():
        addresses, _, _, device, inode, *_ = line.split(None, 5)
        if inode != "0":
            first, _, last = addresses.partition("-")
            major, _, minor = device.partition(":")
            size_kib = (int(last, 16) - int(first, 16)) >> 10
            yield _Mapping(os.makedev(int(major, 16), int(minor, 16)), int(inode), size_kib)


@cache
def _memory_device() -> int:
    """Return the device of all memory files that are in no folder."""
    descriptor = os.memfd_create("wavepool-memory-device")
    try:
        return os.fstat(descriptor).st_dev
    finally:
        os.close(descriptor)


def _kib(status: dict[str, str], name: str) -> int:
    return int(status.get(name, "0").split()[0])


def _listed(folder: str) -> list[str]:
    try:
        return os.listdir(folder)  # noqa: PTH208  as above
    except OSError:
        return []
