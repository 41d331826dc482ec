"""Snapshots in a repository of restic: encrypted, without what it has already, on any storage that restic knows.

restic opens files by their paths, so people who swap folders for links while it reads could lead it elsewhere. It
therefore runs in a sandbox that has nothing but the home, restic and the repository. Each owner has a repository, with
a password that the scheduler gives; it is on no command line and in no file of this machine.
"""

from __future__ import annotations

import asyncio
import base64
import errno
import hashlib
import json
import os
import re
import secrets
import shutil
import signal
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from services.executor.disks.copy_process import run_copy
from services.executor.disks.disk_store import DiskError, Snapshot
from services.executor.sandboxes.bubblewrap.arguments import bind, parent_folders, system_mounts
from services.executor.sandboxes.sandbox import Mount

if TYPE_CHECKING:
    from collections.abc import Sequence

    from services.executor.disks.disk_store import Base, DiskLimits, DiskOwner, OnPercent

_HOME = "/home/dev"
_PASSWORD = "/run/password"  # noqa: S105  a file's name
_SSH = "/run/ssh"
_SSH_FILES = ("id", "known_hosts")
_SSH_CONFIG_PATH = "/etc/ssh/ssh_config"
_SSH_CONFIG = f"""\
IdentityFile {_SSH}/id
IdentitiesOnly yes
BatchMode yes
UserKnownHostsFile {_SSH}/known_hosts
GlobalKnownHostsFile none
StrictHostKeyChecking yes
ConnectTimeout 20
ServerAliveInterval 15
"""
_HOST = "wavepool"
_SNAPSHOT_ID = re.compile(r"[0-9a-f]{64}")
_LAST_WORDS = 500
_LINE_BYTES = 1 << 20
_PARTLY = 3
"""restic's status if it could not read all files."""
_GONE = tuple(os.strerror(number).lower() for number in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP))
_ENVIRONMENT = ("AWS_", "AZURE_", "B2_", "GOOGLE_", "OS_", "RESTIC_REST_", "ST_")
"""Settings of storages, which restic reads from its environment."""
_CAPABILITIES = ("CAP_CHOWN", "CAP_DAC_OVERRIDE", "CAP_DAC_READ_SEARCH", "CAP_FOWNER", "CAP_FSETID", "CAP_MKNOD")
"""To read what the home's user forbade to read, and to write files as they were."""


class ResticStore:
    """Keeps snapshots in repositories below `place`, which is a path, or an address as restic takes it.

    For `sftp:`, `ssh` is a folder with the private key `id` and the server's host key in `known_hosts`.
    """

    name = "restic"

    def __init__(self, place: str, ssh: Path | None = None) -> None:
        """Raises DiskError if restic or bubblewrap is not installed, the path cannot be made, or a file is missing."""
        for program in ("restic", "bwrap"):
            if shutil.which(program) is None:
                package = "bubblewrap" if program == "bwrap" else program
                raise DiskError(f"EXECUTOR_DISKS: {program} is not installed: run `apt-get install {package}`")
        self._ssh = ssh if place.startswith("sftp:") else None
        for path in [self._ssh / name for name in _SSH_FILES] if self._ssh else ():
            if not path.is_file():
                raise DiskError(f"EXECUTOR_DISKS_SSH: {path} is missing")
        self._place = place
        self._is_local = place.startswith("/")
        self.store_id = f"restic-{hashlib.sha256(place.encode()).hexdigest()[:16]}"
        if self._is_local:
            try:
                Path(place).mkdir(mode=0o700, parents=True, exist_ok=True)
            except OSError as error:
                raise DiskError(f"EXECUTOR_DISKS: {place} cannot be used: {error.strerror or error}") from error

    async def save(self, owner: DiskOwner, home: Path, limits: DiskLimits, base: Base | None) -> Snapshot:
        """Take a snapshot; raises DiskError."""
        counted = await run_copy(
            "measure",
            lambda _: None,
            home=str(home),
            most_bytes=limits.size_bytes,
            most_files=limits.files,
            base_time_ns=base.time_ns if base else 0,
        )
        is_unchanged = base is not None and bool(counted["is_unchanged"])
        if base is None:
            await self._make_repository(owner)
        snapshot_id = base.snapshot_id if base and is_unchanged else await self._backup(owner, home, base)
        return Snapshot(
            snapshot_id=snapshot_id,
            size_bytes=int(counted["size_bytes"]),
            files=int(counted["files"]),
            skipped=int(counted["skipped"]),
            is_unchanged=is_unchanged,
            content=base64.b64decode(counted["content"]),
        )

    async def restore(self, owner: DiskOwner, snapshot_id: str, home: Path, on_percent: OnPercent) -> None:
        """Fill an empty home; raises DiskError."""
        _check_id(snapshot_id)
        await self._restic(owner, Mount(home, Path(_HOME), writable=True), "restore", snapshot_id, "--target", _HOME)
        await run_copy("clean", on_percent, home=str(home))

    async def remove(self, owner: DiskOwner, snapshot_ids: Sequence[str]) -> None:
        """Remove snapshots; raises DiskError."""
        for snapshot_id in snapshot_ids:
            _check_id(snapshot_id)
        kept = {one["id"] for one in await self._snapshots(owner)}
        if gone := kept & set(snapshot_ids):
            # What killed programs have left of their locks is in the way; those of living ones stay.
            await self._restic(owner, None, "unlock")
            await self._restic(owner, None, "forget", "--prune", *sorted(gone))

    async def _make_repository(self, owner: DiskOwner) -> None:
        try:
            await self._restic(owner, None, "cat", "config")
        except DiskError:
            try:
                await self._restic(owner, None, "init")
            except DiskError as error:
                # Somebody else may just have made it.
                with suppress(DiskError):
                    await self._restic(owner, None, "cat", "config")
                    return
                raise error from None

    async def _backup(self, owner: DiskOwner, home: Path, base: Base | None) -> str:
        """Take a snapshot; returns its id."""
        tag = f"wavepool-{secrets.token_hex(16)}"
        known = ("--parent", base.snapshot_id) if base else ("--force",)
        left_out = ("--exclude", f"{_HOME}/WARN_EXPIRES_IN_*MIN.txt", "--one-file-system")
        words = ("backup", ".", "--host", _HOST, "--tag", tag, *known, *left_out)
        await self._restic(owner, Mount(home, Path(_HOME)), *words)
        found = [one["id"] for one in await self._snapshots(owner, tag)]
        if not found:
            raise DiskError("restic took a snapshot and does not have it")
        return str(found[0])

    async def _snapshots(self, owner: DiskOwner, tag: str = "") -> list[dict[str, Any]]:
        chosen = ("--tag", tag) if tag else ()
        return cast("list[dict[str, Any]]", json.loads(await self._restic(owner, None, "snapshots", "--json", *chosen)))

    async def _restic(self, owner: DiskOwner, home: Mount | None, *words: str) -> str:
        """Run restic in its sandbox; returns what it wrote. Raises DiskError."""
        with ExitStack() as stack:
            texts = (owner.password, _SSH_CONFIG) if self._ssh else (owner.password,)
            given = [_readable(text, stack) for text in texts]
            starting = asyncio.ensure_future(
                asyncio.create_subprocess_exec(
                    *self._sandbox(home, *given),
                    *(cast("str", shutil.which("restic")), *words),
                    stdin=asyncio.subprocess.DEVNULL,
                    stdout=asyncio.subprocess.PIPE,
                    stderr=asyncio.subprocess.PIPE,
                    env=self._environment(owner),
                    pass_fds=given,
                    limit=_LINE_BYTES,
                    start_new_session=True,
                )
            )
            try:
                process = await asyncio.shield(starting)
            except asyncio.CancelledError:
                await _end(await starting)
                raise
        try:
            output, errors = await process.communicate()
        finally:
            if process.returncode is None:
                await _end(process)
        said = errors.decode(errors="replace").strip()
        if process.returncode and not (process.returncode == _PARTLY and _are_all_gone(said)):
            raise DiskError(f"restic {words[0]} ended with status {process.returncode}: {said[-_LAST_WORDS:]}")
        return output.decode(errors="replace")

    def _environment(self, owner: DiskOwner) -> dict[str, str]:
        return {
            **{name: value for name, value in os.environ.items() if name.startswith(_ENVIRONMENT)},
            "RESTIC_REPOSITORY": f"{self._place.rstrip('/')}/{owner.folder_name}",
            "RESTIC_PASSWORD_FILE": _PASSWORD,
            # Nothing of it outlives the sandbox.
            "RESTIC_CACHE_DIR": "/tmp/cache",  # noqa: S108  the sandbox's own
            "HOME": "/tmp",  # noqa: S108  as above
            "PATH": "/usr/local/bin:/usr/bin:/bin",
        }

    def _sandbox(self, home: Mount | None, password: int, ssh_config: int = -1) -> list[str]:
        """Return the command of a sandbox with the home, the repository and the password, and for `sftp:` ssh's."""
        mounts = [home] if home else []
        network: tuple[str, ...] = ()
        if self._is_local:
            mounts.append(Mount(Path(self._place), Path(self._place), writable=True))
            network = ("--unshare-net",)
        ssh = ()
        if self._ssh:
            mounts.append(Mount(self._ssh, Path(_SSH)))
            ssh = (*parent_folders(Path(_SSH_CONFIG_PATH)), "--ro-bind-data", str(ssh_config), _SSH_CONFIG_PATH)
        return [
            cast("str", shutil.which("bwrap")),
            *_users(),
            *("--unshare-ipc", "--unshare-pid", "--unshare-uts", "--unshare-cgroup-try", *network),
            *("--die-with-parent", "--new-session"),
            # restic believes that a lock is stale if its program has ended, and sees no programs of other sandboxes.
            *("--hostname", f"wavepool-{secrets.token_hex(8)}"),
            *system_mounts(Path("/")),
            *(word for path in _network_files(is_local=self._is_local) for word in _shown(path)),
            *("--dev", "/dev", "--perms", "1777", "--tmpfs", "/tmp"),  # noqa: S108  as above
            *(word for mount in mounts for word in bind(mount)),
            *parent_folders(Path(_PASSWORD)),
            *("--ro-bind-data", str(password), _PASSWORD),
            *ssh,
            *("--chdir", _HOME if home else "/"),
        ]


async def _end(process: asyncio.subprocess.Process) -> None:
    """Kill a sandbox that may still be in the making.

    Until it is made, bwrap's inner half waits for the outer one for ever, and does not die with it.
    """
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    await process.wait()


def _users() -> tuple[str, ...]:
    """Return the options for users: we are who we are, and as root have no more rights than needed."""
    kept = tuple(word for name in _CAPABILITIES for word in ("--cap-add", name))
    if os.geteuid() == 0:
        return ("--cap-drop", "ALL", *kept)
    # All that is there belongs to us, so that these rights reach nothing else.
    return ("--unshare-user", "--cap-add", "CAP_DAC_OVERRIDE")


def _network_files(*, is_local: bool) -> tuple[str, ...]:
    """Return what is needed to reach a repository over a network."""
    if is_local:
        return ()
    return ("/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf", "/etc/ssl/certs", "/etc/passwd")


def _readable(text: str, stack: ExitStack) -> int:
    """Return a pipe from which the text can be read, until `stack` ends."""
    read, write = os.pipe()
    stack.callback(os.close, read)
    with os.fdopen(write, "w") as file:
        file.write(text)
    return read


def _shown(path: str) -> tuple[str, ...]:
    return (*parent_folders(Path(path)), "--ro-bind-try", path, path)


def _are_all_gone(errors: str) -> bool:
    """True if all that could not be read was removed or replaced by the home's users meanwhile."""
    lines = [line.lower() for line in errors.splitlines() if line.startswith("error: ")]
    return bool(lines) and all(any(gone in line for gone in _GONE) for line in lines)


def _check_id(snapshot_id: str) -> None:
    if not _SNAPSHOT_ID.fullmatch(snapshot_id):
        raise DiskError(f"{snapshot_id[:80]!r} is no id of a snapshot here")
