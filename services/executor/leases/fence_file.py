"""Keeps what the fence has seen in a file, so that an executor that was started again refuses the same leases.

Tokens count the leases of one machine, and begin anew with another machine. So the file names its machine, by a digest
of the token that vmpool gave to it, and what another machine left is not read.
"""

from __future__ import annotations

import hashlib
import json
import os
from typing import TYPE_CHECKING, Any

from servicekit import logging

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_PAGE_BYTES = 4096
"""Room for the tokens of 100 eighths and more; the kernel writes it in one piece."""

log = logging.get_logger(__name__)


class FenceFile:
    """The file of the machine that `machine_token` belongs to; with an empty token nothing is kept."""

    def __init__(self, path: Path, machine_token: str) -> None:
        self._path = path
        self._machine = hashlib.sha256(machine_token.encode()).hexdigest() if machine_token else ""

    def read(self) -> tuple[int, ...]:
        """The highest token seen on each eighth; empty where nothing sound was kept of this machine."""
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
        """Keep it; where that fails the fence still holds for as long as this process lives.

        Not forced to the disk: it outlives the process, and a machine that crashed has no runs left to protect. Every
        run waits for this, and a new file in the old one's place would have the kernel see to the disk at once; so the
        old one is written over, in a piece that no signal can cut.
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
