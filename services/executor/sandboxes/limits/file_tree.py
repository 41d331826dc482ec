"""Inspects and removes folders filled by untrusted programs: it follows no links, and depth does not matter."""

from __future__ import annotations

import contextlib
import itertools
import os
import secrets
import stat
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

# More than any build or run needs; with more entries we stop and call the folder too large.
_MOST_ENTRIES = 20_000
# Each level holds a descriptor during the walk.
_MOST_LEVELS = 100
_FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_BLOCK_BYTES = 512
_MORE_THAN_ANY_DISK_BYTES = 1 << 60


def folder_exceeds(folder: Path, limit_bytes: int) -> bool:
    """Return True if the files below `folder` exceed `limit_bytes`, are too many or too deep; they may be changing."""
    total_bytes = 0
    try:
        for entries, allocated_bytes in enumerate(_sizes(os.open(folder, _FOLDER_FLAGS), _MOST_LEVELS)):
            total_bytes += allocated_bytes
            if total_bytes > limit_bytes or entries > _MOST_ENTRIES:
                return True
    except _TooDeepError:
        return True
    except OSError:
        return False
    return False


def allocated_bytes(folders: Iterable[Path]) -> int:
    """Return what the files below `folders` take of the disk; they may be changing. Links to one file count once.

    Folders that are nested too deeply count as more than any disk has.
    """
    links = set[tuple[int, int]]()
    total_bytes = 0
    for folder in folders:
        try:
            total_bytes += sum(_sizes(os.open(folder, _FOLDER_FLAGS), _MOST_LEVELS, links))
        except _TooDeepError:
            return _MORE_THAN_ANY_DISK_BYTES
        except OSError:
            continue
    return total_bytes


def tree_size(folder: Path) -> tuple[int, int]:
    """Return what the files below `folder` take of the disk, and their number with folders; they may be changing.

    Folders that are nested too deeply count as more than any disk has.
    """
    size_bytes = files = 0
    try:
        for each_bytes in _sizes(os.open(folder, _FOLDER_FLAGS), _MOST_LEVELS, set()):
            size_bytes += each_bytes
            files += 1
    except _TooDeepError:
        return _MORE_THAN_ANY_DISK_BYTES, files
    except OSError:
        pass
    return size_bytes, files


def removed_bytes(pids: Iterable[int], devices: Iterable[int]) -> int:
    """Return what files on these devices take that were removed while these processes still have them open."""
    found: dict[tuple[int, int], int] = {}
    for pid in pids:
        with contextlib.suppress(OSError):
            for opened in os.scandir(f"/proc/{pid}/fd"):
                with contextlib.suppress(OSError):
                    status = opened.stat()
                    if status.st_nlink == 0 and status.st_dev in devices:
                        found[status.st_dev, status.st_ino] = status.st_blocks * _BLOCK_BYTES
    return sum(found.values())


def remove_tree(folder: Path) -> None:
    """Remove `folder` and its contents as far as possible; nothing may write to it any more.

    Folders inside are moved up before they are emptied, so neither their depth nor the length of a path matters.
    """
    with contextlib.suppress(OSError):
        folder.chmod(stat.S_IRWXU)
        top = os.open(folder, _FOLDER_FLAGS)
        try:
            _empty(top)
        finally:
            os.close(top)
        folder.rmdir()


class _TooDeepError(Exception):
    """The folders are nested too deeply."""


def _sizes(folder: int, levels: int, links: set[tuple[int, int]] | None = None) -> Iterator[int]:
    """Yield the allocated bytes of each entry below the open `folder`; closes it. Files in `links` were counted."""
    try:
        for name in os.listdir(folder):
            with contextlib.suppress(OSError):
                status = os.stat(name, dir_fd=folder, follow_symlinks=False)
                is_link = links is not None and status.st_nlink > 1 and not stat.S_ISDIR(status.st_mode)
                if links is None or not is_link or (status.st_dev, status.st_ino) not in links:
                    yield status.st_blocks * _BLOCK_BYTES
                if links is not None and is_link:
                    links.add((status.st_dev, status.st_ino))
                if stat.S_ISDIR(status.st_mode):
                    if not levels:
                        raise _TooDeepError
                    yield from _sizes(os.open(name, _FOLDER_FLAGS, dir_fd=folder), levels - 1, links)
    finally:
        os.close(folder)


def _empty(top: int) -> None:
    # Random, so that the program that filled the folder cannot have taken a name.
    names_of_raised = (f"raised-{secrets.token_hex(16)}" for _ in itertools.count())
    while names := os.listdir(top):
        for name in names:
            if not _is_folder(name, top):
                os.unlink(name, dir_fd=top)
                continue
            os.chmod(name, stat.S_IRWXU, dir_fd=top)
            inner = os.open(name, _FOLDER_FLAGS, dir_fd=top)
            try:
                _raise_folders(inner, top, names_of_raised)
            finally:
                os.close(inner)
            os.rmdir(name, dir_fd=top)


def _raise_folders(inner: int, top: int, new_names: Iterator[str]) -> None:
    """Move the folders in `inner` to `top`, and remove everything else."""
    for name in os.listdir(inner):
        if _is_folder(name, inner):
            # Folders of another user, which only root sees, need no permission of their own.
            os.chmod(name, stat.S_IRWXU, dir_fd=inner)
            os.rename(name, next(new_names), src_dir_fd=inner, dst_dir_fd=top)
        else:
            os.unlink(name, dir_fd=inner)


def _is_folder(name: str, parent: int) -> bool:
    return stat.S_ISDIR(os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode)
