"""Runs a local machine's executor and watches over it: `python -m services.vmpool.providers.local.keeper FOLDER`.

vmpool may be killed at any moment, and two things must still hold: a working executor goes on for the next vmpool, and
no executor is left over if there is none. So each executor has a keeper that is nobody's child.

- The keeper holds a lock on its machine's folder, and so does the executor, which inherits it. So the machine exists
  exactly as long as the lock is held, whichever process was killed. A second keeper for the same folder ends at once.
- The keeper ends the executor on SIGTERM, and if nobody has touched the folder's `observed` file for the orphan
  timeout, unless it has sessions. The pool touches it whenever it looks at the machine.
- The executor dies with its keeper, by the kernel's parent-death signal.
- `process.json` has the endpoint and the process ids; `exit.json` says how the executor ended.

The keeper forks once. The first process ends as soon as the lock is held, and its exit status says whether it is.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from servicekit.whole_file import write_whole
from vocabulary.ports import METRICS_PORT_OFFSET, free_port, is_free

PR_SET_PDEATHSIG = 1
WAKING_SIGNALS = (signal.SIGTERM, signal.SIGCHLD)
POLL_SECONDS = 1.0
LOCK_HELD_STATUS = 75


@dataclass(frozen=True)
class Job:
    """The request in `job.json` of the machine's folder."""

    command: list[str]
    preferred_port: int
    orphan_timeout_seconds: float
    stop_grace_seconds: float
    log: str


class Keeper:
    """Keeps one executor."""

    def __init__(self, folder: Path, lock: int) -> None:
        self._folder = folder
        self._lock = lock

    def run(self) -> None:
        """Start the executor, watch it, and record how it ended."""
        job = Job(**json.loads((self._folder / "job.json").read_text()))
        signal.pthread_sigmask(signal.SIG_BLOCK, WAKING_SIGNALS)
        port = executor_port(job.preferred_port)
        Path(job.log).touch(0o600)
        with Path(job.log).open("ab") as log:
            process = self._start(job, port, log.fileno())
        write_json(
            self._folder / "process.json",
            {
                "keeper_pid": os.getpid(),
                "keeper_start": start_ticks(os.getpid()),
                "executor_pid": process.pid,
                "endpoint": f"127.0.0.1:{port}",
            },
        )
        reason = self._watch(process.pid, job.orphan_timeout_seconds)
        _end(process, job.stop_grace_seconds)
        write_json(self._folder / "exit.json", {"status": process.returncode, "reason": reason})

    def _start(self, job: Job, port: int, log: int) -> subprocess.Popen[bytes]:
        parent, libc = os.getpid(), ctypes.CDLL(None)

        def die_with_keeper() -> None:
            libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
            if os.getppid() != parent:
                os._exit(1)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, WAKING_SIGNALS)

        # The metrics port follows the usual rule only on the usual port; elsewhere any will do.
        metrics = {} if port == job.preferred_port else {"EXECUTOR_METRICS_PORT": "0"}
        return subprocess.Popen(  # noqa: S603 - the operator's own command
            job.command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env={**os.environ, "EXECUTOR_PORT": str(port), **metrics},
            pass_fds=(self._lock,),
            start_new_session=True,
            preexec_fn=die_with_keeper,  # noqa: PLW1509 - this process has a single thread
        )

    def _watch(self, pid: int, orphan_timeout_seconds: float) -> str:
        observed, seen, seen_at = self._folder / "observed", 0, time.monotonic()
        while not _has_ended(pid):
            woken_by = signal.sigtimedwait(WAKING_SIGNALS, POLL_SECONDS)
            if woken_by is not None and woken_by.si_signo == signal.SIGTERM:
                return "it was released"
            if (touched := _touched_ns(observed)) != seen:
                seen, seen_at = touched, time.monotonic()
            elif time.monotonic() - seen_at > orphan_timeout_seconds and not self._has_sessions():
                return f"no pool looked at it for {orphan_timeout_seconds:g} s"
        return "it ended by itself"

    def _has_sessions(self) -> bool:
        """True while people have a session there: it ends by its own time, and its folders go with it."""
        return any(self._folder.glob("work/*/workspace"))


def take_lock(folder: Path) -> int | None:
    """Take the machine's lock; returns its open file, or None if the lock is held."""
    lock = os.open(folder / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        return None
    return lock


def executor_port(preferred: int) -> int:
    """The preferred port if it and its metrics port are free, else any free port."""
    if preferred and all(is_free(port) for port in (preferred, preferred + METRICS_PORT_OFFSET)):
        return preferred
    return free_port()


def start_ticks(pid: int) -> int | None:
    """Start of a process in kernel ticks since boot, which with its id is unique; None if there is no such process."""
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19])
    except (FileNotFoundError, ProcessLookupError):
        return None


def write_json(path: Path, content: dict[str, object]) -> None:
    """Write a file of the machine's folder. It is not forced to the disk: a host that crashed has no process left."""
    write_whole(path, json.dumps(content).encode(), durable=False)


def main() -> None:
    """Detach and keep the executor; exit status 75 says that another keeper holds the lock."""
    folder = Path(sys.argv[1])
    lock = take_lock(folder)
    if lock is None:
        sys.exit(LOCK_HELD_STATUS)
    if os.fork():
        os._exit(0)
    os.setsid()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Keeper(folder, lock).run()


def _end(process: subprocess.Popen[bytes], grace_seconds: float) -> None:
    """End the executor, then the rest of its process group. It is reaped last, so that its id is not reused before."""
    # Popen.terminate would reap it.
    os.kill(process.pid, signal.SIGTERM)
    deadline = time.monotonic() + grace_seconds
    while not _has_ended(process.pid) and (left := deadline - time.monotonic()) > 0:
        signal.sigtimedwait((signal.SIGCHLD,), left)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _has_ended(pid: int) -> bool:
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _touched_ns(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except FileNotFoundError:
        return 0


if __name__ == "__main__":
    main()
