"""The processes of one sandbox of the launcher, seen from outside."""

from __future__ import annotations

import asyncio
import contextlib
import json
import signal
import socket
import sys
from asyncio import StreamReader, StreamWriter
from pathlib import Path
from typing import Any

from services.executor.sandboxes.child import Child, ProcessEnd
from services.executor.sandboxes.launch_order import GO, Hold, LaunchOrder
from services.executor.sandboxes.output import Capture
from services.executor.sandboxes.process_tree import descendants, is_below
from services.executor.sandboxes.sandbox import SandboxError

_CODE_ROOT = Path(__file__).parents[4]
_LAUNCH = f"import sys; sys.path.insert(0, {str(_CODE_ROOT)!r}); from {__package__}.launcher import main; main()"
# The launcher ends its sandbox within milliseconds; if it hangs or was killed, we do it from outside.
_END_SECONDS = 5.0


class LaunchedTree:
    """Implements ProcessTree over the launcher's control socket."""

    def __init__(self, child: Child, reports: StreamReader, control: StreamWriter) -> None:
        self.child = child
        self._reports = reports
        self._control = control

    async def check_made(self, captured: Capture) -> frozenset[Hold]:
        """Wait until the program can begin, and return its holds; raises SandboxError if it cannot.

        A launcher that cannot even start says why on stderr, which is in `captured`.
        """
        message = await self._report()
        if "held" not in message:
            why = message.get("error") or await _last_words(captured) or "it ended without a word"
            raise SandboxError(f"the launcher cannot make a sandbox: {why}")
        return frozenset(map(Hold, message["held"]))

    def release(self) -> bool:
        """Let the program begin; returns False if the sandbox has ended meanwhile."""
        return self.child.write_and_close_input(GO)

    async def wait_status(self) -> int:
        """Wait for the end of the program and return its wait status."""
        message = await self._report()
        return int(message.get("status", signal.SIGKILL))

    async def destroy(self) -> None:
        """Close the control socket, which makes the launcher end everything; if it does not, kill all processes."""
        self.child.close_input()
        # uvloop raises RuntimeError if the launcher has already closed its end.
        with contextlib.suppress(OSError, RuntimeError):
            if self._control.can_write_eof():
                self._control.write_eof()
        try:
            await asyncio.wait_for(self.child.wait(), _END_SECONDS)
        except TimeoutError:
            left = [ProcessEnd(pid) for pid in descendants(self.child.pid)]
            self.child.kill()
            for end in left:
                end.kill()
            for end in left:
                await end.wait()
            await self.child.wait()
        self._control.close()
        with contextlib.suppress(OSError):
            await self._control.wait_closed()

    def owns(self, pid: int) -> bool:
        """True if this live process belongs to the sandbox."""
        return is_below(pid, self.child.pid)

    async def _report(self) -> dict[str, Any]:
        try:
            line = await self._reports.readline()
        except ConnectionError:
            line = b""
        return json.loads(line) if line else {}


async def _last_words(captured: Capture) -> str:
    """The last line of stderr, once the launcher has closed it."""
    await asyncio.wait({captured.done}, timeout=_END_SECONDS)
    lines = captured.stderr.kept.decode(errors="replace").split("\n")
    return next((line.strip() for line in reversed(lines) if line.strip()), "")


async def start_launcher(order: LaunchOrder) -> LaunchedTree:
    """Start the launcher with `order`."""
    ours, theirs = socket.socketpair()
    with theirs:
        reports, control = await asyncio.open_connection(sock=ours)
        control.write(order.encode())
        program = [sys.executable, "-I", "-S", "-c", _LAUNCH, str(theirs.fileno())]
        return LaunchedTree(Child(program, [theirs.fileno()], has_input=True), reports, control)
