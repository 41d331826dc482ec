"""Gives the folders that a sandbox may write to its user, and takes them back."""

from __future__ import annotations

import os
import stat
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from services.executor.sandboxes.sandbox import Mount


@contextmanager
def lend_writable_mounts(mounts: Sequence[Mount], uid: int) -> Generator[None]:
    """While the context lasts, the top of each writable mount belongs to `uid`; only root can do that.

    We work on descriptors that were opened before the sandbox starts, so nothing that it plants can redirect us. They
    are O_PATH, as a socket has no others, and such a one is changed by its name in /proc.
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
