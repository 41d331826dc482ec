"""Snapshots in a repository of restic: encrypted, without what it has already, on any storage that restic knows.

restic opens files by their paths, so people who swap folders for links while it reads could lead it elsewhere. It
therefore runs in a sandbox that has nothing but the home, restic and the repository. Each owner has a repository, with
a password that the scheduler gives; it is on no command line and in no file of this machine.

restic's own locks outlive a program that is killed, and keep others out for half an hour. A repository in a folder is
therefore locked by the executor, with flock, which ends with whoever holds it; restic's locks go with its sandbox.
"""

from __future__ import annotations

import asyncio
import base64
import errno
import fcntl
import hashlib
import json
import os
import re
import secrets
import shutil
import signal
import sys
from collections.abc import AsyncGenerator, Generator, Sequence
from contextlib import ExitStack, asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any, cast

from servicekit.cancellation import uncut
from servicekit.whole_file import write_whole
from services.executor.core.sandbox.scratch import ScratchFolder
from services.executor.disks import home_scan
from services.executor.disks.snapshot import Base, DiskError, DiskLimits, DiskOwner, Snapshot
from services.executor.sandboxes.bubblewrap.arguments import bind, parent_folders, system_mounts
from services.executor.sandboxes.sandbox import Mount

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
_LOCK_POLL_SECONDS = 0.2
_STORE_ID = "store-id"
_PROCESSED = re.compile(r"^processed \d+ files, ([\d.]+) ([KMGT]?)i?B in ", re.MULTILINE)
_ROUNDED = 1.01
"""How much more a size may be than restic's words say."""
_PARTLY = 3
"""restic's status if it could not read all files."""
_GONE = tuple(os.strerror(number).lower() for number in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP))
_ENVIRONMENT = ("AWS_", "AZURE_", "B2_", "GOOGLE_", "OS_", "RESTIC_REST_", "ST_")
"""Settings of storages, which restic reads from its environment."""
_CAPABILITIES = ("CAP_CHOWN", "CAP_DAC_OVERRIDE", "CAP_DAC_READ_SEARCH", "CAP_FOWNER", "CAP_FSETID", "CAP_MKNOD")
"""To read what the home's user forbade to read, and to write files as they were."""


class ResticStore:
    """Keeps snapshots in repositories below `place`, which is a path, or an address as restic takes it.

    For `sftp:`, `ssh` is a folder with the private key `id` and the server's host key in `known_hosts`. A path is a
    folder on storage that lasts, which several machines may share, locks included; `reserve_bytes` stay free there.
    A call that is cancelled ends its work and leaves nothing that counts.
    """

    def __init__(self, place: str, ssh: Path | None = None, reserve_bytes: int = 0) -> None:
        """Raises DiskError if the path cannot be used, or a file of ssh's is missing."""
        self._ssh = ssh if place.startswith("sftp:") else None
        for path in [self._ssh / name for name in _SSH_FILES] if self._ssh else ():
            if not path.is_file():
                raise DiskError(f"EXECUTOR_DISKS_SSH: {path} is missing")
        self._place = place.rstrip("/")
        self._folder = Path(place) if place.startswith("/") else None
        self._reserve_bytes = reserve_bytes
        self.store_id = f"restic-{hashlib.sha256(place.encode()).hexdigest()[:16]}"
        """Tells places apart: a snapshot can be restored from the place alone where it was taken."""
        if self._folder:
            try:
                self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                self.store_id = _id_of(self._folder, self.store_id)
            except OSError as error:
                raise DiskError(f"EXECUTOR_DISKS: {place} cannot be used: {error.strerror or error}") from error

    async def save(self, owner: DiskOwner, home: Path, limits: DiskLimits, base: Base | None) -> Snapshot:
        """Take a snapshot of a home, which its users may be changing meanwhile; raises DiskError."""
        counted = await _scan(
            "measure",
            home=str(home),
            most_bytes=limits.size_bytes,
            most_files=limits.files,
            base_time_ns=base.time_ns if base else 0,
            base_top=base.top if base else "",
        )
        is_unchanged = base is not None and bool(counted["is_unchanged"])
        if base and is_unchanged:
            snapshot_id = base.snapshot_id
        else:
            self._check_room(int(counted["changed_bytes"]))
            async with self._locked(owner, fcntl.LOCK_SH):
                if base is None:
                    await self._make_repository(owner)
                with _never_empty(home, int(counted["files"])) as folder:
                    snapshot_id = await self._backup(owner, folder, limits, base)
        return Snapshot(
            snapshot_id=snapshot_id,
            size_bytes=int(counted["size_bytes"]),
            files=int(counted["files"]),
            skipped=int(counted["skipped"]),
            is_unchanged=is_unchanged,
            content=base64.b64decode(counted["content"]),
            top=str(counted["top"]),
        )

    async def restore(self, owner: DiskOwner, snapshot_id: str, home: Path) -> str:
        """Fill an empty home with a snapshot, as files of our own user; returns its `top`. Raises DiskError."""
        if not _SNAPSHOT_ID.fullmatch(snapshot_id):
            raise DiskError(f"{snapshot_id[:80]!r} is no id of a snapshot here")
        mount = Mount(home, Path(_HOME), writable=True)
        async with self._locked(owner, fcntl.LOCK_SH):
            await self._restic(owner, mount, "restore", snapshot_id, "--target", _HOME)
        return str((await _scan("clean", home=str(home)))["top"])

    async def remove(self, owner: DiskOwner, snapshot_ids: Sequence[str]) -> None:
        """Remove snapshots; those that are not there count as removed. Raises DiskError."""
        async with self._locked(owner, fcntl.LOCK_EX):
            kept = {str(one["id"]) for one in await self._snapshots(owner)}
            if gone := kept & set(snapshot_ids):
                if not self._folder:
                    # What killed programs have left of their locks is in the way; those of living ones stay.
                    await self._restic(owner, None, "unlock")
                await self._restic(owner, None, "forget", "--prune", *sorted(gone))

    def _check_room(self, new_bytes: int) -> None:
        if self._folder:
            room = os.statvfs(self._folder)
            if new_bytes > room.f_bavail * room.f_frsize - self._reserve_bytes:
                gib = new_bytes / (1 << 30)
                raise DiskError(f"there is no room where disks are kept for what has changed ({gib:.3g} GiB)")

    @asynccontextmanager
    async def _locked(self, owner: DiskOwner, how: int) -> AsyncGenerator[None]:
        """Wait until nobody removes snapshots from the owner's repository, or (LOCK_EX) uses it at all."""
        if not self._folder:
            yield
            return
        folder = self._folder / owner.folder_name
        folder.mkdir(mode=0o700, exist_ok=True)
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            while True:
                with suppress(BlockingIOError):
                    fcntl.flock(descriptor, how | fcntl.LOCK_NB)
                    break
                await asyncio.sleep(_LOCK_POLL_SECONDS)
            yield
        finally:
            os.close(descriptor)

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

    async def _backup(self, owner: DiskOwner, home: Path, limits: DiskLimits, base: Base | None) -> str:
        """Take a snapshot; returns its id. Raises DiskError."""
        tag = f"wavepool-{secrets.token_hex(16)}"
        known = ("--parent", base.snapshot_id) if base else ("--force",)
        words = ("backup", ".", "--one-file-system", "--host", _HOST, "--tag", tag, *known)
        said = await self._restic(owner, Mount(home, Path(_HOME)), *words)
        found = [str(one["id"]) for one in await self._snapshots(owner, tag)]
        if not found:
            raise DiskError("restic took a snapshot and does not have it")
        if _may_exceed(limits, said):
            await self._check_size(owner, found[0], limits)
        return found[0]

    async def _check_size(self, owner: DiskOwner, snapshot_id: str, limits: DiskLimits) -> None:
        """Give up a snapshot of a home that grew while it was saved; raises DiskError."""
        size = json.loads(await self._restic(owner, None, "stats", "--json", "--mode", "restore-size", snapshot_id))
        if int(size["total_size"]) > limits.size_bytes:
            await self._restic(owner, None, "forget", snapshot_id)
            raise DiskError("the home grew beyond the disk's size limit while it was saved; the one before is kept")

    async def _snapshots(self, owner: DiskOwner, tag: str = "") -> list[dict[str, Any]]:
        chosen = ("--tag", tag) if tag else ()
        return cast("list[dict[str, Any]]", json.loads(await self._restic(owner, None, "snapshots", "--json", *chosen)))

    async def _restic(self, owner: DiskOwner, home: Mount | None, *words: str) -> str:
        """Run restic in its sandbox; returns what it wrote. Raises DiskError."""
        with ExitStack() as stack:
            texts = (owner.password, _SSH_CONFIG) if self._ssh else (owner.password,)
            given = [_readable(text, stack) for text in texts]
            starting = asyncio.create_subprocess_exec(
                *self._sandbox(owner, home, *given),
                *(cast("str", shutil.which("restic")), *words),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                env=self._environment(owner),
                pass_fds=given,
                start_new_session=True,
            )
            process = await uncut(starting, _end)
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
            "RESTIC_REPOSITORY": f"{self._place}/{owner.folder_name}",
            "RESTIC_PASSWORD_FILE": _PASSWORD,
            # Nothing of it outlives the sandbox.
            "RESTIC_CACHE_DIR": "/tmp/cache",  # noqa: S108  the sandbox's own
            "HOME": "/tmp",  # noqa: S108  as above
            "PATH": "/usr/local/bin:/usr/bin:/bin",
        }

    def _sandbox(self, owner: DiskOwner, home: Mount | None, password: int, ssh_config: int = -1) -> list[str]:
        """Return the command of a sandbox with the home, the repository and the password, and for `sftp:` ssh's."""
        mounts = [home] if home else []
        network: tuple[str, ...] = ()
        locks: tuple[str, ...] = ()
        if self._folder:
            repository = self._folder / owner.folder_name
            mounts.append(Mount(repository, repository, writable=True))
            network, locks = ("--unshare-net",), ("--tmpfs", str(repository / "locks"))
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
            *(word for path in _network_files(is_local=bool(self._folder)) for word in _shown(path)),
            *("--dev", "/dev", "--perms", "1777", "--tmpfs", "/tmp"),  # noqa: S108  as above
            *(word for mount in mounts for word in bind(mount)),
            *locks,
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


def _may_exceed(limits: DiskLimits, said: str) -> bool:
    """True unless restic says that it read less than the limit. Hard links of a file count for it each time."""
    found = _PROCESSED.search(said)
    return not found or float(found[1]) * 1024 ** " KMGT".index(found[2] or " ") * _ROUNDED > limits.size_bytes


@contextmanager
def _never_empty(home: Path, files: int) -> Generator[Path]:
    """Return a folder with what a snapshot has: restic takes none of nothing, so an empty one has a file of ours."""
    if files:
        yield home
        return
    with ScratchFolder(home.parent) as folder:
        # Nobody is given a file of this name.
        (folder / "WARN_EXPIRES_IN_0MIN.txt").touch()
        yield folder


def _id_of(folder: Path, older: str) -> str:
    """Return the id in the folder, which is made if it has none; `older` if repositories are older than that file."""
    path = folder / _STORE_ID
    with suppress(FileNotFoundError):
        return path.read_text().strip()
    made = older if any(folder.glob("*/config")) else f"restic-{secrets.token_hex(8)}"
    write_whole(path, f"{made}\n".encode())
    return path.read_text().strip()


async def _scan(what: str, **order: object) -> dict[str, Any]:
    """Run the program that looks through a home; it is killed if the call is cancelled. Raises DiskError."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", home_scan.__name__, what),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        answer, errors = await process.communicate(json.dumps(order).encode())
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode or not answer:
        said = errors.decode(errors="replace").strip()
        raise DiskError(f"looking through the home ended with status {process.returncode}: {said[-_LAST_WORDS:]}")
    found = cast("dict[str, Any]", json.loads(answer))
    if "refused" in found:
        raise DiskError(str(found["refused"]))
    return found
