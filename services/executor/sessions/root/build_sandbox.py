"""Sandboxes in which buildah builds images; made by bubblewrap, with the kind of network that sessions have.

A build has to run as root: of a user namespace that owns nothing of this machine. We give it 65,536 users, so that
packages can be installed in an image, which only root can do. The sandbox has the machine's `/usr`, the folder of the
build, and nothing else.

The network and the first mounts are made outside of the user namespace: root inside can then change neither
the routes by which destinations are denied, nor see the folders that lead to ours.
"""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Sequence
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from typing import cast

from services.executor.images.builder import PROGRAM
from services.executor.sandboxes.bubblewrap.arguments import (
    LIFE,
    NAMESPACES,
    resource_limits,
    sandboxed_program,
    system_mounts,
)
from services.executor.sandboxes.bubblewrap.tree import start_bubblewrap
from services.executor.sandboxes.limits.host_resources import HostResources, may_change_users
from services.executor.sandboxes.limits.watchdog import Watchdog
from services.executor.sandboxes.process_tree import tree_pids
from services.executor.sandboxes.running_sandbox import SandboxParts, WaitingSandbox, whole_or_nothing
from services.executor.sandboxes.sandbox import Command, Exit, Limits, Mount, OutputListener, SandboxError
from services.executor.sandboxes.seccomp import seccomp_filter
from services.executor.sessions.network.destinations import Destinations, NetworkPlan
from services.executor.sessions.network.session_network import missing_for_network, own_addresses, program
from services.executor.sessions.root.bubblewrap_session import made, networked

_PACKAGES = {"buildah": "buildah", "tar": "tar", "bwrap": "bubblewrap"}
_CAPABILITIES = (
    *("CHOWN", "DAC_OVERRIDE", "DAC_READ_SEARCH", "FOWNER", "FSETID", "KILL", "SETGID", "SETUID", "SETPCAP", "SETFCAP"),
    *("NET_BIND_SERVICE", "SYS_CHROOT", "SYS_ADMIN", "AUDIT_WRITE", "MKNOD"),
)
"""All that buildah needs, over what the user namespace owns. None is for the network."""
_FIRST_OF_MANY = 0x70000000
_MANY = 65536
_RANGES = 4096
"""Numbers of users that nothing else has: systemd's list of ranges leaves them free."""
_PLACE = Path("/mnt")
"""Where the folder is shown to who may not enter the folders above it."""
# Container engines cover parts of /proc, and the kernel lets a user namespace mount no /proc that would show more.
_OUTSIDE = f'mount -t proc proc /proc 2>/dev/null; mount --bind "$1" {_PLACE} && shift && exec "$@"'
_LOOPBACK = '"$1" link set lo up && shift && exec "$@"'
_PATH = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"
_FILES = {
    "passwd": "root:x:0:0:root:/build:/bin/sh\n",
    "group": "root:x:0:\n",
    "hosts": "127.0.0.1 localhost\n",
    "containers/policy.json": '{"default": [{"type": "insecureAcceptAnything"}]}\n',
    "containers/registries.conf": 'unqualified-search-registries = []\nshort-name-mode = "enforcing"\n',
    "containers/storage.conf": (
        '[storage]\ndriver = "{driver}"\nrunroot = "/build/run"\ngraphroot = "/build/storage"\n'
        # Only for a machine on which there is one user.
        '[storage.options]\nignore_chown_errors = "true"\n'
    ),
}


def missing_for_builds() -> str:
    """Return what this machine lacks for building images, with the fix; empty if it has everything."""
    for name, package in _PACKAGES.items():
        if shutil.which(name) is None:
            return f"{name} is not installed: run `apt-get install {package}` on this machine"
    if not may_change_users():
        return "images are built by executors that are root alone, and this one is not: push the image to a registry"
    return ""


class BubblewrapBuildSandbox:
    """Implements BuildSandbox; builds reach `destinations`, or nothing.

    With `overlay` the kernel can mount overlays there; else each layer is a copy of the one below.
    """

    def __init__(self, destinations: Destinations | None, *, overlay: bool) -> None:
        self._destinations = destinations
        self._driver = "overlay" if overlay else "vfs"
        self._host = HostResources()
        self._seccomp = seccomp_filter(internet=True, building=True)

    async def run(self, folder: Path, arguments: list[str], limits: Limits, on_output: OutputListener) -> Exit:
        """Run `build.py`; raises SandboxError."""
        if missing := missing_for_builds():
            raise SandboxError(missing)
        try:
            waiting = await whole_or_nothing(self._prepare(folder, arguments, limits))
            running = await waiting.start(on_output)
        except OSError as error:
            raise SandboxError(f"the sandbox cannot be made: {error}") from error
        try:
            return await running.wait()
        finally:
            await running.kill()

    async def _prepare(self, folder: Path, arguments: list[str], limits: Limits) -> WaitingSandbox:
        plan = self._destinations.plan(own_addresses()) if self._destinations and not missing_for_network() else None
        mounts = [Mount(folder / "build", Path("/build"), writable=True, is_counted=False)]
        command = Command(
            ["/usr/bin/python3", "-I", "-S", "/work/build.py", *arguments],
            Path("/build"),
            mounts,
            {"PATH": _PATH, "HOME": "/build", "TMPDIR": "/build", "LANG": "C.UTF-8"},
        )
        async with AsyncExitStack() as cleanup:
            claim = self._host.claim(command, limits, cleanup)
            if claim.uid is None:
                raise SandboxError(missing_for_builds())
            _write_files(folder, self._driver, plan)
            around = await _around(folder, claim.uid, cleanup, has_network=plan is not None)
            namespaces = [word for word in NAMESPACES if not plan or word != "--unshare-net"]
            options = [*namespaces, *_options(limits)]
            chain = sandboxed_program(command, resource_limits(limits), None)
            bwrap = cast("str", shutil.which("bwrap"))
            tree = start_bubblewrap([bwrap, *options], chain, claim.procs_files, self._seccomp, around=around)
            captured = await made(tree, cleanup, limits.output_bytes)
            if network := await networked(plan, tree.init_pid, claim, cleanup):
                network.watch(lambda: None)
            watchdog = Watchdog(limits, lambda: tree_pids(tree.child.pid), claim.cgroup, ())
            return WaitingSandbox(SandboxParts(tree, watchdog, captured, claim.cgroup, cleanup.pop_all()))
        raise AssertionError


def _options(limits: Limits) -> list[str]:
    """Return the options of bwrap that follow those for namespaces."""
    tmpfs = ("--perms", "1777", "--size", str((limits.memory_mib // 2) << 20), "--tmpfs")
    return [
        *LIFE,
        *("--hostname", "build", "--cap-drop", "ALL"),
        *(word for name in _CAPABILITIES for word in ("--cap-add", f"CAP_{name}")),
        *system_mounts(Path("/")),
        *("--proc", "/proc", "--dev", "/dev", *tmpfs, "/dev/shm", *tmpfs, "/tmp", *tmpfs, "/run"),  # noqa: S108  the sandbox's own
        *("--perms", "0755", "--dir", "/var", *tmpfs, "/var/tmp", "--tmpfs", "/sys"),  # noqa: S108  as above
        *("--ro-bind-try", "/etc/ssl/certs", "/etc/ssl/certs"),
        *(word for name in ("passwd", "group", "hosts") for word in _bound(name)),
        *(word for name in ("resolv.conf", "containers") for word in _bound(name)),
        *("--ro-bind", str(_PLACE / "bases"), "/work/bases"),
        *("--ro-bind", str(_PLACE / "build.py"), "/work/build.py"),
        *("--ro-bind", str(_PLACE / "context.tar.gz"), "/work/context.tar.gz"),
        *("--bind", str(_PLACE / "build"), "/build"),
        *("--remount-ro", "/", "--chdir", "/build"),
    ]


def _bound(name: str) -> tuple[str, ...]:
    return ("--ro-bind", str(_PLACE / "etc" / name), f"/etc/{name}")


def _write_files(folder: Path, driver: str, plan: NetworkPlan | None) -> None:
    """Write what buildah reads."""
    (folder / "etc" / "containers").mkdir(parents=True)
    resolv = f"nameserver {plan.nameserver}\n" if plan else ""
    for name, text in {**_FILES, "resolv.conf": resolv}.items():
        (folder / "etc" / name).write_text(text.replace("{driver}", driver), "utf-8")
    shutil.copyfile(PROGRAM, folder / "build.py")
    for path in (folder / "etc", *(folder / "etc").rglob("*"), folder / "build.py"):
        path.chmod(0o755 if path.is_dir() else 0o644)


async def _around(folder: Path, uid: int, cleanup: AsyncExitStack, *, has_network: bool) -> Sequence[str]:
    """Return the beginning of the command that becomes bwrap, as root of the sandbox's user namespace."""
    holder = await _user_namespace(uid, cleanup)
    shell = ["/bin/sh", "-c"]
    network = ["/usr/bin/unshare", "--net", *shell, _LOOPBACK, "sh", program("ip")] if has_network else []
    mounts = ["/usr/bin/unshare", "--mount", "--propagation", "private", *shell, _OUTSIDE, "sh", str(folder)]
    enter = ["/usr/bin/nsenter", f"--user=/proc/{holder}/ns/user", "--setuid", "0", "--setgid", "0", "--"]
    return [*mounts, *network, *enter]


async def _user_namespace(uid: int, cleanup: AsyncExitStack) -> int:
    """Make a user namespace whose root is `uid`; return the id of a process that holds it. Raises SandboxError."""
    holder = await asyncio.create_subprocess_exec(
        *("/usr/bin/setpriv", "--pdeathsig=KILL", "/usr/bin/unshare", "--user", "/bin/sh", "-c", "echo; read -r end"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={},
    )

    async def end() -> None:
        with suppress(ProcessLookupError):
            holder.kill()
        await holder.communicate()

    cleanup.push_async_callback(end)
    assert holder.stdout is not None  # noqa: S101  PIPE was asked for
    if not await holder.stdout.readline():
        raise SandboxError("no user namespace can be made on this machine")
    first = _FIRST_OF_MANY + _MANY * (uid % _RANGES)
    for name in ("uid_map", "gid_map"):
        _map_users(Path(f"/proc/{holder.pid}/{name}"), uid, first)
    return holder.pid


def _map_users(path: Path, root: int, first: int) -> None:
    """Let a user namespace have a root and many others."""
    try:
        path.write_text(f"0 {root} 1\n1 {first} {_MANY - 1}\n", "ascii")
    except OSError:
        # In a container that has fewer users itself.
        path.write_text(f"0 {root} 1\n", "ascii")
