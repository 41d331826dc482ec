"""The processes of one bubblewrap sandbox: bwrap outside, its init inside, and everything below that init."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import Sequence
from contextlib import ExitStack
from typing import IO

from services.executor.sandboxes.child import Child, ProcessEnd
from services.executor.sandboxes.exit_status import ExitWitness, wait_status_of
from services.executor.sandboxes.process_tree import is_below
from services.executor.sandboxes.sandbox import SandboxError

# Enters the cgroups as the current user, then becomes bwrap, so that nothing of the sandbox runs outside them. PWD,
# which the shell sets, would show our folder to a sandbox that runs as our own user.
_ENTER_CGROUPS = 'unset PWD; while [ "$1" != -- ]; do echo 0 >"$1" || exit 125; shift; done; shift; exec "$@"'
# The line that the first program in the sandbox writes, and the line that it waits for.
_SANDBOX_IS_MADE = _GO = b"\n"


class BubblewrapTree:
    """Implements ProcessTree; the end of the pid namespace's init ends all processes in it."""

    def __init__(self, child: Child, status: IO[bytes]) -> None:
        self.child = child
        self._status = status
        self._reports: dict[str, int] = {}
        self._init: ProcessEnd | None = None
        self._witness: ExitWitness | None = None
        self._destroyed = False

    async def make(self, stdout: asyncio.StreamReader, stderr: asyncio.StreamReader) -> None:
        """Wait until the sandbox is made; raises SandboxError with bwrap's message if it cannot be."""
        is_made = await stdout.readline() == _SANDBOX_IS_MADE
        self._read_reports()
        if not is_made:
            await self.destroy()
            raise SandboxError(_refusal(await stderr.read()))
        init_pid = self._reports["child-pid"]
        self._init = ProcessEnd(init_pid)
        self._witness = ExitWitness.of_only_child(init_pid)

    @property
    def init_pid(self) -> int:
        """Process id of the namespaces' first process, once the sandbox is made."""
        return self._reports["child-pid"]

    def release(self) -> bool:
        """Let the program begin; returns False if the sandbox has ended meanwhile."""
        return self.child.write_and_close_input(_GO)

    async def wait_status(self) -> int:
        """Wait for the end of the command; raises SandboxError if bwrap broke down."""
        await self.child.wait()
        self._read_reports()
        if "exit-code" in self._reports:
            seen = self._witness.wait_status() if self._witness else None
            return wait_status_of(self._reports["exit-code"]) if seen is None else seen
        if self._destroyed:
            return signal.SIGKILL
        raise SandboxError("bwrap ended without saying how its program did")

    async def destroy(self) -> None:
        """Kill bwrap and its init, and wait for the end of the namespace."""
        self._destroyed = True
        self.child.kill()
        try:
            if self._init is not None:
                self._init.kill()
                await self._init.wait()
            await self.child.wait()
            self._read_reports()
        finally:
            self._status.close()

    def owns(self, pid: int) -> bool:
        """True if this live process belongs to the sandbox."""
        return is_below(pid, self.child.pid)

    def let_go(self) -> None:
        """Close our open files."""
        self._status.close()
        if self._witness is not None:
            self._witness.close()

    def _read_reports(self) -> None:
        if not self._status.closed:
            self._status.seek(0)
            for line in self._status:
                self._reports |= json.loads(line)


def start_bubblewrap(
    bwrap: Sequence[str],
    program: Sequence[str],
    procs_files: Sequence[str],
    seccomp: bytes | None,
    descriptors: Sequence[int] = (),
    around: Sequence[str] = (),
) -> BubblewrapTree:
    """Start `bwrap` with its options, inside the groups of `procs_files`; the program gets our `descriptors`.

    `around` is the beginning of a command that prepares something and becomes bwrap.

    Options and reports travel in memory files. This keeps options out of `ps`, and writing reports cannot fail: a bwrap
    that dies of writing to a pipe whose reader was killed leaves a half-made sandbox that waits for ever.
    """
    with ExitStack() as unused:
        status = unused.enter_context(os.fdopen(os.memfd_create("wavepool-sandbox-status"), "rb", buffering=0))
        passed = [status.fileno(), *descriptors]
        tree = BubblewrapTree(_started(bwrap, program, procs_files, seccomp, passed, around), status)
        unused.pop_all()
        return tree


def in_cgroups(command: Sequence[str], procs_files: Sequence[str]) -> list[str]:
    """Return a command that enters the groups of `procs_files` first."""
    return ["/bin/sh", "-c", _ENTER_CGROUPS, "sh", *procs_files, "--", *command]


def _started(
    bwrap: Sequence[str],
    program: Sequence[str],
    procs_files: Sequence[str],
    seccomp: bytes | None,
    fds: Sequence[int],
    around: Sequence[str],
) -> Child:
    """Start it; the first of the descriptors `fds` is for bwrap's reports."""
    with ExitStack() as descriptors:
        passed = [*fds]
        options = [*bwrap[1:], "--json-status-fd", str(fds[0])]
        if seccomp is not None:
            passed.append(_memory_file(seccomp, descriptors))
            options += ["--seccomp", str(passed[-1])]
        passed.append(_memory_file(b"".join(os.fsencode(option) + b"\0" for option in options), descriptors))
        command = in_cgroups([*around, bwrap[0], "--args", str(passed[-1]), "--", *program], procs_files)
        return Child(command, passed, has_input=True)


def _memory_file(content: bytes, descriptors: ExitStack) -> int:
    descriptor = os.memfd_create("wavepool-sandbox")
    descriptors.callback(os.close, descriptor)
    os.write(descriptor, content)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


def _refusal(said: bytes) -> str:
    words = said.decode(errors="replace").strip()
    return f"bubblewrap cannot make a sandbox on this machine: {words or 'it gave no reason'}"
