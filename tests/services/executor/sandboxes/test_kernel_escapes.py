"""A hostile program's requests to the kernel: privileges, other processes, devices, mounts."""

from __future__ import annotations

import os
import shutil
import stat
import uuid
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from services.executor.sandboxes.gaps import Gap
from services.executor.sandboxes.sandbox import Mount
from tests.services.executor.sandboxes.shell import GENEROUS, SandboxedShell, processes_with, until

# Arguments with which each call would do something, for x86_64.
CALLS = {
    "ptrace": (101, 0),
    "process_vm_readv": (310, 1),
    "mount": (165, 0),
    "umount2": (166, 0),
    "pivot_root": (155, 0),
    "chroot": (161, 0),
    "unshare mounts": (272, 0x20000),
    "unshare users": (272, 0x10000000),
    "setns": (308, 0),
    "fsopen": (430, 0),
    "open_tree": (428, 0),
    "bpf": (321, 0),
    "perf_event_open": (298, 0),
    "userfaultfd": (323, 1),
    "io_uring_setup": (425, 1),
    "add_key": (248, 0),
    "keyctl": (250, 0),
    "init_module": (175, 0),
    "kexec_load": (246, 0),
    "open_by_handle_at": (304, 0),
    "reboot": (169, 0),
    "settimeofday": (164, 0),
    "sethostname": (170, 0),
    "setuid to root": (105, 0),
    "setgroups": (116, 0),
    "setns of init": (308, 1),
    "iopl": (172, 3),
    "quotactl": (179, 0),
    "swapon": (167, 0),
}
# Some are harmless if their arguments mean nothing; without a filter these may be let through.
UNFILTERED = {"userfaultfd", "io_uring_setup", "keyctl", "ptrace", "unshare mounts", "unshare users", "open_tree"}
ALLOWED_NODES = {"null", "zero", "full", "random", "urandom", "tty", "ptmx", "console", "stdin", "stdout", "stderr"}


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="the numbers below are those of x86_64")
async def test_no_dangerous_system_call_works(shell: SandboxedShell) -> None:
    lines = [
        f'print "{name}\\n" if syscall({number}, {first}, 0, 0, 0, 0) >= 0;' for name, (number, first) in CALLS.items()
    ]
    (shell.folder / "calls.pl").write_text("\n".join(lines))
    (shell.folder / "calls.pl").chmod(0o644)

    ending = await shell.run("perl /build/calls.pl")

    worked = set(ending.stdout.decode().splitlines())
    assert ending.code == 0, ending.stderr
    assert worked <= (UNFILTERED if shell.admits(Gap.SYSTEM_CALLS) else set())


async def test_no_device_can_be_made_and_none_opened_but_harmless_ones(shell: SandboxedShell) -> None:
    ending = await shell.run(
        "mknod /build/memory c 1 1 && echo made; mknod ${TMPDIR:-/tmp}/disk b 8 0 && echo made; "
        "for node in /dev/* /dev/*/*; do [ -b $node -o -c $node ] && (: <>$node) 2>/dev/null && basename $node; done"
    )

    opened = {name for name in ending.stdout.decode().split() if not name.isdecimal()}
    assert "made" not in opened
    assert opened <= ALLOWED_NODES or shell.admits(Gap.FILES)


@pytest.fixture
def device() -> Iterator[Path]:
    """A device node that only one group may use; it discards everything written to it."""
    node = Path(f"/dev/wavepool-test-{uuid.uuid4().hex[:8]}")
    os.mknod(node, stat.S_IFCHR | 0o660, os.makedev(1, 3))
    os.chown(node, 0, 61_000)
    node.chmod(0o660)
    yield node
    node.unlink()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make device nodes")
async def test_a_device_is_there_for_the_command_that_asks_for_it(shell: SandboxedShell, device: Path) -> None:
    script = f"echo signal >{device} && echo written"
    with_device = replace(shell.command(script), devices=(device,))

    asked = await (await shell.sandbox.start(with_device, GENEROUS)).wait()
    unasked = await shell.run(script)

    assert asked.stdout == b"written\n", asked.stderr
    assert unasked.stdout == b""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a program that is root's")
async def test_a_setuid_program_gives_nothing(shell: SandboxedShell) -> None:
    tools = shell.outside / "tools"
    tools.mkdir()
    shutil.copy("/usr/bin/id", tools / "id")
    (tools / "id").chmod(0o4755)
    tools.chmod(0o755)

    ending = await shell.run("/opt/tools/id -u; /opt/tools/id -ru", mounts=(Mount(tools, Path("/opt/tools")),))

    assert ending.stdout.split() != []
    assert b"0" not in ending.stdout.split()


async def test_another_sandbox_is_out_of_reach(shell: SandboxedShell, marker: str) -> None:
    neighbour = replace(shell.command(f"sleep {marker}; echo survived"), environment={"SECRET": "do-not-tell"})
    other = await shell.sandbox.start(neighbour, GENEROUS)
    await until(lambda: processes_with(marker) != [])
    pids = " ".join(map(str, processes_with(marker)))

    ending = await shell.run(
        f"kill -9 {pids}; for pid in {pids} $(ls /proc | grep -E '^[0-9]+$'); do cat /proc/$pid/environ "
        "/proc/$pid/mem; ls -l /proc/$pid/cwd/ /proc/$pid/root/; echo x >/proc/$pid/mem; done 2>/dev/null"
    )

    assert b"do-not-tell" not in ending.stdout
    assert processes_with(marker) != []
    await other.kill()


async def test_writing_to_every_descriptor_in_sight_forges_nothing(shell: SandboxedShell) -> None:
    ending = await shell.run(
        "for fd in {0..1023}; do echo forged >&$fd; done 2>/dev/null; "
        "for file in /proc/1/fd/* /proc/$PPID/fd/*; do echo forged >$file; done 2>/dev/null; exit 7"
    )

    assert (ending.code, ending.signal) == (7, None)
    assert set(ending.stdout.split() + ending.stderr.split()) <= {b"forged"}


async def test_a_crash_leaves_no_core(shell: SandboxedShell) -> None:
    before = set(shell.folder.iterdir())

    ending = await shell.run("ulimit -c unlimited; ulimit -c; cd /build; kill -SEGV $$")

    assert ending.signal is not None
    assert ending.stdout in {b"", b"0\n"}
    assert set(shell.folder.iterdir()) == before
