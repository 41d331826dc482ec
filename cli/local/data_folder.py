"""The data folder of a running Wavepool: a lock for one `up` at a time, and its endpoint for other commands."""

from __future__ import annotations

import fcntl
import os
import shutil
import stat
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from wavepool_client.errors import InputError
from wavepool_client.http.connection import ENDPOINT_FILE, TOKEN_FILE

LOCK_FILE = "up.pid"
LARGEST_LOG_BYTES = 16 * 1024 * 1024


@contextmanager
def claimed(data_dir: Path, endpoint: str) -> Generator[None]:
    """Holds the folder; raises InputError if another `up` holds it."""
    try:
        (data_dir / "logs").mkdir(parents=True, exist_ok=True)
        # Databases, secrets and logs are nobody else's to read; a folder that all may write in (/tmp) is not ours.
        if not data_dir.stat().st_mode & stat.S_ISVTX:
            data_dir.chmod(0o700)
    except OSError as error:
        raise InputError(f"cannot make the data folder {data_dir}: {error}; choose another with --data-dir") from error
    with (data_dir / LOCK_FILE).open("a+", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InputError(_in_use(data_dir)) from None
        lock.truncate(0)
        lock.write(f"{os.getpid()}\n")
        lock.flush()
        (data_dir / ENDPOINT_FILE).write_text(endpoint + "\n", encoding="utf-8")
        try:
            yield
        finally:
            (data_dir / ENDPOINT_FILE).unlink(missing_ok=True)
            lock.truncate(0)


def holder(data_dir: Path) -> int | None:
    """The process id of the `up` that holds the folder; None if there is none."""
    try:
        with (data_dir / LOCK_FILE).open("r+", encoding="utf-8") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                text = lock.read().strip()
                return int(text) if text.isdecimal() else None
    except FileNotFoundError:
        pass
    return None


def connection(data_dir: Path) -> tuple[str, str]:
    """Endpoint and administrator's token of the Wavepool that runs on the folder; OSError if it runs none."""
    endpoint, token = ((data_dir / name).read_text(encoding="utf-8").strip() for name in (ENDPOINT_FILE, TOKEN_FILE))
    return endpoint, token


def rotate_logs(logs: Path, largest_bytes: int = LARGEST_LOG_BYTES) -> None:
    """Puts large log files aside, also of processes that run; keeps one older generation, its owner's alone to read.

    Processes append to their files, so a file that is emptied goes on from its beginning.
    """
    for log in logs.glob("*.log*"):
        log.chmod(0o600)
    for log in logs.glob("*.log"):
        if log.stat().st_size > largest_bytes:
            older = log.with_suffix(".log.1")
            shutil.copy2(log, older)
            os.truncate(log, 0)


def _in_use(data_dir: Path) -> str:
    other = holder(data_dir)
    where = f"process {other}" if other else "another process"
    return (
        f"a `wavepool up` already runs on {data_dir} ({where}).\n"
        f"Stop it with `wavepool down --data-dir {data_dir}`, or choose another folder with --data-dir."
    )
