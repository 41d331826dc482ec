"""The executor over gRPC: runs, those who come back to them, leases, slots and refusals. Judges follow a script."""

from __future__ import annotations

import asyncio
import time
from datetime import timedelta
from typing import TYPE_CHECKING, Any, cast

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from wavepool.executor.v1 import executor_pb2, run_event_pb2

from services.executor import judge
from tests.services.executor.client import Client, in_seconds, name_of, refusal, request

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.services.executor.client import StartExecutor

QUICK = "tell compiling\ntell checking\nfinish ACCEPTED"


def held(gate: Path) -> str:
    return f"tell compiling\nwait {gate}\ntell checking\nfinish ACCEPTED"


async def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < deadline, "the condition did not come true within 10 s"
        await asyncio.sleep(0.005)


async def test_a_run_streams_numbered_events_and_ends_with_its_verdict(client: Client) -> None:
    events = await client.run(request(QUICK))

    assert [name_of(event) for event in events] == ["compiling", "checking", "finished"]
    assert [event.seq for event in events] == [1, 2, 3]
    assert events[-1].finished.verdict == run_event_pb2.VERDICT_ACCEPTED
    assert events[-1].finished.billable.ToTimedelta() > timedelta(0)


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

    asked.source = "finish WRONG_ANSWER"

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


async def test_a_judge_that_is_deaf_to_sigterm_is_killed(
    client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(judge, "TERM_GRACE_SECONDS", 0.2)
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


async def test_cancelling_an_unknown_run_is_told(client: Client) -> None:
    assert (await refusal(client.cancel("no-such-run"))).code is grpc.StatusCode.NOT_FOUND


async def test_a_run_ends_when_its_lease_expires(client: Client, tmp_path: Path) -> None:
    events = await client.run(request(held(tmp_path / "never"), lease_expire_time=in_seconds(0.4)))

    assert events[-1].finished.verdict == run_event_pb2.VERDICT_CANCELLED
    assert events[-1].finished.reason == "lease_expired"


async def test_a_renewed_lease_keeps_its_run_alive(client: Client, tmp_path: Path) -> None:
    asked = request(held(tmp_path / "gate"), lease_expire_time=in_seconds(2))
    stream = client.stream(asked)
    await anext(stream)
    before = asked.lease_expire_time.ToDatetime()

    await client.renew(asked.run_id, seconds=60)
    await until(lambda: in_seconds(0).ToDatetime() > before + timedelta(seconds=0.1))
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


async def test_when_all_slots_are_in_use_the_caller_is_told_when_to_try_again(client: Client, tmp_path: Path) -> None:
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


async def test_a_run_that_takes_too_long_as_a_whole_is_ended(start_executor: StartExecutor, tmp_path: Path) -> None:
    _, client = await start_executor(run_limit=0.4)

    events = await client.run(request(held(tmp_path / "never")))

    assert events[-1].finished.verdict == run_event_pb2.VERDICT_TIME_LIMIT_EXCEEDED


@pytest.mark.parametrize("source", ["tell compiling\ncrash", "babble", "tell compiling"])
async def test_a_judge_that_breaks_down_is_our_fault_and_costs_nothing(client: Client, source: str) -> None:
    last = (await client.run(request(source)))[-1].finished

    assert last.verdict == run_event_pb2.VERDICT_INFRA_ERROR
    assert last.billable.ToTimedelta() == timedelta(0)


async def test_the_last_words_of_a_judge_are_kept(client: Client) -> None:
    last = (await client.run(request("crash")))[-1].finished

    assert "the script made me crash" in last.details


async def test_a_stopping_executor_ends_its_runs_with_a_verdict(start_executor: StartExecutor, tmp_path: Path) -> None:
    server, client = await start_executor(drain=1.2)
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


@pytest.mark.parametrize(
    ("fields", "field", "hint"),
    [
        ({"run_id": ""}, "run_id", "1 to 128"),
        ({"run_id": "x" * 129}, "run_id", "1 to 128"),
        ({"source": " \n"}, "source", "HIP file"),
        ({"source": "x" * (5 << 20)}, "source", "at most 1048576"),
        ({"mode": 0}, "mode", "RUN_MODE_CHECK"),
        ({"mode": 99}, "mode", "RUN_MODE_CHECK"),
        ({"problem": ""}, "problem", "catalogue"),
        ({"mode": executor_pb2.RUN_MODE_SANDBOX}, "problem", "must be empty"),
        ({"dtype": "float8"}, "dtype", "it has float32"),
        ({"eighths": 3}, "eighths", "one of 1, 2, 4, 8"),
        ({"eighths": 16}, "eighths", "one of 1, 2, 4, 8"),
        ({"after_seq": -1}, "after_seq", "must be 0"),
        ({"fencing_token": 0}, "fencing_token", "admin token"),
        ({"fencing_token": -4}, "fencing_token", "negative"),
        ({"lease_expire_time": None}, "lease_expire_time", "missing"),
    ],
)
async def test_a_bad_field_is_named_with_what_is_right(
    client: Client, fields: dict[str, Any], field: str, hint: str
) -> None:
    failure = await refusal(client.run(request(**{"source": QUICK, **fields})))

    assert failure.code is grpc.StatusCode.INVALID_ARGUMENT
    assert [name for name, _ in failure.violations] == [field]
    assert hint in failure.violations[0][1]
    assert (await client.capabilities()).runs_in_flight == 0


async def test_all_faults_of_a_request_are_told_at_once(client: Client) -> None:
    failure = await refusal(client.run(request("", run_id="", mode=0)))

    assert {name for name, _ in failure.violations} == {"run_id", "source", "mode"}


async def test_an_unknown_problem_is_told_with_what_it_may_have_meant(client: Client) -> None:
    failure = await refusal(client.run(request(QUICK, problem="softmx")))

    assert failure.code is grpc.StatusCode.NOT_FOUND
    assert "softmax" in failure.message


@pytest.mark.parametrize(
    ("metadata", "code"),
    [
        ((), grpc.StatusCode.UNAUTHENTICATED),
        ((("authorization", "Basic abc"),), grpc.StatusCode.UNAUTHENTICATED),
        ((("authorization", "Bearer guess"),), grpc.StatusCode.PERMISSION_DENIED),
        ((("authorization", "Bearer "),), grpc.StatusCode.PERMISSION_DENIED),
    ],
)
async def test_a_call_without_a_right_token_is_refused(
    client: Client, metadata: tuple[tuple[str, str], ...], code: grpc.StatusCode
) -> None:
    client.metadata = metadata

    assert (await refusal(client.run(request(QUICK)))).code is code
    assert (await refusal(client.cancel("any"))).code is code
    assert (await refusal(client.renew("any", 60))).code is code


async def test_the_administrator_needs_no_lease(client: Client) -> None:
    asked = request(QUICK, fencing_token=0, lease_expire_time=None)

    assert (await client.as_admin().run(asked))[-1].finished.verdict == run_event_pb2.VERDICT_ACCEPTED


async def test_capabilities_need_no_token(client: Client) -> None:
    capabilities = await client.capabilities()

    assert (capabilities.device, capabilities.device_title) == ("cpu", "A Test 3000")
    assert (capabilities.sandbox, list(capabilities.sandbox_gaps)) == ("process", ["everything is open"])
    assert capabilities.max_runs == 1
    assert list(capabilities.problems) == ["softmax"]


async def test_it_reports_healthy(client: Client) -> None:
    asked = health_pb2.HealthCheckRequest(service="wavepool.executor.v1.ExecutorService")

    stub: Any = cast("Any", health_pb2_grpc).HealthStub(client.channel)
    answer = await stub.Check(asked, timeout=10)

    assert answer.status == health_pb2.HealthCheckResponse.SERVING
