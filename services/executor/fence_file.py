"""Keeps what the fence has seen in a file, so that an executor that was started again refuses the same leases.

Tokens count the leases of one machine, and begin anew with another machine. So the file names its machine, by a digest
of the token that vmpool gave to it, and what another machine left is not read.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

from servicekit import logging
from servicekit.whole_file import write_whole

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

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

        Not forced to the disk: it outlives the process, and a machine that crashed has no runs left to protect.
        """
        if not self._machine:
            return
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            kept = {"machine": self._machine, "newest": [*newest]}
            write_whole(self._path, json.dumps(kept).encode(), durable=False)
        except OSError as error:
            log.warning("what the fence has seen cannot be kept", extra={"file": str(self._path), "error": str(error)})
