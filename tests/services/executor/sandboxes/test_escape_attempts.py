"""A hostile program's attempts in every sandbox; a sandbox lets through exactly the gaps that it reports."""

from __future__ import annotations

import errno
import os
import socket
import subprocess
import threading
from pathlib import Path

from services.executor.sandboxes.gaps import Gap
from services.executor.sandboxes.sandbox import Mount
from tests.services.executor.sandboxes.shell import SandboxedShell


async def test_it_is_not_root(shell: SandboxedShell) -> None:
    ending = await shell.run("id -u; id -g; grep -E '^Cap(Eff|Prm|Bnd)|NoNewPrivs' /proc/self/status")

    uid, gid, *status = ending.stdout.decode().splitlines()
    assert int(uid) != 0
    assert int(gid) != 0
    assert {"NoNewPrivs:\t1", "CapEff:\t0000000000000000", "CapPrm:\t0000000000000000"} <= set(status)


async def test_it_cannot_reach_a_server_on_the_host(shell: SandboxedShell) -> None:
    connected = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as server:
        accepting = threading.Thread(target=_accept, args=(server, connected))
        accepting.start()
        port = server.getsockname()[1]
        ending = await shell.run(f"exec 3<>/dev/tcp/127.0.0.1/{port} && echo connected")
        reached = b"connected" in ending.stdout
        assert reached == connected.is_set()
        socket.create_connection(("127.0.0.1", port)).close()
        accepting.join()

    assert reached == shell.admits(Gap.NETWORK)


def _accept(server: socket.socket, connected: threading.Event) -> None:
    connection, _ = server.accept()
    connected.set()
    connection.close()


async def test_it_cannot_read_the_password_file(shell: SandboxedShell) -> None:
    ending = await shell.run("cat /etc/shadow")

    assert ending.code == 1
    assert ending.stdout == b""


async def test_it_cannot_read_what_it_was_not_given(shell: SandboxedShell) -> None:
    secret = shell.outside / "expected-answers"
    secret.write_text("forty-two")
    secret.chmod(0o644)

    ending = await shell.run(f"cat {secret}; cat /etc/passwd; ls {shell.outside}")

    assert (ending.stdout != b"") == shell.admits(Gap.FILES)


async def test_it_cannot_write_outside_of_its_folder(shell: SandboxedShell) -> None:
    await shell.run(f"cd /; touch {shell.outside}/planted /usr/planted planted /etc/planted /dev/planted")

    assert ((shell.outside / "planted").exists()) == shell.admits(Gap.FILES)
    assert not any(Path(folder, "planted").exists() for folder in ("/", "/usr", "/etc", "/dev"))


async def test_it_cannot_reach_out_through_a_link(shell: SandboxedShell) -> None:
    (shell.folder / "link").symlink_to(shell.outside)

    await shell.run("touch /build/link/planted; ln -s /etc/passwd /build/passwd; cat /build/passwd >/build/copy")

    assert ((shell.outside / "planted").exists()) == shell.admits(Gap.FILES)
    assert ((shell.folder / "copy").stat().st_size > 0) == shell.admits(Gap.FILES)


async def test_it_writes_its_folder_which_is_ours_again_afterwards(shell: SandboxedShell) -> None:
    ending = await shell.run("echo made >/build/result && cat /build/result")

    assert ending.stdout == b"made\n"
    assert (shell.folder / "result").read_text() == "made\n"
    assert shell.folder.stat().st_uid == os.getuid()


async def test_it_cannot_write_a_read_only_mount(shell: SandboxedShell) -> None:
    toolchain = shell.outside / "toolchain"
    toolchain.mkdir()
    toolchain.chmod(0o777)
    (toolchain / "compiler").write_text("works")

    ending = await shell.run(
        "cat /opt/toolchain/compiler; touch /opt/toolchain/planted",
        mounts=(Mount(toolchain, Path("/opt/toolchain")),),
    )

    assert ending.stdout == b"works"
    assert (toolchain / "planted").exists() == shell.admits(Gap.FILES)


async def test_it_cannot_read_the_environment_of_others(shell: SandboxedShell, victim: subprocess.Popen[bytes]) -> None:
    ending = await shell.run(f"cat /proc/{victim.pid}/environ /proc/{os.getpid()}/environ; cat /proc/[0-9]*/environ")

    assert b"do-not-tell" not in ending.stdout
    assert b"PYTEST_CURRENT_TEST" not in ending.stdout


async def test_it_sees_no_processes_of_others(shell: SandboxedShell, victim: subprocess.Popen[bytes]) -> None:
    ending = await shell.run(f"tr '\\0' ' ' </proc/{victim.pid}/cmdline")

    assert (b"sleep 300" in ending.stdout) == shell.admits(Gap.PROCESS_LIST)


async def test_it_cannot_signal_others(shell: SandboxedShell, victim: subprocess.Popen[bytes]) -> None:
    ending = await shell.run(f"kill -9 {victim.pid}; kill -9 {os.getpid()}; kill -9 1; kill -9 $PPID; kill -9 -1")

    assert victim.poll() is None
    assert not ending.wall_exceeded


async def test_it_cannot_make_namespaces(shell: SandboxedShell) -> None:
    ending = await shell.run("unshare --user --map-root-user /bin/echo made")

    assert (ending.stdout == b"made\n") == shell.admits(Gap.SYSTEM_CALLS)


async def test_it_gets_no_descriptor_but_its_three_streams(shell: SandboxedShell) -> None:
    with socket.socket() as ours:
        os.set_inheritable(ours.fileno(), True)
        ending = await shell.run(
            "for fd in {3..200}; do [ -e /proc/$$/fd/$fd ] && echo $fd; done; readlink /proc/$$/fd/0"
        )

    assert ending.stdout == b"/dev/null\n"


async def test_it_cannot_open_sockets_that_no_namespace_holds(shell: SandboxedShell) -> None:
    ending = await shell.run(f"perl -e 'socket(my $s, {socket.AF_VSOCK}, 1, 0) or print $!+0'")

    assert ending.stdout == str(errno.EAFNOSUPPORT).encode() or shell.admits(Gap.NETWORK)


async def test_it_gets_the_environment_of_its_command_and_nothing_else(shell: SandboxedShell) -> None:
    ending = await shell.run("/usr/bin/env")

    names = {line.partition("=")[0] for line in ending.stdout.decode().splitlines()}
    set_by_bash = {"PWD", "OLDPWD", "SHLVL", "_"}
    assert names - set_by_bash - {"TMPDIR"} == {"PATH", "GREETING"}
