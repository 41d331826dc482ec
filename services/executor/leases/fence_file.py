"""Keeps the fence's tokens in a file, so that a restarted executor refuses the same leases.

Tokens count the leases of one machine and start again with another machine. So the file names its machine, by a digest
of the token that vmpool gave it, and tokens of another machine are ignored.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from servicekit import logging

_PAGE_BYTES = 4096
"""Room for the tokens of more than 100 eighths; the kernel writes it in one piece."""

log = logging.get_logger(__name__)


class FenceFile:
    """The fence's file for the machine with `machine_token`; nothing is kept if the token is empty."""

    def __init__(self, path: Path, machine_token: str) -> None:
        self._path = path
        self._machine = hashlib.sha256(machine_token.encode()).hexdigest() if machine_token else ""

    def read(self) -> tuple[int, ...]:
        """Return the highest token seen on each eighth; empty if the file holds nothing valid for this machine."""
        try:
            kept: Any = json.loads(self._path.read_text())
            newest = [int(token) for token in kept["newest"]] if kept["machine"] == self._machine else []
        except FileNotFoundError:
            return ()
        except (OSError, ValueError, KeyError, TypeError) as error:
            log.warning("what the fence had seen cannot be read", extra={"file": str(self._path), "error": str(error)})
            return ()
        return tuple(newest) if self._machine else ()

    def write(self, newest: Sequence[int]) -> None:
        """Keep the tokens. If that fails, the fence still holds while this process lives.

        The file is not forced to disk: it has to survive the process only, as a machine that crashed has no runs left
        to protect. Every run waits for this write, and replacing the file with a new one would make the kernel write to
        the disk at once. So the old file is overwritten in one piece, which no signal can interrupt.
        """
        if not self._machine:
            return
        kept = json.dumps({"machine": self._machine, "newest": [*newest]}).encode()
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            _write_over(self._path, kept.ljust(_PAGE_BYTES))
        except OSError as error:
            log.warning("what the fence has seen cannot be kept", extra={"file": str(self._path), "error": str(error)})


def _write_over(path: Path, content: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        os.pwrite(descriptor, content, 0)
        if os.fstat(descriptor).st_size > len(content):
            os.ftruncate(descriptor, len(content))
    finally:
        os.close(descriptor)
