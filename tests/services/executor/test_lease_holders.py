"""Leases over gRPC: they keep runs alive, fence off older holders, and share the slots."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import grpc
from wavepool.executor.v1 import run_event_pb2

from servicekit.clock import ManualClock
from tests.services.executor.client import (
    QUICK,
    Client,
    StartExecutor,
    held,
    in_seconds,
    name_of,
    refusal,
    request,
    until,
)


async def test_a_run_ends_when_its_lease_expires(start_executor: StartExecutor, tmp_path: Path) -> None:
    clock = ManualClock(datetime.now(UTC))
    _, client = await start_executor(clock=clock)
    stream = client.stream(request(held(tmp_path / "never"), lease_expire_time=in_seconds(0.4)))
    await anext(stream)

    clock.advance(timedelta(seconds=30))
    [last] = [event async for event in stream]

    assert last.finished.verdict == run_event_pb2.VERDICT_CANCELLED
    assert last.finished.reason == "lease_expired"


async def test_a_renewed_lease_keeps_its_run_alive(start_executor: StartExecutor, tmp_path: Path) -> None:
    clock = ManualClock(datetime.now(UTC))
    _, client = await start_executor(clock=clock)
    asked = request(held(tmp_path / "gate"), lease_expire_time=in_seconds(0.4))
    stream = client.stream(asked)
    await anext(stream)

    await client.renew(asked.run_id, seconds=60)
    clock.advance(timedelta(seconds=30))
    # An executor that still had the first lease would look at it within 0.4 s.
    renewed = time.monotonic()
    await until(lambda: time.monotonic() > renewed + 0.5)
    (tmp_path / "gate").touch()

    assert [name_of(event) async for event in stream] == ["checking", "finished"]


async def test_an_expired_lease_begins_nothing(client: Client) -> None:
    failure = await refusal(client.run(request(QUICK, lease_expire_time=in_seconds(-1))))

    assert failure.code is grpc.StatusCode.FAILED_PRECONDITION


async def test_a_lease_older_than_one_seen_is_refused(client: Client) -> None:
    await client.run(request(QUICK, fencing_token=9))

    failure = await refusal(client.run(request(QUICK, fencing_token=8)))

    assert failure.code is grpc.StatusCode.FAILED_PRECONDITION
    assert "9 was seen" in failure.message


async def test_an_older_holder_cannot_renew_or_attach_to_a_newer_run(client: Client) -> None:
    asked = request(QUICK, fencing_token=9)
    await client.run(asked)

    renewing = await refusal(client.renew(asked.run_id, 60, fencing_token=8))
    asked.fencing_token = 8
    attaching = await refusal(client.run(asked))

    assert renewing.code is attaching.code is grpc.StatusCode.FAILED_PRECONDITION


async def test_a_newer_lease_of_the_whole_machine_ends_the_older_run(client: Client, tmp_path: Path) -> None:
    older = client.stream(request(held(tmp_path / "never"), fencing_token=8))
    await anext(older)

    newer = await client.run(request(QUICK, fencing_token=9))

    assert newer[-1].finished.verdict == run_event_pb2.VERDICT_ACCEPTED
    assert [event.finished.reason async for event in older] == ["lease_passed_on"]


async def test_when_all_slots_are_in_use_the_caller_reads_when_to_try_again(client: Client, tmp_path: Path) -> None:
    stream = client.stream(request(held(tmp_path / "gate")))
    await anext(stream)

    failure = await refusal(client.as_admin().run(request(QUICK, fencing_token=0)))

    assert failure.code is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert failure.retry_after is not None
    (tmp_path / "gate").touch()
    assert [name_of(event) async for event in stream] == ["checking", "finished"]


async def test_parts_of_a_machine_run_side_by_side_until_it_is_full(
    start_executor: StartExecutor, tmp_path: Path
) -> None:
    _, client = await start_executor(max_runs=4)
    source = held(tmp_path / "gate")
    half, other_half = (client.stream(request(source, eighths=4, fencing_token=token)) for token in (12, 11))
    await anext(half)
    await anext(other_half)

    failure = await refusal(client.run(request(QUICK, eighths=1, fencing_token=13)))

    assert failure.code is grpc.StatusCode.RESOURCE_EXHAUSTED
    (tmp_path / "gate").touch()
    assert [name_of(event) async for event in other_half] == ["checking", "finished"]


async def test_the_administrator_needs_no_lease(client: Client) -> None:
    asked = request(QUICK, fencing_token=0, lease_expire_time=None)

    assert (await client.as_admin().run(asked))[-1].finished.verdict == run_event_pb2.VERDICT_ACCEPTED


async def test_leases_of_different_slots_are_fenced_apart(start_executor: StartExecutor) -> None:
    _, client = await start_executor(gpu_count=2, max_runs=4)
    await client.run(request(QUICK, eighths=4, gpu=0, first_eighth=4, fencing_token=12))

    older = [
        client.run(request(QUICK, eighths=4, gpu=0, first_eighth=0, fencing_token=10)),
        client.run(request(QUICK, eighths=8, gpu=1, fencing_token=9)),
    ]
    assert [(await events)[-1].finished.verdict for events in older] == [run_event_pb2.VERDICT_ACCEPTED] * 2
    for fields in ({"eighths": 1, "first_eighth": 5}, {"eighths": 8}):
        failure = await refusal(client.run(request(QUICK, gpu=0, fencing_token=11, **fields)))
        assert failure.code is grpc.StatusCode.FAILED_PRECONDITION
        assert "the lease has passed on" in failure.message


async def test_a_newer_lease_of_a_slot_ends_the_run_there_and_no_other(
    start_executor: StartExecutor, tmp_path: Path
) -> None:
    _, client = await start_executor(gpu_count=2, max_runs=2)
    there, elsewhere = (
        client.stream(request(held(tmp_path / "gate"), gpu=gpu, fencing_token=token)) for gpu, token in ((0, 8), (1, 7))
    )
    await anext(there)
    await anext(elsewhere)

    await client.run(request(QUICK, gpu=0, eighths=2, first_eighth=6, fencing_token=9))

    assert [event.finished.reason async for event in there] == ["lease_passed_on"]
    (tmp_path / "gate").touch()
    assert [name_of(event) async for event in elsewhere] == ["checking", "finished"]


async def test_two_runs_share_no_eighth(start_executor: StartExecutor, tmp_path: Path) -> None:
    _, client = await start_executor(max_runs=4)
    stream = client.stream(request(held(tmp_path / "gate"), eighths=4, gpu=0, first_eighth=4, fencing_token=8))
    await anext(stream)

    failure = await refusal(client.run(request(QUICK, eighths=4, gpu=0, first_eighth=4, fencing_token=8)))
    beside = await client.as_admin().run(request(QUICK, eighths=4, fencing_token=0))

    assert failure.code is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert beside[-1].finished.verdict == run_event_pb2.VERDICT_ACCEPTED
    (tmp_path / "gate").touch()
    await stream.reach("finished")


async def test_an_executor_that_was_started_again_still_refuses_the_older_lease(start_executor: StartExecutor) -> None:
    server, client = await start_executor()
    await client.run(request(QUICK, fencing_token=9))
    await server.stop()

    _, client = await start_executor()

    failure = await refusal(client.run(request(QUICK, fencing_token=8)))
    assert failure.code is grpc.StatusCode.FAILED_PRECONDITION
    assert (await client.run(request(QUICK, fencing_token=9)))[-1].finished.verdict == run_event_pb2.VERDICT_ACCEPTED
