"""Removes a session's files and control groups if its executor was killed: `guardian FOLDER GROUP...`.

The sandbox itself ends with the executor: bwrap asks the kernel for that. But nobody is left who could remove the rest.
So the guardian waits for the end of its input. If the executor has removed the session itself, it says so before.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from services.executor.sandboxes.child import ProcessEnd
from services.executor.sandboxes.kernel_files import kernel_text
from services.executor.sandboxes.limits.file_tree import remove_tree

_REMOVED = b"removed\n"
_ATTEMPTS = 600
_ATTEMPT_SECONDS = 0.05
"""Processes that hold much memory take seconds to end, and until then they may write."""


class Guardian:
    """The guardian of one session, as its executor sees it."""

    def __init__(self, folder: Path, groups: Sequence[Path]) -> None:
        """Start it; raises OSError."""
        self._process = subprocess.Popen(  # noqa: S603  our own program
            [sys.executable, "-m", __name__, str(folder), *map(str, groups)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self._end = ProcessEnd(self._process.pid)

    async def dismiss(self) -> None:
        """End it: everything is removed."""
        assert self._process.stdin is not None  # noqa: S101  PIPE was asked for
        with suppress(BrokenPipeError), self._process.stdin as stdin:
            stdin.write(_REMOVED)
        await self._end.wait()
        self._process.wait()


def main() -> None:
    """Wait for the executor's end, then remove what it left."""
    if sys.stdin.buffer.readline() == _REMOVED:
        return
    folder, *groups = map(Path, sys.argv[1:])
    for _ in range(_ATTEMPTS):
        for group in groups:
            _remove_group(group)
        remove_tree(folder)
        if not any(path.exists() for path in (folder, *groups)):
            return
        time.sleep(_ATTEMPT_SECONDS)


def _remove_group(group: Path) -> None:
    for pid in kernel_text(group / "cgroup.procs").split():
        with suppress(ProcessLookupError, PermissionError):
            os.kill(int(pid), signal.SIGKILL)
    with suppress(OSError):
        group.rmdir()


if __name__ == "__main__":
    main()
