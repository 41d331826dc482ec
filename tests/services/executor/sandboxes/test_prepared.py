"""A prepared sandbox is complete, starts on one word, is used once, and leaves nothing if nobody uses it."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from pathlib import Path

import pytest

from services.executor.sandboxes.process_tree import descendants
from services.executor.sandboxes.running_sandbox import SandboxParts, WaitingSandbox
from services.executor.sandboxes.sandbox import Command, Mount, PreparedSandbox, Sandbox, SandboxError, Stream
from services.executor.sandboxes.warm_sandbox import WarmSandbox
from tests.services.executor.sandboxes.shell import GENEROUS, SHORT_WALL, SandboxedShell, processes_with, until


def parts_of(prepared: PreparedSandbox) -> SandboxParts:
    assert isinstance(prepared, WaitingSandbox)
    return prepared._parts


def groups_of(prepared: PreparedSandbox) -> list[Path]:
    counters = parts_of(prepared).cgroup
    return counters.folders if counters else []


def pids_in(group: Path) -> list[int]:
    try:
        return [int(line) for line in (group / "cgroup.procs").read_text().split()]
    except OSError:
        return []


def is_sandboxed(pid: int) -> bool:
    command = b" ".join(Path("/proc", str(pid), "cmdline").read_bytes().split(b"\0"))
    return b"bwrap" in command or b"process.launcher" in command


async def test_the_program_begins_only_when_it_is_asked_to_and_sees_what_has_come_since(shell: SandboxedShell) -> None:
    prepared = await shell.prepare("echo begun; cat /build/late")
    (shell.folder / "late").write_text("just in time\n")
    heard: list[tuple[Stream, bytes]] = []

    running = await prepared.start(lambda stream, piece: heard.append((stream, piece)))
    ending = await running.wait()

    assert ending.stdout == b"begun\njust in time\n"
    assert b"".join(piece for _, piece in heard) == ending.stdout


async def test_the_time_limits_count_from_the_beginning_of_the_program(shell: SandboxedShell) -> None:
    prepared = await shell.prepare("sleep 300", SHORT_WALL)
    deadline = parts_of(prepared).watchdog.deadline
    await until(lambda: time.monotonic() > deadline)

    running = await prepared.start()

    assert parts_of(prepared).watchdog.deadline > deadline
    assert (await running.wait()).wall_exceeded


async def test_a_sandbox_that_is_not_wanted_leaves_nothing(shell: SandboxedShell) -> None:
    prepared = await shell.prepare("true")
    groups = groups_of(prepared)
    assert all(pids_in(group) for group in groups)

    await prepared.discard()
    await prepared.discard()

    assert not any(group.exists() for group in groups)
    assert not any(map(is_sandboxed, descendants(os.getpid())))


async def test_a_sandbox_is_used_once(shell: SandboxedShell) -> None:
    prepared = await shell.prepare("true")
    await (await prepared.start()).wait()

    with pytest.raises(SandboxError, match="once"):
        await prepared.start()
    await prepared.discard()


async def test_discarding_a_sandbox_in_use_ends_it(shell: SandboxedShell, marker: str) -> None:
    prepared = await shell.prepare(f"sleep {marker}")
    running = await prepared.start()

    await prepared.discard()

    assert (await running.wait()).signal == signal.SIGKILL
    assert processes_with(marker) == []


async def test_a_sandbox_that_broke_down_while_it_waited_says_so(shell: SandboxedShell) -> None:
    prepared = await shell.prepare("echo begun")
    for group in groups_of(prepared):
        for pid in pids_in(group):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    # Its end is seen at the start, or else reported as the end of a program that was killed.
    try:
        ending = await (await prepared.start()).wait()
    except SandboxError:
        return
    finally:
        await prepared.discard()
    assert ending.signal == signal.SIGKILL or not groups_of(prepared)


async def test_exit_statuses_that_look_like_signals_are_distinguished_from_them(shell: SandboxedShell) -> None:
    signalled = await shell.run("kill -SEGV $$")
    assert (signalled.code, signalled.signal) == (None, signal.SIGSEGV)
    if _kernel_tells_exits() or shell.sandbox.name == "process":
        exited = await shell.run("exit 139")
        assert (exited.code, exited.signal) == (139, None)


def _kernel_tells_exits() -> bool:
    """True if PIDFD_GET_INFO reports exits, which it does since Linux 6.15."""
    major, minor, *_ = os.uname().release.split(".")
    return (int(major), int(minor)) >= (6, 15)


class Counting:
    """Counts how many sandboxes an adapter makes."""

    def __init__(self, sandbox: Sandbox) -> None:
        self.sandbox = sandbox
        self.name, self.gaps, self.start = sandbox.name, sandbox.gaps, sandbox.start
        self.made = 0

    async def prepare(self, command: Command, limits: object) -> PreparedSandbox:
        self.made += 1
        return await self.sandbox.prepare(command, limits)  # type: ignore[arg-type]


async def test_a_waiting_sandbox_serves_the_command_that_it_was_made_for_and_that_once(shell: SandboxedShell) -> None:
    counting = Counting(shell.sandbox)
    warm = WarmSandbox(counting)
    expected = Command(["/bin/echo", "expected"], Path("/"))
    warm.expect(expected, GENEROUS)

    other = await (await warm.start(Command(("/bin/echo", "other"), Path("/")), GENEROUS)).wait()
    assert (other.stdout, counting.made) == (b"other\n", 2)
    first = await (await warm.start(Command(("/bin/echo", "expected"), Path("/")), GENEROUS)).wait()
    assert (first.stdout, counting.made) == (b"expected\n", 2)
    second = await (await warm.start(expected, GENEROUS)).wait()
    assert (second.stdout, counting.made) == (b"expected\n", 3)
    await warm.close()


async def test_waiting_sandboxes_are_discarded_with_their_sandbox(shell: SandboxedShell, marker: str) -> None:
    warm = WarmSandbox(shell.sandbox)
    warm.expect(Command(["/bin/sleep", marker], Path("/")), GENEROUS)

    await warm.close()

    assert processes_with(marker) == []
    assert not any(map(is_sandboxed, descendants(os.getpid())))


async def test_a_sandbox_that_cannot_be_made_ahead_is_told_when_it_is_asked_for(shell: SandboxedShell) -> None:
    warm = WarmSandbox(shell.sandbox)
    command = Command(["/bin/true"], Path("/"), [Mount(Path("/nowhere-at-all"), Path("/toolchain"))])
    warm.expect(command, GENEROUS)

    with pytest.raises(SandboxError, match="nowhere-at-all"):
        await warm.start(command, GENEROUS)
    await warm.close()
