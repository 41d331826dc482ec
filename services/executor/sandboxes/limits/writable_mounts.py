"""Lends a sandbox's writable folders to its user, and takes them back."""

from __future__ import annotations

import os
import stat
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

from services.executor.sandboxes.sandbox import Mount


@contextmanager
def lend_writable_mounts(mounts: Sequence[Mount], uid: int) -> Generator[None]:
    """Give the top of each writable mount to `uid` while the context lasts; only root can do this.

    The descriptors are opened before the sandbox starts, so that it cannot redirect us. They are O_PATH, the only kind
    that a socket has, and so they are changed by their names in /proc.
    """
    sources = [mount.source for mount in mounts if mount.writable]
    descriptors = [os.open(source, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC) for source in sources]
    before = [os.fstat(descriptor) for descriptor in descriptors]
    try:
        for descriptor, status in zip(descriptors, before, strict=True):
            _change(descriptor, uid, stat.S_IMODE(status.st_mode) | stat.S_IRWXU)
        yield
    finally:
        for descriptor, status in zip(descriptors, before, strict=True):
            _change(descriptor, status.st_uid, stat.S_IMODE(status.st_mode))
            os.close(descriptor)


def _change(descriptor: int, uid: int, mode: int) -> None:
    path = Path(f"/proc/self/fd/{descriptor}")
    os.chown(path, uid, -1)
    path.chmod(mode)
