"""Gives the folders that a box may write to its user, and takes them back."""

from __future__ import annotations

import os
import stat
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from services.executor.sandboxes.sandbox import Mount


@contextmanager
def lend_writable_mounts(mounts: Sequence[Mount], uid: int) -> Generator[None]:
    """While the context lasts, the top of each writable mount belongs to `uid`; only root can do that.

    We work on descriptors that were opened before the box starts, so nothing that it plants can redirect us.
    """
    descriptors = [os.open(mount.source, os.O_RDONLY | os.O_NOFOLLOW) for mount in mounts if mount.writable]
    before = [os.fstat(descriptor) for descriptor in descriptors]
    try:
        for descriptor, status in zip(descriptors, before, strict=True):
            os.fchown(descriptor, uid, -1)
            os.fchmod(descriptor, stat.S_IMODE(status.st_mode) | stat.S_IRWXU)
        yield
    finally:
        for descriptor, status in zip(descriptors, before, strict=True):
            os.fchown(descriptor, status.st_uid, -1)
            os.fchmod(descriptor, stat.S_IMODE(status.st_mode))
            os.close(descriptor)
