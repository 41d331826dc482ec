"""The root of a session with an image: the image's files, with the session's own changes on top of them.

The kernel's overlay keeps the changes in the session's folder, so that no session sees those of another. It is mounted
in a mount namespace that bwrap is started in, and that nothing outlives. Where no overlay can be mounted, the root is
read-only.

An image need not have any program of ours. So the machine's `/usr` is there, too, read-only, and our programs are
started by its own loader with its own libraries. What sshd starts by itself since OpenSSH 9.8 is started by the kernel:
there are copies of it that name our loader.
"""

from __future__ import annotations

import os
import platform
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from services.executor.sandboxes.limits.file_tree import remove_tree
from services.executor.sandboxes.sandbox import SandboxError

TOOLS = Path("/.wavepool")
"""Where the sandbox has the machine's `/usr`."""
_LOADER = Path("/lib64/ld-linux-x86-64.so.2")
_USR = Path("/usr")
_PROBE_SECONDS = 20
_PROGRAMS_OF_SSHD = ("sshdsessionpath ", "sshdauthpath ")
# Mounts the overlay in the current folder, and becomes the rest of its arguments. An ordinary user's overlay keeps its
# notes in other attributes.
_MOUNT = (
    'cd "$1" && mount -t overlay overlay -o "lowerdir=image,upperdir=upper,workdir=work$2" merged && shift 2 && '
    'cd / && exec "$@"'
)


class Overlay:
    """A place in `folder` for the changes of one session to the image in `root`."""

    def __init__(self, folder: Path, root: Path, uid: int | None) -> None:
        """Make it, for the session's user `uid`; None if that is our own. Raises OSError."""
        self._folder = folder
        folder.mkdir(mode=0o700)
        for name in ("upper", "work", "merged"):
            (folder / name).mkdir(mode=0o755)
        if uid is not None:
            os.chown(folder / "upper", uid, uid)
        # Paths of this machine would be seen in the sandbox's list of mounts, and commas have a meaning there.
        (folder / "image").symlink_to(root)

    @property
    def merged(self) -> Path:
        """The root, for the program that `around` starts."""
        return self._folder / "merged"

    @property
    def changes(self) -> Path:
        """The folder with what the session has changed."""
        return self._folder / "upper"

    @property
    def around(self) -> list[str]:
        """The beginning of a command that has the overlay; the rest follows."""
        users, attributes = ([], "") if os.geteuid() == 0 else (["--user", "--map-root-user"], ",userxattr")
        enter = ["/usr/bin/unshare", "--mount", "--propagation", "private", *users]
        return [*enter, "/bin/sh", "-c", _MOUNT, "sh", str(self._folder), attributes]


def overlay_fault(work_dir: Path) -> str:
    """Return why no overlay can be had in a folder here, found by mounting one; empty if it can."""
    folder = work_dir / f"wavepool-overlay-{os.getpid()}"
    try:
        image = folder / "image"
        image.mkdir(parents=True)
        overlay = Overlay(folder / "overlay", image, None)
        probe = [*overlay.around, "/bin/touch", str(overlay.merged / "seen")]
        tried = subprocess.run(probe, capture_output=True, check=False, timeout=_PROBE_SECONDS)  # noqa: S603  our own
        if tried.returncode:
            return tried.stderr.decode(errors="replace").strip()
        return "" if (overlay.changes / "seen").exists() else "what is written to an overlay is not kept"
    except (OSError, subprocess.SubprocessError) as error:
        return str(error)
    finally:
        remove_tree(folder)


class Tools:
    """Our programs, as they are started in a sandbox with another root."""

    def __init__(self) -> None:
        """Raises SandboxError on a machine whose programs cannot be started so."""
        loader = _LOADER.resolve()
        if platform.machine() != "x86_64" or not loader.is_file() or not loader.is_relative_to(_USR):
            raise SandboxError("images take a machine with x86-64, and its loader and libraries in /usr")
        self._loader = loader
        libraries = str(_inside(loader.parent))
        self._start = [str(_inside(loader)), "--inhibit-cache", "--library-path", libraries]
        self.environment = {"LD_LIBRARY_PATH": libraries}
        """For what is started by `loader` or by the kernel."""

    def program(self, path: str) -> list[str]:
        """Return how a program of the machine is started; it must be in /usr, or linked from there."""
        found = Path(path if path.startswith("/usr/") else f"/usr{path}")
        inside = str(_inside(found))
        return [*self._start, "--argv0", inside, inside]

    @property
    def loader(self) -> bytes:
        """The loader that copies of programs name."""
        return self._loader.read_bytes()

    @property
    def mounts(self) -> Sequence[str]:
        """The options of bwrap that show them."""
        return ("--ro-bind", str(_USR), str(_inside(_USR)))

    def script(self, path: str) -> str:
        """Return a script that is the program, for people's own use."""
        return f'#!/bin/sh\nexec {" ".join(self.program(path))} "$@"\n'


def programs_of_sshd(sshd: str, loader: str) -> Mapping[str, tuple[str, bytes]]:
    """Return copies of what `sshd` starts by itself, which the kernel starts with the loader at that path.

    They are names and contents, under the options that say where the programs are: one since OpenSSH 9.8, two since
    10.0. Raises SandboxError.
    """
    said = subprocess.run(  # noqa: S603  our own
        [sshd, "-G", "-f", "/dev/null"], capture_output=True, text=True, check=False, timeout=_PROBE_SECONDS
    )
    # OpenSSH before 9.3 does not know the option.
    options = dict(line.split(maxsplit=1) for line in said.stdout.splitlines() if line.startswith(_PROGRAMS_OF_SSHD))
    paths = {option: Path(path) for option, path in options.items()}
    return {option: (path.name, _naming_loader(path.read_bytes(), loader)) for option, path in paths.items()}


def _naming_loader(program: bytes, loader: str) -> bytes:
    usual = f"{_LOADER}\0".encode()
    other = f"{loader}\0".encode().ljust(len(usual), b"\0")
    if program.count(usual) != 1 or len(other) != len(usual):
        raise SandboxError(f"sshd's own programs do not name the loader {_LOADER}, so that images have no logins")
    return program.replace(usual, other)


def _inside(path: Path) -> Path:
    return TOOLS / path.relative_to("/")
