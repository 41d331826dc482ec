"""The commands of one dstack job as a real process on a terminal, as dstack's runner runs them in a container.

Stopping follows the runner's steps: an interrupt typed at the terminal, a hang-up to the rest of the session, and a
kill. The facts come from runner/internal/runner/executor (executor.go, terminate.go) of dstack's repository.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import fcntl
import os
import signal
import termios
import time
from typing import TYPE_CHECKING, Any

import psutil

if TYPE_CHECKING:
    from pathlib import Path

HANG_UP_SECONDS = 5
KILL_SECONDS = 10
INTERRUPT = b"\x03"
POLL_SECONDS = 0.05


class Job:
    """The runner's view of the job: its states and its output, each with a strictly growing timestamp (ms)."""

    def __init__(self, submitted: dict[str, Any], home: Path) -> None:
        self._spec = submitted["job_spec"]
        self._names = {
            "DSTACK_RUN_ID": str(submitted["run"]["id"]),
            "DSTACK_JOB_ID": str(submitted["job_submission"]["id"]),
            "DSTACK_RUN_NAME": str(submitted["run"]["run_spec"]["run_name"]),
        }
        self.working_folder = self._spec.get("working_dir") or str(home)
        self._home = home
        self._latest = 0
        self._states: list[dict[str, Any]] = []
        self._output: list[dict[str, Any]] = []
        self._process: asyncio.subprocess.Process | None = None
        self._begun = asyncio.Event()
        self._late = asyncio.Event()
        self._terminal = -1
        self._cancelled = False
        self._task: asyncio.Task[None] | None = None
        self._stopping: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._task = asyncio.create_task(self._run())

    def pull(self, after: int) -> dict[str, Any]:
        """The runner's answer: everything newer than this timestamp."""
        return {
            "job_states": [each for each in self._states if each["timestamp"] > after],
            "job_logs": [each for each in self._output if each["timestamp"] > after],
            "runner_logs": [],
            "last_updated": max(after, self._latest),
            "no_connections_secs": 0,
            "has_more": self._task is not None and not self._task.done(),
        }

    def stop(self) -> None:
        """Begins to stop the job; `pull` tells when it has ended."""
        self._cancelled = True
        self._stopping = asyncio.create_task(self._interrupt())

    def exceed_max_duration(self) -> None:
        """Ends the job as if it had run for its `max_duration`."""
        self._late.set()

    async def kill(self) -> None:
        """Ends everything at once, as the end of a container does."""
        self._cancelled = True
        if self._task:
            await self._begun.wait()
            self._signal_session(signal.SIGKILL)
            await self._task

    async def _run(self) -> None:
        self._add_state("running")
        running, limit = asyncio.create_task(self._execute()), asyncio.create_task(self._reach_limit())
        await asyncio.wait([running, limit], return_when=asyncio.FIRST_COMPLETED)
        late = not running.done()
        limit.cancel()
        if late:
            await self._interrupt()
        exit_status = await running
        # For Go's exec, a command that was interrupted has failed, also if it exits with 0.
        if self._cancelled:
            self._add_state("terminated")
        elif late:
            reason = {"termination_reason": "max_duration_exceeded", "termination_message": "Max duration exceeded"}
            self._add_state("terminated", **reason)
        elif exit_status == 0:
            self._add_state("done", exit_status=0)
        else:
            self._add_state("failed", exit_status=exit_status)

    async def _reach_limit(self) -> None:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._late.wait(), self._spec.get("max_duration") or None)

    async def _execute(self) -> int:
        self._terminal, slave = os.openpty()
        os.makedirs(self.working_folder, exist_ok=True)  # noqa: PTH103 - as the runner does, from a string of the spec
        try:
            self._process = await asyncio.create_subprocess_exec(
                *self._spec["commands"],
                stdin=slave,
                stdout=slave,
                stderr=slave,
                cwd=self.working_folder,
                env={**os.environ, "HOME": str(self._home), "TERM": "dumb", **self._names, **self._spec["env"]},
                start_new_session=True,
                preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
            )
        finally:
            self._begun.set()
        os.close(slave)
        ended = asyncio.Event()
        asyncio.get_running_loop().add_reader(self._terminal, self._read_output, ended)
        await ended.wait()
        exit_status = await self._process.wait()
        os.close(self._terminal)
        return exit_status if exit_status >= 0 else 128 - exit_status

    def _read_output(self, ended: asyncio.Event) -> None:
        try:
            output = os.read(self._terminal, 65536)
        except OSError:  # a terminal's sign that its last process has gone
            output = b""
        if output:
            self._output.append({"timestamp": self._next(), "message": base64.b64encode(output).decode()})
        else:
            asyncio.get_running_loop().remove_reader(self._terminal)
            ended.set()

    async def _interrupt(self) -> None:
        # A reader of this state may stop the job before its process exists.
        if self._task is not None:
            await self._begun.wait()
        if self._process is None or self._process.returncode is not None:
            return
        with contextlib.suppress(OSError):
            os.write(self._terminal, INTERRUPT)
        if await self._session_ends(HANG_UP_SECONDS):
            return
        self._signal_session(signal.SIGHUP)
        if not await self._session_ends(KILL_SECONDS - HANG_UP_SECONDS):
            self._signal_session(signal.SIGKILL)

    async def _session_ends(self, seconds: float) -> bool:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while self._session():
                    await asyncio.sleep(POLL_SECONDS)
        return not self._session()

    def _signal_session(self, number: int) -> None:
        for pid in self._session():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)

    def _session(self) -> list[int]:
        if self._process is None:
            return []
        return [each.pid for each in psutil.process_iter() if _session_of(each) == self._process.pid]

    def _add_state(self, state: str, **more: Any) -> None:
        self._states.append({"timestamp": self._next(), "state": state, **more})

    def _next(self) -> int:
        self._latest = max(self._latest + 1, time.time_ns() // 1_000_000)
        return self._latest


def _session_of(process: psutil.Process) -> int | None:
    try:
        return None if process.status() == psutil.STATUS_ZOMBIE else os.getsid(process.pid)
    except (psutil.NoSuchProcess, ProcessLookupError):
        return None
