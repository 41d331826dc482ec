"""The pool's own SSH key, and the pinned host keys of the machines that it connects to."""

from __future__ import annotations

from glob import escape
from pathlib import Path

import asyncssh

from servicekit.whole_file import write_whole

KEY_FILE = "ssh_key"


def own_key(folder: Path) -> asyncssh.SSHKey:
    """The pool's Ed25519 key, made at first use and kept in `folder`, readable by its owner alone."""
    path = folder / KEY_FILE
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        # asyncssh leaves the keywords of other algorithms untyped.
        made = asyncssh.generate_private_key("ssh-ed25519", "wavepool")  # pyright: ignore[reportUnknownMemberType]
        write_whole(path, made.export_private_key())
    return asyncssh.read_private_key(path)


def public_line(key: asyncssh.SSHKey) -> str:
    """The key's public half, as a line of `authorized_keys`."""
    return key.export_public_key().decode().strip()


class HostKeyPins:
    """The host key of each machine, pinned when it is first seen.

    The first host that answers for a machine is trusted. From then on no other is, even after restarts.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def accepts(self, machine_id: str, key: asyncssh.SSHKey) -> bool:
        """True if it is the machine's key; the first key that is shown becomes it."""
        path = self._path(machine_id)
        shown = key.export_public_key()
        try:
            return path.read_bytes() == shown
        except FileNotFoundError:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            write_whole(path, shown)
            return True

    def forget(self, machine_id: str) -> None:
        """Forget a machine that is over, and the keys of the hosts on the way to it, which are named after it."""
        for path in self._folder.glob(f"{escape(machine_id)}.*"):
            path.unlink(missing_ok=True)

    def _path(self, machine_id: str) -> Path:
        return self._folder / f"{machine_id}.pub"
