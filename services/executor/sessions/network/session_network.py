"""A session's network: slirp4netns outside serves a tap device inside, and makes the session's connections its own.

No privilege is needed in the machine's own network, and nothing listens there but for a node of several. slirp4netns
would connect to whatever the machine can reach. So before it starts, and before any program of the session runs, routes
in the session's network namespace make unreachable what is denied (`destinations.py`). The session's processes cannot
change routes: they have no capability, and can make no user namespace in which they would.

A node's session has its machine's address, as libraries tell the others which one their device has. slirp4netns
listens at some ports of it on the machine, and passes their connections on to the session (`gang/ports.py`).

slirp4netns runs in the session's control group. It ends with the pipe that this process holds, so it outlives neither
the session nor the executor.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Sequence
from contextlib import AsyncExitStack, ExitStack
from ipaddress import IPv4Address, IPv4Network
from pathlib import Path

from servicekit import logging
from services.executor.sandboxes.bubblewrap.tree import in_cgroups
from services.executor.sandboxes.child import Child, pipe_reader
from services.executor.sandboxes.output import Capture, capture
from services.executor.sandboxes.sandbox import SandboxError
from services.executor.sessions.gang.ports import FREE_PORTS, pass_ports_on
from services.executor.sessions.network.destinations import NetworkPlan, own_networks

log = logging.get_logger(__name__)

_TUN = Path("/dev/net/tun")
_FIB_TRIE = Path("/proc/net/fib_trie")
_MOST_READINGS = 5
_PROGRAMS = {"slirp4netns": "slirp4netns", "ip": "iproute2", "nsenter": "util-linux", "unshare": "util-linux"}
"""Programs, and Debian's packages of them."""
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_NS_GET_USERNS = 0xB701
"""ioctl of a namespace for the user namespace that owns it: linux/nsfs.h."""
_READY_SECONDS = 20.0
_LOOK_SECONDS = 5.0
_OUTPUT_BYTES = 4096
NO_IPV6 = "::/0"
"""The route to be made unreachable where IPv4 alone is wanted."""
# Where /proc/sys is read-only, as in many containers, the device keeps an address that only it itself answers to.
_BATCH = 'echo 1 2>/dev/null >/proc/sys/net/ipv6/conf/default/disable_ipv6; exec "$0" -batch -'
_DEVICE = "tap0"
_OPTIONS = (
    *("--configure", "--mtu=65520", "--disable-host-loopback", "--enable-sandbox", "--enable-seccomp"),
    "--netns-type=path",
)


def missing_for_network() -> str:
    """Return what this machine lacks for sessions' networks, with the fix; empty if it has everything."""
    for name, package in _PROGRAMS.items():
        if shutil.which(name, path=_PATH) is None:
            return f"{name} is not installed: run `apt-get install {package}` on this machine"
    if not os.access(_TUN, os.R_OK | os.W_OK):
        return f"{_TUN} is missing or closed to the executor's user: give it to the executor's container, or chmod it"
    return ""


def own_addresses(read: Callable[[], str] = _FIB_TRIE.read_text) -> list[IPv4Network]:
    """Return this machine's own IPv4 addresses now.

    The kernel gives its table page by page, and a change meanwhile may leave out what was not changed. So it is read
    until it stays the same, and what only some readings have counts, too: to deny more is safe.
    """
    readings = [read(), read()]
    while readings[-1] != readings[-2] and len(readings) < _MOST_READINGS:
        readings.append(read())
    return list(dict.fromkeys(network for text in readings for network in own_networks(text)))


def outer_addresses() -> list[IPv4Address]:
    """Return the single ones of them at which other machines may reach this one."""
    return [net[0] for net in own_addresses() if net.prefixlen == net.max_prefixlen and not net.is_loopback]


class SessionNetwork:
    """The network of one session; made by `open_network`."""

    def __init__(self, way: WayIn, child: Child, captured: Capture, denied: Iterable[IPv4Network]) -> None:
        self._way = way
        self._child = child
        self._capture = captured
        self._denied = set(denied)
        self._watching: list[asyncio.Task[None]] = []

    def watch(self, on_end: Callable[[], None]) -> None:
        """Deny addresses that the machine gets later, too; `on_end` is called if the network ends by itself."""
        self._watching = [asyncio.create_task(self._wait(on_end)), asyncio.create_task(self._look())]

    async def deny_new(self) -> None:
        """Make unreachable what this machine has become since the last time; raises SandboxError."""
        if new := set(own_addresses()) - self._denied:
            await self._way.add_routes(map(str, sorted(new)))
            self._denied |= new

    async def become_node(self, address: IPv4Address, gateway: IPv4Address, orders: Path) -> None:
        """Take the machine's address, and have its ports passed on; raises SandboxError, OSError."""
        await self._way.take_address(address, gateway)
        await asyncio.to_thread(pass_ports_on, orders, address)

    async def close(self) -> None:
        """End the network, and wait for its end."""
        for task in self._watching:
            task.cancel()
        self._way.close()
        self._child.kill()
        await self._child.wait()
        await self._capture.done

    async def _wait(self, on_end: Callable[[], None]) -> None:
        await self._child.wait()
        said = self._capture.stderr.kept.decode(errors="replace").strip()
        log.warning("the network of a session has ended", extra={"status": await self._child.wait(), "said": said})
        on_end()

    async def _look(self) -> None:
        while True:
            await asyncio.sleep(_LOOK_SECONDS)
            try:
                await self.deny_new()
            except (OSError, SandboxError):
                log.exception("a new address of this machine cannot be denied to a session")


async def open_network(plan: NetworkPlan, pid: int, procs_files: Sequence[str] = ()) -> SessionNetwork:
    """Give the namespace of process `pid`, in which nothing runs yet, a network; raises SandboxError, OSError.

    slirp4netns enters the control groups of `procs_files`.
    """
    if plan.node_address is None:
        return await _open_network(plan, pid, procs_files)
    # Whoever can connect to the socket gives slirp4netns orders, so it is gone before anything runs.
    with tempfile.TemporaryDirectory(prefix="wavepool-") as folder:
        orders = Path(folder, "orders")
        network = await _open_network(plan, pid, procs_files, orders)
        try:
            await network.become_node(plan.node_address, plan.gateway, orders)
        except BaseException:
            await network.close()
            raise
    return network


async def _open_network(
    plan: NetworkPlan, pid: int, procs_files: Sequence[str], orders: Path | None = None
) -> SessionNetwork:
    async with AsyncExitStack() as cleanup:
        way = WayIn(pid)
        cleanup.callback(way.close)
        await way.add_routes([*map(str, plan.unreachable), NO_IPV6])
        with ExitStack() as ours:
            ready, tell_ready = os.pipe()
            reader = await pipe_reader(os.fdopen(ready, "rb"))
            ours.callback(os.close, tell_ready)
            child = way.start_slirp(plan.inside, tell_ready, procs_files, orders)
        cleanup.push_async_callback(child.wait)
        cleanup.callback(child.kill)
        captured = capture(await child.outputs(), _OUTPUT_BYTES)
        try:
            async with asyncio.timeout(_READY_SECONDS):
                is_ready = bool(await reader.read(1))
        except TimeoutError:
            is_ready = False
        if not is_ready:
            child.kill()
            await captured.done
            raise SandboxError(f"slirp4netns makes no network: {captured.stderr.kept.decode(errors='replace').strip()}")
        cleanup.pop_all()
        return SessionNetwork(way, child, captured, plan.unreachable)
    raise AssertionError


class WayIn:
    """Open namespaces of a session, and the programs that enter them; nobody can do so once it is closed."""

    def __init__(self, pid: int) -> None:
        with ExitStack() as opened:
            self._network = os.open(f"/proc/{pid}/ns/net", os.O_RDONLY)
            opened.callback(os.close, self._network)
            users = fcntl.ioctl(self._network, _NS_GET_USERNS)
            opened.callback(os.close, users)
            self._end, self._hold = os.pipe()
            for end in (self._end, self._hold):
                opened.callback(os.close, end)
            own = Path("/proc/self/ns/user").stat().st_ino
            # In a user namespace of the sandbox, only who enters that one may change its network. Our user is root in
            # it, so the programs keep their rights. Nobody enters the namespace that he is in.
            same = os.fstat(users).st_ino == own
            self._enter = [] if same else [program("nsenter"), "--preserve-credentials", f"--user={_path(users)}"]
            self._passed = [self._network, users]
            self._opened = opened.pop_all()

    def start_slirp(self, inside: IPv4Network, ready: int, procs_files: Sequence[str], orders: Path | None) -> Child:
        """Start slirp4netns, which writes to `ready` once it serves, and takes orders at a socket if it is to."""
        ends = (f"--ready-fd={ready}", f"--exit-fd={self._end}", *([f"--api-socket={orders}"] if orders else ()))
        slirp = [program("slirp4netns"), *_OPTIONS, f"--cidr={inside}", *ends, _path(self._network), _DEVICE]
        # Its sandbox lets go of all mounts that it sees. Where they are shared with the machine, they go there, too:
        # below /var/lib/docker, those are the roots of containers that are just being started.
        unshared = [program("unshare"), "--mount", "--propagation=private", "--", *slirp]
        return Child(in_cgroups([*self._enter, *unshared], procs_files), [*self._passed, ready, self._end])

    async def add_routes(self, unreachable: Iterable[str]) -> None:
        """Make networks unreachable, all or none of those that were not before; raises SandboxError."""
        lines = "".join(f"route replace unreachable {network}\n" for network in unreachable)
        if said := await self.run(["/bin/sh", "-c", _BATCH, program("ip")], lines.encode()):
            raise SandboxError(f"what a session may not reach cannot be set: {said}")

    async def take_address(self, address: IPv4Address, gateway: IPv4Address) -> None:
        """Give the session this address in place of its own, and to programs ports that are passed on to it.

        Raises SandboxError.
        """
        lines = (
            f"addr flush dev {_DEVICE}\naddr add {address}/32 dev {_DEVICE}\n"
            f"route add default via {gateway} dev {_DEVICE} onlink\n"
        )
        ports = f"echo {FREE_PORTS[0]} {FREE_PORTS[-1]} >/proc/sys/net/ipv4/ip_local_port_range"
        command = ["/bin/sh", "-c", f'{ports} && exec "$0" -batch -', program("ip")]
        if said := await self.run(command, lines.encode(), first=_writable_settings()):
            raise SandboxError(f"the session cannot be a node at {address}: {said}")

    async def run(self, command: Sequence[str], read: bytes, first: Sequence[str] = ()) -> str:
        """Run a command in the session's network; returns what it says if it fails, and nothing if it does not.

        `first` is a command outside that runs it.
        """
        enter = [*first, *(self._enter or [program("nsenter")])]
        process = await asyncio.create_subprocess_exec(
            *(*enter, f"--net={_path(self._network)}", *command),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
            pass_fds=self._passed,
            env={},
        )
        _, said = await process.communicate(read)
        status = process.returncode
        return said.decode(errors="replace").strip() or f"it ended with status {status}" if status else ""

    def close(self) -> None:
        """Let slirp4netns end."""
        self._opened.close()


def _writable_settings() -> Sequence[str]:
    """Return a command that runs another one with the kernel's settings writable; nothing if they are.

    In a container that has all rights in its own mounts they are below a read-only one. What is changed are settings of
    the session's network, which it owns.
    """
    if not os.statvfs("/proc/sys").f_flag & os.ST_RDONLY:
        return ()
    private = [program("unshare"), "--mount", "--propagation=private", "--"]
    return [*private, "/bin/sh", "-c", 'mount -o remount,bind,rw /proc/sys && exec "$@"', "sh"]


def program(name: str) -> str:
    """Return the path of a program of this machine."""
    return shutil.which(name, path=_PATH) or name


def _path(descriptor: int) -> str:
    return f"/proc/self/fd/{descriptor}"
