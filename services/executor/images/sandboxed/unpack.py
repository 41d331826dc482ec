"""Unpacks an image in a sandbox: `unpack.py LAYOUT ROOT SHELL`; writes one line of JSON.

umoci unpacks the layers. The files then get the modes that sessions need, and the folders and files that a session's
own are mounted over. Those must not be links: a mount would follow them. SHELL is the one that the image wants;
the line says which one there is.

The files belong to the user of this sandbox, and sessions have another one. Only with copies of their own can they
change anything, so everybody may read and write. It needs only Python's standard library.
"""

from __future__ import annotations

import contextlib
import json
import os
import stat
import subprocess
import sys
from pathlib import Path, PurePosixPath

FOLDERS = (
    *("proc", "dev", "sys", "tmp", "run", "home/dev", "workspace", "session", "shared", ".wavepool/usr"),
    *("var", "etc", "etc/ssh"),
)
"""What a session's own folders are mounted over."""
FILES = ("passwd", "group", "nsswitch.conf", "hosts", "profile", "resolv.conf", "ssh/ssh_config")
"""What its own files in /etc are mounted over."""
SHELLS = ("/bin/bash", "/usr/bin/bash", "/bin/sh", "/usr/bin/sh")
MOST_LINKS = 40
_EVERYBODY = 0o666
_FOLDER = 0o777
_RUNNABLE = 0o111
# A loader reads the first of these before it does anything else, also for programs of ours.
_REMOVED = ("etc/ld.so.preload", "etc/ld.so.cache")
_OVERLAY = "user.overlay."


class RefusedError(Exception):
    """The image cannot be used; the message says why."""


def unpack(layout: str, root: Path) -> None:
    """Have umoci unpack the image; raises RefusedError."""
    command = ["umoci", "--log=error", "raw", "unpack", "--rootless", "--image", f"{layout}:image", str(root)]
    tried = subprocess.run(command, capture_output=True, check=False)  # noqa: S603  a program of the machine's
    if tried.returncode:
        words = tried.stderr.decode(errors="replace").strip().splitlines()
        raise RefusedError(f"it cannot be unpacked: {words[-1].strip() if words else tried.returncode}")


def open_up(root: Path) -> None:
    """Let everybody read and write; what is neither a file, a folder nor a link is removed."""
    root.chmod(_FOLDER)
    for _, folders, files, descriptor in os.fwalk(root, follow_symlinks=False):
        for name in (*folders, *files):
            mode = os.stat(name, dir_fd=descriptor, follow_symlinks=False).st_mode
            if stat.S_ISLNK(mode):
                continue
            if stat.S_ISDIR(mode):
                os.chmod(name, _FOLDER, dir_fd=descriptor)
            elif stat.S_ISREG(mode):
                runnable = _RUNNABLE if mode & _RUNNABLE else 0
                os.chmod(name, _EVERYBODY | runnable, dir_fd=descriptor)
            else:
                os.unlink(name, dir_fd=descriptor)
                continue
            forget_overlays(f"/proc/self/fd/{descriptor}/{name}")


def forget_overlays(path: str) -> None:
    """Remove what would tell the kernel's overlay to look elsewhere."""
    with contextlib.suppress(OSError):
        for attribute in os.listxattr(path, follow_symlinks=False):
            if attribute.startswith(_OVERLAY):
                os.removexattr(path, attribute, follow_symlinks=False)


def make_places(root: Path) -> None:
    """Make what is mounted over; raises RefusedError if a folder that has more in it is something else."""
    for words in FOLDERS:
        *parents, name = PurePosixPath(words).parts
        folder = root
        for parent in parents:
            folder /= parent
            make_folder(folder, is_replaced=False)
        make_folder(folder / name, is_replaced=name not in {"var", "etc"})
    for name in FILES:
        make_file(root / "etc" / name)
    # As in other sessions.
    remove(root / "var" / "tmp")
    (root / "var" / "tmp").symlink_to("/tmp")  # noqa: S108  the sandbox's own
    for name in _REMOVED:
        remove(root / name)


def make_folder(path: Path, *, is_replaced: bool) -> None:
    """Make a folder if there is none; raises RefusedError."""
    mode = mode_of(path)
    if stat.S_ISDIR(mode):
        return
    if mode and not is_replaced:
        raise RefusedError(f"its /{path.name} is not a folder")
    remove(path)
    path.mkdir()
    path.chmod(_FOLDER)


def make_file(path: Path) -> None:
    """Make a file if there is none."""
    if not stat.S_ISREG(mode_of(path)):
        remove(path)
        path.touch()
        path.chmod(_EVERYBODY)


def mode_of(path: Path) -> int:
    """The mode of what is there, not of what a link leads to; 0 if nothing is."""
    try:
        return path.lstat().st_mode
    except OSError:
        return 0


def remove(path: Path) -> None:
    """Remove what is there, if anything is, with all that is in it."""
    mode = mode_of(path)
    if stat.S_ISDIR(mode):
        for entry in path.iterdir():
            remove(entry)
        path.rmdir()
    elif mode:
        path.unlink()


def leads_to(root: Path, wanted: str) -> Path | None:
    """What a path leads to below `root`, where links are followed as if that were /; None if nothing is there."""
    place = root
    parts = [part for part in wanted.split("/") if part not in {"", "."}]
    for _ in range(MOST_LINKS * 10):
        if not parts:
            return place
        part = parts.pop(0)
        if part == "..":
            place = place.parent if place != root else root
            continue
        following = place / part
        if stat.S_ISLNK(mode_of(following)):
            target = str(following.readlink())
            place = root if target.startswith("/") else place
            parts = [*(word for word in target.split("/") if word not in {"", "."}), *parts]
        elif not mode_of(following):
            return None
        else:
            place = following
    return None


def shell_in(root: Path, wanted: str) -> str:
    """The first shell that there is; raises RefusedError."""
    for shell in (wanted, *SHELLS):
        found = leads_to(root, shell) if shell.startswith("/") else None
        if found is not None and stat.S_ISREG(mode_of(found)) and mode_of(found) & _RUNNABLE:
            return shell
    raise RefusedError("it has no shell: /bin/bash or /bin/sh must be in it")


def main() -> None:
    """Unpack, and say what there is."""
    layout, root, wanted = sys.argv[1], Path(sys.argv[2]), sys.argv[3]
    try:
        unpack(layout, root)
        open_up(root)
        make_places(root)
        said = {"shell": shell_in(root, wanted)}
    except (RefusedError, OSError, RecursionError) as error:
        said = {"refused": str(error) or type(error).__name__}
    sys.stdout.write(json.dumps(said) + "\n")


if __name__ == "__main__":
    main()
