"""What a session reaches through its network, and what it does not: each with real connections."""

from __future__ import annotations

import asyncio
import hashlib
import itertools
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import AsyncGenerator, Generator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Network
from pathlib import Path
from typing import Any

import pytest

from hipcpu.toolchain import cache_folder
from servicekit.clock import ManualClock, SystemClock
from servicekit.rpc.proto_time import instant_to_proto
from services.executor.devices.cpu.cpu_device import CpuDevice
from services.executor.sandboxes.process_tree import descendants
from services.executor.sessions.network.destinations import Destinations
from services.executor.sessions.network.session_network import own_addresses
from services.executor.sessions.root import bubblewrap_session
from services.executor.sessions.root.bubblewrap_session import open_bubblewrap_session
from tests.services.executor.client import Client, StartExecutor, until
from tests.services.executor.sessions.conftest import SLOTS, SYSTEM_PYTHON, Machine
from tests.services.executor.sessions.session_client import Access, Person, SessionClient, session_request
from tests.services.executor.test_process import REPOSITORY, Executor

pytestmark = [pytest.mark.sshd, pytest.mark.bubblewrap, pytest.mark.network]

_SERIAL = itertools.count()
NOBODY = 65534
# Tests in two processes must not share addresses: RFC 5737 and RFC 2544 keep these for such uses.
NUMBER = int(re.sub(r"\D", "", os.environ.get("PYTEST_XDIST_WORKER", "0")) or 0) % 60
OURS, PUBLIC, PRIVATE = f"203.0.113.{4 * NUMBER + 1}", f"203.0.113.{4 * NUMBER + 2}", f"10.99.{NUMBER}.1"


class Internet:
    """Another machine, in a network namespace: it has a public and a private address, and greets on port 80 of both."""

    def __init__(self, cleanup: ExitStack) -> None:
        greeter = (
            "import socket; s = socket.create_server(('0.0.0.0', 80)); print('up', flush=True)\n"
            "while True: c, a = s.accept(); c.sendall(b'hello ' + a[0].encode()); c.close()"
        )
        process = subprocess.Popen(["unshare", "--net", str(SYSTEM_PYTHON), "-c", greeter], stdout=subprocess.PIPE)
        cleanup.callback(process.wait)
        cleanup.callback(process.kill)
        assert process.stdout is not None
        cleanup.enter_context(process.stdout)
        assert process.stdout.readline() == b"up\n"
        self.enter = ["nsenter", f"--net=/proc/{process.pid}/ns/net"]
        # The kernel removes devices some time after their namespace, so the next ones need other names.
        serial = f"{os.getpid()}-{next(_SERIAL)}"
        far, self.near = f"wpf{serial}", f"wpn{serial}"
        run("ip", "link", "add", self.near, "type", "veth", "peer", "name", far, "netns", str(process.pid))
        cleanup.callback(run, "ip", "link", "del", self.near)
        run("ip", "addr", "add", f"{OURS}/30", "dev", self.near)
        run("ip", "link", "set", self.near, "up")
        for words in (("addr", "add", f"{PUBLIC}/30"), ("addr", "add", f"{PRIVATE}/32"), ("link", "set", "up")):
            run(*self.enter, "ip", *words, "dev", far)
        run(*self.enter, "ip", "link", "set", "lo", "up")
        run("ip", "route", "add", f"{PRIVATE}/32", "via", PUBLIC)


@pytest.fixture
def internet() -> Generator[Internet]:
    tried = subprocess.run(["unshare", "--net", "ip", "link", "set", "lo", "up"], check=False, capture_output=True)
    if os.geteuid() != 0 or tried.returncode:
        pytest.skip("only root with CAP_NET_ADMIN can make another machine")
    with ExitStack() as cleanup:
        yield Internet(cleanup)


def run(*words: str) -> None:
    subprocess.run(words, check=True)


def reading(address: str, port: int = 80) -> str:
    return f"timeout 30 bash -c 'cat </dev/tcp/{address}/{port}' 2>&1"


async def said_to(machine: Machine, person: Person, command: str) -> str:
    async with machine.session(person, slots=SLOTS[0]) as access:
        return (await access.run(person, command))[1]


@contextmanager
def listening_everywhere() -> Generator[int]:
    """A server on all of this machine's addresses, IPv4 and IPv6, whose port is given."""
    with socket.create_server(("::", 0), family=socket.AF_INET6, dualstack_ipv6=True) as server:
        yield server.getsockname()[1]


async def test_a_session_reaches_the_internet_by_a_name_server_and_a_gateway_of_its_own(
    online_machine: Machine, internet: Internet, alice: Person
) -> None:
    command = f"{reading(PUBLIC)}; echo; cat /etc/resolv.conf; ip -4 -o route show default"
    greeting, *settings = (await said_to(online_machine, alice, command)).splitlines()

    # To others, the session is this machine.
    assert greeting == f"hello {OURS}"
    assert settings[0] == "nameserver 10.0.2.3"
    assert settings[1].startswith("default via 10.0.2.2 dev tap0")


async def test_a_large_download_arrives_whole(online_machine: Machine, internet: Internet, alice: Person) -> None:
    sender = (
        "import socket, sys; s = socket.create_server(('0.0.0.0', 81)); print('up', flush=True)\n"
        "c, _ = s.accept(); c.sendall(bytes(range(256)) * 65536); c.close()"
    )
    process = await asyncio.create_subprocess_exec(
        *(*internet.enter, str(SYSTEM_PYTHON), "-c", sender), stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    await process.stdout.readline()
    said = await said_to(online_machine, alice, f"cat </dev/tcp/{PUBLIC}/81 | md5sum")
    await process.wait()

    assert said.split()[0] == hashlib.md5(bytes(range(256)) * 65536, usedforsecurity=False).hexdigest()


async def test_names_are_asked_of_the_machines_nameserver(online_machine: Machine, alice: Person) -> None:
    # A question for a name that nobody has, in the form of RFC 1035; any answer to it has its first two bytes.
    ask = (
        "import socket; s = socket.socket(type=socket.SOCK_DGRAM); s.settimeout(20); s.connect(('10.0.2.3', 53));"
        "s.send(bytes.fromhex('abcd01000001000000000000') + b'\\x07invalid\\0' + bytes([0, 1, 0, 1]));"
        "print(s.recv(512)[:2].hex())"
    )
    here = ask.replace("10.0.2.3", nameserver()) if nameserver() else ""
    if not here or subprocess.run(["/usr/bin/python3", "-c", here], capture_output=True, check=False).returncode:
        pytest.skip("this machine has no nameserver that answers")

    assert await said_to(online_machine, alice, f'python3 -c "{ask}"') == "abcd\n"


def nameserver() -> str:
    lines = Path("/etc/resolv.conf").read_text().splitlines()
    return next((line.split()[1] for line in lines if line.startswith("nameserver ") and ":" not in line), "")


async def test_no_address_of_the_machine_is_reached_on_any_interface(
    online_machine: Machine, internet: Internet, alice: Person
) -> None:
    own = [str(net[0]) for net in own_addresses() if net.prefixlen == 32]
    assert OURS in own
    with listening_everywhere() as port:
        for address in own:
            socket.create_connection((address, port)).close()
        said = await said_to(
            online_machine, alice, "; ".join(f"echo {address} $({reading(address, port)})" for address in own)
        )

    assert said.count("No route to host") == 2 * sum(not address.startswith("127.") for address in own)
    assert said.count("Connection refused") == 2 * sum(address.startswith("127.") for address in own)


@pytest.mark.parametrize("address", ["10.0.2.2", "10.0.2.3", "10.0.2.100", "10.0.2.7", "0.0.0.0", "255.255.255.255"])  # noqa: S104 - none of them is this machine
async def test_the_addresses_inside_do_not_lead_to_the_machines_ports(
    online_machine: Machine, alice: Person, address: str
) -> None:
    with listening_everywhere() as port:
        ports = (port, online_machine.server.port, online_machine.server.metrics_port)
        said = await said_to(online_machine, alice, "; ".join(f"{reading(address, p)} && echo in" for p in ports))

    assert "in\n" not in said
    assert said


async def test_no_ipv6_address_is_reached(online_machine: Machine, alice: Person) -> None:
    own = re.findall(r"inet6 ([0-9a-f:]+)/\d+ scope (global|link)", output_of("ip", "-6", "addr"))
    targets = [address for address, scope in own if scope == "global"]
    targets += [f"{address}%tap0" for address, scope in own if scope == "link"]
    targets += ["2001:db8::1", "fd00::2", "fd00::3", "fc00::1", "fe80::2%tap0", "fd00:ec2::254"]
    with listening_everywhere() as port:
        said = await said_to(
            online_machine, alice, "; ".join(f"{reading(target, port)} && echo in" for target in targets)
        )

    assert "in\n" not in said
    # At once, as the device has no address of IPv6.
    assert said.count("Network is unreachable") + said.count("No route to host") == 2 * len(targets)


@pytest.mark.parametrize(
    "address",
    [
        *("169.254.169.254", "169.254.1.1", "168.63.129.16", "192.0.0.192", "100.100.100.200"),
        *(
            "10.0.0.1",
            "10.255.255.53",
            "172.17.0.1",
            "192.168.1.1",
            "100.64.0.1",
            "224.0.0.251",
            "::ffff:169.254.169.254",
        ),
        *("::ffff:10.0.0.1", "fd00:ec2::254"),
    ],
)
async def test_the_kernel_has_no_way_to_what_is_denied(online_machine: Machine, alice: Person, address: str) -> None:
    connect = (
        f"import socket; family = socket.AF_INET6 if ':' in '{address}' else socket.AF_INET\n"
        "for kind in (socket.SOCK_DGRAM, socket.SOCK_STREAM):\n"
        "    s = socket.socket(family, kind); s.settimeout(20)\n"
        f"    try: s.connect(('{address}', 80)); print('in')\n"
        "    except OSError as error: print(error.errno)"
    )
    said = await said_to(online_machine, alice, f'python3 -c "{connect}"')

    # A datagram's socket connects without a packet, so the answer is the kernel's: EHOSTUNREACH, ENETUNREACH.
    assert set(said.split()) <= {"113", "101"}
    assert len(said.split()) == 2


async def test_a_private_network_is_denied_until_the_operator_allows_it(
    online_machine: Machine,
    start_executor: StartExecutor,
    internet: Internet,
    alice: Person,
    tmp_path: Path,
    clock: ManualClock,
) -> None:
    assert "No route to host" in await said_to(online_machine, alice, reading(PRIVATE))

    machine = await machine_with(Destinations((IPv4Network(f"{PRIVATE}/32"),)), start_executor, tmp_path, clock)
    async with machine.session(alice) as access:
        assert (await access.run(alice, reading(PRIVATE)))[1] == f"hello {OURS}"
        assert "No route to host" in (await access.run(alice, reading("10.99.250.1")))[1]


async def test_what_the_operator_denies_is_denied(
    start_executor: StartExecutor, internet: Internet, alice: Person, tmp_path: Path, clock: ManualClock
) -> None:
    denied = Destinations((), (IPv4Network(f"{PUBLIC}/32"),))
    machine = await machine_with(denied, start_executor, tmp_path, clock)
    async with machine.session(alice) as access:
        assert "No route to host" in (await access.run(alice, reading(PUBLIC)))[1]


async def machine_with(
    destinations: Destinations | None, start_executor: StartExecutor, tmp_path: Path, clock: ManualClock
) -> Machine:
    sandbox = await open_bubblewrap_session(CpuDevice(), tmp_path, destinations)
    server, client = await start_executor(session_sandbox=sandbox, clock=clock)
    return Machine(server, SessionClient(server.port, client.channel), clock, tmp_path)


async def test_an_address_that_the_machine_gets_later_is_denied_too(
    online_machine: Machine, internet: Internet, alice: Person
) -> None:
    late = f"198.51.100.{NUMBER + 1}"
    async with online_machine.session(alice, slots=SLOTS[0]) as access:
        with listening_everywhere() as port:
            run("ip", "addr", "add", f"{late}/32", "dev", internet.near)
            socket.create_connection((late, port)).close()
            await until(lambda: late in routes_inside())

            assert "No route to host" in (await access.run(alice, reading(late, port)))[1]


def routes_inside() -> str:
    # bwrap, which is outside, has the name on its command line, too.
    inside = next(pid for pid in descendants(os.getpid()) if command_of(pid).startswith("/usr/bin/python3\0-I"))
    return output_of("nsenter", f"--net=/proc/{inside}/ns/net", "ip", "route")


def output_of(*words: str) -> str:
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def command_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return ""


def name_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""


def slirps(root: int | None = None) -> list[int]:
    return [pid for pid in descendants(root or os.getpid()) if name_of(pid) == "slirp4netns"]


BYPASSES = {
    "to the device": "s.setsockopt(socket.SOL_SOCKET, 25, b'tap0')",
    "to its number": "s.setsockopt(0, 50, struct.pack('!I', socket.if_nametoindex('tap0')))",
    "without routes": "s.setsockopt(socket.SOL_SOCKET, 5, 1)",
    "by a source route": "s.setsockopt(0, 4, bytes([131, 7, 4]) + socket.inet_aton('{0}') + bytes([0]))",
    "with a mark": "s.setsockopt(socket.SOL_SOCKET, 36, 1)",
}


@pytest.mark.parametrize("bypass", BYPASSES.values(), ids=BYPASSES)
async def test_no_option_of_a_socket_leads_around_the_routes(
    online_machine: Machine, internet: Internet, alice: Person, bypass: str
) -> None:
    with listening_everywhere() as port:
        targets = [(PRIVATE, 80), (OURS, port), ("10.0.2.2", port)]
        program = "import socket, struct\n" + "".join(
            f"s = socket.socket(); s.settimeout(20)\n"
            f"try:\n    {bypass.format(address)}\nexcept OSError as error: print('no option')\n"
            f"try: s.connect(('{address}', {number})); print('{address} in')\nexcept OSError as error: print(error)\n"
            for address, number in targets
        )
        async with online_machine.session(alice, slots=SLOTS[0]) as access:
            await access.run(alice, f"cat > attack.py <<'END'\n{program}\nEND")
            status, said = await access.run(alice, "python3 attack.py 2>&1")

    assert status == 0, said
    assert " in\n" not in said
    assert len(said.splitlines()) >= len(targets)


@pytest.mark.parametrize(
    "command",
    [
        "ip route del unreachable 10.0.0.0/8",
        "ip route add 10.99.0.0/16 via 10.0.2.2",
        "ip route flush table main",
        "ip neigh add 10.99.0.1 lladdr 52:55:0a:00:02:02 dev tap0",
        "ip link set tap0 down",
        "ip addr add 203.0.113.1/32 dev lo",
        "ip rule add from all lookup 99",
        "unshare -Urn true",
        "unshare -n true",
        "nsenter --net=/proc/1/ns/net true",
        "python3 -c 'import socket; socket.socket(socket.AF_PACKET, socket.SOCK_RAW)'",
        "python3 -c 'import socket; socket.socket(socket.AF_INET, socket.SOCK_RAW, 255)'",
    ],
)
async def test_a_session_cannot_change_its_network(online_machine: Machine, alice: Person, command: str) -> None:
    said = await said_to(
        online_machine,
        alice,
        f"ip route > before; {command} 2>/dev/null && echo done; ip route | diff before - && echo same",
    )

    assert said == "same\n"


async def test_a_session_has_no_capability(online_machine: Machine, alice: Person) -> None:
    said = await said_to(online_machine, alice, "grep -h Cap /proc/[0-9]*/status | sort -u")

    sets = dict(line.split() for line in said.splitlines() if "CapBnd" not in line)
    assert set(sets.values()) == {"0" * 16}


async def test_sessions_do_not_reach_each_other(online_machine: Machine, alice: Person, bob: Person) -> None:
    server = "import socket; s = socket.create_server(('', 8888)); print('up', flush=True); s.accept()"
    async with (
        online_machine.session(alice, slots=SLOTS[0]) as hers,
        online_machine.session(bob, slots=SLOTS[1]) as his,
    ):
        process = await hers.start(alice, "dev@session", f'python3 -c "{server}"')
        assert process.stdout is not None
        assert await process.stdout.readline() == b"up\n"
        for address in ("10.0.2.100", "10.0.2.2", "127.0.0.1"):
            assert "in\n" not in (await his.run(bob, f"{reading(address, 8888)} && echo in"))[1]
        # Nor does this machine.
        with pytest.raises(OSError, match="refused"):
            socket.create_connection(("127.0.0.1", 8888))
        assert (await hers.run(alice, "(: </dev/tcp/127.0.0.1/8888) && echo in")) == (0, "in\n")
        await process.communicate()


async def test_nothing_listens_on_the_machine_for_a_session(
    online_machine: Machine, internet: Internet, alice: Person
) -> None:
    async with online_machine.session(alice, slots=SLOTS[0]) as access:
        await access.run(alice, "python3 -m http.server --bind 0.0.0.0 8080 >/dev/null 2>&1 & sleep 0")
        assert (await access.run(alice, reading(PUBLIC)))[0] == 0
        [slirp] = slirps()
        tables = "".join(Path(f"/proc/net/{name}").read_text() for name in ("tcp", "tcp6"))
        listening = {line.split()[9] for line in tables.splitlines()[1:] if line.split()[3] == "0A"}
        links = [str(path.readlink()) for path in Path(f"/proc/{slirp}/fd").iterdir()]
        sockets = {link[8:-1] for link in links if link.startswith("socket:")}

    assert listening
    assert not sockets & listening


async def test_ports_that_ssh_forwards_stay_inside_or_with_the_user(online_machine: Machine, alice: Person) -> None:
    async with await asyncio.start_server(lambda _, writer: writer.close(), None, 0, family=socket.AF_INET) as server:
        port = server.sockets[0].getsockname()[1]
        # Before the session: one that another test gives this machine meanwhile is denied a few seconds later.
        address = own_addresses()[-1][0]
        async with online_machine.session(alice, slots=SLOTS[0]) as access:
            # From inside to the user's machine, by the user's own ssh.
            back = f"8765:127.0.0.1:{port}"
            assert await access.run(alice, "(: </dev/tcp/127.0.0.1/8765) && echo in", "-R", back) == (0, "in\n")
            with pytest.raises(OSError, match="refused"):
                socket.create_connection(("127.0.0.1", 8765))
            # From the user's machine, to what the session reaches: not this machine's ports.
            process = await access.start(alice, "-W", f"{address}:{port}", "dev@session")
            output, _ = await process.communicate()
            assert process.returncode != 0, output


async def test_slirp4netns_ends_with_the_session_and_is_limited_with_it(online_machine: Machine, alice: Person) -> None:
    async with online_machine.session(alice, slots=SLOTS[0]) as access:
        [slirp] = slirps()
        groups = Path(f"/proc/{slirp}/cgroup").read_text()
        shell = (await access.run(alice, "true"))[0]
        assert shell == 0
        if bubblewrap_session.HostResources().limits_memory:
            assert "wavepool-sandbox-" in groups
    await access.events.reach("ended")

    assert not Path(f"/proc/{slirp}").exists()


async def test_people_read_that_the_network_has_ended(online_machine: Machine, alice: Person) -> None:
    async with online_machine.session(alice, slots=SLOTS[0]) as access, access.terminal(alice) as terminal:
        [slirp] = slirps()
        os.kill(slirp, signal.SIGKILL)

        await terminal.see("The network of this session has ended.")
        assert await access.run(alice, "echo still here") == (0, "still here\n")


async def test_a_machine_without_slirp4netns_has_sessions_without_a_network_and_says_so(
    start_executor: StartExecutor,
    alice: Person,
    tmp_path: Path,
    clock: ManualClock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("services.executor.sessions.network.session_network._PROGRAMS", {"slirp5netns": "slirp5netns"})
    sandbox = await open_bubblewrap_session(CpuDevice(), tmp_path, Destinations())
    server, client = await start_executor(session_sandbox=sandbox, clock=clock)
    sessions = SessionClient(server.port, client.channel)
    asked = session_request([alice])
    ready = (await sessions.events(asked).reach("ready")).ready
    await sessions.close(asked.session_id)

    expected = (
        "a session has no network: slirp5netns is not installed: run `apt-get install slirp5netns` on this machine"
    )
    assert expected in ready.gaps
    assert expected in (await client.capabilities()).session_gaps


async def test_an_operator_can_give_sessions_no_network(
    start_executor: StartExecutor, alice: Person, tmp_path: Path, clock: ManualClock
) -> None:
    machine = await machine_with(None, start_executor, tmp_path, clock)
    async with machine.session(alice) as access:
        assert not slirps()
        assert "Network is unreachable" in (await access.run(alice, reading("1.1.1.1")))[1]
    assert not any("network" in gap for gap in machine.server.sessions.gaps)


@pytest.mark.skipif(os.getuid() != 0, reason="only root mounts")
async def test_mounts_that_others_share_stay_when_a_session_begins_and_ends(
    online_machine: Machine, alice: Person, tmp_path: Path
) -> None:
    # As Docker has them: /var/lib/docker is shared, and each container's root is mounted below it while it starts.
    shared, below = tmp_path / "shared", tmp_path / "shared" / "below"
    shared.mkdir()
    with ExitStack() as cleanup:
        for folder in (shared, below):
            folder.mkdir(exist_ok=True)
            subprocess.run(["mount", "-t", "tmpfs", "tmpfs", folder], check=True)
            cleanup.callback(subprocess.run, ["umount", "--lazy", folder], check=True)
            subprocess.run(["mount", "--make-shared", folder], check=True)
        async with online_machine.session(alice) as access:
            assert (await access.run(alice, "true"))[0] == 0
            assert below.is_mount()
        assert below.is_mount()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
async def test_slirp4netns_ends_with_the_executor(tmp_path: Path, alice: Person, number: signal.Signals) -> None:
    executor = Executor(tmp_path)
    async with executor.client() as client, opened(executor, client, tmp_path, alice):
        [slirp] = slirps(executor.process.pid)
        executor.process.send_signal(number)
        executor.ended()
    await until(lambda: name_of(slirp) != "slirp4netns")


@pytest.mark.usefixtures("_system_python")
async def test_an_ordinary_users_sessions_have_the_same_network(internet: Internet, alice: Person) -> None:
    with an_ordinary_users_executor() as executor:
        async with executor.client() as client, opened(executor, client, Path(tempfile.mkdtemp()), alice) as access:
            [slirp] = slirps(executor.process.pid)
            assert f"Uid:\t{NOBODY}\t" in Path(f"/proc/{slirp}/status").read_text()
            assert (await access.run(alice, reading(PUBLIC)))[1] == f"hello {OURS}"
            for address, port in ((OURS, executor.port), (PRIVATE, 80), ("10.0.2.2", executor.port)):
                status, said = await access.run(alice, reading(address, port))
                assert status != 0, said
                assert "hello" not in said
            for attack in ("ip route add 10.0.0.0/8 via 10.0.2.2", "unshare -Urn true", "nsenter -U -t 1 true"):
                assert (await access.run(alice, attack))[0] != 0
    assert not Path(f"/proc/{slirp}").exists()


@contextmanager
def an_ordinary_users_executor(**more: str) -> Generator[Executor]:
    """An executor that is nobody's, with more settings."""
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        shutil.chown(work, NOBODY, NOBODY)
        work.chmod(0o755)
        packages = next(path for path in sys.path if path.endswith("site-packages"))
        settings = {
            "HOME": folder,
            "EXECUTOR_CACHE_DIR": folder,
            "PYTHONPATH": f"{REPOSITORY}:{REPOSITORY}/protos:{REPOSITORY}/client:{packages}",
            "WAVEPOOL_CACHE_DIR": str(work / "compiler"),
            **more,
        }
        executor = Executor(work, [*ordinary_user(work), str(SYSTEM_PYTHON)], **settings)
        try:
            yield executor
        finally:
            executor.end(signal.SIGTERM)


def ordinary_user(work: Path) -> list[str]:
    """A command that becomes nobody, who may open /dev/net/tun as on most machines, and read the compiler."""
    script = (
        'mkdir "$0/dev" "$0/compiler" && mount --bind "$1" "$0/compiler" && shift && '
        'mount -t tmpfs none "$0/dev" && mknod -m 666 "$0/dev/tun" c 10 200 && '
        'mount --bind "$0/dev/tun" /dev/net/tun && umount -l "$0/dev" && rmdir "$0/dev" && exec "$@"'
    )
    nobody = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups")
    return ["unshare", "--mount", "sh", "-c", script, str(work), str(cache_folder()), *nobody]


@asynccontextmanager
async def opened(
    executor: Executor, client: Client, folder: Path, person: Person, **fields: Any
) -> AsyncGenerator[Access]:
    """An open session of an executor in another process."""
    machine = Machine(executor, SessionClient(executor.port, client.channel), SystemClock(), folder)  # pyright: ignore - a process
    end = instant_to_proto(datetime.now(UTC) + timedelta(hours=1))
    asked = session_request([person], end_time=end, **fields)
    access = Access(machine.client, asked, machine.client.events(asked), folder)
    access.known_hosts.write_text(f"session {(await access.events.reach('ready')).ready.host_key}\n")
    yield access
