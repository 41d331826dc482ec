"""Runs over gRPC: their events, clients that reattach to them, and their ends. Judges follow a script."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path

import grpc
import pytest
from wavepool.executor.v1 import run_event_pb2
from wavepool.submission.v1 import submission_pb2

from hipcpu.build_folder import ToolchainError
from tests.services.executor.client import QUICK, Client, StartExecutor, held, name_of, refusal, request
from tests.services.executor.conftest import start_soon_killed_judge


async def test_a_run_streams_numbered_events_and_ends_with_its_verdict(client: Client) -> None:
    events = await client.run(request(QUICK))

    assert [name_of(event) for event in events] == ["compiling", "checking", "finished"]
    assert [event.seq for event in events] == [1, 2, 3]
    assert events[-1].finished.verdict == run_event_pb2.VERDICT_ACCEPTED
    assert events[-1].finished.billable.ToTimedelta() > timedelta(0)


async def test_a_run_waits_for_the_toolchain_and_is_refused_without_one(start_executor: StartExecutor) -> None:
    faults = iter(["run `uv sync --extra cpu`", ""])

    def prepare() -> None:
        if fault := next(faults):
            raise ToolchainError(fault)

    _, client = await start_executor(prepare=prepare)
    failure = await refusal(client.run(request(QUICK)))
    assert (failure.code, failure.message) == (grpc.StatusCode.ABORTED, "run `uv sync --extra cpu`")
    assert name_of((await client.run(request(QUICK)))[-1]) == "finished"


async def test_a_second_run_with_the_same_id_attaches_and_does_not_run_twice(client: Client, tmp_path: Path) -> None:
    asked = request(held(tmp_path / "gate"))
    first = client.stream(asked)
    assert name_of(await anext(first)) == "compiling"

    second = client.stream(asked)
    assert name_of(await anext(second)) == "compiling"
    (tmp_path / "gate").touch()

    assert [name_of(event) async for event in first] == ["checking", "finished"]
    assert [name_of(event) async for event in second] == ["checking", "finished"]


async def test_a_finished_run_is_replayed_after_the_number_that_was_seen(client: Client) -> None:
    asked = request(QUICK)
    await client.run(asked)

    asked.after_seq = 2
    events = await client.run(asked)

    assert [(event.seq, name_of(event)) for event in events] == [(3, "finished")]


async def test_a_run_that_is_not_known_is_not_begun_in_its_middle(client: Client) -> None:
    failure = await refusal(client.run(request(QUICK, after_seq=2)))

    assert failure.code is grpc.StatusCode.NOT_FOUND


async def test_a_known_id_with_another_source_is_a_conflict(client: Client) -> None:
    asked = request(QUICK)
    await client.run(asked)

    asked.submission.source = "finish WRONG_ANSWER"

    assert (await refusal(client.run(asked))).code is grpc.StatusCode.ALREADY_EXISTS


async def test_a_known_id_with_another_timing_mode_is_a_conflict(client: Client) -> None:
    asked = request(QUICK, mode=submission_pb2.RUN_MODE_FULL, timing_mode=submission_pb2.TIMING_MODE_COLD)
    await client.run(asked)

    asked.submission.timing_mode = submission_pb2.TIMING_MODE_UNSPECIFIED

    assert (await refusal(client.run(asked))).code is grpc.StatusCode.ALREADY_EXISTS


async def test_a_client_that_vanishes_does_not_end_its_run(client: Client, tmp_path: Path) -> None:
    asked = request(held(tmp_path / "gate"))
    stream = client.stream(asked)
    await anext(stream)

    stream.drop()
    (tmp_path / "gate").touch()
    asked.after_seq = 1
    events = await client.run(asked)

    assert [name_of(event) for event in events] == ["checking", "finished"]
    assert events[-1].finished.verdict == run_event_pb2.VERDICT_ACCEPTED


async def test_a_cancelled_run_ends_as_cancelled_and_frees_its_slot(client: Client, tmp_path: Path) -> None:
    asked = request(held(tmp_path / "never"))
    stream = client.stream(asked)
    await anext(stream)

    await client.cancel(asked.run_id)
    [last] = [event async for event in stream]

    assert last.finished.verdict == run_event_pb2.VERDICT_CANCELLED
    assert last.finished.reason == "cancelled"
    assert name_of((await client.run(request(QUICK)))[-1]) == "finished"


async def test_a_judge_that_is_deaf_to_sigterm_is_killed(start_executor: StartExecutor, tmp_path: Path) -> None:
    _, client = await start_executor(judges=start_soon_killed_judge)
    asked = request(f"ignore-term\ntell compiling\nwait {tmp_path / 'never'}")
    stream = client.stream(asked)
    await anext(stream)

    await client.cancel(asked.run_id)

    assert [event.finished.verdict async for event in stream] == [run_event_pb2.VERDICT_CANCELLED]


async def test_cancelling_twice_or_late_changes_nothing(client: Client) -> None:
    asked = request(QUICK)
    await client.run(asked)

    await client.cancel(asked.run_id)

    assert (await client.run(asked))[-1].finished.verdict == run_event_pb2.VERDICT_ACCEPTED


async def test_cancelling_an_unknown_run_is_reported(client: Client) -> None:
    assert (await refusal(client.cancel("no-such-run"))).code is grpc.StatusCode.NOT_FOUND


async def test_a_run_that_takes_too_long_as_a_whole_is_ended(start_executor: StartExecutor, tmp_path: Path) -> None:
    _, client = await start_executor()

    events = await client.run(request(held(tmp_path / "never"), longest_run=timedelta(seconds=0.4)))

    assert events[-1].finished.verdict == run_event_pb2.VERDICT_TIME_LIMIT_EXCEEDED
    assert "longer than its limit of 0.4 s" in events[-1].finished.message
    assert "`--time-limit SECONDS`" in events[-1].finished.message


async def test_a_run_that_may_take_no_time_is_refused(client: Client) -> None:
    refused = await refusal(client.run(request("finish ACCEPTED", longest_run=timedelta(0))))
    assert refused.code is grpc.StatusCode.INVALID_ARGUMENT
    assert refused.violations[0][0] == "longest_run"


@pytest.mark.parametrize("source", ["tell compiling\ncrash", "babble", "tell compiling"])
async def test_a_judge_that_breaks_down_is_our_fault_and_costs_nothing(client: Client, source: str) -> None:
    last = (await client.run(request(source)))[-1].finished

    assert last.verdict == run_event_pb2.VERDICT_INFRA_ERROR
    assert last.billable.ToTimedelta() == timedelta(0)


async def test_the_last_words_of_a_judge_are_kept(client: Client) -> None:
    last = (await client.run(request("crash")))[-1].finished

    assert "the script made me crash" in last.details


async def test_a_draining_executor_begins_nothing_but_still_replays(start_executor: StartExecutor) -> None:
    server, client = await start_executor()
    known = request(QUICK)
    await client.run(known)

    server.runs.drain()

    assert (await refusal(client.run(request(QUICK)))).code is grpc.StatusCode.UNAVAILABLE
    assert name_of((await client.run(known))[-1]) == "finished"


async def test_a_stopping_executor_ends_its_runs_with_a_verdict(
    start_executor: StartExecutor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A busy machine may need longer for a run's end than a second, after which the streams are cut.
    monkeypatch.setattr("services.executor.server._LAST_WORDS_SECONDS", 60)
    server, client = await start_executor(drain=60.2)
    stream = client.stream(request(held(tmp_path / "never")))
    await anext(stream)

    stopping = asyncio.create_task(server.stop())
    last = [event async for event in stream][-1].finished
    await stopping

    assert last.verdict == run_event_pb2.VERDICT_INFRA_ERROR
    assert last.reason == "executor_stopped"


async def test_finished_runs_are_forgotten_beyond_the_number_kept(start_executor: StartExecutor) -> None:
    _, client = await start_executor(kept_finished=2)
    asked = [request(QUICK) for _ in range(4)]
    for one in asked:
        await client.run(one)

    asked[0].after_seq = asked[3].after_seq = 1

    assert (await refusal(client.run(asked[0]))).code is grpc.StatusCode.NOT_FOUND
    assert len(await client.run(asked[3])) == 2
