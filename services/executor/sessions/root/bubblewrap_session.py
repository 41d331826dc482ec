"""Sandboxes for sessions, made by bubblewrap: namespaces, a private root, a network of its own.

As root the sandbox runs as a user of its own, else in a user namespace (`sandboxes/bubblewrap/arguments.py`). Nothing
in it listens for us: the first program inherits one end of a socket, over which it gets orders and connections.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import resource
import shutil
import signal
import socket
import time
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, cast

from hipcpu.build_folder import BuildKind
from servicekit.cancellation import uncut
from services.executor.core.sandbox.scratch import ScratchFolder
from services.executor.devices.device import Device
from services.executor.devices.selection import selected
from services.executor.images.image_store import Image
from services.executor.sandboxes.bubblewrap.arguments import (
    LIFE,
    NAMESPACES,
    as_it_is,
    bind,
    bubblewrap_options,
    device,
    parent_folders,
    resource_limits,
    sandboxed_program,
    system_mounts,
    user_options,
)
from services.executor.sandboxes.bubblewrap.tree import BubblewrapTree, start_bubblewrap
from services.executor.sandboxes.choice import SandboxSetting, choose_sandbox
from services.executor.sandboxes.limits.file_tree import allocated_bytes, removed_bytes
from services.executor.sandboxes.limits.host_resources import Claim, HostResources, device_groups
from services.executor.sandboxes.limits.watchdog import Watchdog
from services.executor.sandboxes.output import Capture, capture
from services.executor.sandboxes.process_tree import tree_pids
from services.executor.sandboxes.running_sandbox import SandboxParts
from services.executor.sandboxes.sandbox import Command, Limits, Mount, SandboxError
from services.executor.sandboxes.seccomp import seccomp_filter
from services.executor.sessions.access.session_files import (
    COMMAND_OUTPUT,
    HOME,
    IN_SANDBOX,
    LOADER,
    NODES_CONFIG,
    SHELL,
    USER,
    WORKSPACE,
    SessionFiles,
)
from services.executor.sessions.errors import SilentSessionError
from services.executor.sessions.gang.gang import Gang
from services.executor.sessions.gang.ports import SSH_PORT
from services.executor.sessions.network.destinations import Destinations, NetworkPlan
from services.executor.sessions.network.session_network import (
    SessionNetwork,
    missing_for_network,
    open_network,
    own_addresses,
)
from services.executor.sessions.root.guardian import Guardian
from services.executor.sessions.root.image_root import Overlay, Tools, overlay_fault, programs_of_sshd
from services.executor.sessions.root.shared_folders import shared_folders_fault, shared_folders_note
from services.executor.sessions.session_sandbox import OnReport, Report, SandboxOrder, SessionGap
from services.executor.sessions.share import Share
from vocabulary.ssh_keys import Key

_PYTHON = Path("/usr/bin/python3")
_USER_INSIDE = 1000
"""The user's number in a user namespace; as root it is the number outside, too."""
_MESSAGE_BYTES = 1 << 16
_PATH = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"
_CACHES = {
    "XDG_CACHE_HOME": f"{WORKSPACE}/.cache",
    "HF_HOME": f"{WORKSPACE}/.cache/huggingface",
    "CCACHE_DIR": f"{WORKSPACE}/.cache/ccache",
    "PIP_CACHE_DIR": f"{WORKSPACE}/.cache/pip",
    "UV_CACHE_DIR": f"{WORKSPACE}/.cache/uv",
}
"""Caches grow to gigabytes, and do not belong in a home that is kept."""
_LAST_WORDS_BYTES = 4096
_FOR_EVER = timedelta(days=365)
_TRIAL = Limits(timedelta(seconds=60), timedelta(seconds=60), 256, 16, 16, _LAST_WORDS_BYTES)
"""Limits of a sandbox that runs nothing."""
_NETWORK_ENDED = "The network of this session has ended. Save what you need, and reserve again if you need it."
_CLIENT_CONFIG = Path("/etc/ssh/ssh_config")
_TOOLS = ("rsync", "ssh", "tmux")
_OUR_FILES = ("passwd", "group", "nsswitch.conf", "hosts", "profile", "resolv.conf")
# What shells, editors and programs expect in /etc, and that says nothing about this machine's people.
_ETC = (
    *("/etc/ssl/certs", "/etc/bash.bashrc", "/etc/inputrc", "/etc/terminfo", "/etc/localtime"),
    *("/etc/zsh", "/etc/vim", "/etc/mime.types", "/etc/services", "/etc/protocols", "/etc/OpenCL", "/etc/ld.so.conf"),
    "/etc/ld.so.conf.d",
)


def missing_programs() -> str:
    """Return what this machine lacks for sessions, with the fix; empty if it has everything."""
    if sshd_program() is None:
        return "sshd is not installed: run `apt-get install openssh-server` on this machine"
    if shutil.which("bwrap") is None:
        return "bwrap is not installed: run `apt-get install bubblewrap` on this machine"
    if not _PYTHON.exists():
        return f"{_PYTHON} is missing: run `apt-get install python3` on this machine"
    return ""


def sshd_program() -> str | None:
    """Return the path of sshd, or None; a sandbox shows only programs in /usr."""
    return shutil.which("sshd", path="/usr/sbin:/usr/local/sbin:/usr/bin")


async def open_bubblewrap_session(
    compute: Device, work_dir: Path, destinations: Destinations | None = None, shared: Sequence[Mount] = ()
) -> BubblewrapSession | str:
    """Return the adapter, or why sessions cannot be held here, with the fix.

    With `destinations` the sessions have a network, if a first one can be made here. All see the folders of `shared`.
    """
    if missing := shared_folders_fault(shared) or missing_programs():
        return missing
    try:
        await choose_sandbox(SandboxSetting.BUBBLEWRAP)
    except SandboxError as error:
        return str(error)
    fault = await _network_fault(destinations) if destinations else ""
    reached = None if fault else destinations
    return BubblewrapSession(compute, work_dir, destinations=reached, network_fault=fault, shared=shared)


class BubblewrapSession:
    """Needs `bwrap`, `sshd` and Python, as root or as an ordinary user with user namespaces.

    Sessions get their GPUs from `compute`, have their folders in `work_dir`, and reach `destinations`; with None they
    have no network, and `network_fault` is why, if nobody wanted that.
    """

    name = "bubblewrap"

    def __init__(
        self,
        compute: Device,
        work_dir: Path,
        *,
        destinations: Destinations | None = None,
        network_fault: str = "",
        shared: Sequence[Mount] = (),
    ) -> None:
        self._shared = shared
        self._compute = compute
        self._work_dir = work_dir
        self._destinations = destinations
        self._network_fault = network_fault
        self._overlay_fault: str | None = None
        """Why images cannot be changed in a session, once that was tried; empty if they can."""
        self._host = HostResources()
        self._seccomp = seccomp_filter(internet=True, interactive=True)

    @property
    def has_network(self) -> bool:
        """True if sessions reach the internet."""
        return self._destinations is not None

    @property
    def gaps(self) -> tuple[str, ...]:
        """Gaps on this machine."""
        closed = {
            SessionGap.MEMORY: self._host.limits_memory,
            SessionGap.CPU: self._host.limits_cpu,
            SessionGap.SYSTEM_CALLS: self._seccomp is not None,
        }
        lacks = (f"a session has no network: {self._network_fault}",) if self._network_fault else ()
        return (*(gap for gap in SessionGap if not closed.get(gap, False)), *lacks)

    def no_gang_because(self, gang: Gang) -> str:
        """Why no node of this gang can be here; empty if one can."""
        if not self.has_network:
            return self._network_fault or "sessions have no network here (EXECUTOR_SESSION_NETWORK)"
        address = gang.own.address
        return "" if any(address in net for net in own_addresses()) else f"{address} is no address of this machine"

    async def open(self, order: SandboxOrder, on_report: OnReport) -> BubblewrapSandboxOfSession:
        """Make the sandbox; raises SandboxError."""
        if missing := missing_programs():
            raise SandboxError(missing)
        noted = replace(order, welcome=order.welcome + shared_folders_note(self._shared))
        async with AsyncExitStack() as cleanup:
            try:
                return await self._open(noted, on_report, cleanup)
            except OSError as error:
                raise SandboxError(f"the session's sandbox cannot be made: {error}") from error

    async def _open(
        self, order: SandboxOrder, on_report: OnReport, cleanup: AsyncExitStack
    ) -> BubblewrapSandboxOfSession:
        scratch = ScratchFolder(self._work_dir)
        cleanup.push_async_callback(asyncio.to_thread, scratch.remove)
        folders = _folders(order.home or scratch.path / "home", scratch.path / "workspace")
        plan = self._plan(order)
        gpus = await asyncio.to_thread(self._gpu_command, order, scratch.path)
        root = await self._root(order.image)
        control, inside = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        cleanup.callback(control.close)
        program = _supervisor(inside.fileno(), root.tools, [*gpus.mounts, *folders], gpus.devices)
        with inside:
            # What is pushed first is undone last: the tree ends, then its claim, then the folder goes.
            limits = _limits(order.share)
            claim = self._host.claim(program, limits, cleanup, ends_whole=False)
            guardian = Guardian(scratch.path, claim.cgroup.folders if claim.cgroup else [])
            cleanup.push_async_callback(guardian.dismiss)
            files = SessionFiles(scratch.path / "session")
            host_key = await asyncio.to_thread(_write, files, order, gpus, claim.uid, plan, root)
            root.lay_over(scratch.path / "root", claim.uid)
            if claim.uid is not None and order.home is not None:
                await asyncio.to_thread(give_tree, order.home, claim.uid)
            tree = self._launch(order, program, claim, files, inside.fileno(), root)
        captured = await made(tree, cleanup)
        network = await networked(plan, tree.init_pid, claim, cleanup)
        watchdog = Watchdog(limits, lambda: tree_pids(tree.child.pid), claim.cgroup, ())
        parts = SandboxParts(tree, watchdog, captured, claim.cgroup, cleanup.pop_all())
        written = [*(folder.source for folder in folders), *root.changes]
        opened = BubblewrapSandboxOfSession(
            session_id=order.session_id,
            parts=parts,
            control=control,
            files=files,
            folders=written,
            host_key=host_key,
        )
        if network is not None:
            network.watch(opened.tell_that_the_network_ended)
        await opened.start(on_report, lets_nodes_in=bool(order.gang and order.gang.ssh_seed))
        return opened

    def _launch(
        self, order: SandboxOrder, program: Command, claim: Claim, files: SessionFiles, control: int, root: Root
    ) -> BubblewrapTree:
        bwrap = cast("str", shutil.which("bwrap"))
        # Not part of the command: what a sandbox may write to of its own would be given to its user.
        seen = replace(program, mounts=[*program.mounts, *self._shared])
        mounts = root.options(order, seen, files.folder)
        options = [*user_options(claim.uid, _USER_INSIDE), *mounts]
        groups = device_groups(program)
        chain = sandboxed_program(program, _resource_limits(order.share), claim.uid, groups, root.start)
        around = root.overlay.around if root.overlay else ()
        return start_bubblewrap([bwrap, *options], chain, claim.procs_files, self._seccomp, [control], around)

    def _plan(self, order: SandboxOrder) -> NetworkPlan | None:
        """Return what the session's network is to be; None if it has none."""
        return self._destinations.plan(own_addresses(), order.gang) if self._destinations else None

    async def _root(self, image: Image | None) -> Root:
        """Return the root of a session; raises SandboxError."""
        if image is None:
            return Root()
        if self._overlay_fault is None:
            self._overlay_fault = await asyncio.to_thread(overlay_fault, self._work_dir)
        return Root(image, Tools(), self._overlay_fault)

    def _gpu_command(self, order: SandboxOrder, folder: Path) -> Command:
        """Return a command that only says what a program needs to see of the GPUs; on processors that is nothing."""
        if not self._compute.describe().has_own_memory:
            return Command((), Path("/"))
        run = selected(self._compute, order.devices).run_command(folder / "build", BuildKind.PROGRAM)
        mounts = [mount for mount in run.mounts if mount.source != folder / "build"]
        gpus = Command((), Path("/"), mounts, run.environment, run.devices)
        return of_the_machine(gpus) if order.image else gpus


@dataclass
class Root:
    """The root of one session: the machine's own, or an image's, of which `fault` says why it cannot be changed."""

    image: Image | None = None
    tools: Tools | None = None
    fault: str = ""
    overlay: Overlay | None = None

    @property
    def note(self) -> str:
        """What people should know of it; empty if nothing."""
        if self.image is None:
            return ""
        if self.fault:
            return f"  note: the image's files cannot be changed on this machine: {self.fault}\n"
        return "  note: what you change of the image's files is removed at the end\n"

    @property
    def changes(self) -> list[Path]:
        """The folder with what the session has changed of it, if it can."""
        return [self.overlay.changes] if self.overlay else []

    def lay_over(self, folder: Path, uid: int | None) -> None:
        """Make the place for changes in a new folder, for the session's user; raises OSError."""
        if self.image is not None and not self.fault:
            self.overlay = Overlay(folder, self.image.root, uid)

    def start(self, program: str) -> Sequence[str]:
        """Return how a program of the machine is started in it."""
        return self.tools.program(program) if self.tools else as_it_is(program)

    def options(self, order: SandboxOrder, program: Command, files: Path) -> list[str]:
        """Return the options of bwrap that follow those for users."""
        if self.image is None or self.tools is None:
            etc = (word for path in _ETC for word in (*parent_folders(Path(path)), "--ro-bind-try", path, path))
            system = [*system_mounts(Path("/")), *etc]
            var = ("--perms", "0755", "--dir", "/var", "--symlink", "/tmp", "/var/tmp", "--perms", "0755", "--dir")  # noqa: S108  the sandbox's own
            return _options(order, program, files, system, [*var, "/run"], ["--remount-ro", "/"])
        bound = ("--bind", str(self.overlay.merged)) if self.overlay else ("--ro-bind", str(self.image.root))
        return _options(order, program, files, [*bound, "/", *self.tools.mounts], ["--tmpfs", "/sys"], [])


class BubblewrapSandboxOfSession:
    """Implements OpenSandbox; it owns all that its sandbox is made of, and `destroy` gives that back."""

    def __init__(
        self,
        *,
        session_id: str,
        parts: SandboxParts,
        control: socket.socket,
        files: SessionFiles,
        folders: Sequence[Path],
        host_key: str,
    ) -> None:
        self.host_key = host_key
        self.start_time_ns = 0
        self._folders = folders
        self._session_id = session_id
        self._parts = parts
        self._control = control
        self._files = files
        self._ended = asyncio.create_task(self._wait())
        self._destroying: asyncio.Task[bool] | None = None

    @property
    def killed_for_memory(self) -> int:
        """Number of processes that the kernel has killed for lack of memory."""
        return self._parts.cgroup.killed_for_memory if self._parts.cgroup else 0

    async def start(self, on_report: OnReport, *, lets_nodes_in: bool) -> None:
        """Let the first program begin, and pass on what it reports.

        If it `lets_nodes_in`, other nodes of its gang log in by SSH. Raises SilentSessionError; then nothing is left.
        """
        try:
            self._begin(on_report, lets_nodes_in=lets_nodes_in)
        except BaseException:
            await self.destroy()
            raise

    def _begin(self, on_report: OnReport, *, lets_nodes_in: bool) -> None:
        self._control.setblocking(False)
        asyncio.get_running_loop().add_reader(self._control, self._read, on_report)
        self.start_time_ns = time.time_ns()
        if lets_nodes_in:
            # It reads that before any other program begins.
            self.send({"order": "listen", "config": str(NODES_CONFIG), "port": SSH_PORT})
        self._parts.tree.release()

    def tell_that_the_network_ended(self) -> None:
        """Write so to every terminal."""
        with suppress(SilentSessionError):
            self.send({"order": "notify", "number": 0, "text": _NETWORK_ENDED})

    def write_keys(self, keys: Sequence[Key]) -> None:
        """Replace the keys that open the session."""
        self._files.write_keys(keys)

    def write_end(self, end_time: datetime) -> None:
        """Replace the end of the session, as it is shown at a login."""
        self._files.write_end(end_time)

    def used_bytes(self) -> int:
        """Count what is in the session's folders, and what its processes have open there but have removed."""
        devices = {folder.stat().st_dev for folder in self._folders}
        return allocated_bytes(self._folders) + removed_bytes(self._parts.watchdog.pids(), devices)

    def send(self, order: Report, descriptor: int | None = None) -> None:
        """Give an order, with an open file; raises SilentSessionError."""
        descriptors = [] if descriptor is None else [descriptor]
        try:
            socket.send_fds(self._control, [json.dumps(order).encode()], descriptors)
        except OSError as error:
            raise SilentSessionError(self._session_id) from error

    def wake(self) -> None:
        """Let all of its programs go on: which one is the first, its users can forge."""
        for pid in self._parts.watchdog.pids():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)

    async def wait(self) -> str:
        """Wait until the first program has ended; returns what it wrote last."""
        return await asyncio.shield(self._ended)

    async def destroy(self) -> bool:
        """End everything and remove the session's files; returns False if there are processes that do not end."""
        self._destroying = self._destroying or asyncio.create_task(self._destroy())
        return await uncut(self._destroying)

    async def _destroy(self) -> bool:
        self._stop_reading()
        return await self._parts.end()

    async def _wait(self) -> str:
        with suppress(SandboxError):
            await self._parts.tree.wait_status()
        return self._parts.capture.stderr.kept[-_LAST_WORDS_BYTES:].decode(errors="replace").strip()

    def _read(self, on_report: OnReport) -> None:
        try:
            message = self._control.recv(_MESSAGE_BYTES)
        except BlockingIOError:
            return
        except OSError:
            message = b""
        if not message:
            self._stop_reading()
            return
        # Users of the session can make it say anything.
        with suppress(ValueError, RecursionError):
            report: Any = json.loads(message)
            if isinstance(report, dict):
                on_report(cast("dict[str, object]", report))

    def _stop_reading(self) -> None:
        if self._control.fileno() >= 0:
            asyncio.get_running_loop().remove_reader(self._control)


def host_name(session_id: str) -> str:
    """Return the host name that a session's shells show, by which ssh knows its reservation, too.

    The client has the same rule (`host_name` in its `text/reservations.py`). The session of a reservation has its id,
    `-`, and the number of the attempt.
    """
    letters = re.sub(r"-\d+$|[^a-z0-9]", "", session_id.lower())
    return f"wp-{letters[-8:] or 'session'}"


def _name_inside(order: SandboxOrder) -> str:
    """Return the host name inside. Launchers tell by it which of the nodes they are on."""
    return order.gang.own.name if order.gang else host_name(order.session_id)


def of_the_machine(gpus: Command) -> Command:
    """Return what an image needs to see of GPUs: all but the machine's own libraries, and what names them."""
    kept = [mount for mount in gpus.mounts if mount.target.is_relative_to("/sys")]
    gone = [str(mount.target) for mount in gpus.mounts if mount not in kept]
    environment = {name: value for name, value in gpus.environment.items() if not any(path in value for path in gone)}
    return Command((), Path("/"), kept, environment, gpus.devices)


def give_tree(folder: Path, uid: int) -> None:
    """Give all that is in `folder` to a user; follows no links. Nothing may write to it meanwhile."""
    for _, folders, names, descriptor in os.fwalk(folder, follow_symlinks=False):
        for name in (*folders, *names):
            if os.stat(name, dir_fd=descriptor, follow_symlinks=False).st_uid != uid:
                os.chown(name, uid, uid, dir_fd=descriptor, follow_symlinks=False)


def _supervisor(control: int, tools: Tools | None, mounts: Sequence[Mount], devices: Sequence[Path]) -> Command:
    start, environment = (tools.program, tools.environment) if tools else (as_it_is, {})
    words = [
        *(*start(str(_PYTHON)), "-I", "-S", str(IN_SANDBOX / "supervisor.py")),
        *(str(IN_SANDBOX / "sshd_config"), str(control), HOME, *start(sshd_program() or "")),
    ]
    return Command(words, Path("/"), mounts, {"PATH": _PATH, **environment}, devices)


async def _network_fault(destinations: Destinations) -> str:
    """Return why sessions can have no network here, found by making one; empty if they can."""
    if missing := missing_for_network():
        return missing
    true = Command(["/bin/true"], Path("/"))
    async with AsyncExitStack() as cleanup:
        try:
            claim = HostResources().claim(true, _TRIAL, cleanup)
            chain = sandboxed_program(true, resource_limits(_TRIAL), claim.uid)
            options = [*user_options(claim.uid), *bubblewrap_options(true, _TRIAL, system_mounts(Path("/")))]
            tree = start_bubblewrap([cast("str", shutil.which("bwrap")), *options], chain, claim.procs_files, None)
            await made(tree, cleanup)
            await (await open_network(destinations.plan(own_addresses()), tree.init_pid)).close()
        except (OSError, SandboxError) as error:
            return str(error)
    return ""


def _folders(home: Path, workspace: Path) -> list[Mount]:
    """Make the folders that a session can write to, and return their mounts."""
    for folder in (home, workspace):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return [Mount(home, Path(HOME), writable=True), Mount(workspace, Path(WORKSPACE), writable=True)]


async def networked(
    plan: NetworkPlan | None, init_pid: int, claim: Claim, cleanup: AsyncExitStack
) -> SessionNetwork | None:
    """Make the network that is planned, until `cleanup` is closed; raises SandboxError."""
    if plan is None:
        return None
    network = await open_network(plan, init_pid, claim.procs_files)
    cleanup.push_async_callback(network.close)
    return network


async def made(tree: BubblewrapTree, cleanup: AsyncExitStack, output_bytes: int = _LAST_WORDS_BYTES) -> Capture:
    """Wait until the sandbox is made, which ends with `cleanup`; raises SandboxError."""
    cleanup.push_async_callback(tree.destroy)
    readers = await tree.child.outputs()
    cleanup.callback(tree.let_go)
    await tree.make(*readers)
    return capture(readers, output_bytes)


def _write(
    files: SessionFiles, order: SandboxOrder, gpus: Command, uid: int | None, plan: NetworkPlan | None, root: Root
) -> str:
    """Write the session's files for its user; returns the public host key."""
    programs = [f"{mount.target}/bin" for mount in gpus.mounts if (mount.source / "bin").is_dir()]
    of_image = dict(order.image.environment) if order.image else {}
    path = {"PATH": ":".join([*programs, of_image.pop("PATH", _PATH)])}
    nodes: Mapping[str, str] = order.gang.environment if order.gang else {}
    environment = {**path, **_CACHES, **of_image, **order.share.environment, **gpus.environment, **nodes}
    number = _USER_INSIDE if uid is None else uid
    nameserver = plan.nameserver if plan else None
    name = host_name(order.session_id)
    shell = order.image.shell if order.image else SHELL
    # An image may lack them. People copy files with rsync, launchers begin on other nodes with ssh, tmux keeps shells.
    found = {name: shutil.which(name, path="/usr/bin") for name in _TOOLS}
    tools = {name: root.tools.script(path) for name, path in found.items() if path} if root.tools else {}
    environment["PATH"] += f":{IN_SANDBOX}/bin" if tools else ""
    variables = {**environment, **order.environment}
    host_key = files.write(order.keys, variables, number, name, nameserver=nameserver, gang=order.gang, shell=shell)
    if order.gang:
        files.write_hostfile(order.gang.hostfile(order.gpus))
    for name, script in tools.items():
        files.write_program(name, script)
    if root.tools and (copies := programs_of_sshd(sshd_program() or "", str(LOADER))):
        files.write_programs_of_sshd(copies, root.tools.loader)
    note = ""
    if order.image and order.runs_command:
        account = {"HOME": HOME, "LOGNAME": USER, "SHELL": shell, "USER": USER}
        files.write_command(order.image.command, order.image.folder, {**variables, **account})
        note = f"  note: the image's own command was started; its output is in {COMMAND_OUTPUT}\n"
    files.write_welcome(order.welcome + root.note + note)
    files.write_end(order.end_time)
    if uid is not None:
        files.give_host_key_to(uid)
    return host_key


def _options(
    order: SandboxOrder,
    program: Command,
    files: Path,
    system: Sequence[str],
    places: Sequence[str],
    closing: Sequence[str],
) -> list[str]:
    """Return the options of bwrap that follow those for users.

    `system` makes the root, `places` folders that only this kind of root needs, and `closing` ends it.
    """
    shared_memory, temporary = (
        ("--perms", "1777", "--size", str(mib << 20), "--tmpfs", where)
        for mib, where in ((order.share.shared_memory_mib, "/dev/shm"), (order.share.memory_mib // 2, "/tmp"))  # noqa: S108  the sandbox's own
    )
    return [
        *NAMESPACES,
        *LIFE,
        *("--hostname", _name_inside(order)),
        *system,
        *("--proc", "/proc", "--dev", "/dev", *shared_memory, *temporary),
        *places,
        *(word for node in program.devices for word in device(node)),
        *bind(Mount(files, IN_SANDBOX)),
        *(word for name in _OUR_FILES for word in bind(Mount(files / name, Path("/etc", name)))),
        *(bind(Mount(files / "ssh_config", _CLIENT_CONFIG)) if order.gang and order.gang.ssh_seed else ()),
        *(word for mount in program.mounts for word in bind(mount)),
        *("--remount-ro", "/dev", *closing, "--chdir", "/"),
    ]


def _resource_limits(share: Share) -> list[str]:
    _, most = resource.getrlimit(resource.RLIMIT_NPROC)
    processes = share.processes if most == resource.RLIM_INFINITY else min(share.processes, most)
    return [f"--nproc={processes}", "--nofile=1024:", "--core=0:"]


def _limits(share: Share) -> Limits:
    """The limits of the control group; time has no limit, and memory is not polled."""
    return Limits(
        wall=_FOR_EVER,
        cpu=_FOR_EVER,
        memory_mib=share.memory_mib,
        processes=share.processes,
        file_mib=share.memory_mib,
        output_bytes=_LAST_WORDS_BYTES,
        cores=share.cores,
    )
