"""The judge process as the executor service uses it: its own process, a message in, messages out."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import psutil
import pytest
from wavepool.executor.v1.judge_job_pb2 import JudgeJob
from wavepool.executor.v1.run_event_pb2 import (
    VERDICT_CANCELLED,
    VERDICT_INFRA_ERROR,
    VERDICT_WRONG_ANSWER,
    RunEvent,
)
from wavepool.submission.v1.submission_pb2 import Submission

from services.executor.core.model.job import CoreJob
from services.executor.core.model.run_events import framed
from services.executor.devices.cpu.cpu_device import CpuDevice
from services.executor.judges.judge import next_event
from submissions.modes import Mode
from tests.services.executor.core.conftest import SUBMISSIONS

StartJudge = Callable[[], Awaitable[Process]]

pytestmark = pytest.mark.usefixtures("cpu_device")


@pytest.fixture
async def start_judge(builds_folder: Path, cpu_device: CpuDevice) -> AsyncIterator[StartJudge]:
    del cpu_device
    started: list[Process] = []
    command = [sys.executable, "-m", "services.executor.core", "serve", "--cache-folder", str(builds_folder)]

    async def start() -> Process:
        process = await asyncio.create_subprocess_exec(*command, stdin=PIPE, stdout=PIPE)
        started.append(process)
        return process

    yield start
    for process in started:
        if process.returncode is None:
            process.kill()
        await process.communicate()


def _job(name: str) -> bytes:
    source = (SUBMISSIONS / f"{name}.hip").read_text()
    return framed(CoreJob(source, Mode.CHECK, "vector-addition").to_bytes())


async def _until(judge: Process, kind: str) -> RunEvent:
    assert judge.stdout is not None
    async with asyncio.timeout(60):
        while event := await next_event(judge.stdout):
            if event.HasField(kind):  # type: ignore[arg-type] - a name that the test knows
                return event
    raise AssertionError(f"the judge ended without {kind}")


async def test_it_takes_one_job_tells_its_events_and_exits(start_judge: StartJudge) -> None:
    judge = await start_judge()
    assert judge.stdin is not None
    # The pipe stays open, as in the service.
    judge.stdin.write(_job("wrong_answer"))
    finished = (await _until(judge, "finished")).finished
    assert finished.verdict == VERDICT_WRONG_ANSWER
    assert finished.HasField("wrong_answer")
    async with asyncio.timeout(20):
        assert await judge.wait() == 0


async def test_sigterm_cancels_the_job_and_says_so(start_judge: StartJudge) -> None:
    judge = await start_judge()
    assert judge.stdin is not None
    judge.stdin.write(_job("host_hang"))
    await _until(judge, "checking")
    judge.send_signal(signal.SIGTERM)
    finished = (await _until(judge, "finished")).finished
    assert finished.verdict == VERDICT_CANCELLED
    async with asyncio.timeout(20):
        assert await judge.wait() == 0


CLEANS_UP = """
import asyncio, contextlib, dataclasses, os, signal, sys
from services.executor.core.process import serve as judge

@dataclasses.dataclass
class Context:
    place: object = None

@contextlib.asynccontextmanager
async def place(context, modes):
    yield None

async def job(context, emit, parent):
    try:
        if sys.argv[1] == "nobody reads":
            emit(judge._refusal("anything"))
        else:
            os.kill(os.getpid(), signal.SIGTERM)
        await asyncio.Event().wait()
    finally:
        os.kill(os.getpid(), signal.SIGTERM)
        for _ in range(100):
            await asyncio.sleep(0)
        print("cleaned up", file=sys.stderr)

judge.open_place, judge._serve = place, job
with contextlib.suppress(asyncio.CancelledError):
    asyncio.run(judge.serve(Context(), os.getppid()))
"""


@pytest.mark.parametrize("reason", ["SIGTERM", "nobody reads"])
def test_a_second_reason_to_end_does_not_disturb_the_cleanup(reason: str) -> None:
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "wb") as unread:
        command = [sys.executable, "-c", CLEANS_UP, reason]
        done = subprocess.run(command, stdout=unread, stderr=subprocess.PIPE, timeout=60, check=False)
    assert b"cleaned up" in done.stderr


ENDS_AT_ONCE = """
import asyncio, contextlib, dataclasses, os, signal, sys
from services.executor.core.process import serve as judge

@dataclasses.dataclass
class Context:
    place: object = None

async def turns(number):
    for _ in range(number):
        await asyncio.sleep(0)

@contextlib.asynccontextmanager
async def place(context, modes):
    yield None
    await turns(100)
    print("cleaned up", file=sys.stderr)

async def ends(after):
    read, write = os.pipe()
    os.dup2(read, 0)
    serving = asyncio.create_task(judge.serve(Context(), os.getppid()))
    await turns(20)
    os.close(write)
    await turns(after)
    os.kill(os.getpid(), signal.SIGTERM)
    return await serving

judge.open_place = place
asyncio.run(ends(int(sys.argv[1])))
"""


@pytest.mark.parametrize("turns", range(6))
def test_the_end_of_its_input_and_sigterm_together_do_not_disturb_the_cleanup(turns: int) -> None:
    """As when its executor dies: both come, with so many turns of the loop between them."""
    command = [sys.executable, "-c", ENDS_AT_ONCE, str(turns)]
    with subprocess.Popen(command, stdin=PIPE, stderr=PIPE) as judge:
        _, said = judge.communicate(timeout=60)
    assert (judge.returncode, said) == (0, b"cleaned up\n")


async def test_sigterm_while_it_waits_for_a_job_ends_it(start_judge: StartJudge) -> None:
    judge = await start_judge()
    assert judge.stdin is not None
    # Without a job, it ends silently.
    judge.stdin.close()
    async with asyncio.timeout(60):
        assert await judge.wait() == 0
    second = await start_judge()
    second.send_signal(signal.SIGTERM)
    async with asyncio.timeout(60):
        assert await second.wait() in {0, -signal.SIGTERM}


@pytest.mark.parametrize(
    ("job", "said"),
    [
        (framed(b"what?"), "not a JudgeJob message"),
        (framed(CoreJob("x", Mode.CHECK).to_bytes())[:-1], "which is not the length"),
        (
            framed(JudgeJob(submission=Submission(source="x"), size_set="cpu").SerializeToString()),
            "mode, timing_mode: 0",
        ),
        (framed(CoreJob("x", Mode.CHECK).to_bytes()), "problem: is empty"),
        (framed(CoreJob("x", Mode.CHECK, "vector-adition").to_bytes()), "did you mean vector-addition"),
    ],
    ids=["no message", "cut off", "no mode", "no problem", "misspelt problem"],
)
async def test_a_bad_job_is_refused_with_the_field(start_judge: StartJudge, job: bytes, said: str) -> None:
    judge = await start_judge()
    assert judge.stdin is not None
    judge.stdin.write(job)
    judge.stdin.close()
    finished = (await _until(judge, "finished")).finished
    assert (finished.verdict, finished.reason) == (VERDICT_INFRA_ERROR, "bad_job")
    assert said in finished.message
    async with asyncio.timeout(20):
        assert await judge.wait() == 2


@pytest.mark.parametrize("job", [b"", framed(b"what?")], ids=["nothing", "a file"])
async def test_an_input_that_cannot_be_waited_for_is_read_at_once(tmp_path: Path, job: bytes) -> None:
    file = tmp_path / "job" if job else Path("/dev/null")
    if job:
        file.write_bytes(job)
    command = [sys.executable, "-m", "services.executor.core", "serve", "--cache-folder", str(tmp_path / "builds")]
    with file.open() as stdin:
        judge = await asyncio.create_subprocess_exec(*command, stdin=stdin, stdout=PIPE, stderr=PIPE)
    async with asyncio.timeout(60):
        stdout, stderr = await judge.communicate()
    refused = b"not a JudgeJob message" in stdout
    assert (judge.returncode, refused, stderr) == ((2, True, b"") if job else (0, False, b""))


_PARENT = """
import subprocess, sys
command = [sys.executable, "-m", "services.executor.core", "serve", "--cache-folder", sys.argv[1]]
judge = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
judge.stdin.write(bytes.fromhex(sys.argv[2]))
judge.stdin.flush()
while data := judge.stdout.read1():
    sys.stdout.buffer.write(data)
    sys.stdout.flush()
"""


async def test_it_and_its_sandboxes_die_with_whoever_started_it(builds_folder: Path) -> None:
    arguments = (str(builds_folder), _job("host_hang").hex())
    parent = await asyncio.create_subprocess_exec(sys.executable, "-c", _PARENT, *arguments, stdout=PIPE)
    await _until(parent, "checking")
    family = psutil.Process(parent.pid).children(recursive=True)
    assert any("runner" in process.name() for process in family)
    parent.kill()
    await parent.wait()
    _, alive = await asyncio.to_thread(psutil.wait_procs, family, timeout=20)
    assert alive == []
