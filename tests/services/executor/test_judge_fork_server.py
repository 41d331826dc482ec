"""The fork server's judges can be told apart, signalled and waited for, as if they were our own children."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import uvloop
from wavepool.executor.v1.run_event_pb2 import VERDICT_ACCEPTED, VERDICT_INFRA_ERROR, Finished

from services.executor.config import ExecutorSettings
from services.executor.core.model.job import CoreJob
from services.executor.judges.fork_server_client import JudgeForkServer
from services.executor.judges.judge import Judge
from services.executor.sandboxes.process_tree import descendants
from submissions.modes import Mode
from tests.services.executor.client import until
from tests.services.executor.conftest import REPOSITORY

SCRIPTED = [sys.executable, "-m", "tests.services.executor.scripted_fork_server"]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
SOLUTION = (REPOSITORY / "problems/catalogue/leaky-relu/solution.hip").read_text()


def script(*steps: str) -> CoreJob:
    return CoreJob("\n".join(steps), Mode.CHECK, "softmax")


@pytest.fixture
async def fork_server() -> AsyncIterator[JudgeForkServer]:
    fork_server = JudgeForkServer(SCRIPTED, ENVIRONMENT)
    yield fork_server
    await fork_server.close()


@pytest.fixture
async def real_fork_server(tmp_path: Path) -> AsyncIterator[JudgeForkServer]:
    settings = ExecutorSettings(work_dir=tmp_path)
    fork_server = JudgeForkServer(settings.fork_server_command(1), settings.judge_environment(1))
    yield fork_server
    await fork_server.close()


async def finished(judge: Judge, job: CoreJob) -> Finished:
    events = [event async for event in judge.run(job)]
    await judge.end()
    assert events[-1].HasField("finished")
    return events[-1].finished


def is_gone(pid: int) -> bool:
    return not Path(f"/proc/{pid}").exists()


async def test_judges_forked_in_a_row_are_independent_and_do_their_jobs(fork_server: JudgeForkServer) -> None:
    first, second = await fork_server.start(), await fork_server.start()

    ends = [await finished(judge, script("finish ACCEPTED")) for judge in (second, first)]

    assert [end.verdict for end in ends] == [VERDICT_ACCEPTED] * 2
    assert first.pid != second.pid
    assert not first.is_alive
    assert is_gone(first.pid)


async def test_real_judges_forked_in_a_row_draw_different_inputs(real_fork_server: JudgeForkServer) -> None:
    job = CoreJob(SOLUTION, Mode.SAMPLE, "leaky-relu")
    judges = [await real_fork_server.start(), await real_fork_server.start()]

    samples = [(await finished(judge, job)).sample for judge in judges]

    assert all(sample is not None and sample.passed for sample in samples)
    assert samples[0] != samples[1]


async def test_judges_share_no_state_of_the_common_generators(fork_server: JudgeForkServer) -> None:
    drawn: list[str] = []
    for judge in [await fork_server.start(), await fork_server.start()]:
        async for event in judge.run(script("tell random", "finish ACCEPTED")):
            if event.HasField("program_output"):
                drawn += event.program_output.line.split()
        await judge.end()

    assert len(set(drawn)) == 4


async def test_a_real_judge_is_refused_a_bad_job_by_name(real_fork_server: JudgeForkServer) -> None:
    end = await finished(await real_fork_server.start(), CoreJob("", Mode.CHECK, "leaky-rely"))

    assert (end.verdict, end.reason) == (VERDICT_INFRA_ERROR, "bad_job")
    assert "leaky-relu" in end.message


async def test_many_judges_are_forked_at_once(fork_server: JudgeForkServer) -> None:
    judges = await asyncio.gather(*(fork_server.start() for _ in range(8)))

    ends = await asyncio.gather(*(finished(judge, script("finish ACCEPTED")) for judge in judges))

    assert {end.verdict for end in ends} == {VERDICT_ACCEPTED}
    assert len({judge.pid for judge in judges}) == 8


async def test_a_judge_that_is_asked_to_end_is_seen_as_gone(fork_server: JudgeForkServer) -> None:
    judge = await fork_server.start()

    await judge.end()

    assert not judge.is_alive
    assert is_gone(judge.pid)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
async def test_a_judge_that_another_kills_is_seen_as_gone(fork_server: JudgeForkServer, number: signal.Signals) -> None:
    judge = await fork_server.start()

    os.kill(judge.pid, number)

    await until(lambda: not judge.is_alive)
    assert is_gone(judge.pid)
    await judge.end()


async def test_a_judge_that_is_deaf_is_killed(fork_server: JudgeForkServer) -> None:
    judge = Judge(await fork_server._fork(), grace_seconds=0.05)
    events = judge.run(script("ignore-term", "tell checking", "wait /no/such/file"))
    assert (await anext(events)).HasField("checking")

    await judge.end()

    assert is_gone(judge.pid)


async def test_how_a_judge_broke_down_is_reported(
    fork_server: JudgeForkServer, caplog: pytest.LogCaptureFixture
) -> None:
    end = await finished(await fork_server.start(), script("crash"))

    assert end.verdict == VERDICT_INFRA_ERROR
    assert "the script made me crash" in end.details
    [record] = [record for record in caplog.records if record.message == "the judge broke down"]
    assert record.__dict__["status"] == 1


async def test_a_killed_fork_server_ends_its_judges_and_the_next_run_is_well(
    fork_server: JudgeForkServer,
) -> None:
    judge = await fork_server.start()
    dead = fork_server.pid
    assert dead is not None

    os.kill(dead, signal.SIGKILL)

    await until(lambda: not judge.is_alive)
    await judge.end()
    assert (await finished(await fork_server.start(), script("finish ACCEPTED"))).verdict == VERDICT_ACCEPTED
    assert fork_server.pid != dead


async def test_a_run_whose_fork_server_is_killed_is_our_fault(
    real_fork_server: JudgeForkServer,
) -> None:
    talker = '#include <cstdio>\nint main() { puts("started"); fflush(stdout); while (true) {} }\n'
    judge = await real_fork_server.start()
    events = judge.run(CoreJob(talker, Mode.SANDBOX))
    while not (await anext(events)).HasField("program_output"):
        pass
    assert real_fork_server.pid is not None
    family = descendants(real_fork_server.pid)

    os.kill(real_fork_server.pid, signal.SIGKILL)

    last = [event async for event in events][-1]
    await judge.end()
    assert last.finished.verdict == VERDICT_INFRA_ERROR
    assert len(family) > 1
    await until(lambda: all(map(is_gone, family)))


async def test_a_fork_server_that_cannot_start_raises_an_os_error() -> None:
    for command in (["/no/such/program"], [sys.executable, "-c", "raise SystemExit(3)"]):
        fork_server = JudgeForkServer(command, ENVIRONMENT)
        with pytest.raises(OSError, match="fork server"):
            await fork_server.start()
        await fork_server.close()


async def test_a_closed_fork_server_is_gone(fork_server: JudgeForkServer) -> None:
    judge = await fork_server.start()
    await judge.end()
    pid = fork_server.pid
    assert pid is not None

    await fork_server.close()

    assert is_gone(pid)


def test_the_loop_of_the_services_serves_too() -> None:
    async def run_one() -> int:
        fork_server = JudgeForkServer(SCRIPTED, ENVIRONMENT)
        try:
            return (await finished(await fork_server.start(), script("finish ACCEPTED"))).verdict
        finally:
            await fork_server.close()

    assert uvloop.run(run_one()) == VERDICT_ACCEPTED
