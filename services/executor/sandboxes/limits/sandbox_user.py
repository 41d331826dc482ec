"""A separate user id for each sandbox that root starts."""

from __future__ import annotations

import socket

from services.executor.sandboxes.sandbox import SandboxError

# systemd keeps 61184..65519 for users that exist only while something runs
_FIRST_UID = 61184
_LAST_UID = 65519


class SandboxUser:
    """Holds a user id that no other sandbox on this machine has at the same time.

    An abstract Unix socket name marks the id as taken: the kernel keeps it unique among all our processes and frees it
    when the holder dies, so there is no file to clean up.
    """

    def __init__(self) -> None:
        self._hold, self.uid = _take_free_uid()

    def release(self) -> None:
        """Free the id for another sandbox."""
        self._hold.close()


def _take_free_uid() -> tuple[socket.socket, int]:
    for uid in range(_FIRST_UID, _LAST_UID + 1):
        hold = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC)
        try:
            # The old name stays, so that an executor of an earlier version on this machine does not take the same id.
            hold.bind(f"\0wavepool-box-user-{uid}")
        except OSError:
            hold.close()
        else:
            return hold, uid
    raise SandboxError(f"all user ids from {_FIRST_UID} to {_LAST_UID} are taken by running sandboxes")
