"""Looks at and removes folders that untrusted programs have filled: no link is followed, no depth is too great."""

from __future__ import annotations

import contextlib
import itertools
import os
import secrets
import stat
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# More than a build or a run has any use for; beyond it we stop looking and call it too much.
_MOST_ENTRIES = 20_000
# Each level holds a descriptor while we look.
_MOST_LEVELS = 100
_FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_BLOCK_BYTES = 512


def folder_exceeds(folder: Path, limit_bytes: int) -> bool:
    """Whether what is below `folder` fills more than `limit_bytes`, or is too many or too deep; it may change now."""
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


def remove_tree(folder: Path) -> None:
    """Remove `folder` and all that is in it; nothing may write to it any more. What cannot be removed stays.

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
    """Folders in folders beyond reason."""


def _sizes(folder: int, levels: int) -> Iterator[int]:
    """What each entry below the open `folder` has allocated; closes it."""
    try:
        for name in os.listdir(folder):
            with contextlib.suppress(OSError):
                status = os.stat(name, dir_fd=folder, follow_symlinks=False)
                yield status.st_blocks * _BLOCK_BYTES
                if stat.S_ISDIR(status.st_mode):
                    if not levels:
                        raise _TooDeepError
                    yield from _sizes(os.open(name, _FOLDER_FLAGS, dir_fd=folder), levels - 1)
    finally:
        os.close(folder)


def _empty(top: int) -> None:
    # Unknown to whoever filled the folder, so that no name is taken.
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
    """Move the folders in `inner` to `top`, and remove all else."""
    for name in os.listdir(inner):
        if _is_folder(name, inner):
            # Those of another user than ours, which only root gets to see, need no permission of their own.
            os.chmod(name, stat.S_IRWXU, dir_fd=inner)
            os.rename(name, next(new_names), src_dir_fd=inner, dst_dir_fd=top)
        else:
            os.unlink(name, dir_fd=inner)


def _is_folder(name: str, parent: int) -> bool:
    return stat.S_ISDIR(os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode)
