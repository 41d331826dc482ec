"""The command line of a bubblewrap sandbox, as a pure function of the command to run.

bwrap runs in one of two ways. As root it makes namespaces but no user namespace, and `setpriv` inside changes to the
sandbox's own user id: the kernel then sees a different user, and folders under our private home can still be mounted.
As an ordinary user it needs a user namespace, in which nested ones are disabled.

Limits are set inside, after the namespaces are made: the kernel counts a user's processes per user namespace, and a
limit set outside would count the whole session. The sandbox's environment is set last, so that it has no effect on
programs that still have privileges.
"""

from __future__ import annotations

import resource
from collections.abc import Callable, Sequence
from pathlib import Path

from services.executor.sandboxes.limits.kernel_limits import kernel_limits
from services.executor.sandboxes.sandbox import Command, Limits, Mount

NAMESPACES = ("--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try")
_ORDINARY_USER = ("--unshare-user", "--disable-userns", "--cap-drop", "ALL")
NOBODY = 65534
_ROOT = ("--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID", "--cap-add", "CAP_SETPCAP")
LIFE = ("--die-with-parent", "--new-session", "--clearenv")
# Needed by every dynamically linked program of the host, besides its own mounts.
_SYSTEM_FILES = ("/etc/ld.so.cache", "/etc/alternatives")
# Writes to stdout that the sandbox is made, and goes on when a line comes on stdin; if we die before that, none comes.
# By then bwrap's init has asked the kernel to be killed with bwrap, which it has not when it begins.
_WAIT_FOR_GO = 'echo && read -r go && exec "$@" </dev/null'
_PRLIMIT_OPTIONS = {
    resource.RLIMIT_CPU: "cpu",
    resource.RLIMIT_FSIZE: "fsize",
    resource.RLIMIT_NOFILE: "nofile",
    resource.RLIMIT_CORE: "core",
}


def bubblewrap_options(command: Command, limits: Limits, system: Sequence[str]) -> list[str]:
    """Return everything between `bwrap` and the program; `system` comes from `system_mounts`."""
    tmpfs = ("--perms", "1777", "--size", str(limits.file_mib << 20), "--tmpfs")
    return [
        *NAMESPACES,
        *LIFE,
        *("--hostname", "sandbox"),
        *system,
        *("--proc", "/proc", "--dev", "/dev", *tmpfs, "/dev/shm", *tmpfs, "/tmp"),  # noqa: S108  the sandbox's own
        *(word for node in command.devices for word in device(node)),
        *(word for mount in command.mounts for word in bind(mount)),
        *("--remount-ro", "/dev", "--remount-ro", "/", "--chdir", str(command.workdir)),
    ]


def user_options(uid: int | None, inside: int = NOBODY) -> tuple[str, ...]:
    """Return the options for users and capabilities; `uid` is None if we are not root, and then `inside` is seen."""
    return (*_ORDINARY_USER, "--uid", str(inside), "--gid", str(inside)) if uid is None else _ROOT


def as_it_is(program: str) -> Sequence[str]:
    """Return how a program is started in a sandbox whose programs are the machine's."""
    return (program,)


def sandboxed_program(
    command: Command,
    limits: Sequence[str],
    uid: int | None,
    groups: Sequence[int] = (),
    start: Callable[[str], Sequence[str]] = as_it_is,
) -> list[str]:
    """Return the chain of programs in the sandbox that ends in the command.

    `limits` are options of prlimit. `groups` are kept if the user changes. `start` says how a program of the machine is
    started there.
    """
    environment = [f"{name}={value}" for name, value in command.environment.items()]
    return [
        *(*start("/usr/bin/prlimit"), *limits, "--"),
        *(() if uid is None else (*start("/usr/bin/setpriv"), *_change_user(uid, groups))),
        *(*start("/bin/sh"), "-c", _WAIT_FOR_GO, "sh"),
        *(*start("/usr/bin/env"), "-i", *environment),
        *command.arguments,
    ]


def resource_limits(limits: Limits) -> list[str]:
    """Return the limits that the kernel enforces, as options of prlimit."""
    numbers = {_PRLIMIT_OPTIONS[which]: (soft, hard) for which, soft, hard in kernel_limits(limits)}
    return [f"--nproc={limits.processes}", *(f"--{name}={soft}:{hard}" for name, (soft, hard) in numbers.items())]


def system_mounts(root: Path) -> list[str]:
    """Mount the host's programs and libraries read-only; folders that are links into /usr stay links."""
    options = ["--ro-bind", "/usr", "/usr"]
    for name in ("bin", "sbin", "lib", "lib32", "lib64", "libx32"):
        folder = root / name
        if folder.is_symlink():
            options += ["--symlink", str(folder.readlink()), f"/{name}"]
        elif folder.is_dir():
            options += ["--ro-bind", f"/{name}", f"/{name}"]
    for file in _SYSTEM_FILES:
        options += [*parent_folders(Path(file)), "--ro-bind-try", file, file]
    return options


def bind(mount: Mount) -> tuple[str, ...]:
    """Return the options for a mount."""
    kind = "--bind" if mount.writable else "--ro-bind"
    return (*parent_folders(mount.target), kind, str(mount.source), str(mount.target))


def device(node: Path) -> tuple[str, ...]:
    """Return the options for a device node."""
    return (*parent_folders(node), "--dev-bind", str(node), str(node))


def parent_folders(target: Path) -> tuple[str, ...]:
    """Make the parent folders of `target` ourselves, as bwrap would make them accessible to their owner only."""
    parents = [str(parent) for parent in reversed(target.parents) if parent.name]
    return tuple(word for parent in parents for word in ("--perms", "0755", "--dir", parent))


def _change_user(uid: int, groups: Sequence[int]) -> tuple[str, ...]:
    kept = f"--groups={','.join(map(str, groups))}" if groups else "--clear-groups"
    nothing = (kept, "--bounding-set=-all", "--inh-caps=-all", "--ambient-caps=-all", "--no-new-privs")
    return (f"--reuid={uid}", f"--regid={uid}", *nothing, "--")
