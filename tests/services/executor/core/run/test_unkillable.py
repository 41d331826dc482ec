"""A run whose processes cannot be killed, like those of a kernel that hangs its device."""

from __future__ import annotations

import asyncio
import signal
import sys
import uuid
from asyncio.subprocess import PIPE
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import psutil
import pytest
from wavepool.executor.v1.run_event_pb2 import VERDICT_INFRA_ERROR, RunEvent

from services.executor.core.model.events import Finished
from services.executor.core.model.job import CoreJob
from services.executor.core.model.run_events import UNKILLABLE_STATUS, framed
from services.executor.core.model.verdict import Verdict
from services.executor.core.run.context import RunContext
from services.executor.core.run.one_run import run
from services.executor.judges.judge import next_event
from services.executor.sandboxes import running_sandbox
from services.executor.sandboxes.running_sandbox import DEATH_SECONDS
from submissions.modes import Mode
from tests.freezer import frozen

pytestmark = pytest.mark.freezer

HANGS = """
#include <hip/hip_runtime.h>
#include <pthread.h>
#include <unistd.h>
static void hang() {
  pthread_setname_np(pthread_self(), "NAME");
  for (;;) pause();
}
"""
PROGRAM = HANGS + "int main() { hang(); }\n"
SOLUTION = HANGS + 'extern "C" void solution(const float*, const float*, float*, size_t) { hang(); }\n'


@pytest.fixture
def name() -> str:
    return f"hang-{uuid.uuid4().hex[:9]}"


async def process_named(name: str) -> int:
    async with asyncio.timeout(60):
        while not (found := [one.pid for one in psutil.process_iter(["name"]) if one.info["name"] == name]):
            await asyncio.sleep(0.01)
    return found[0]


async def frozen_run(job: CoreJob, name: str, context: RunContext) -> Finished:
    """The job's end if the process of this name cannot be killed from now on."""
    running = asyncio.create_task(run(job, context, lambda _: None))
    with frozen([await process_named(name)]):
        async with asyncio.timeout(60):
            finished = await running
        assert psutil.Process(await process_named(name)).status() == psutil.STATUS_DISK_SLEEP
    async with asyncio.timeout(60):
        while asyncio.all_tasks() != {asyncio.current_task()}:
            await asyncio.sleep(0.01)
    return finished


@pytest.mark.parametrize(
    ("source", "mode", "said"),
    [
        (PROGRAM, Mode.SANDBOX, "The run took more than 5 seconds"),
        (SOLUTION, Mode.CHECK, "call 1 of its process: a call of `solution` took more than 5 seconds"),
    ],
)
async def test_it_ends_soon_with_what_its_author_did_and_says_that_the_machine_is_gone(
    context: RunContext, monkeypatch: pytest.MonkeyPatch, name: str, source: str, mode: Mode, said: str
) -> None:
    monkeypatch.setattr(running_sandbox, "DEATH_SECONDS", 0.5)
    limits = context.limits
    # It has to be frozen before its time is up, on a busy machine too.
    short = replace(limits, program=replace(limits.program, wall=timedelta(seconds=5)), call_seconds=5.0)
    problem = "" if mode is Mode.SANDBOX else "vector-addition"
    job = CoreJob(source.replace("NAME", name), mode, problem)
    finished = await frozen_run(job, name, replace(context, limits=short))
    assert (finished.verdict, finished.unkillable) == (Verdict.TIME_LIMIT_EXCEEDED, True), finished
    assert said in finished.message
    assert "accepts no more runs. This run is not charged" in finished.message


@pytest.mark.slow
@pytest.mark.usefixtures("cpu_device")
async def test_a_judge_that_is_cancelled_says_by_its_status_what_it_leaves(builds_folder: Path, name: str) -> None:
    command = [sys.executable, "-m", "services.executor.core", "serve", "--cache-folder", str(builds_folder)]
    judge = await asyncio.create_subprocess_exec(*command, stdin=PIPE, stdout=PIPE)
    assert judge.stdin is not None
    assert judge.stdout is not None
    judge.stdin.write(framed(CoreJob(PROGRAM.replace("NAME", name), Mode.SANDBOX).to_bytes()))
    with frozen([await process_named(name)]):
        judge.send_signal(signal.SIGTERM)
        async with asyncio.timeout(DEATH_SECONDS + 10):
            events: list[RunEvent] = []
            while event := await next_event(judge.stdout):
                events.append(event)
            assert await judge.wait() == UNKILLABLE_STATUS
    finished = events[-1].finished
    assert (finished.verdict, finished.unkillable) == (VERDICT_INFRA_ERROR, True)
