"""A separate user id for each sandbox that root starts."""

from __future__ import annotations

import os
import socket
import stat
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from services.executor.sandboxes.sandbox import Mount, SandboxError

# systemd keeps 61184..65519 for users that exist only while something runs
FIRST_UID = 61184
LAST_UID = 65519
_SPREAD = 2189
"""Network namespaces are numbered one after another; by this, the first ids of 100 of them are at least 42 apart."""


class SandboxUser:
    """Holds a user id that no other sandbox on this machine has at the same time.

    An abstract Unix socket name marks the id as taken: the kernel keeps it unique among all our processes and frees it
    when the holder dies, so there is no file to clean up. The names are those of a network namespace, so containers of
    one machine do not see each other's; but some of us end all processes of an id, wherever they are. That is why each
    namespace begins with another id.
    """

    def __init__(self) -> None:
        self._hold, self.uid = _take_free_uid()

    def release(self) -> None:
        """Free the id for another sandbox."""
        self._hold.close()


def user_ids(network_namespace: int) -> Iterator[int]:
    """All ids, in the order in which the sandboxes of a network namespace take them."""
    ids = range(FIRST_UID, LAST_UID + 1)
    first = network_namespace * _SPREAD
    return (ids[(first + number) % len(ids)] for number in range(len(ids)))


def _take_free_uid() -> tuple[socket.socket, int]:
    for uid in user_ids(Path("/proc/self/ns/net").stat().st_ino):
        hold = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC)
        try:
            # The old name stays, so that an executor of an earlier version on this machine does not take the same id.
            hold.bind(f"\0wavepool-box-user-{uid}")
        except OSError:
            hold.close()
        else:
            return hold, uid
    raise SandboxError(f"all user ids from {FIRST_UID} to {LAST_UID} are taken by running sandboxes")


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
