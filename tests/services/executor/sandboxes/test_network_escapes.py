"""A sandbox reaches nobody by any kind of socket, and nobody reaches it."""

from __future__ import annotations

import contextlib
import socket
import uuid

from services.executor.sandboxes.gaps import Gap
from tests.services.executor.sandboxes.shell import SandboxedShell, until

# Each prints its name if it got something through.
ATTEMPTS = """use Socket; use IO::Socket::INET; use IO::Socket::UNIX;
my ($raw, $packet, $netlink);
socket($raw, AF_INET, SOCK_RAW, 1) and print "raw ";
socket($packet, 17, SOCK_RAW, 0x300) and print "packet ";
socket($netlink, 16, SOCK_RAW, 15) and bind($netlink, pack("SSLL", 16, 0, 0, 1)) and print "netlink ";
my $udp = IO::Socket::INET->new(Proto => "udp", PeerAddr => "192.0.2.1:53");
$udp and defined $udp->send("question") and print "udp ";
defined gethostbyname("localhost.wavepool.test") and print "dns ";
IO::Socket::UNIX->new(Peer => "/var/run/docker.sock") and print "docker ";
IO::Socket::UNIX->new(Peer => "/run/dbus/system_bus_socket") and print "dbus ";
"""


async def test_no_kind_of_socket_gets_anything_out(shell: SandboxedShell) -> None:
    (shell.folder / "attempts.pl").write_text(ATTEMPTS)
    (shell.folder / "attempts.pl").chmod(0o644)

    ending = await shell.run("perl /build/attempts.pl")

    passed = set(ending.stdout.decode().split())
    assert ending.code == 0, ending.stderr
    admitted = {"udp", "dns", "netlink"} if shell.admits(Gap.NETWORK) else set[str]()
    admitted |= {"docker", "dbus"} if shell.admits(Gap.SOCKETS) else set[str]()
    assert passed <= admitted


async def test_an_abstract_socket_of_the_host_is_out_of_reach(shell: SandboxedShell) -> None:
    name = f"wavepool-test-{uuid.uuid4().hex}"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(f"\0{name}")
        server.listen()
        program = f'use IO::Socket::UNIX; IO::Socket::UNIX->new(Peer => "\\0{name}") and print "reached"'
        ending = await shell.run(f"perl -e '{program}'")

    assert (ending.stdout == b"reached") <= shell.admits(Gap.NETWORK)


async def test_a_sandbox_that_can_connect_to_a_socket_file_of_the_host_says_so(shell: SandboxedShell) -> None:
    path = shell.outside / "socket"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))
        path.chmod(0o666)
        server.listen()
        program = f'use IO::Socket::UNIX; IO::Socket::UNIX->new(Peer => "{path}") and print "reached"'
        ending = await shell.run(f"perl -e '{program}'")

    assert (ending.stdout == b"reached") == shell.admits(Gap.SOCKETS)


async def test_a_server_in_a_sandbox_is_out_of_reach_of_the_host(shell: SandboxedShell) -> None:
    program = (
        "use IO::Socket::INET; $| = 1; "
        'my $s = IO::Socket::INET->new(Listen => 1, LocalAddr => "127.0.0.1:0") or (print("refused\\n"), exit); '
        'print $s->sockport, "\\n"; sleep 60'
    )
    heard: list[bytes] = []
    process = await shell.start(f"perl -e '{program}'", on_output=lambda _, piece: heard.append(piece))
    await until(lambda: bool(heard))
    said = heard[0].decode().strip()
    reached = False
    if said != "refused":
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", int(said)), timeout=1):
            reached = True
    await process.kill()

    assert reached <= shell.admits(Gap.NETWORK)


async def test_settings_of_the_kernel_are_out_of_reach(shell: SandboxedShell) -> None:
    ending = await shell.run(
        "for file in /proc/sys/kernel/core_pattern /proc/sys/vm/drop_caches /proc/sysrq-trigger /sys/power/state "
        "/sys/fs/cgroup/memory/memory.limit_in_bytes; do (echo 1 >$file) 2>/dev/null && echo $file; done"
    )

    assert ending.stdout == b""
