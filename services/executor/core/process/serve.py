"""The judge process: it is started in advance, runs one job, and ends.

It reads one JudgeJob message from stdin and writes RunEvent messages to stdout, each after its length; the last is
`finished`. SIGTERM cancels the job. So does the death of the process that started it, but then there is no last event.
The exit status is 0 whatever the verdict; 2 says that the job was malformed, 3 that the parent's death cut it off, and
4 that it leaves processes which cannot be killed.
"""

from __future__ import annotations

import asyncio
import ctypes
import os
import signal
import stat
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from services.executor.core.model.events import Event, Finished
from services.executor.core.model.job import BadJobError, CoreJob
from services.executor.core.model.run_events import LENGTH, UNKILLABLE_STATUS, framed, message_of
from services.executor.core.model.verdict import Verdict
from services.executor.core.run.one_run import JobError, run
from services.executor.core.sandbox.run_place import open_place
from submissions.modes import Mode
from vocabulary.verdicts import status_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TextIO

    from services.executor.core.run.context import RunContext

_BAD_JOB = 2
_ORPHANED = 3
_MOST_JOB_BYTES = 64 << 20
_PR_SET_PDEATHSIG = 1


async def serve(context: RunContext, parent: int) -> int:
    """Serve one job and return the exit status; `parent` is the process that started us."""
    cancelled = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, cancelled.set)
    _end_with_parent(parent)
    emit = _event_writer(cancelled.set)
    async with open_place(context, set(Mode)) as place:
        # A task of its own, cancelled once: any other cancellation would interrupt a cleanup, its or ours. Reasons to
        # cancel come together and again, as when the process that started us dies, and then the one that took us over.
        job = asyncio.create_task(_serve(replace(context, place=place), emit, parent))
        cancelling = asyncio.create_task(cancelled.wait())
        await asyncio.wait((job, cancelling), return_when=asyncio.FIRST_COMPLETED)
        cancelling.cancel()
        job.cancel()
        return await job


async def _serve(context: RunContext, emit: Callable[[Event], None], parent: int) -> int:
    try:
        data = await _job_bytes()
    except asyncio.CancelledError:
        return 0
    if not data:
        return 0
    try:
        job = CoreJob.from_bytes(_unframed(data))
    except BadJobError as error:
        emit(_refusal(f"The job is not well formed: {error}"))
        return _BAD_JOB
    return await _run(job, context, emit, parent)


async def _run(job: CoreJob, context: RunContext, emit: Callable[[Event], None], parent: int) -> int:
    try:
        finished = await run(job, context, emit)
    except JobError as error:
        emit(_refusal(str(error)))
        return _BAD_JOB
    except asyncio.CancelledError:
        if os.getppid() != parent:
            # Nobody cancelled the run. Ending without a verdict tells any listener that the fault was ours.
            return _ORPHANED
        emit(Finished(Verdict.CANCELLED, status_of(Verdict.CANCELLED, job.mode), "The run was cancelled."))
        return 0
    return UNKILLABLE_STATUS if finished.unkillable else 0


def _refusal(message: str) -> Finished:
    return Finished(Verdict.INFRA_ERROR, "ERROR", message, reason="bad_job")


def _event_writer(nobody_reads: Callable[[], None]) -> Callable[[Event], None]:
    """Writes events to the present stdout; later prints go to stderr, so that they cannot pass for events.

    If nobody reads them any more, calls `nobody_reads`, and does nothing else from then on.
    """
    stdout = os.dup(1)
    os.dup2(2, 1)
    is_read = True

    def write(event: Event) -> None:
        nonlocal is_read
        data = memoryview(framed(message_of(event).SerializeToString()))
        try:
            while data and is_read:
                data = data[os.write(stdout, data) :]
        except BrokenPipeError:
            is_read = False
            nobody_reads()

    return write


async def _job_bytes() -> bytes:
    """The job after its length, or the part of it that came; empty if there is no job.

    It is read without a thread, so that a waiting judge costs nothing and can be cancelled.
    """
    if not _makes_wait(sys.stdin):
        return sys.stdin.buffer.read(LENGTH.size + _MOST_JOB_BYTES)
    reader = asyncio.StreamReader()
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), sys.stdin
    )
    try:
        length = await reader.readexactly(LENGTH.size)
        return length + await reader.readexactly(min(*LENGTH.unpack(length), _MOST_JOB_BYTES))
    except asyncio.IncompleteReadError as error:
        return error.partial
    finally:
        transport.close()


def _unframed(data: bytes) -> bytes:
    """The message of a job without its length; raises BadJobError."""
    length, message = data[: LENGTH.size], data[LENGTH.size :]
    if len(length) < LENGTH.size or LENGTH.unpack(length) != (len(message),):
        raise BadJobError(f"{len(message):,} bytes, which is not the length that stands before them")
    return message


def _makes_wait(stream: TextIO) -> bool:
    """True if a read may block; files and /dev/null never do, and the loop cannot watch them."""
    mode = os.fstat(stream.fileno()).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or stream.isatty()


def _end_with_parent(parent: int) -> None:
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGTERM)
