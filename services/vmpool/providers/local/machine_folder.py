"""A local machine's folder, as its provider reads it: lock, files and keeper. `keeper.py` explains them."""

from __future__ import annotations

import fcntl
import json
import os
import select
import signal
import time
from pathlib import Path
from typing import Any

from services.vmpool.providers.last_words import last_words
from services.vmpool.providers.local import keeper as local_keeper

STARTED_POLL_SECONDS = 0.02
LAST_LOG_BYTES = 4096
"""Bytes of a log's end: a traceback has its message there, and a log its latest lines."""


def stop_keeper(folder: Path, timeout_seconds: float) -> None:
    """Send SIGTERM to the keeper and wait for its end."""
    running = _wait_until_started(folder, timeout_seconds)
    if running is None:
        return
    try:
        keeper = os.pidfd_open(int(running["keeper_pid"]))
    except ProcessLookupError:
        return
    try:
        # The descriptor pins a process; the start time shows that it is the keeper, not a later process with its id.
        if local_keeper.start_ticks(int(running["keeper_pid"])) == running["keeper_start"]:
            signal.pidfd_send_signal(keeper, signal.SIGTERM)
            select.select([keeper], [], [], timeout_seconds)
    except ProcessLookupError:
        pass
    finally:
        os.close(keeper)


def _wait_until_started(folder: Path, timeout_seconds: float) -> dict[str, Any] | None:
    """The contents of `process.json`, once the keeper has written it; None if there is no keeper."""
    deadline = time.monotonic() + timeout_seconds
    while is_locked(folder) and time.monotonic() < deadline:
        if running := read_json(folder / "process.json"):
            return running
        time.sleep(STARTED_POLL_SECONDS)
    return None


def is_locked(folder: Path) -> bool:
    """True if the machine's keeper or executor lives, because both hold the lock."""
    try:
        lock = os.open(folder / "lock", os.O_RDWR)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(lock)
    return False


def touch(folder: Path) -> None:
    """Show the keeper that a pool still looks at the machine."""
    (folder / "observed").touch()


def read_json(path: Path) -> dict[str, Any] | None:
    """The contents of a JSON file of the folder; None if it is not written yet."""
    try:
        return json.loads(path.read_text())
    except FileNotFoundError:
        return None


def tail(log: Path) -> str:
    """The last lines of a log, joined into one."""
    try:
        return last_words(log.read_bytes()[-LAST_LOG_BYTES:])
    except OSError:
        return "(there is no log)"
